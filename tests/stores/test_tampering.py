"""What a window did not write is refused: nothing from a store is run, or taken on trust."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash.aggregators.saving import pack, unpack
from sash.aggregators.shelf import KIND, MANIFEST
from sash.aggregators.stored_blocks import PACKED, Seal
from sash.stores import Memory, Place

OP = sash.Together(top=sash.Max(), all=sash.Collect())


def filled(name: str = "window", secret: bytes = b"", store: Memory | None = None) -> Memory:
    store = store or Memory()
    with sash.Window(OP, sash.last(60), store=Place(store, name, block=4, secret=secret)) as window:
        for value in range(100):
            window.push(value)
    return store


def contents(store: Memory, name: str = "window") -> dict[bytes, bytes]:
    return dict(store.peek(name))


def put(store: Memory, values: dict[bytes, bytes], name: str = "window") -> None:
    space = store.open(name)
    space.write(values)
    space.release()


def read_all(store: Memory, secret: bytes = b"") -> list[int]:
    """Open a window, and read all that it has in the store."""
    window = sash.Window(OP, sash.last(60), store=Place(store, block=4, secret=secret))
    try:
        found = [window.push(1000)]
        for value in range(1001, 1060):
            found.append(window.push(value))
        return found
    finally:
        window._store.let_go()  # type: ignore[union-attr]


EXPECTED = read_all(filled())


@given(st.data())
def test_any_byte(data: st.DataObject) -> None:
    store = filled()
    there = contents(store)
    key = data.draw(st.sampled_from(sorted(there)))
    at = data.draw(st.integers(0, len(there[key]) - 1))
    changed = bytearray(there[key])
    changed[at] ^= data.draw(st.integers(1, 255))
    put(store, {key: bytes(changed)})
    try:
        found = read_all(store)
    except sash.SavedError:
        return
    assert found == EXPECTED  # it was of no use any more


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: data[:10],
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: pickle.dumps([1, 2, 3]),
        lambda data: data[:2] + b"\7" + data[3:],
    ],
    ids=["empty", "head alone", "cut", "longer", "pickle", "version"],
)
def test_every_value(change: Callable[[bytes], bytes]) -> None:
    for key in contents(filled()):
        store = filled()
        put(store, {key: change(contents(store)[key])})
        try:
            found = read_all(store)
        except sash.SavedError as refused:
            assert "store" in str(refused)
            continue
        assert key != MANIFEST
        assert found == EXPECTED


def test_blocks_that_change_places() -> None:
    there = contents(filled())
    blocks = sorted(key for key in there if key[:1] == b"b")
    chance, refused = random.Random(0), 0
    for _ in range(20):
        one, other = chance.sample(blocks, 2)
        store = filled()
        there = contents(store)
        put(store, {one: there[other], other: there[one]})
        try:
            assert read_all(store) == EXPECTED
        except sash.SavedError:
            refused += 1
    assert refused > 10


def test_values_of_another_window() -> None:
    store = filled("other", store=filled())
    mine, others = contents(store), contents(store, "other")
    assert mine.keys() == others.keys()
    put(store, {MANIFEST: others[MANIFEST]})
    with pytest.raises(sash.SavedError, match="another window"):
        read_all(store)
    put(store, {**others, MANIFEST: mine[MANIFEST]})
    with pytest.raises(sash.SavedError, match="another window"):
        read_all(store)


def test_a_secret_is_needed_to_read_and_to_forge() -> None:
    store = filled(secret=b"ours")
    assert read_all(store, b"ours") == EXPECTED
    for secret in (b"", b"theirs"):
        with pytest.raises(sash.SavedError, match="secret"):
            read_all(store, secret)
    forged = contents(filled())
    put(store, forged)
    with pytest.raises(sash.SavedError, match="secret"):
        read_all(store, b"ours")
    assert "ours" not in repr(Place(store, secret=b"ours"))


NONSENSE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(st.data())
def test_a_manifest_that_is_forged_well(data: st.DataObject) -> None:
    """Without a secret anyone can seal: what is inside must make sense all the same."""
    store = filled()
    name = b"manifest of window"
    _, content = Seal(b"", name).open(MANIFEST, contents(store)[MANIFEST])
    manifest = unpack(KIND, content)
    inside = manifest
    while True:  # change something at any depth
        if isinstance(inside, dict):
            key = data.draw(st.sampled_from(list(inside)))
        else:
            key = data.draw(st.integers(0, len(inside) - 1))
        deeper = inside[key]
        if isinstance(deeper, (dict, list)) and len(deeper) and data.draw(st.booleans()):
            inside = deeper
            continue
        inside[key] = data.draw(NONSENSE)
        break
    sealed = Seal(b"", name).close(MANIFEST, PACKED, pack(KIND, manifest))
    put(store, {MANIFEST: sealed})
    with suppress(sash.SavedError, ValueError):  # and no other error
        read_all(store)


def test_no_manifest() -> None:
    store = filled()
    space = store.open("window")
    space.write({}, [MANIFEST])
    space.release()
    with pytest.raises(sash.SavedError, match="no manifest"):
        read_all(store)


def test_another_question() -> None:
    store = filled()
    place = Place(store, block=4)
    for op, window, said in (
        (sash.Max(), sash.last(60), "op"),
        (OP, sash.last(61), "window"),
    ):
        with pytest.raises(sash.SavedError, match=said):
            sash.Window(op, window, store=place)
    with pytest.raises(sash.SavedError, match="min_size"):
        sash.Window(OP, sash.last(60), store=place, min_size=3)
    with pytest.raises(sash.SavedError, match="Window"):
        sash.aggregator("amta", OP, store=place)
    assert read_all(store) == EXPECTED

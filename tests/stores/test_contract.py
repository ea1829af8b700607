"""Every store keeps what a dict would keep, and says no alike."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sash.stores import InUseError, Memory, Redis, RocksDB, Store, StoreError

KINDS = ["memory", "rocksdb", "redis"]
NAMES = ["a", "a:", "ab", "ab\1", "ä*"]
"""Some begin as others do; some have signs that mean something to a server."""


@pytest.fixture(params=KINDS)
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Makes a store without anything in it."""
    made: list[Store] = []

    def new() -> Store:
        if request.param == "memory":
            made.append(Memory())
        elif request.param == "rocksdb":
            made.append(RocksDB(tmp_path / uuid4().hex))
        else:
            url = request.getfixturevalue("redis_server").url
            made.append(Redis(url, prefix=uuid4().hex))
        return made[-1]

    yield new
    for store in made:
        store.close()


@pytest.fixture
def store(new_store: Callable[[], Store]) -> Store:
    return new_store()


KEYS = st.one_of(
    st.sampled_from([b"", b"\0", b"\0\0", b"\xff", b"\xff\xff", b"a", b"a\0", b"a\xff", b"b"]),
    st.binary(max_size=4),
)
VALUES = st.one_of(
    st.binary(max_size=8),
    st.tuples(st.binary(min_size=1, max_size=1), st.integers(0, 300_000)).map(
        lambda g: g[0] * g[1]
    ),
)
STEPS = st.one_of(
    st.tuples(
        st.just("write"),
        st.dictionaries(KEYS, VALUES, max_size=4),
        st.lists(KEYS, max_size=3),
        st.booleans(),
    ),
    st.tuples(st.just("get"), st.lists(KEYS, max_size=5)),
    st.tuples(st.just("scan"), st.binary(max_size=2)),
    st.tuples(st.just("look")),
    st.tuples(st.just("renew")),
    st.tuples(st.just("reopen")),
    st.tuples(st.just("destroy")),
)


# Each of Hypothesis's runs makes a store of its own; only the server, if any, is shared.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from(NAMES), STEPS), max_size=12))
def test_as_a_dict(new_store: Callable[[], Store], steps: list) -> None:
    with new_store() as store:
        spaces = {name: store.open(name) for name in NAMES}
        model: dict[str, dict[bytes, bytes]] = {name: {} for name in NAMES}
        for name, (step, *given) in steps:
            space, has = spaces[name], model[name]
            if step == "write":
                puts, deletes, durable = given
                space.write(puts, iter(deletes), durable=durable)
                for key in deletes:
                    has.pop(key, None)
                has.update(puts)
            elif step == "get":
                assert space.get(given[0]) == [has.get(key) for key in given[0]]
            elif step == "scan":
                wanted = sorted(pair for pair in has.items() if pair[0].startswith(given[0]))
                assert list(space.scan(given[0])) == wanted
            elif step == "look":
                assert list(store.peek(name)) == sorted(has.items())
                assert store.size(name) == (len(has), sum(len(k) + len(v) for k, v in has.items()))
                assert store.names() == sorted(each for each in NAMES if model[each])
            elif step == "renew":
                space.renew()
            else:
                if step == "destroy":
                    space.destroy()
                    has.clear()
                space.release()
                spaces[name] = store.open(name)
        for name in NAMES:
            assert list(spaces[name].scan()) == sorted(model[name].items())


def test_open_once(store: Store) -> None:
    first = store.open("w")
    with pytest.raises(InUseError, match=r"'w'.*open already") as refused:
        store.open("w")
    assert not refused.value.passing
    store.open("v")  # another is nobody's
    first.release()
    second = store.open("w")
    first.release()  # is not the second's
    with pytest.raises(InUseError):
        store.open("w")
    second.write({b"k": b"v"})


def test_released_is_refused(store: Store) -> None:
    space = store.open("w")
    space.write({b"k": b"v"})
    space.release()
    again = store.open("w")
    uses = (
        lambda: space.get([b"k"]),
        lambda: space.write({b"k": b"other"}),
        lambda: space.scan(),
        space.renew,
        space.destroy,
    )
    for use in uses:
        with pytest.raises(StoreError, match=r"'w'.*was released"):
            use()
    assert list(again.scan()) == [(b"k", b"v")]


def test_closed_is_refused(store: Store) -> None:
    space = store.open("w")
    store.close()
    store.close()
    with pytest.raises(StoreError):
        space.get([b"k"])
    space.release()


def test_destroyed(store: Store) -> None:
    space = store.open("w")
    other = store.open("w2")
    other.write({b"k": b"v"})
    space.write({bytes([i]): b"v" for i in range(256)})
    space.destroy()
    with pytest.raises(StoreError, match="was released"):
        space.get([b"k"])
    assert list(store.peek("w")) == []
    assert store.names() == ["w2"]
    assert list(store.open("w").scan()) == []


def test_nothing_is_nowhere(store: Store) -> None:
    space = store.open("w")
    assert store.names() == []
    assert list(store.peek("nobody's")) == []
    assert store.size("nobody's") == (0, 0)
    space.write({b"k": b"v"})
    assert store.names() == ["w"]
    space.write({}, [b"k"])
    assert store.names() == []
    assert store.durability().endswith(".")


def test_a_put_comes_after_a_delete(store: Store) -> None:
    space = store.open("w")
    space.write({b"k": b"old"})
    space.write({b"k": b"new"}, [b"k", b"none"])
    assert space.get([b"k", b"none", b"k"]) == [b"new", None, b"new"]


def test_whole_or_not_at_all(store: Store) -> None:
    """What reads while another thread writes gets all of a write, or nothing."""
    space = store.open("w")
    keys = [b"%d" % i for i in range(50)]
    problems: list[BaseException] = []
    done = threading.Event()

    def write() -> None:
        try:
            for round in range(60):
                odd, even = keys[1::2], keys[::2]
                puts, deletes = (odd, even) if round % 2 else (even, odd)
                space.write(dict.fromkeys(puts, b"%d" % round), deletes)
        except BaseException as error:
            problems.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=write)
    thread.start()
    seen = set()
    while not done.is_set():
        found = space.get(keys)
        half = {value for value in found if value is not None}
        assert len(half) <= 1, half
        assert sum(value is not None for value in found) in (0, 25)
        seen |= half
    thread.join()
    assert not problems
    assert space.get(keys[1:2]) == [b"59"]


def test_two_threads_write(store: Store) -> None:
    space = store.open("w")
    problems: list[BaseException] = []

    def write(name: bytes) -> None:
        try:
            for i in range(40):
                space.write({name + b"%d" % i: name})
                space.renew()
                assert len(list(space.scan(name))) == i + 1
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=write, args=[name]) for name in (b"x", b"y")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert store.size("w")[0] == 80


def test_peek_while_open(store: Store) -> None:
    space = store.open("w")
    space.write({b"b": b"2", b"a": b"1"})
    assert list(store.peek("w")) == [(b"a", b"1"), (b"b", b"2")]


@pytest.mark.parametrize("name", ["", "a\0b", "{a", "a}", "x" * 201, "\ud800", b"a", None])
def test_names(store: Store, name: str) -> None:
    for use in (store.open, store.peek, store.size):
        with pytest.raises(ValueError, match=r"^the name of a window in a store .*\.$"):
            use(name)
    longest = "ü" * 200
    store.open(longest).write({b"k": b"v"})
    assert store.names() == [longest]


def test_not_pickled(store: Store) -> None:
    for each in (store, store.open("w")):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(each)


def test_errors_are_pickled() -> None:
    for error in (StoreError("it is full.", passing=True), InUseError("another has it.")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.passing) == (type(error), str(error), error.passing)


def test_without_the_libraries() -> None:
    """sash.stores imports without them, and their stores say what to install."""
    code = """
        import sys
        sys.modules.update(redis=None, rocksdict=None)
        from sash.stores import Memory, Redis, RocksDB
        for make in (lambda: RocksDB("x"), lambda: Redis("redis://x")):
            try:
                make()
            except ImportError as error:
                print(error)
        Memory().open("w").write({b"k": b"v"})
    """
    run = [sys.executable, "-c", dedent(code)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout.count("pip install 'sash[stores]'.") == 2

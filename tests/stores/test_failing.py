"""A store that is slow, full, read-only or gone: one clear error, and nothing is lost."""

from __future__ import annotations

import logging
import random
import signal
from collections.abc import Callable
from contextlib import suppress
from math import log2
from pathlib import Path
from time import sleep

import pytest
from stores.server import Server
from stores.unreliable import Unreliable

import sash
from sash.aggregators.stored_blocks import Partials
from sash.stores import (
    InUseError,
    Memory,
    NotStoredError,
    Patience,
    Place,
    Redis,
    RocksDB,
    Store,
    StoreError,
)

SOON = Patience(tries=3, first=0.001, most=0.002)


def place(store: Store, **settings: object) -> Place:
    return Place(store, **{"block": 4, "patience": SOON, "most_waiting": 3, **settings})


@pytest.mark.parametrize("fails", ["down", "read_only"])
def test_rows_are_taken_until_too_many_wait(fails: str, caplog: pytest.LogCaptureFixture) -> None:
    store = Unreliable()
    window = sash.Window(sash.Sum(), sash.last(1000), store=place(store))
    taken = [window.push(value) for value in range(20)]
    window.sync()
    setattr(store, fails, True)
    with caplog.at_level(logging.WARNING, "sash.stores"), pytest.raises(StoreError, match="store"):
        for value in range(20, 2000):
            taken.append(window.push(value))
    assert 20 < len(taken) < 100
    assert window.pushed == len(taken)
    assert window.query() == sum(range(len(taken)))  # it answers all the same
    assert [r.message for r in caplog.records if "tried again" in r.message]
    with pytest.raises(StoreError):  # and refuses, changing nothing
        window.push_many([1, 2, 3])
    assert window.query() == sum(range(len(taken)))
    setattr(store, fails, False)
    for value in range(len(taken), 150):
        assert window.push(value) == sum(range(value + 1))
    window.close()
    with sash.Window(sash.Sum(), sash.last(1000), store=place(store)) as window:
        assert (window.pushed, window.query()) == (150, sum(range(150)))


def test_a_sync_that_fails_says_so_after_a_few_tries() -> None:
    store = Unreliable()
    window = sash.aggregator("amta", sash.Sum(), store=place(store))
    window.insert(1)
    window.sync()
    window.insert(2)
    store.down = True
    with pytest.raises(StoreError, match="the store is gone"):
        window.sync()
    assert SOON.tries <= store.tried <= 3 * SOON.tries
    assert window.query() == 3
    store.down = False
    window.sync()
    window.abandon()
    assert sash.aggregator("amta", sash.Sum(), store=place(store)).query() == 3


def test_what_will_never_work_is_not_tried_again() -> None:
    store = Unreliable()
    window = sash.aggregator("amta", sash.Sum(), store=place(store))
    window.insert(1)
    store.down, store.passing = True, False
    with pytest.raises(StoreError):
        window.sync()
    assert store.tried <= 2


@pytest.mark.parametrize("algorithm", ["amta", "log_mta"])
def test_an_eviction_that_cannot_read_changes_nothing(algorithm: str) -> None:
    for seed in range(12):
        chance = random.Random(seed)
        store = Unreliable()
        window = sash.aggregator(algorithm, sash.Collect(), store=place(store, most_waiting=10**6))
        values = list(range(chance.randrange(50, 400)))
        for value in values:
            window.insert(value)
        window.sync()
        for _ in range(20):
            store.down = chance.random() < 0.6
            before, count = len(store.reads), chance.randrange(len(values) // 4 + 2)
            count = min(count, len(values))
            try:
                window.evict() if count == 1 else window.bulk_evict(count)
                del values[:count]
            except StoreError:
                assert store.down
                assert len(store.reads) == before
            assert window.query() == values
        store.down = False
        window.bulk_evict(len(values) // 2)
        assert window.query() == values[len(values) // 2 :]
        window.check_invariants(values[len(values) // 2 :])
        window.close()


def test_rows_that_make_many_leave_or_none(caplog: pytest.LogCaptureFixture) -> None:
    """A batch of rows that the store fails in the middle of has not come."""
    store = Unreliable()
    window = sash.Window(sash.Sum(), sash.last("500i"), store=place(store, most_waiting=10**6))
    window.push_many([1] * 400, times=range(400))
    window.sync()
    store.down = True
    with pytest.raises(StoreError):
        window.push_many([1] * 400, times=range(600, 1000))
    assert (window.query(), len(window), window.pushed) == (400, 400, 400)
    store.down = False
    window.push_many([1] * 400, times=range(600, 1000))
    assert (window.query(), len(window), window.pushed) == (400, 400, 800)
    window.close()


def test_not_acknowledged_is_told_with_the_answer() -> None:
    store = Unreliable()
    window = sash.Window(sash.Sum(), sash.last(10), store=place(store, sync_every=2))
    window.push(1)
    store.read_only = True
    with pytest.raises(NotStoredError, match="Do not give it again") as told:
        window.push(2)
    assert told.value.answers == 3
    assert window.pushed == 2
    store.read_only = False
    window.sync()
    assert window.push(3) == 6
    window.close()


def test_every_so_many_rows_are_acknowledged() -> None:
    store = Memory()
    window = sash.Window(sash.Sum(), sash.last(10), store=place(store, sync_every=3))
    for value in range(8):
        window.push(value)
    window._store.let_go()  # type: ignore[union-attr]
    again = sash.Window(sash.Sum(), sash.last(10), store=place(store))
    assert (again.pushed, again.query()) == (6, sum(range(6)))


@pytest.mark.parametrize("kind", ["memory", "rocksdb", "redis"])
def test_a_window_is_open_once(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if kind == "memory":
        store: Store = Memory()
    elif kind == "rocksdb":
        store = RocksDB(tmp_path / "db")
    else:
        store = Redis(request.getfixturevalue("redis_server").url, prefix=str(tmp_path), lease=0.5)
    first = sash.Window(sash.Sum(), sash.last(10), store=Place(store, "one"))
    sash.Window(sash.Sum(), sash.last(10), store=Place(store, "another")).close()
    with pytest.raises(InUseError):
        sash.Window(sash.Sum(), sash.last(10), store=Place(store, "one"))
    assert first.push(1) == 1
    first.close()
    second = sash.Window(sash.Sum(), sash.last(10), store=Place(store, "one"))
    assert second.push(1) == 2
    with pytest.raises(ValueError, match="closed"):
        first.push(1)
    second.close()
    store.close()


def test_a_window_that_was_taken_over_writes_no_more(redis_server: Server, tmp_path: Path) -> None:
    prefix = str(tmp_path)
    old, new = (Redis(redis_server.url, prefix=prefix, lease=0.3) for _ in range(2))
    first = sash.Window(sash.Sum(), sash.last(10), store=place(old))
    first.push(1)
    first.sync()
    first._store.shelf.behind._renew = lambda: None  # type: ignore[union-attr]  # as if asleep
    with sash.Window(sash.Sum(), sash.last(10), store=place(new)) as second:
        assert second.push(10) == 11
        second.sync()
        first.push(100)
        with pytest.raises(InUseError):
            first.sync()
    with sash.Window(sash.Sum(), sash.last(10), store=place(new)) as third:
        assert third.query() == 11
    for store in (old, new):
        store.close()


def test_a_server_that_is_killed_and_comes_back(redis_with: Callable[..., Server]) -> None:
    server = redis_with("--appendonly", "yes")
    with Redis(server.url) as store:
        window = sash.Window(sash.Sum(), sash.last(300), store=place(store, most_waiting=10**6))
        for value in range(500):
            window.push(value)
        window.sync()
        server.end(signal.SIGKILL)
        for value in range(500, 503):
            assert window.push(value) == sum(range(value - 299, value + 1))
        with pytest.raises(StoreError, match="Redis"):
            window.sync()
        server.start()
        for value in range(503, 1000):
            assert window.push(value) == sum(range(value - 299, value + 1))
        window.close()
        with sash.Window(sash.Sum(), sash.last(300), store=place(store)) as window:
            assert (window.pushed, window.query()) == (1000, sum(range(700, 1000)))


def test_evictions_of_nulls_that_cannot_be_read_change_nothing() -> None:
    """Which rows are null is in the store, too."""
    for seed in range(10):
        chance = random.Random(seed)
        store = Unreliable()
        window = sash.aggregator("amta", sash.Collect(), store=place(store, most_waiting=10**6))
        values = [chance.choice([None, 1, 2]) for _ in range(300)]
        window.bulk_insert([0, *values])
        values.insert(0, 0)
        window.sync()
        for _ in range(10):
            store.down = chance.random() < 0.6
            count = chance.randrange(1, 20)
            try:
                window.bulk_evict(count)
                del values[:count]
            except StoreError:
                assert store.down
            assert len(window) == len(values)
            assert window.query() == [value for value in values if value is not None]
        window.abandon()


def test_what_cannot_be_stored_is_refused_when_it_comes() -> None:
    store = Memory()
    for op in (sash.ArgMax("v", "who"), sash.Collect("who")):
        with sash.Window(op, sash.last(50), store=Place(store, repr(op), block=4)) as window:
            for value in range(30):
                window.push({"v": value, "who": str(value)})
            before = window.query()
            with pytest.raises(TypeError, match="cannot be saved"):
                window.push({"v": 99, "who": object()})
            assert (window.query(), window.pushed) == (before, 30)
            window.push({"v": 30, "who": "30"})
        with sash.Window(op, sash.last(50), store=Place(store, repr(op))) as window:
            assert window.pushed == 31


def test_a_checkpoint_that_is_interrupted_is_made_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Memory()
    window = sash.Window(sash.Sum(), sash.last(100), store=Place(store, block=4))
    encode, calls = Partials.encode, []

    def interrupted(self: Partials, values: list[object]) -> object:
        calls.append(len(values))
        if len(calls) % 5 == 3:
            raise KeyboardInterrupt
        return encode(self, values)

    monkeypatch.setattr(Partials, "encode", interrupted)
    for value in range(90):
        with suppress(KeyboardInterrupt):
            window.push(value)
    monkeypatch.undo()
    assert (window.pushed, window.query()) == (90, sum(range(90)))
    window.close()
    with sash.Window(sash.Sum(), sash.last(100), store=Place(store)) as window:
        assert window.query() == sum(range(90))
        for value in range(90, 190):
            window.push(value)
        assert window.query() == sum(range(90, 190))


def test_the_lease_is_renewed_before_anything_is_written(
    redis_server: Server, tmp_path: Path
) -> None:
    stores = [Redis(redis_server.url, prefix=str(tmp_path), lease=0.4) for _ in range(2)]
    window = sash.Window(sash.Sum(), sash.last(10), store=stores[0])
    window.push(1)
    sleep(0.8)
    with pytest.raises(InUseError):
        sash.Window(sash.Sum(), sash.last(10), store=stores[1])
    window.close()
    for store in stores:
        store.close()


def test_a_store_that_was_opened_by_its_address_is_closed_again(tmp_path: Path) -> None:
    where = Place(f"rocksdb:{tmp_path / 'db'}")
    for value in range(3):  # the same place serves again
        with sash.Window(sash.Sum(), sash.last(10), store=where) as window:
            window.push(value)
    with pytest.raises(sash.SavedError) as kept:  # whose traceback refers to all of it
        sash.Window(sash.Max(), sash.last(10), store=where)
    with sash.Window(sash.Sum(), sash.last(10), store=where) as window:
        assert window.query() == 3
    assert "op" in str(kept.value)


def test_a_window_that_nobody_refers_to_is_let_go_of() -> None:
    store = Memory()
    for make in (
        lambda: sash.Window(sash.Sum(), sash.last(10), store=Place(store, "w", block=1)),
        lambda: sash.aggregator("amta", sash.Sum(), store=Place(store, "a", block=1)),
    ):
        found = make()
        (found.push if isinstance(found, sash.Window) else found.insert)(1)
        found.sync()
        del found
        again = make()  # and not InUseError
        assert again.query() == 1
        again.close()


# How often a store is asked


@pytest.mark.parametrize("algorithm", ["amta", "log_mta"])
@pytest.mark.parametrize("size", [1000, 2**12, 2**13 + 1])
def test_few_reads_for_any_bulk_eviction(algorithm: str, size: int) -> None:
    chance = random.Random(size)
    for count in (1, 2, 3, size // 3, size // 2, size - 100, size - 1, chance.randrange(size)):
        store = Unreliable()
        window = sash.aggregator(algorithm, sash.Sum(), store=Place(store, block=16))
        window.bulk_insert(range(size))
        window.sync()
        window._shelf.behind.rest()
        store.reads.clear()
        window.bulk_evict(count)
        asked = list(store.reads)
        assert sum(asked) <= 2 * log2(size)
        assert window.query() == sum(range(count, size))
        window.abandon()


def test_few_reads_when_many_rows_leave_by_their_time() -> None:
    size = 2**13
    for stay in (1, 100, 5000, size):
        store = Unreliable()
        window = sash.Window(sash.Sum(), sash.last("20000i"), store=Place(store, block=16))
        window.push_many([1] * size, times=range(size))
        window.sync()
        window._store.shelf.behind.rest()  # type: ignore[union-attr]
        store.reads.clear()
        assert window.push(1, time=20000 + size - 1 - stay) == stay + 1
        assert sum(store.reads) <= 4 * log2(size)  # half of it for what they leave by
        window.close()


def test_few_writes_for_many_values() -> None:
    store = Unreliable()
    window = sash.aggregator("amta", sash.Sum(), store=Place(store))
    size = 2**14
    window.bulk_insert(range(size))
    for value in range(2 * size):
        window.evict()
        window.insert(value)
    window.sync()
    assert len(store.writes) <= 2 / 512 * 3 * size * 1.1
    blocks = sum(store.writes) - len(store.writes)  # each has a manifest
    assert blocks <= 2 / 512 * 3 * size * 1.1
    window.close()

"""Windows in stores answer as windows in memory do, whatever happens in between."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from cases import CASES, Case
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from interleavings import answers_alike, machine

import sash
from sash.stores import Memory, Place, Redis, RocksDB, Store
from sash.testing import Counting

STORABLE = ["amta", "log_mta"]
BLOCKS = [1, 2, 4, 8]
"""So small that a few values fill blocks on several levels, and are fetched again."""
SOME = [
    case
    for case in CASES
    if case.name in ("Sum()", "ArgMax()", "Collect()", "StdDev(ddof=0)", "Affine()")
]


@pytest.fixture(params=["rocksdb", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """One that is not in this process's memory."""
    if request.param == "rocksdb":
        found: Store = RocksDB(tmp_path / "db")
    else:
        found = Redis(request.getfixturevalue("redis_server").url, prefix=uuid4().hex)
    with found:
        yield found


def run(algorithm: str, case: Case, place: Callable[[], Place], share: int) -> None:
    default = settings()
    run_state_machine_as_test(
        machine(algorithm, case, place),
        settings=settings(
            default, max_examples=max(4, default.max_examples // share), stateful_step_count=20
        ),
    )


PAIRS = [
    pytest.param(
        algorithm,
        case,
        id=f"{algorithm}-{case.name}",
        marks=() if algorithm == "amta" or case in SOME else pytest.mark.full,
    )
    for algorithm in STORABLE
    for case in CASES
]


@pytest.mark.parametrize(("algorithm", "case"), PAIRS)
def test_any_interleaving(algorithm: str, case: Case) -> None:
    chance = random.Random(0)
    run(algorithm, case, lambda: Place(Memory(), block=chance.choice(BLOCKS)), 6)


@pytest.mark.parametrize("algorithm", STORABLE)
@pytest.mark.parametrize("case", SOME, ids=lambda case: f"{case.name} {case.shape}")
def test_any_interleaving_elsewhere(algorithm: str, case: Case, store: Store) -> None:
    chance = random.Random(1)
    run(
        algorithm,
        case,
        lambda: Place(store, uuid4().hex, block=chance.choice(BLOCKS), sync_every=5),
        6,
    )


WINDOWS = [
    sash.last(7),
    sash.last(1),
    sash.last(5, every=3),
    sash.last(3, every=8),
    sash.tumbling(4),
    sash.last("20i"),
    sash.last("20i", closed="left"),
    sash.last("20i", every="10i"),
    sash.last("5i", every="40i"),
    sash.delta("x", 15),
    sash.punctuated("m"),
    sash.session("9i"),
    sash.slide_while("total.n - old.n >= 6"),
]
OPERATORS = [
    sash.Together(n=sash.Count("v"), top=sash.Max("v")),
    sash.ArgMax("v", "m"),
    sash.Collect("v"),
]


def same(found: Any, expected: Any) -> bool:
    if isinstance(found, (list, sash.Answers)):
        each = list(found), list(expected)
        return len(each[0]) == len(each[1]) and all(map(same, *each))
    if isinstance(found, dict):
        return all(same(found[name], expected[name]) for name in found)
    return answers_alike(found, expected)


@pytest.mark.parametrize("lateness", [None, "6i"])
@pytest.mark.parametrize("window", WINDOWS, ids=repr)
@pytest.mark.parametrize("op", OPERATORS, ids=repr)
def test_any_window(op: sash.Operator, window: Any, lateness: str | None) -> None:
    if isinstance(window, type(WINDOWS[-1])) and not isinstance(op, sash.Together):
        pytest.skip("the policy asks for n")
    chance = random.Random(f"{op}{window}{lateness}")
    place = Place(Memory(), block=chance.choice(BLOCKS))

    def opened() -> sash.Window:
        algorithm = chance.choice(["auto", "amta"])
        return sash.Window(op, window, lateness=lateness, store=place, algorithm=algorithm)

    def some_row() -> dict[str, Any]:
        return {"v": chance.choice([None, 1, 2, 5, 7, 3]), "m": chance.random() < 0.2}

    tried, alone = opened(), sash.Window(op, window, lateness=lateness)
    now = 0
    for _ in range(120):
        step = chance.random()
        if step < 0.7:
            now += chance.choice([0, 1, 1, 3, 5, 30 if chance.random() < 0.1 else 1])
            time = now - (chance.randrange(8) if lateness else 0)
            row = some_row() | {"x": time}
            found, expected = (w.push(row, time=time) for w in (tried, alone))
        elif step < 0.85:
            times = [now := now + chance.choice([0, 1, 2]) for _ in range(chance.randrange(1, 9))]
            rows = [some_row() | {"v": 4}, *(some_row() for _ in times[1:])]
            table = {name: [row[name] for row in rows] for name in ("v", "m")} | {"x": times}
            found, expected = (w.push_many(table, times=times) for w in (tried, alone))
        elif step < 0.9:
            now += chance.randrange(10)
            found, expected = tried.advance(now), alone.advance(now)
        else:
            if chance.random() < 0.5:
                tried.close()
            else:
                tried.sync()
                tried._store.let_go()  # type: ignore[union-attr]
            tried = opened()
            found = expected = None
            assert tried.pushed == alone.pushed
        assert same(found, expected)
        assert same(tried.query(), alone.query())
        assert len(tried) == len(alone)
    assert same(tried.finish(), alone.finish())
    tried.close()


@pytest.mark.parametrize("algorithm", STORABLE)
def test_no_more_calls_than_in_memory(algorithm: str) -> None:
    """What is in the store is not computed again.

    (A window in memory that runs empty begins to count anew, so that its tree stands otherwise.)
    """
    spent = []
    for place in (None, Place(Memory(), block=8)):
        calls, chance = Counting(), random.Random(3)
        window = sash.aggregator(algorithm, calls.of(sash.Sum()), store=place)
        for _ in range(600):
            step = chance.random()
            if step < 0.6 or len(window) < 2:
                for value in range(chance.randrange(30)):
                    window.insert(value)
            elif step < 0.9:
                window.evict()
            else:
                window.bulk_evict(chance.randrange(len(window)))
            window.query()
        spent.append(calls.taken())
    assert spent[0] == spent[1]


def test_little_is_in_memory() -> None:
    place = Place(Memory(), block=64)
    window = sash.aggregator("amta", sash.Sum(), store=place)
    held = []
    for size in (2**12, 2**15):
        while len(window) < size:
            window.insert(len(window))
        for _ in range(3 * 64):
            window.evict()
            window.insert(1)
        window.sync()
        held.append(window.partials_held())
    assert held[1] < 64 * 6 * 20 < 2**15
    assert held[1] - held[0] <= 3 * 6 * 64  # three levels more
    window.close()


def test_a_window_that_is_emptied_leaves_nothing_behind(store: Store) -> None:
    place = Place(store, block=4)
    with sash.aggregator("amta", sash.Sum(), store=place) as window:
        for value in range(1000):
            window.insert(value)
        window.sync()
        assert sum(key[:1] == b"b" for key, _ in store.peek("window")) > 400
        window.bulk_evict(1000)
        window.sync()
    with sash.aggregator("amta", sash.Sum(), store=place):  # sweeps what was left
        pass
    assert sum(key[:1] == b"b" for key, _ in store.peek("window")) <= 2 * 10


def test_garbage_of_a_crash_is_swept_when_the_window_is_opened() -> None:
    store = Memory()
    place = Place(store, block=2)
    window = sash.aggregator("amta", sash.Sum(), store=place)
    for value in range(5000):
        window.insert(value)
    window.sync()
    behind = window._shelf.behind
    behind._sweep_some = behind._sweeps.clear  # type: ignore[method-assign]
    window.bulk_evict(4990)
    window.sync()
    window.abandon()
    left = sum(key[:1] == b"b" for key, _ in store.peek("window"))
    assert left > 2000
    with sash.aggregator("amta", sash.Sum(), store=place) as window:
        assert window.query() == sum(range(4990, 5000))
        window.sync()
        window._shelf.behind.rest()
    left = sum(key[:1] == b"b" for key, _ in store.peek("window"))
    assert left < 40

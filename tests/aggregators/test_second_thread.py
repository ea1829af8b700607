"""PBA in two threads: the same answers, and nothing left behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from cases import Affine

import sash
from sash.aggregators import second_thread

MOST = 2**63 - 1
VALUES = np.random.default_rng(5).integers(-1_000, 1_000, 9_000)


@sash.operator(partial={"total": "int64"}, commutative=True)
class Limited:
    """A sum that must not reach a limit: its ⊕ raises."""

    def identity():
        return 0

    def lift(v):
        return v

    def combine(a, b):
        if a.total + b.total >= 1_000_000:
            raise ValueError("too much")
        return a.total + b.total

    def lower(p):
        return p.total


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = threading.active_count()
    yield
    assert threading.active_count() == before


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Chunks of any length are handed over, on a machine of any size; what threads started."""
    names: list[str] = []
    start = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        names.append(thread.name)
        start(thread)

    monkeypatch.setattr(second_thread, "PAYS", 0)
    monkeypatch.setattr(second_thread, "cores", lambda: 2)
    monkeypatch.setattr(threading.Thread, "start", noted)
    yield names


SIZES = [1, 2, 3, 4, 5, 6, 7, 15, 16, 17, 100, 255, 1_000, 1_001, 2_999, 4_000, 9_000, 20_000]


@pytest.mark.parametrize("size", SIZES)
def test_two_threads_answer_as_one(size: int, started: list[str]) -> None:
    for operator in (sash.Sum(), Affine()):
        values = VALUES % 97
        found = sash.aggregator("pba", operator).slide(values, size)
        assert found.tolist() == sash.aggregator("recalc", operator).slide(values, size).tolist()
    assert len(started) == (2 if size < 9_000 else 0)  # a window that never fills needs no lcs


@pytest.mark.parametrize("size", [1, 2, 3, 10, 500])
def test_a_window_goes_on_where_another_call_left_it(size: int, started: list[str]) -> None:
    window, oracle = sash.aggregator("pba", sash.Sum()), sash.aggregator("recalc", sash.Sum())
    at = 0
    for step, count in enumerate((3, 700, 40, 1_500, 1, 2_000)):
        part = VALUES[at : at + count]
        at += count
        length = size + 17 * (step % 3)
        assert window.slide(part, length).tolist() == oracle.slide(part, length).tolist()
        if size + count < 1_000:
            window.check_invariants(VALUES[at - len(window) : at].tolist())
        if step % 2:
            for one in (window, oracle):
                one.insert(step)
                one.evict()
                one.evict()
            assert window.query() == oracle.query()
            for one in (window, oracle):
                one.bulk_evict(len(one))
    assert started


def test_the_threshold_decides(monkeypatch: pytest.MonkeyPatch, started: list[str]) -> None:
    chunk = second_thread.optimal_chunk(1_000)
    expected = sash.aggregator("recalc", sash.Max()).slide(VALUES, 1_000).tolist()
    for pays, threads in ((chunk + 1, 0), (chunk, 1), (chunk - 1, 2)):
        monkeypatch.setattr(second_thread, "PAYS", pays)
        assert sash.aggregator("pba", sash.Max()).slide(VALUES, 1_000).tolist() == expected
        assert len(started) == threads


def test_one_core_is_left_to_one_thread(
    monkeypatch: pytest.MonkeyPatch, started: list[str]
) -> None:
    monkeypatch.setattr(second_thread, "cores", lambda: 1)
    found = sash.aggregator("pba", sash.Max()).slide(VALUES, 100)
    assert found.tolist() == sash.aggregator("recalc", sash.Max()).slide(VALUES, 100).tolist()
    assert started == []


def test_no_thread_to_be_had(monkeypatch: pytest.MonkeyPatch, started: list[str]) -> None:
    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    found = sash.aggregator("pba", sash.Max()).slide(VALUES, 100)
    assert found.tolist() == sash.aggregator("recalc", sash.Max()).slide(VALUES, 100).tolist()


def test_a_sum_too_large_leaves_the_window_as_it_was(started: list[str]) -> None:
    """`lower` raises, in the thread that slides."""
    window = sash.aggregator("pba", sash.Sum())
    window.slide([1, 2, 3, 4], 3)
    values = np.ones(5_000, np.int64)
    values[4_000:4_002] = MOST // 2 + 1
    with pytest.raises(OverflowError):
        window.slide(values, 100)
    assert started
    assert (len(window), window.query()) == (3, 9)
    window.check_invariants([2, 3, 4])
    assert window.slide([5, 6], 3) == [12, 15]


def test_an_error_of_the_other_thread_is_raised_and_leaves_the_window_as_it_was(
    started: list[str],
) -> None:
    """Two values that are too much together, after one that makes up for them.

    From the left no sum reaches the limit, in any window; from the right that of their chunk does.
    """
    window = sash.aggregator("pba", Limited())
    window.slide([1, 2, 3, 4], 3)
    values = np.ones(3_100, np.int64)
    values[2_200], values[2_210:2_212] = -1_000_000, 600_000
    sash.aggregator("recalc", Limited()).slide(values, 1_000)
    with pytest.raises(ValueError, match="too much"):
        window.slide(values, 1_000)
    assert started
    assert (len(window), window.query()) == (3, 9)
    window.check_invariants([2, 3, 4])
    assert window.slide([5, 6], 3) == [12, 15]


def test_only_the_other_thread_fails(started: list[str]) -> None:
    """What it fails with is raised, though the first thread comes to its end."""
    calls: list[str] = []

    def call(entry: str, *args: object) -> object:
        calls.append(entry)
        if entry == "serve" and calls.count("serve") > 1:
            raise MemoryError("none left")
        return ("answered",)

    desk = second_thread.new_desk()
    with (
        pytest.raises(MemoryError, match="none left"),
        second_thread.Second(call, (), (), 0, desk),
    ):
        pass
    assert desk[second_thread.FAILED] == 1


def test_rolling_in_two_threads(started: list[str]) -> None:
    found = sash.rolling(VALUES, 300, sash.Sum(), algorithm="pba")
    assert found.tolist() == sash.rolling(VALUES, 300, sash.Sum()).tolist()
    assert len(started) == 1
    with pytest.raises(ValueError, match="thread of its own"):
        sash.rolling(VALUES, 300, sash.Sum(), algorithm="pba", threads=2)


@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
@pytest.mark.parametrize("every", [1, 2, 3, 7, 10, 64])
@pytest.mark.parametrize("reach", [1, 2, 3, 10, 64, 65, 500, 1_001])
def test_any_range_and_slide(
    reach: int, every: int, closed: str, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    values = VALUES[:2_000]
    options = {"every": every, "closed": closed}
    for operator in (sash.Sum(), Affine()):
        expected = sash.rolling(values % 97, reach, operator, **options)
        for pays in (0, 1 << 62):
            monkeypatch.setattr(second_thread, "PAYS", pays)
            found = sash.rolling(values % 97, reach, operator, algorithm="pba", **options)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("rows", [0, 1, 2, 5, 9, 10, 11, 23])
@pytest.mark.parametrize("reach", [3, 10, 11, 50, 10**15])
def test_slices_of_few_rows(rows: int, reach: int) -> None:
    values = "abcdefghijklmnopqrstuvwxyz"[:rows]
    for every in (1, 2, 3, 5):
        found = sash.rolling(list(values), reach, sash.Concat(), every=every, algorithm="pba")
        assert found == sash.rolling(list(values), reach, sash.Concat(), every=every)


def test_nulls_and_windows_without_a_value(started: list[str]) -> None:
    values = [None if i % 5 else float(i) for i in range(600)]
    for reach, every in ((3, 1), (3, 2), (20, 3), (100, 7)):
        found = sash.rolling(values, reach, sash.Mean(), every=every, algorithm="pba")
        assert found == pytest.approx(sash.rolling(values, reach, sash.Mean(), every=every))

"""How often PBA calls ⊕: the main thread's part and the other's, counted apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import sash
from sash.testing import Counting

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 64, 100, 1_000]


class Parts:
    """A window whose steps of lcs are counted apart from the rest."""

    def __init__(self, **options: int) -> None:
        self.calls = Counting()
        self.window = sash.aggregator("pba", self.calls.of(sash.Sum()), **options)
        self.window.insert(0)
        run = self.window._kept.run
        scope = run.insert.__globals__
        step_back, sum_from = scope["step_back"], run.bulk_evict.__globals__["sum_from"]
        self.other = 0

        def stepping(slots: object, A: int) -> int:
            with self._others():
                return step_back(slots, A)

        def summing(slots: object, start: int, end: int) -> None:
            with self._others():
                sum_from(slots, start, end)

        scope["step_back"] = run.bulk_evict.__globals__["step_back"] = stepping
        run.bulk_evict.__globals__["sum_from"] = summing
        self.window.evict()
        self.taken()

    @contextmanager
    def _others(self) -> Iterator[None]:
        before = self.calls.count
        yield
        self.other += self.calls.count - before

    def taken(self) -> tuple[int, int]:
        """⊕ of the main thread and of the other since last asked."""
        other, self.other = self.other, 0
        return self.calls.taken() - other, other


def sliding(size: int, slides: int, **options: int) -> list[tuple[int, int]]:
    parts = Parts(**options)
    for value in range(size):
        parts.window.insert(value)
    parts.taken()
    found = []
    for value in range(slides):
        parts.window.evict()
        parts.window.insert(value)
        parts.window.query()
        found.append(parts.taken())
    return found


@pytest.mark.parametrize("size", SIZES)
def test_a_slide_costs_three_and_one_more_of_the_other_thread(size: int) -> None:
    """From the first slide on, if the window's size is known beforehand."""
    found = sliding(size, 5 * size + 10, range=size)
    assert max(main for main, _ in found) <= 3
    assert max(other for _, other in found) <= 1
    assert max(map(sum, found)) <= 4


@pytest.mark.parametrize("size", SIZES)
def test_a_window_that_has_grown_waits_once(size: int) -> None:
    """Its first values leave a chunk that was as long as all of it."""
    found = sliding(size, 5 * size + 10)
    assert max(main for main, _ in found) <= 3
    assert max(other for _, other in found[:2]) <= size
    assert max(other for _, other in found[2:]) <= 1


@pytest.mark.parametrize("size", SIZES[6:])
def test_the_other_thread_does_less_than_one_per_slide(size: int) -> None:
    found = sliding(size, 20 * size, range=size)
    chunk = (size + 2) // 2
    # lcs are formed for all but the last of a chunk, which is its own, and the first.
    assert sum(other for _, other in found) <= (chunk - 2) / chunk * len(found) + chunk
    assert sum(main for main, _ in found) <= 3 * len(found)


def test_the_other_thread_has_all_of_the_lcs_to_do() -> None:
    """The counts above would hold of an algorithm that never needed lcs."""
    found = sliding(100, 51 * 10, range=100)
    assert sum(other for _, other in found) >= 49 * 9


@pytest.mark.parametrize(("reach", "slide"), [(12, 2), (100, 10), (103, 10), (1_000, 3)])
def test_a_slice_gives_the_other_thread_time_for_as_many_steps_as_it_has_rows(
    reach: int, slide: int
) -> None:
    """What is left to do when a window needs it was done while its last slice came in."""
    found = sliding(reach // slide, 2_000, range=reach, slide=slide)
    assert max(main for main, _ in found) <= 3
    assert max(other for _, other in found) <= 2 * slide + reach % slide


@pytest.mark.parametrize("size", [64, 100])
def test_no_wait_when_values_are_inserted_before_others_leave(size: int) -> None:
    parts = Parts()
    for value in range(size):
        parts.window.insert(value)
    found = []
    for value in range(6 * size):
        parts.taken()
        parts.window.insert(value)
        parts.window.evict()
        parts.window.query()
        found.append(parts.taken())
    assert max(main for main, _ in found) <= 3
    assert max(other for _, other in found[3:]) <= 1


def test_a_window_holds_two_partials_more_than_values() -> None:
    window = sash.aggregator("pba", sash.Collect())
    for value in range(500):
        window.insert(value)
        if len(window) > 60:
            window.evict()
        assert window.partials_held() <= len(window) + 2

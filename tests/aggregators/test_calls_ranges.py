"""How often ⊕ is called by the algorithms that also answer for less than their window."""

from __future__ import annotations

import pytest

import sash
from sash.testing import Counting

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 64, 100]


def full(algorithm: str, size: int, operator: sash.Operator, **options: object) -> sash.Aggregator:
    window = sash.aggregator(algorithm, operator, **options)
    for value in range(size):
        window.insert(value)
    return window


def slide(window: sash.Aggregator, value: int) -> None:
    window.evict()
    window.insert(value)


@pytest.mark.parametrize("size", SIZES)
def test_flat_fit_for_one_query_does_three_less_three_n_in_each_cycle(size: int) -> None:
    """n + 1 slides: one that rebuilds the window, and n that are short."""
    calls = Counting()
    window = full("flat_fit", size, calls.of(sash.Sum()))
    for cycle in range(4):
        calls.taken()
        for value in range(size + 1):
            slide(window, value)
            window.query()
        assert calls.taken() == 3 * (size - 1), f"cycle {cycle}"


@pytest.mark.parametrize("size", SIZES)
def test_flat_fit_for_all_ranges_does_one_each(size: int) -> None:
    """The longest is asked first: what it leaves is what the shorter ones need."""
    calls = Counting()
    window = full("flat_fit", size, calls.of(sash.Sum()))
    calls.taken()
    for value in range(3 * size):
        slide(window, value)
        for last in range(size, 0, -1):
            window.query(last)
        assert calls.taken() == size - 1


def test_flat_fit_rebuilds_the_whole_window_at_once() -> None:
    calls = Counting()
    window = full("flat_fit", 100, calls.of(sash.Sum()))
    calls.taken()
    most = 0
    for value in range(300):
        slide(window, value)
        window.query()
        most = max(most, calls.taken())
    assert most == 99


def test_flat_fit_in_a_window_that_grows_and_shrinks() -> None:
    """A growing window asks again from the same start; a shrinking one rebuilds itself once."""
    calls = Counting()
    window = full("flat_fit", 50, calls.of(sash.Sum()))
    window.query()
    calls.taken()
    for value in range(50):
        window.insert(value)
        window.query()
        assert calls.taken() <= 2
    for _ in range(100):
        window.evict()
        window.query()
    assert calls.taken() <= 100 + 50

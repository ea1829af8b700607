"""How often ⊕ is called by the algorithms that also answer for less than their window."""

from __future__ import annotations

from math import log2

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


@pytest.mark.parametrize("size", SIZES)
def test_b_int_combines_at_most_two_intervals_of_each_length(size: int) -> None:
    calls = Counting()
    window = full("b_int", size, calls.of(sash.Sum()))
    calls.taken()
    slides = max(4 * size, 64)
    inserts = 0
    for value in range(slides):
        slide(window, value)
        inserts += calls.taken()
        for last in range(1, size + 1):
            window.query(last)
            assert calls.taken() <= max(1, 2 * log2(last))
    assert inserts <= slides


def test_b_int_forms_each_interval_once() -> None:
    """As many as there are sums of 2, 4, 8, … in 64 values; eviction costs nothing."""
    calls = Counting()
    window = full("b_int", 64, calls.of(sash.Sum()))
    assert calls.taken() == 63
    for _ in range(64):
        window.evict()
    assert calls.taken() == 0

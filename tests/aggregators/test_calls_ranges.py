"""How often ⊕ is called by the algorithms that also answer for less than their window."""

from __future__ import annotations

import random
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
def test_flat_fit_for_one_query_does_3n_less_3_in_each_cycle(size: int) -> None:
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


@pytest.mark.parametrize("size", SIZES)
def test_slick_deque_compares_each_value_twice_at_most(size: int) -> None:
    """Once when it comes and a second time when it loses; a query costs nothing."""
    chance = random.Random(size)
    for values in (
        [chance.random() for _ in range(500)],
        [float(i) for i in range(500)],
        [float(-i) for i in range(500)],
        [float(i % 7) for i in range(500)],
    ):
        calls = Counting()
        window = sash.aggregator("slick_deque", calls.of(sash.Max()))
        inserts = 0
        for value in values:
            if len(window) == size:
                window.evict()
                assert calls.taken() == 0
            window.insert(value)
            inserts += calls.taken()
            window.query()
            window.query(len(window) // 2)
            assert calls.taken() == 0
        assert inserts < 2 * len(values)


def test_slick_deque_with_an_inverse_does_one_step_each() -> None:
    """One ⊕ and one ⊖ for the window, and the same for each range that was given."""
    calls = Counting()
    window = full("slick_deque", 20, calls.of(sash.Sum()), ranges=[3, 10])
    calls.taken()
    for value in range(50):
        window.evict()
        assert calls.taken() == 1
        window.insert(value)
        assert calls.taken() == 1 + 2 * 2
        assert window.query(3) == sum([17, 18, 19, *range(50)][value + 1 : value + 4])
        window.query(10)
        assert calls.taken() == 0
        window.query(7)  # not given: its values are summed
        assert calls.taken() == 7


@pytest.mark.parametrize("size", SIZES)
def test_slide_side_does_three_for_each_range(size: int) -> None:
    calls = Counting()
    ranges = [r for r in (1, 3, 8, 9, 40) if r < size]
    window = full("slide_side", size, calls.of(sash.Max()), ranges=ranges)
    calls.taken()
    for value in range(50 * size):
        slide(window, value)
        window.query()
        for last in ranges:
            window.query(last)
    assert calls.taken() <= 3 * (len(ranges) + 1) * 50 * size + sum(ranges) + size


def test_slide_side_answers_a_range_that_was_given_in_one_step() -> None:
    calls = Counting()
    window = full("slide_side", 50, calls.of(sash.Max()), ranges=[10])
    for value in range(200):
        slide(window, value)
        calls.taken()
        window.query(10)
        assert calls.taken() <= 1
    window.query(3)  # not given, and on this side of the window's bound
    assert calls.taken() == 3


@pytest.mark.parametrize("size", SIZES)
def test_slide_side_with_an_inverse_answers_any_range_in_two_steps(size: int) -> None:
    calls = Counting()
    window = full("slide_side", size, calls.of(sash.Sum()))
    calls.taken()
    for value in range(3 * size):
        window.evict()
        assert calls.taken() == 0
        window.insert(value)
        assert calls.taken() == 1
        for last in range(1, size + 1):
            window.query(last)
            assert calls.taken() <= 2


@pytest.mark.parametrize("algorithm", ["flat_fit", "slick_deque"])
def test_few_partials_are_held(algorithm: str) -> None:
    window = sash.aggregator(algorithm, sash.Max())
    for value in range(100):
        window.insert(value)
    assert window.partials_held() <= 101

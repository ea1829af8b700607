"""How often ⊕ is called where rows come out of order."""

from __future__ import annotations

import math
import random

import pytest

import sash
from sash.testing import Counting


@pytest.mark.parametrize("size", [1, 10, 15, 16, 17, 40, 255, 1_000, 10_000])
def test_in_order_fiba_takes_five_per_slide(size: int) -> None:
    calls = Counting()
    window = sash.aggregator("fiba", calls.of(sash.Sum()))
    for value in range(size):
        window.insert(value)
    calls.taken()
    slides = max(2 * size, 1_000)
    for value in range(slides):
        window.evict()
        window.insert(value)
        window.query()
    assert calls.taken() <= 5 * slides + 100


def behind(distance: int, held: int) -> tuple[float, int]:
    """The ⊕ of an insert with so many younger entries: on average, and at most."""
    chance = random.Random(distance)
    calls = Counting()
    window = sash.aggregator("fiba", calls.of(sash.Sum()))
    for time in range(held):
        window.insert(1, 2 * time)
    taken = []
    for time in range(held, held + 1_500):
        window.insert(1, 2 * time)
        window.evict()
        calls.taken()
        window.insert(1, 2 * (time - distance) + chance.randrange(2))
        taken.append(calls.taken())
        window.evict()
    return sum(taken) / len(taken), max(taken)


def test_out_of_order_it_is_the_logarithm_of_the_distance() -> None:
    """Not of the window: 16 per level of the tree at most, and a level for each eightfold."""
    for distance in (1, 10, 100, 1_000):
        levels = 2 + math.log(distance, 8)
        for held in (4_000, 16_000):
            average, _ = behind(distance, held)
            assert average <= 16 * levels
    near, _ = behind(3, 16_000)
    far, _ = behind(8_000, 16_000)
    assert near < far / 2


def test_bulk_evict_is_the_logarithm_of_the_window() -> None:
    for held in (100, 2_000, 30_000):
        calls = Counting()
        for count in (17, held // 2, held - 1):
            window = sash.aggregator("fiba", calls.of(sash.Sum()))
            for time in range(held):
                window.insert(1, time)
            calls.taken()
            window.bulk_evict(up_to=count - 1)
            assert len(window) == held - count
            assert calls.taken() <= 3 * 16 * (1 + math.log(held, 8))


def test_a_range_is_the_logarithm_of_the_window() -> None:
    calls = Counting()
    window = sash.aggregator("fiba", calls.of(sash.Sum()))
    for time in range(30_000):
        window.insert(1, time)
    calls.taken()
    for start, end in ((0, 30_000), (17, 29_000), (14_000, 14_100)):
        assert window.query(start=start, end=end) == end - start
        assert calls.taken() <= 2 * 16 * 5
    window.query(20)
    assert calls.taken() <= 2 * 16 * 2


def test_a_latency_bound_costs_the_logarithm_of_what_is_within_it() -> None:
    chance = random.Random(3)
    calls = Counting()
    window = sash.aggregator("latency_bound", calls.of(sash.Sum()), bound=50)
    spent = []
    for time in range(4_000):
        window.insert(1, time - chance.randrange(51) if time > 50 else time)
        if len(window) > 2_000:
            window.evict()
        spent.append(calls.taken())
    settled = spent[2_500:]
    assert sum(settled) / len(settled) <= 3 * 16 + 5 + 5


@pytest.mark.parametrize("sources", [1, 2, 8, 100])
def test_sources_cost_the_logarithm_of_their_number(sources: int) -> None:
    calls = Counting()
    window = sash.aggregator("per_source", calls.of(sash.Sum()))
    for step in range(5 * sources):
        window.insert(1, source=step % sources)
    calls.taken()
    for step in range(3 * sources):
        window.insert(1, source=step % sources)
        assert calls.taken() <= 3 + 1 + math.ceil(math.log2(sources))
        window.evict(step % sources)
        assert calls.taken() <= 2 + 1 + math.ceil(math.log2(sources))
        window.query()
        assert calls.taken() == 0

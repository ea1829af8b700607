"""Several ranges of one window: the same answers as recalc, one by one and in bulk."""

from __future__ import annotations

import random

import numpy as np
import pytest

import sash
from sash.operators.laws import close

WITH_RANGES = ["slick_deque", "slide_side"]
RANGES = [1, 2, 5, 8, 16, 33]
OPERATORS = [
    (sash.Max(), [3.5, float("nan"), -1.0, 0.0, 0.0, 7.0]),
    (sash.Sum(), [1, -5, 2**40, 3]),
    (sash.Last(), ["a", "b"]),
    (sash.First(), ["a", "b"]),
    (sash.ArgMax(), [(1, "a"), (2, "b"), (2, "c")]),
    (sash.Count(), [1, 2]),
]


@pytest.mark.parametrize(("operator", "pool"), OPERATORS, ids=lambda x: repr(x)[:12])
@pytest.mark.parametrize("algorithm", WITH_RANGES)
def test_one_by_one(algorithm: str, operator: sash.Operator, pool: list[object]) -> None:
    """In a window that grows past its ranges, shrinks below them, and runs empty."""
    chance = random.Random(7)
    tried = sash.aggregator(algorithm, operator, ranges=RANGES)
    oracle = sash.aggregator("recalc", operator)
    held: list[object] = []
    for wanted in (3, 40, 10, 0, 20, 70, 5, 0, 33):
        while len(held) != wanted:
            if len(held) > wanted or (held and chance.random() < 0.3):
                tried.evict()
                oracle.evict()
                del held[0]
            else:
                value = None if chance.random() < 0.2 else chance.choice(pool)
                tried.insert(value)
                oracle.insert(value)
                held.append(value)
            tried.check_invariants(held)
            for last in {*RANGES, 3, len(held)}:
                if last <= len(held) and chance.random() < 0.7:
                    assert close(tried.query(last), oracle.query(last)), (held, last)


@pytest.mark.parametrize("operator", [sash.Max(), sash.Sum()], ids=repr)
@pytest.mark.parametrize("algorithm", [*WITH_RANGES, "flat_fit", "b_int"])
def test_in_bulk(algorithm: str, operator: sash.Operator) -> None:
    values = np.random.default_rng(3).integers(-9, 9, 700)
    options = {"ranges": RANGES} if algorithm in WITH_RANGES else {}
    tried = sash.aggregator(algorithm, operator, **options)
    oracle = sash.aggregator("recalc", operator)
    for part in (values[:100], values[100:]):
        sizes = [40, 5, 16, 6]
        for found, expected in zip(
            tried.slide(part, sizes), oracle.slide(part, sizes), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
        assert tried.query(8) == oracle.query(8)
        tried.insert(4)
        oracle.insert(4)
    tried.bulk_insert(values)
    oracle.bulk_insert(values)
    for last in (*RANGES, 3, len(oracle)):
        assert tried.query(last) == oracle.query(last)


@pytest.mark.parametrize("algorithm", WITH_RANGES)
def test_ranges_that_are_none(algorithm: str) -> None:
    with pytest.raises(ValueError, match="at least 1 value, not 0"):
        sash.aggregator(algorithm, sash.Max(), ranges=[5, 0])
    with pytest.raises(TypeError, match=r"whole number of values, not 2\.5"):
        sash.aggregator(algorithm, sash.Max(), ranges=[2.5])
    with pytest.raises(TypeError, match=r"such as \[10, 100\], not 7"):
        sash.aggregator(algorithm, sash.Max(), ranges=7)
    with pytest.raises(TypeError, match="it has ranges"):
        sash.aggregator(algorithm, sash.Max(), range=[7])


def test_running_totals_do_not_grow_for_ever() -> None:
    """slide_side begins them anew, so that integers never overflow for what has left."""
    window = sash.aggregator("slide_side", sash.Count())
    for row in range(1_000):
        if len(window) == 10:
            window.evict()
        window.insert(row)
        _, _, _, done, total = window._kept.state
        assert done.n + total.n <= 21
    assert window.query() == 10


def test_an_inverse_of_floats_is_not_used_where_it_need_not_be() -> None:
    """slide_side sums floats from both sides; integers it takes back."""
    for values, state in (([1.5, 2.5], 4), ([1, 2], 5)):
        window = sash.aggregator("slide_side", sash.Sum(), ranges=[1])
        window.bulk_insert(values)
        assert len(window._kept.state) == state
        assert window.query(1) == values[1]

"""What floats do to a window: large values that leave, small spreads, sums of many."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash

TAKING_BACK = ["subtract_on_evict", "slick_deque"]
"""What leaves is subtracted: exact for integers only."""

EXACT = [a.name for a in sash.algorithms() if a.name not in TAKING_BACK and not a.composed]


SOME = ["auto", "daba_lite", "amta", "fiba"]
"""Compiled, which takes seconds each; one by one, all of them are tried."""


@pytest.mark.parametrize("algorithm", SOME)
@pytest.mark.parametrize(
    ("operator", "answer"),
    [(sash.Sum(), 8.0), (sash.Mean(), 1.0), (sash.StdDev(), 0.0), (sash.Variance(ddof=0), 0.0)],
    ids=repr,
)
@pytest.mark.parametrize("huge", [1e16, 1e300, math.inf, math.nan])
def test_a_huge_value_that_has_left_leaves_no_trace(
    algorithm: str, operator: sash.Operator, answer: float, huge: float
) -> None:
    values = np.ones(64)
    values[20] = huge
    found = sash.rolling(values, 8, operator, algorithm=algorithm)
    assert np.all(found[7:20] == answer)
    assert np.all(found[28:] == answer)


@pytest.mark.parametrize("algorithm", EXACT)
@pytest.mark.parametrize("operator", [sash.Sum(), sash.Mean(), sash.StdDev()], ids=repr)
@pytest.mark.parametrize("huge", [1e16, 1e300, math.inf, math.nan])
def test_nor_where_values_come_one_by_one(
    algorithm: str, operator: sash.Operator, huge: float
) -> None:
    window = sash.aggregator(algorithm, operator)
    for value in (1.0, 1.0, huge, *[1.0] * 30):
        if len(window) == 8:
            window.evict()
        window.insert(value)
        window.query()
    ones = sash.aggregator("recalc", operator)
    for _ in range(8):
        ones.insert(1.0)
    assert window.query() == ones.query()


@pytest.mark.parametrize("algorithm", SOME)
def test_a_small_spread_far_from_zero(algorithm: str) -> None:
    chance = np.random.default_rng(0)
    near = chance.uniform(-0.5, 0.5, 3_000)
    found = sash.rolling(1e9 + near, 1_000, sash.StdDev(), algorithm=algorithm)
    held = 1e9 + near  # what is left of the spread once it is added to 1e9
    for i in (999, 1_500, 2_999):
        exact = math.sqrt(
            math.fsum(
                (v - math.fsum(held[i - 999 : i + 1]) / 1_000) ** 2 for v in held[i - 999 : i + 1]
            )
            / 999
        )
        assert found[i] == pytest.approx(exact, rel=1e-6)


def test_the_geometric_mean_never_forms_the_product() -> None:
    assert sash.rolling(np.full(10_000, 1e300), 10_000, sash.GeometricMean())[-1] == pytest.approx(
        1e300, rel=1e-10
    )
    assert sash.rolling([1.0, 0.0, 4.0], 2, sash.GeometricMean()) == [1.0, 0.0, 0.0]
    assert math.isnan(sash.rolling([-1.0], 1, sash.GeometricMean())[0])


def test_a_product_that_passes_through_overflow() -> None:
    values = np.array([1e300, 1e300, 1e-300, 1e-300, 5.0])
    found = sash.rolling(values, 4, sash.Product())
    assert found[3] == pytest.approx(1.0, rel=1e-12)
    assert math.isinf(found[1])
    assert sash.rolling([2.0, 0.0, 3.0], 3, sash.Product()) == [2.0, 0.0, 0.0]


@given(st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=200), st.integers(1, 200))
def test_a_sum_of_floats_is_as_good_as_exact(values: list[float], length: int) -> None:
    """Far better than pairwise summation: within an ulp of the sum, or of what cancels."""
    found = sash.rolling(np.array(values), length, sash.Sum())
    for i, answer in enumerate(found):
        window = values[max(0, i + 1 - length) : i + 1]
        exact = math.fsum(window)
        cancelled = 1e-30 * math.fsum(map(abs, window)) * len(window)
        assert abs(answer - exact) <= math.ulp(exact) + cancelled


def test_a_long_sum_beats_pairwise_summation() -> None:
    values = np.random.default_rng(1).uniform(size=1_000_000)
    exact = math.fsum(values)
    for algorithm in ("auto", "two_stacks_lite", "daba"):
        found = sash.rolling(values, values.size, sash.Sum(), algorithm=algorithm)[-1]
        assert abs(found - exact) <= max(abs(np.sum(values) - exact), math.ulp(exact))


def test_products_and_shapes_of_tiny_values() -> None:
    assert sash.rolling(np.full(2_300_000, 1e-300), 3_000_000, sash.Product())[-1] == 0.0
    values = np.random.default_rng(0).random(20)
    for operator in (sash.Skewness(), sash.Kurtosis()):
        tiny = sash.rolling(values * 1e-60, 10, operator)
        np.testing.assert_allclose(tiny[2:], sash.rolling(values, 10, operator)[2:], rtol=1e-6)


class TestIntegers:
    most = np.iinfo(np.int64).max

    def test_a_sum_that_overflows_raises(self) -> None:
        with pytest.raises(OverflowError, match="does not fit in 64 bits"):
            sash.rolling(np.array([self.most, 1]), 2, sash.Sum())
        window = sash.aggregator("daba", sash.Sum())
        window.insert(int(self.most))
        window.insert(1)
        with pytest.raises(OverflowError):
            window.query()

    @pytest.mark.parametrize("algorithm", ["auto", *EXACT, *TAKING_BACK])
    def test_a_part_of_the_window_may_overflow(self, algorithm: str) -> None:
        """Only the window's own sum must fit, however an algorithm groups it."""
        values = np.array([self.most, self.most, -self.most, -self.most, 5])
        found = sash.rolling(values, 4, sash.Sum(), every=4, algorithm=algorithm)
        assert found.tolist() == [0]

    def test_unsigned_and_narrow(self) -> None:
        big = np.array([2**63, 2**63 - 1], np.uint64)
        assert sash.rolling(big, 2, sash.Sum()).tolist() == [2**63, 2**64 - 1]
        with pytest.raises(OverflowError):
            sash.rolling(np.array([2**63, 2**63], np.uint64), 2, sash.Sum())
        assert sash.rolling(np.array([127, 127], np.int8), 2, sash.Sum()).tolist() == [127, 254]

    def test_a_range_that_overflows_raises(self) -> None:
        with pytest.raises(OverflowError, match="range"):
            sash.rolling(np.array([self.most, -2]), 2, sash.Range())
        assert sash.rolling(np.array([127, -128], np.int8), 2, sash.Range()).tolist() == [0, 255]
        assert sash.rolling(np.array([0, 255], np.uint8), 2, sash.Range()).tolist() == [0, 255]

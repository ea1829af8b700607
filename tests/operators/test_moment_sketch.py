"""MomentSketch: its laws, its compiled form, and the errors of its quantiles in rank."""

from __future__ import annotations

import math
import pickle
import sys
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.aggregators import sba
from sash.aggregators.compiling import Compiled
from sash.operators.errors import OperatorError
from sash.operators.laws import check_operator, close
from sash.operators.sketches import MomentSketch

NAN = float("nan")
RANKS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


def summed(op: MomentSketch, values: Any) -> Any:
    monoid = op.bind()
    return reduce(monoid.combine, [monoid.lift(float(v)) for v in values], monoid.identity())


def answer(op: MomentSketch, values: Any) -> Any:
    monoid = op.bind()
    lowered = monoid.lower(summed(op, values))
    return op.finish(dict(zip(monoid.answer, lowered, strict=True)))


def rank_error(op: MomentSketch, values: Any) -> float:
    found = answer(op, values)
    places = np.searchsorted(np.sort(values), found) / len(values)
    return float(np.abs(places - op.options["quantiles"]).max())


SMOOTH = {
    "uniform": lambda r: r.random(4_000),
    "normal": lambda r: r.normal(size=4_000),
    "exponential": lambda r: r.exponential(size=4_000),
    "lognormal": lambda r: r.lognormal(size=4_000),
    "long-tailed": lambda r: r.pareto(1.0, 4_000) + 1,
    "two peaks": lambda r: np.concatenate([r.normal(20, 1, 2_000), r.normal(100, 1, 2_000)]),
    "tiny": lambda r: r.random(4_000) * 1e-40,
    "huge": lambda r: r.lognormal(size=4_000) * 1e35,
    "far from 0": lambda r: r.normal(1_000, 1, 4_000),
}


@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("seed", range(4))
def test_smooth_data_are_met_within_two_percent_in_rank(kind, seed):
    values = SMOOTH[kind](np.random.default_rng(seed))
    assert rank_error(MomentSketch(quantiles=RANKS), values) <= 0.02


def test_an_origin_keeps_the_digits_of_values_far_from_zero():
    values = 1.7e9 + np.random.default_rng(0).beta(2, 9, 4_000) * 3_600
    assert rank_error(MomentSketch(quantiles=RANKS), values) > 0.02
    assert rank_error(MomentSketch(quantiles=RANKS, origin=1.7e9), values) <= 0.02


def test_a_lower_order_knows_less():
    values = np.random.default_rng(0).normal(size=2_000) ** 3
    errors = [rank_error(MomentSketch(order=k, quantiles=RANKS), values) for k in (1, 4, 10)]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize(
    ("values", "quantiles", "expected"),
    [
        ([], (0.5,), None),
        ([], (0.1, 0.5), None),
        ([7.0], (0.5,), 7.0),
        ([7.0], 0.5, 7.0),
        ([7.0, 7.0, 7.0, 7.0], (0.0, 0.5, 1.0), [7.0, 7.0, 7.0]),
        ([1.0, 9.0], (0.0, 0.5, 0.51, 1.0), [1.0, 1.0, 9.0, 9.0]),
        ([1.0, 9.0, 2.0], (0.0, 0.5, 1.0), [1.0, 2.0, 9.0]),
        ([-math.inf, 1.0, math.inf, NAN], (0.2, 0.5, 0.7, 0.9), [-math.inf, 1.0, math.inf, NAN]),
        ([NAN], (0.5,), NAN),
        ([math.inf], (0.0,), math.inf),
        ([NAN, 1.0], (0.5,), 1.0),
    ],
)
def test_few_values_are_known_exactly(values, quantiles, expected):
    found = answer(MomentSketch(quantiles=quantiles, origin=3.0), values)
    assert np.shape(found) == np.shape(expected)
    assert close(*(tuple(x) if isinstance(x, list) else x for x in (found, expected)))


@settings(deadline=None, max_examples=60)
@given(
    values=st.lists(
        st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=True)), min_size=1, max_size=30
    )
)
def test_whatever_the_values_quantiles_rise_from_the_least_to_the_greatest(values):
    """Few values, equal ones, and extremes have moments that no smooth density has."""
    found = answer(MomentSketch(quantiles=(0.0, 0.3, 0.6, 1.0)), values)
    ordered = sorted(values, key=lambda v: (v != v, v))
    assert found[0] == ordered[0] or math.isnan(ordered[0])
    assert found[-1] == ordered[-1] or math.isnan(ordered[-1])
    assert found == sorted(found, key=lambda v: (v != v, v))


LARGEST = sys.float_info.max


@pytest.mark.parametrize(
    "values",
    [
        [-LARGEST, LARGEST, 0.0, 1.0, 2.0],
        [LARGEST / k for k in range(1, 6)],
        [5e-324 * k for k in range(1, 6)],
        [5e-324, LARGEST, 1.0, 2.0, 3.0],
        [1e16 + 2 * k for k in range(5)],
        [1.0 + k * 2.0**-52 for k in range(5)],
    ],
)
def test_extreme_values_do_not_overflow(values):
    found = answer(MomentSketch(quantiles=(0.0, 0.3, 0.5, 0.7, 1.0)), values)
    assert found == sorted(found)
    assert (found[0], found[-1]) == (min(values), max(values))


@pytest.mark.parametrize("order", [1, 3, 10])
def test_laws(order):
    check_operator(MomentSketch(order=order), [1.0, -2.0, 0.5, NAN, math.inf, -math.inf, 0.0])
    check_operator(MomentSketch(order=order), [1, 2, 3])


@pytest.mark.parametrize("order", [2, 10])
@pytest.mark.parametrize(
    "dtype",
    ["float64", *(pytest.param(each, marks=pytest.mark.full) for each in ("int32", "bool"))],
)
def test_compiled(order, dtype):
    values = np.random.default_rng(1).integers(0, 9, 120).astype(dtype)
    if dtype == "float64":
        values[::11] = [np.nan, np.inf, -np.inf, -1.5] * 2 + [0.5] * 3
    op = MomentSketch(order=order, origin=0.5)
    monoid = op.bind(dtype)
    compiled = Compiled(sba, monoid, (False,))
    names = [name for name, _ in compiled.answer_types]
    assert names == list(monoid.answer)
    assert compiled.nullable == [False]
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - 10, 0)
    out = tuple(np.empty(len(values), kind) for _, kind in compiled.answer_types)
    slots = tuple(np.empty(16, kind) for _, kind in monoid.fields or ())
    compiled.call("roll_bounds", (values, 0), starts, ends, 0, len(values), slots, out)
    for i in range(len(values)):
        expected = monoid.lower(summed(op, values[starts[i] : ends[i]]))
        assert close(tuple(column[i].item() for column in out), tuple(map(float, expected)))


def test_each_order_is_a_class_of_its_own_and_a_moment_sketch():
    few, many = MomentSketch("x", order=2), MomentSketch("x")
    assert isinstance(few, MomentSketch)
    assert type(few) is type(MomentSketch(order=2))
    assert few != many
    assert list(few.bind().fields or ()) == list(many.bind().fields or ())[:8] + [
        (name, np.dtype("float64")) for name in ("l1", "l2")
    ]
    assert repr(few) == "MomentSketch('x', order=2)"
    assert pickle.loads(pickle.dumps(few)) == few
    assert type(pickle.loads(pickle.dumps(few))) is type(few)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"order": 0}, "order must be an integer from 1 to 10, and is 0"),
        ({"order": 11}, "order must be an integer from 1 to 10, and is 11"),
        ({"quantiles": (0.5, 2)}, "quantiles must be a number from 0 to 1, or a tuple of such"),
        ({"power": 2}, "has no option 'power'"),
    ],
)
def test_options_are_checked(options, sentence):
    with pytest.raises(OperatorError, match=f"MomentSketch.*{sentence}"):
        MomentSketch(**options)

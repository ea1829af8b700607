"""LongestRise: against a plain scan, in every grouping of ⊕, in plain Python and compiled."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.aggregators import sba
from sash.aggregators.compiling import Compiled
from sash.operators.laws import check_operator
from sash.operators.runs import LongestRise

NAN = float("nan")

values_of_window = st.lists(
    st.one_of(st.integers(0, 4).map(float), st.just(NAN), st.none()), max_size=14
)


def scanned(values: list[float | None], start: int = 0) -> tuple[int, int, int] | None:
    """The first of the longest rising runs, by trying each value as its beginning."""
    kept = [(row, v) for row, v in enumerate(values, start) if v is not None]
    best = None
    for i in range(len(kept)):
        j = i
        while j + 1 < len(kept) and kept[j][1] < kept[j + 1][1]:
            j += 1
        if best is None or j - i + 1 > best[2]:
            best = kept[i][0], kept[j][0], j - i + 1
    return best


def lifted(values: list[float | None], start: int = 0) -> list[Any]:
    monoid = LongestRise().bind()
    return [monoid.lift_cells(iter([(v,)]), row) for row, v in enumerate(values, start)]


def answered(partial: Any) -> tuple[int, int, int] | None:
    monoid = LongestRise().bind()
    return monoid.empty_answer() if partial.n == 0 else monoid.lower(partial)


@settings(deadline=None)
@given(values=values_of_window, data=st.data())
def test_any_grouping_gives_what_a_scan_gives(values, data):
    monoid = LongestRise().bind()
    partials = lifted(values)
    while len(partials) > 1:
        at = data.draw(st.integers(0, len(partials) - 2))
        partials[at : at + 2] = [monoid.combine(partials[at], partials[at + 1])]
    whole = partials[0] if partials else monoid.identity()
    assert answered(whole) == scanned(values)


@settings(deadline=None)
@given(values=values_of_window, cuts=st.tuples(st.integers(0, 14), st.integers(0, 14)))
def test_partials_are_equal_however_they_were_grouped(values, cuts):
    """Not only the answers: what a partial knows of its ends does not depend on the grouping."""
    monoid = LongestRise().bind()
    first, second = sorted(cuts)
    partials = lifted([v for v in values if v == v])
    a, b, c = (
        reduce(monoid.combine, part, monoid.identity())
        for part in (partials[:first], partials[first:second], partials[second:])
    )
    left = monoid.combine(monoid.combine(a, b), c)
    assert left == monoid.combine(a, monoid.combine(b, c))
    assert (
        monoid.combine(monoid.identity(), left) == left == monoid.combine(left, monoid.identity())
    )


def test_laws():
    check_operator(LongestRise(), [1.0, 2.0, 3.0, 2.5, NAN, 0.0])
    check_operator(LongestRise(), [1, 2, 3])
    check_operator(LongestRise(), ["a", "b", "c"])


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ([], None),
        ([None, None], None),
        ([5.0], (0, 0, 1)),
        ([NAN], (0, 0, 1)),
        #  0    1    2    3    4    5
        ([1.0, 2.0, 2.0, 3.0, 4.0, 1.0], (2, 4, 3)),  # equal values do not rise
        ([1.0, 2.0, 1.0, 2.0], (0, 1, 2)),  # the earliest of two
        ([1.0, NAN, 2.0, 3.0], (2, 3, 2)),  # NaN breaks a run
        ([NAN, NAN], (0, 0, 1)),
        ([1.0, None, 2.0, None, None, 3.0], (0, 5, 3)),  # nulls do not
        ([None, 3.0, 2.0, None, 4.0, None], (2, 4, 2)),
    ],
)
def test_examples(values, answer):
    monoid = LongestRise().bind()
    assert answered(reduce(monoid.combine, lifted(values), monoid.identity())) == answer


def test_it_is_not_commutative():
    monoid = LongestRise().bind()
    a, b = lifted([1.0, 2.0])
    assert not LongestRise.commutative
    assert monoid.lower(monoid.combine(a, b)) != monoid.lower(monoid.combine(b, a))


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
def test_compiled(dtype):
    values = np.random.default_rng(1).integers(0, 9, 300).astype(dtype)
    if dtype == "float64":
        values[::11] = np.nan
    valid = np.random.default_rng(2).random(300) < 0.8
    monoid = LongestRise().bind(dtype)
    compiled = Compiled(sba, monoid, (True,))
    assert [name for name, _ in compiled.answer_types] == ["start", "end", "length"]
    length = 20
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - length, 0)
    out = tuple(np.empty(len(values), np.int64) for _ in range(3))
    slots = tuple(np.empty(32, field) for _, field in monoid.fields or ())
    compiled.call("roll_bounds", (values, valid, 0), starts, ends, 0, len(values), slots, out)
    rows = [v if there else None for v, there in zip(values.tolist(), valid, strict=True)]
    for i in range(len(values)):
        expected = scanned(rows[starts[i] : ends[i]], int(starts[i]))
        if expected is not None:
            assert tuple(int(column[i]) for column in out) == expected

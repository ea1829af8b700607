"""Operators whose answers can all be read off one partial: Sum, Count and Mean off a Mean's, say.

Operators with the same `identity`, `lift` and `combine` over the same columns share their partials
as they are: Variance and StdDev do, and so does whatever differs in `lower` alone. Others can stand
in for one another with a wider partial, of which they read a part. Each of those here answers just
as the operator that it is written below, so that a caller cannot tell which of them was asked:

    n, total, error          Count, Sum of floats, Mean
    n, high, low             Count, Sum of integers, Mean
    n, total, error, m2      Count, Sum of floats, Mean, Variance, StdDev
    lo, hi                   Min, Max, Range
    hi, n / lo, n            Max, MaxCount / Min, MinCount
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sash.operators.base import Operator, operator
from sash.operators.extremes import Max, MaxCount, Min, MinCount, Range
from sash.operators.families import COMPARED
from sash.operators.functions import VALUE
from sash.operators.moments import StdDev, Variance
from sash.operators.sums import Count, IntegerSum, Mean, Sum

# Of floats: a sum with its rounding error, and how many there are.


class CountOfMean(Mean):
    answer = "int64"

    def lower(p):
        return p.n


class SumOfMean(Mean):
    def lower(p):
        total = p.total + p.error
        return total if total == total else p.total


# Of whole numbers: their exact sum.


@operator(
    partial={"n": "int64", "high": "int64", "low": "int64"}, commutative=True, answer="float64"
)
class MeanOfWhole:
    def identity():
        return 0, 0, 0

    def lift(v):
        return 1, v >> 32, v & 0xFFFFFFFF

    def combine(a, b):
        return a.n + b.n, a.high + b.high, a.low + b.low

    def inverse(total, old):
        return total.n - old.n, total.high - old.high, total.low - old.low

    def lower(p):
        if p.n == 0:
            return None
        return (p.high * 4294967296.0 + p.low) / p.n


class CountOfWhole(MeanOfWhole):
    answer = "int64"

    def lower(p):
        return p.n


class SumOfWhole(MeanOfWhole):
    answer = staticmethod(lambda dtype: "uint64" if dtype.kind == "u" else "int64")

    def for_type(dtype):
        return IntegerSum.for_type(dtype)

    def lower(p, *, least, most):
        high = p.high + (p.low >> 32)
        if high < least or high >= most:
            raise OverflowError("a sum of integers does not fit in 64 bits; sum them as floats")
        return (high << 32) + (p.low & 0xFFFFFFFF)


# Of floats, with the sum of squared distances from the mean.


@operator(
    partial={"n": "float64", "total": "float64", "error": "float64", "m2": "float64"},
    commutative=True,
    answer="float64",
)
class MeanOfSpread:
    def identity():
        return 0.0, 0.0, -0.0, 0.0

    def lift(v):
        return 1.0, v, -0.0, v - v

    def combine(a, b):
        total = a.total + b.total
        of_b = total - a.total
        lost = (a.total - (total - of_b)) + (b.total - of_b)
        n = a.n + b.n
        apart = (b.total + b.error) / (b.n if b.n > 0.0 else 1.0)
        apart -= (a.total + a.error) / (a.n if a.n > 0.0 else 1.0)
        share = b.n / (n if n > 0.0 else 1.0)
        return n, total, a.error + b.error + lost, a.m2 + b.m2 + apart * (a.n * share) * apart

    def lower(p):
        if p.n == 0.0:
            return None
        total = p.total + p.error
        return (total if total == total else p.total) / p.n


class CountOfSpread(MeanOfSpread):
    answer = "int64"

    def lower(p):
        return int(p.n)


class SumOfSpread(MeanOfSpread):
    def lower(p):
        total = p.total + p.error
        return total if total == total else p.total


class VarianceOfSpread(MeanOfSpread):
    def lower(p, *, ddof=1):
        return p.m2 / (p.n - ddof) if p.n > ddof else None


class StdDevOfSpread(MeanOfSpread):
    def lower(p, *, ddof=1):
        return math.sqrt(p.m2 / (p.n - ddof)) if p.n > ddof else None


# The smallest and the largest.


class MinOfRange(Range):
    answer = VALUE
    needs = COMPARED

    def lower(p):
        return p.lo


class MaxOfRange(Range):
    answer = VALUE
    needs = COMPARED

    def lower(p):
        return p.hi


class MaxOfCount(MaxCount):
    answer = VALUE
    empty = None

    def lower(p):
        return p.hi


class MinOfCount(MinCount):
    answer = VALUE
    empty = None

    def lower(p):
        return p.lo


FLOATS, WHOLE, NUMBERS = "f", "iu", "fiu"

SERVING: tuple[tuple[str, dict[Any, Any]], ...] = (
    (FLOATS, {Count: CountOfMean, Sum: SumOfMean, Mean: Mean}),
    (WHOLE, {Count: CountOfWhole, Sum: SumOfWhole, Mean: MeanOfWhole}),
    (NUMBERS, {Min: MinOfRange, Max: MaxOfRange, Range: Range}),
    (NUMBERS, {Max: MaxOfCount, MaxCount: MaxCount}),
    (NUMBERS, {Min: MinOfCount, MinCount: MinCount}),
    (
        FLOATS,
        {
            Count: CountOfSpread,
            Sum: SumOfSpread,
            Mean: MeanOfSpread,
            Variance: VarianceOfSpread,
            StdDev: StdDevOfSpread,
        },
    ),
)
"""For columns of these kinds of numbers: which operators share a partial, and what stands in for
each. A narrower partial comes before a wider one."""


def sharing(leaves: Sequence[Operator], kind: str) -> list[Operator]:
    """For operators over one column of a kind: what stands in for each, in as few partials.

    Of the ways to serve several of them at once that which serves most comes first; one that is
    left alone stays as it is.

    >>> sharing([Sum(), Count(), Max()], "f")
    [SumOfMean(), CountOfMean(), Max()]
    """
    found = list(leaves)
    left = {type(leaf) for leaf in leaves}
    ways = [way for kinds, way in SERVING if kind in kinds]
    while True:
        way = max(ways, key=lambda each: len(left & set(each)), default={})
        served = left & set(way)
        if len({_makes(each) for each in served}) < 2:  # or they have the same as they are
            return found
        for k, leaf in enumerate(leaves):
            if type(leaf) in served:
                found[k] = way[type(leaf)](*leaf.columns, **leaf.given())
        left -= served


def _makes(kind: type[Operator]) -> tuple[Any, ...]:
    return tuple(kind.functions[name] for name in ("identity", "lift", "combine"))


def partial_key(leaf: Operator, types: Sequence[Any]) -> tuple[Any, ...]:
    """Operators of one key have the same partials: they differ in what `lower` makes of them.

    Where the answer is what stands in a row, they do not differ in that either.
    """
    monoid = leaf.bind(*types)
    names = ("identity", "lift", "combine", *(["lower"] if monoid.takes else []))
    made = tuple(_settled(monoid.functions[name]) for name in names)
    return made, monoid.fields, leaf.columns, monoid.takes


def _settled(function: Any) -> tuple[Any, ...]:
    """A function, and the options that it is settled with."""
    options = function.__kwdefaults__ or {}
    return function.__code__, tuple((name, repr(options[name])) for name in sorted(options))

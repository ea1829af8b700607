"""Aggregates as a user would write them: what is compared with built-in ones, and with others'."""

from __future__ import annotations

import math
from typing import Any

import sash


@sash.operator(partial={"hi": "float64"}, commutative=True, empty=None)
class OwnMax:
    """The maximum."""

    def identity():
        return -math.inf

    def lift(v):
        return v

    def combine(a, b):
        return max(a.hi, b.hi)

    def lower(p):
        return p.hi


@sash.operator(partial={"n": "int64", "logs": "float64"}, commutative=True, empty=None)
class OwnGeometricMean:
    """The geometric mean of positive numbers."""

    def identity():
        return 0, 0.0

    def lift(v):
        return 1, math.log(v)

    def combine(a, b):
        return a.n + b.n, a.logs + b.logs

    def lower(p):
        return math.exp(p.logs / p.n)


@sash.operator(
    partial={"count": "int64", "max_size": "int64"},
    answer={"count": "int64", "max_size": "int64"},
)
class Sized:
    """How many values there are, and how many the newest one lets be (MTA's Listing 2)."""

    def identity():
        return 0, 0

    def lift(v):
        return 1, v

    def combine(a, b):
        return a.count + b.count, b.max_size if b.count > 0 else a.max_size

    def lower(p):
        return p.count, p.max_size


@sash.operator(partial={"total": "int64"}, commutative=True)
class NarrowSum:
    """The sum of integers in one number, which wraps round where ours, of two, would raise."""

    def identity():
        return 0

    def lift(v):
        return v

    def combine(a, b):
        return a.total + b.total

    def lower(p):
        return p.total


@sash.operator(partial={"logs": "float64"}, commutative=True)
class NarrowGeometricMean:
    """What a geometric mean computes but for n, with partials of 8 bytes where ours have 24."""

    def identity():
        return 0.0

    def lift(v):
        return math.log(v)

    def combine(a, b):
        return a.logs + b.logs

    def lower(p):
        return math.exp(p.logs / 1e6)


def greatest_of(kind: str) -> Any:
    """The greatest of numbers that a byte holds, in a partial of one field of this type."""

    @sash.operator(partial={"hi": kind}, commutative=True)
    class Greatest:
        def identity():
            return -128

        def lift(v):
            return v

        def combine(a, b):
            return max(a.hi, b.hi)

        def lower(p):
            return p.hi

    return Greatest()


@sash.operator(partial={"hi": "int64", "some": "int64", "more": "int64"}, commutative=True)
class GreatestOfThree:
    """The same, three times over: as many bytes as a partial of StdDev has."""

    def identity():
        return -128, -128, -128

    def lift(v):
        return v, v, v

    def combine(a, b):
        return max(a.hi, b.hi), max(a.some, b.some), max(a.more, b.more)

    def lower(p):
        return p.hi

"""Counts, sums and means: Count, Sum, Product, Mean, GeometricMean.

Floats are summed with the rounding error of each addition kept beside the sum (Knuth's TwoSum),
so the error does not grow with the window or with the shape of the tree that an algorithm builds.
The error starts as -0.0: that is the true zero of addition, which the compiler can leave out.
Integers are summed exactly, in two halves that cannot overflow before `lower` looks at them.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import Any, cast

import numpy as np

from sash.operators.base import operator
from sash.operators.families import DECIMALS, NUMBERS
from sash.operators.monoid import Monoid

LARGEST_LOG = math.log(sys.float_info.max)


@operator(partial={"n": "int64"}, commutative=True, answer="int64")
class Count:
    """How many values there are; nulls do not count."""

    def identity():
        return 0

    def lift(row):
        return 1

    def combine(a, b):
        return a.n + b.n

    def inverse(total, old):
        return total.n - old.n

    def lower(p):
        return p.n


@operator(partial={"total": "float64", "error": "float64"}, commutative=True, answer="float64")
class FloatSum:
    """The sum of floats, with its rounding error carried along."""

    def identity():
        return 0.0, -0.0

    def lift(v):
        return v, -0.0

    def combine(a, b):
        total = a.total + b.total
        of_b = total - a.total
        lost = (a.total - (total - of_b)) + (b.total - of_b)
        return total, a.error + b.error + lost

    def inverse(total, old):
        left = total.total - old.total
        of_old = left - total.total
        lost = (total.total - (left - of_old)) - (old.total + of_old)
        return left, total.error - old.error + lost

    def lower(p):
        total = p.total + p.error
        return total if total == total else p.total


@operator(partial={"high": "int64", "low": "int64"}, commutative=True, answer=None)
class IntegerSum:
    """The sum of integers, exact: 32 low bits and the rest are summed apart."""

    def for_type(dtype):
        unsigned = dtype.kind == "u"
        return {"least": 0 if unsigned else -(2**31), "most": 2**32 if unsigned else 2**31}

    def identity():
        return 0, 0

    def lift(v):
        return v >> 32, v & 0xFFFFFFFF

    def combine(a, b):
        return a.high + b.high, a.low + b.low

    def inverse(total, old):
        return total.high - old.high, total.low - old.low

    def lower(p, *, least, most):
        high = p.high + (p.low >> 32)
        if high < least or high >= most:
            raise OverflowError("a sum of integers does not fit in 64 bits; sum them as floats")
        return (high << 32) + (p.low & 0xFFFFFFFF)


@operator(partial=object, commutative=True)
class ObjectSum:
    """The sum of whatever can be added (decimals, time differences)."""

    def identity():
        return None

    def lift(v):
        return v

    def combine(a, b):
        if a is None or b is None:
            return b if a is None else a
        return a + b

    def lower(p):
        return 0 if p is None else p


class Sum(FloatSum):
    """The sum; that of no value is 0. Of integers it is exact, and raises if it overflows."""

    name = "Sum"
    needs = (NUMBERS, DECIMALS)

    def bind(self, *types: Any) -> Monoid:
        operator: Any = self
        if operator.functions is not SUMMING:  # a subclass that does something of its own
            return cast(Monoid, super().bind(*types))
        kind = np.dtype(types[0]).kind if types else "f"
        made, answer = SUMS.get(kind, (ObjectSum, None))
        monoid: Monoid = made().bind(*types)
        return replace(monoid, name="Sum", answer=answer)


SUMMING = Sum().functions  # type: ignore[attr-defined]
SUMS: dict[str, tuple[Any, str | None]] = {
    "f": (FloatSum, "float64"),
    "i": (IntegerSum, "int64"),
    "b": (IntegerSum, "int64"),
    "u": (IntegerSum, "uint64"),
}


@operator(partial={"mantissa": "float64", "exponent": "int64"}, commutative=True, answer="float64")
class Product:
    """The product, held as a mantissa and a power of two, so that no part of it overflows."""

    def identity():
        return 0.5, 1

    def lift(v):
        mantissa, exponent = math.frexp(v)
        return mantissa, exponent

    def combine(a, b):
        mantissa, exponent = math.frexp(a.mantissa * b.mantissa)
        return mantissa, a.exponent + b.exponent + exponent if mantissa != 0.0 else 0

    def lower(p):
        if p.exponent > 1024 and p.mantissa == p.mantissa:
            return p.mantissa * math.inf if p.mantissa != 0.0 else 0.0
        if p.exponent < -1100:  # also what does not fit the 32 bits that ldexp takes
            return p.mantissa * 0.0
        return math.ldexp(p.mantissa, p.exponent)


@operator(
    partial={"n": "int64", "total": "float64", "error": "float64"},
    commutative=True,
    answer="float64",
)
class Mean:
    """The arithmetic mean."""

    def identity():
        return 0, 0.0, -0.0

    def lift(v):
        return 1, v, -0.0

    def combine(a, b):
        total = a.total + b.total
        of_b = total - a.total
        lost = (a.total - (total - of_b)) + (b.total - of_b)
        return a.n + b.n, total, a.error + b.error + lost

    def inverse(total, old):
        left = total.total - old.total
        of_old = left - total.total
        lost = (total.total - (left - of_old)) - (old.total + of_old)
        return total.n - old.n, left, total.error - old.error + lost

    def lower(p):
        if p.n == 0:
            return None
        total = p.total + p.error
        return (total if total == total else p.total) / p.n


class GeometricMean(Mean):
    """The n-th root of the product, by logarithms, so that the product is never formed.

    A zero makes it zero, a negative value NaN.
    """

    def lift(v):
        if v > 0.0:
            return 1, math.log(v * 1.0), -0.0  # of 32 bits too, the logarithm has 64
        return 1, -math.inf if v == 0.0 else math.nan, -0.0

    def lower(p):
        if p.n == 0:
            return None
        total = p.total + p.error
        log = (total if total == total else p.total) / p.n
        if LARGEST_LOG < log < math.inf:  # by a rounding error only
            log = LARGEST_LOG
        return math.exp(log)

"""Spread and shape: Variance, StdDev, Skewness, Kurtosis.

Partials hold the mean and the sums of powers of the distances from it, and two of them are
combined by the pairwise formulas of Chan, Golub and LeVeque (for the third and fourth powers,
Pébay). Squares of the values themselves are never summed: near 1e9 they would leave no digit of a
spread of 1.
"""

from __future__ import annotations

import math

from sash.operators.base import operator

# n as a float too: it is only ever multiplied and divided, and is exact up to 2**53.
SPREAD = {"n": "float64", "mean": "float64", "m2": "float64"}
SHAPE = {"n": "int64", "mean": "float64", "m2": "float64", "m3": "float64", "m4": "float64"}


@operator(partial=SPREAD, commutative=True, answer="float64")
class Variance:
    """The variance: of a sample (ddof=1, the default) or of a population (ddof=0)."""

    def check_options(*, ddof):
        return None if ddof in (0, 1) else f"ddof is 1 or 0, not {ddof!r}."

    def identity():
        return 0.0, 0.0, 0.0

    def lift(v):
        return 1.0, v, v - v

    def combine(a, b):
        n = a.n + b.n
        share = b.n / (n if n > 0.0 else 1.0)
        apart = b.mean - a.mean
        mean = a.mean + apart * share
        return n, mean, a.m2 + b.m2 + apart * (a.n * share) * apart

    def lower(p, *, ddof=1):
        return p.m2 / (p.n - ddof) if p.n > ddof else None


class StdDev(Variance):
    """The standard deviation: of a sample (ddof=1, the default) or of a population (ddof=0)."""

    def lower(p, *, ddof=1):
        return math.sqrt(p.m2 / (p.n - ddof)) if p.n > ddof else None


@operator(partial=SHAPE, commutative=True, answer="float64")
class Skewness:
    """How lopsided the values are. NaN if they are all equal.

    bias=True, the default, is the population's (as in Spark, polars and SciPy); bias=False
    corrects for the size of the sample, from three values on (as in pandas and DuckDB).
    """

    def identity():
        return 0, 0.0, 0.0, 0.0, 0.0

    def lift(v):
        return 1, v, v - v, v - v, v - v

    def combine(a, b):
        n = a.n + b.n
        of_a = a.n / (n if n > 0 else 1)
        of_b = b.n / (n if n > 0 else 1)
        apart = b.mean - a.mean
        m2 = apart * (a.n * of_b) * apart
        m3 = m2 * apart * (of_a - of_b) + 3.0 * apart * (of_a * b.m2 - of_b * a.m2)
        m4 = (
            m2 * (apart * apart * (of_a * of_a - of_a * of_b + of_b * of_b))
            + 6.0 * apart * apart * (of_a * of_a * b.m2 + of_b * of_b * a.m2)
            + 4.0 * apart * (of_a * b.m3 - of_b * a.m3)
        )
        return n, a.mean + apart * of_b, a.m2 + b.m2 + m2, a.m3 + b.m3 + m3, a.m4 + b.m4 + m4

    def lower(p, *, bias=True):
        if p.n == 0 or (not bias and p.n < 3):
            return None
        if p.m2 == 0.0:
            return math.nan
        skewness = math.sqrt(p.n) * (p.m3 / p.m2) / math.sqrt(p.m2)
        if bias:
            return skewness
        return skewness * math.sqrt(p.n * (p.n - 1.0)) / (p.n - 2)


class Kurtosis(Skewness):
    """How heavy the tails are, in excess of a normal distribution's. NaN if all are equal.

    bias=True, the default, is the population's; bias=False corrects for the size of the sample,
    from four values on.
    """

    def lower(p, *, bias=True):
        if p.n == 0 or (not bias and p.n < 4):
            return None
        if p.m2 == 0.0:
            return math.nan
        kurtosis = p.n * (p.m4 / p.m2 / p.m2) - 3.0
        if bias:
            return kurtosis
        return ((p.n + 1.0) * kurtosis + 6.0) * (p.n - 1.0) / ((p.n - 2.0) * (p.n - 3.0))

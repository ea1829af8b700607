"""Every operator with values to try it on: one table for all tests that run over operators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

import sash
from sash.aggregators.registry import for_operator

NAN, INF = float("nan"), float("inf")

whole = [-4, -2, -1, 0, 1, 2, 3]
whole_floats = [float(v) for v in whole]
floats = [-2.5, -1.0, 0.0, 0.5, 1.0, 3.25, 1e3]
with_nan = [NAN, -1.0, 0.0, 2.0, INF, -INF]
positive = [0.5, 1.0, 2.0, 7.0, 1e300]
text = ["a", "b", "ab", "", "c"]
pairs = [(k, v) for k in (1, 2, 3) for v in ("a", "b")]
residues = list(range(0, 100, 7))


@sash.operator(partial={"hi": "float64", "lo": "float64"}, commutative=True, empty=None)
class Spread:
    """An operator as a user would write it."""

    def identity():
        return float("-inf"), float("inf")

    def lift(v):
        return v, v

    def combine(a, b):
        return max(a.hi, b.hi), min(a.lo, b.lo)

    def lower(p):
        return p.hi - p.lo


@sash.operator(partial={"n": "int64", "total": "float64"}, commutative=True)
class PlainMean:
    """As in the manual: it does not say what an empty window answers."""

    def identity():
        return 0, 0.0

    def lift(v):
        return 1, v

    def combine(a, b):
        return a.n + b.n, a.total + b.total

    def lower(p):
        return p.total / p.n


@sash.operator(partial={"a": "int64", "b": "int64"})
class Affine:
    """x → a·x + b modulo a prime, composed: associative and nothing else."""

    def identity():
        return 1, 0

    def lift(v):
        return v % 7 + 1, v % 5

    def combine(a, b):
        return a.a * b.a % 10007, (a.b * b.a + b.b) % 10007

    def lower(p):
        return p.a * 10007 + p.b


@dataclass(frozen=True)
class Case:
    """An operator and where its values come from; what its compiled shape stands for."""

    operator: sash.Operator
    pool: list[Any]
    shape: str = ""

    @property
    def values(self) -> Any:
        return st.sampled_from(self.pool)

    @property
    def name(self) -> str:
        return repr(self.operator)


CASES = [
    Case(sash.Count(), whole),
    Case(sash.Sum(), whole, "two integers, invertible"),
    Case(sash.Sum(), whole_floats, "two floats, invertible"),
    Case(sash.Product(), whole_floats),
    Case(sash.Min(), with_nan),
    Case(sash.Max(), with_nan, "one field, selective"),
    Case(sash.Max(), whole, "one integer field"),
    Case(sash.Max(), text),
    Case(sash.Range(), whole),
    Case(sash.Mean(), whole_floats, "mixed types, null answers"),
    Case(sash.GeometricMean(), positive),
    Case(sash.Variance(), floats),
    Case(sash.StdDev(ddof=0), floats, "an option"),
    Case(sash.Skewness(), floats),
    Case(sash.Kurtosis(bias=False), floats, "five fields"),
    Case(sash.MinCount(), whole),
    Case(sash.MaxCount(), with_nan),
    Case(sash.ArgMin(), pairs),
    Case(sash.ArgMax(), pairs),
    Case(sash.First(), text),
    Case(sash.Last(), whole),
    Case(sash.FirstN(n=3), whole),
    Case(sash.LastN(n=3), whole),
    Case(sash.Collect(), whole),
    Case(sash.Concat(), text),
    Case(sash.CollectDistinct(), whole),
    Case(sash.CountDistinct(), whole),
    Case(sash.TopK(k=3), whole),
    Case(sash.BottomK(k=2), whole),
    Case(sash.LongestRise(), whole, "several answers"),
    Case(sash.Bloom(), whole),
    Case(sash.CountMin(width=16, depth=3), whole),
    Case(sash.MomentSketch(order=2), [1.0, 2.0, 4.0, 8.0]),
    Case(sash.ApproxCountDistinct(), whole),
    Case(sash.ApproxQuantile(), whole_floats),  # exact in a window as short as these
    Case(sash.Together(n=sash.Count(), lo=sash.Min(), sd=sash.StdDev()), whole_floats, "composite"),
    Case(Spread(), whole_floats, "a user's"),
    Case(PlainMean(), whole_floats, "a user's, guarded"),
    Case(Affine(), residues, "not commutative"),
]


def fits(algorithm: str, operator: sash.Operator) -> bool:
    """Whether an algorithm takes an operator with these traits."""
    try:
        for_operator(algorithm, operator)
    except TypeError:
        return False
    return True


COMPILED = [case for case in CASES if case.shape]

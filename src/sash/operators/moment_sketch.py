"""MomentSketch: quantiles from a few sums.

paper Moment-Based Quantile Sketches (Gan et al., 2018)

A partial holds the sums of the powers of the values and of their logarithms: two are combined by
adding them, and no other quantile sketch is merged as fast. How many sums there are depends on an
option, so the functions are written out as text for each order, and compiled like any others.
What they answer are the sums; `finish` makes quantiles of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from sash.operators.base import operator
from sash.operators.maximum_entropy import Density
from sash.operators.options import ranks_of, type_of_ranks, wrong_between, wrong_ranks

HIGHEST_ORDER = 10

IDENTITY = """\
def identity():
    return 0, 0, 0, 0, math.inf, -math.inf, {zeros}
"""
LIFT = """\
def lift(v, *, origin=0.0):
    x = v * 1.0
    finite = math.isfinite(x)
    p1 = x - origin if finite else 0.0
    l1 = math.log(x) if finite and x > 0.0 else 0.0
{powers}
    below = 1 if x == -math.inf else 0
    above = 1 if x == math.inf else 0
    nan = 1 if x != x else 0
    lo = x if finite else math.inf
    hi = x if finite else -math.inf
    return 1, below, above, nan, lo, hi, {sums}
"""
COMBINE = """\
def combine(a, b):
    lo = a.lo if a.lo < b.lo else b.lo
    hi = a.hi if a.hi > b.hi else b.hi
    return ({counts}, lo, hi, {sums})
"""
LOWER = """\
def lower(p):
    return ({fields})
"""

COUNTS = ("n", "below", "above", "nan")


def sums(order: int) -> list[str]:
    """The names of the sums: p1, p2, … of powers, l1, l2, … of powers of logarithms."""
    return [f"{kind}{k}" for kind in "pl" for k in range(1, order + 1)]


def fields(order: int) -> dict[str, str]:
    """The fields of a partial, which are those of an answer."""
    reals = ["lo", "hi", *sums(order)]
    return {**dict.fromkeys(COUNTS, "int64"), **dict.fromkeys(reals, "float64")}


def written(order: int) -> dict[str, str]:
    """The operator's functions for this order, as text."""
    names = sums(order)
    powers = [f"    {x}{k} = {x}{k - 1} * {x}1" for x in "pl" for k in range(2, order + 1)]
    return {
        "identity": IDENTITY.format(zeros=", ".join("0.0" for _ in names)),
        "lift": LIFT.format(powers="\n".join(powers), sums=", ".join(names)),
        "combine": COMBINE.format(
            counts=", ".join(f"a.{name} + b.{name}" for name in COUNTS),
            sums=", ".join(f"a.{name} + b.{name}" for name in names),
        ),
        "lower": LOWER.format(fields=", ".join(f"p.{name}" for name in fields(order))),
    }


def functions(order: int) -> dict[str, FunctionType]:
    """The same, to call."""
    scope: dict[str, Any] = {"math": math, "__name__": __name__}
    for name, text in written(order).items():
        exec(compile(text, f"<MomentSketch.{name} of order {order}>", "exec"), scope)
    return {name: scope[name] for name in written(order)}


class MomentSketch(
    operator(partial=fields(HIGHEST_ORDER), commutative=True, answer=fields(HIGHEST_ORDER))(
        type("MomentSketch", (), functions(HIGHEST_ORDER))
    )
):
    """About the values at ranks `quantiles`: one number, or a list if they are several.

    Smooth data are met within 1 % in rank by order=10, the highest; few distinct values may be
    missed by more. If all values are positive their logarithms are used, and long tails do no
    harm; an outlier among values of both signs leaves little to tell the others apart. Values far
    from 0 for their spread (times, say) lose digits: give an `origin` near them. NaN is the
    greatest value.
    """

    sources = written(HIGHEST_ORDER)
    defaults = {"order": HIGHEST_ORDER, "quantiles": (0.5,), "origin": 0.0}  # noqa: RUF012

    def __new__(cls, *columns: str, **options: Any) -> MomentSketch:
        order = options.get("order", HIGHEST_ORDER)
        known = wrong_between("order", order, 1, HIGHEST_ORDER) is None
        made: MomentSketch = object.__new__(of_order(int(order)) if known else cls)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return remade, (self.columns, self.given())

    @staticmethod
    def check_options(*, order: int, quantiles: Any, origin: float) -> str | None:
        return wrong_between("order", order, 1, HIGHEST_ORDER) or wrong_ranks(
            "quantiles", quantiles
        )

    def finish(self, answer: dict[str, float]) -> float | list[float] | None:
        """The quantiles of one window, from its sums; None if it is empty."""
        if not answer["n"]:
            return None
        below, above, nan = answer["below"], answer["above"], answer["nan"]
        finite = answer["n"] - below - above - nan
        at = self._quantiles(answer, finite) if finite else None
        found = []
        for rank in ranks_of(self.options["quantiles"]):
            place = rank * answer["n"]
            if below and place <= below:
                found.append(-math.inf)
            elif at is not None and place <= below + finite:
                found.append(at((place - below) / finite))
            else:
                found.append(math.inf if above and place <= below + finite + above else math.nan)
        return found[0] if len(found) == 1 else found

    def finished_type(self) -> Any:
        return type_of_ranks(self.options["quantiles"])

    def _quantiles(self, answer: dict[str, float], finite: float) -> Callable[[float], float]:
        """From a share of the finite values, the value below which it lies."""
        lo, hi, origin = answer["lo"], answer["hi"], self.options["origin"]
        if finite <= 3 or lo == hi:
            # The smallest and the largest are known, and so is what remains of the sum.
            between = min(max(answer["p1"] + finite * origin - lo - hi, lo), hi)
            known = [lo, between, hi] if finite == 3 else [lo, hi]
            return lambda share: known[max(math.ceil(share * len(known)) - 1, 0)]
        orders = range(1, self.options["order"] + 1)
        powers = np.array([answer[f"p{k}"] for k in orders]) / finite
        logs = np.array([answer[f"l{k}"] for k in orders]) / finite if lo > 0 else None
        return Density(lo, hi, powers, logs, origin).quantile


@cache
def of_order(order: int) -> type[MomentSketch]:
    """The operator class for sums up to this power."""
    if order == HIGHEST_ORDER:
        return MomentSketch
    own = {
        "functions": functions(order),
        "sources": written(order),
        "fields": fields(order),
        "answer": fields(order),
        "__module__": __name__,
        "__doc__": MomentSketch.__doc__,
    }
    return type("MomentSketch", (MomentSketch,), own)


def remade(columns: tuple[str, ...], options: dict[str, Any]) -> MomentSketch:
    """An operator as it was when pickled."""
    return MomentSketch(*columns, **options)

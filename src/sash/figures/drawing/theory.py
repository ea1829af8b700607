"""What the papers compute for a window of n values: lines to draw beside what was counted."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log2

Formula = Callable[[str, float], float]

Counts = dict[str, Callable[[float], float]]


def _log2(n: float) -> float:
    return log2(n) if n > 1 else 0.0


ONE_QUERY: Counts = {
    "recalc": lambda n: n - 1,
    "flat_fat": _log2,
    "b_int": _log2,
    "flat_fit": lambda n: 3.0 if n > 1 else 0.0,
}
"""⊕ a slide with one query over the whole window (FlatFIT, Table 1)."""

ALL_QUERIES: Counts = {
    "recalc": lambda n: n * (n - 1) / 2,
    "flat_fat": lambda n: n * _log2(n),
    "b_int": lambda n: n * _log2(n),
    "flat_fit": lambda n: n - 1,
}
"""⊕ a slide with a query for every range from 1 to n (FlatFIT, Table 1)."""

PARTIALS: Counts = {
    "recalc": lambda n: n,
    "flat_fat": lambda n: 2.0 ** (ceil(_log2(n)) + 1),
    "b_int": lambda n: 2.0 ** (ceil(_log2(n)) + 1),
    "flat_fit": lambda n: 2 * n,
}
"""Numbers kept (FlatFIT, Table 1)."""

NUMBER = 8 / 2**20
"""The size of a number, in MB."""


def _a_change(series: str, n: float) -> float:
    """The most ⊕ for each of m changes to a FlatFAT (Reactive Aggregator, Theorem 4.2).

    series: `m = 4`, `m = n/16`.
    """
    whole, _, part = series.removeprefix("m = ").partition("/")
    m = (n if whole == "n" else float(whole)) / float(part or 1)
    return 1 + ceil(log2(n / m))


def _of(counts: Counts) -> Formula:
    return lambda series, n: counts[series](n)


THEORIES: dict[str, Formula] = {
    "one query": _of(ONE_QUERY),
    "all queries": _of(ALL_QUERIES),
    "partials": lambda series, n: PARTIALS[series](n) * NUMBER,
    "m changes": _a_change,
}

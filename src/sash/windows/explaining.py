"""Which algorithm a query gets, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np

from sash.aggregators.aggregator import checked_operator
from sash.aggregators.choose import Choice, Latency, Need, choose, need_of
from sash.aggregators.duration import nanoseconds
from sash.operators.base import Operator


def explain(
    op: Operator,
    window: Any = 1000,
    *,
    lateness: Any = None,
    latency: Latency = "throughput",
    ranges: str | None = None,
    threads: int = 1,
    dtype: Any = None,
    arrays: bool = True,
) -> Choice:
    """Print which algorithm `algorithm="auto"` takes for an operator and a window, and why.

    window     a number of rows, a length of time, several of either (answers for each from one
               window), or a function policy(total, old) that tells whether the oldest must leave
    lateness   how far rows may be out of order: a length of time, or "any"
    latency    "throughput", or "worst_case" if no single answer may take long
    ranges     "any", if answers are wanted for any part of the window, not known beforehand
    dtype      the type of the values, if not float64
    arrays     False for values that come one by one

    >>> from sash.operators.extremes import Max
    >>> choice = explain(Max(), "1h", latency="worst_case", lateness="5min")  # doctest: +ELLIPSIS
    fiba: rows come in any order; ...
    >>> choice.algorithm
    'fiba'
    """
    if ranges not in (None, "any"):
        raise ValueError(
            f"ranges is 'any'; give ranges that are known as the window, not {ranges!r}."
        )
    need = _need(op, window, lateness, latency, threads, dtype, arrays)
    choice = choose(replace(need, ranges="any") if ranges else need)
    print(choice)
    return choice


def _need(
    op: Any, window: Any, lateness: Any, latency: Any, threads: int, dtype: Any, arrays: bool
) -> Need:
    checked_operator(op)
    ranges = list(window) if isinstance(window, Sequence) and not isinstance(window, str) else None
    if ranges is not None and not ranges:
        raise ValueError("no window at all: give at least one size.")
    order = "fifo"
    if lateness is not None:
        if lateness != "any":
            nanoseconds(lateness)
        order = "any" if lateness == "any" else "bounded"
    shapes = {_shape(one) for one in ([window] if ranges is None else ranges)}
    return need_of(
        op,
        dtype,
        order=order,
        shape=next((s for s in ("policy", "bulk") if s in shapes), "fixed"),
        latency=latency,
        ranges=len(ranges or [1]),
        threads=threads,
        arrays=arrays,
    )


def _shape(window: Any) -> str:
    if callable(window):
        return "policy"
    if isinstance(window, (str, timedelta, np.timedelta64)):
        nanoseconds(window)
        return "bulk"  # when time has passed, any number of rows leave at once
    if isinstance(window, (int, np.integer)) and not isinstance(window, bool) and window > 0:
        return "fixed"
    raise TypeError(f"a window is a number of rows, a length of time or a policy; not {window!r}.")

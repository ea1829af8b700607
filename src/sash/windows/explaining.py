"""Which algorithm a query gets, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sash.aggregators.aggregator import checked_operator
from sash.aggregators.choose import Choice, Latency, Need, Shape, choose, need_of
from sash.aggregators.duration import length
from sash.operators.base import Operator
from sash.windows.definitions import Definition, Last, SlideWhile, definition


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

    window     a definition, such as `sash.session("30min")`; a number of rows or a length of time;
               several of these (answers for each from one window); or a function policy(total, old)
               that tells whether the oldest must leave
    lateness   how far rows may be out of order: a length of time, or "any"
    latency    "throughput", or "worst_case" if no single answer may take long
    ranges     "any", if answers are wanted for any part of the window, not known beforehand
    dtype      the type of the values, if not float64
    arrays     False for values that come one by one

    >>> from sash.operators.extremes import Max
    >>> choice = explain(Max(), "1h", lateness="any")  # doctest: +ELLIPSIS
    fiba: rows come in any order; ...
    >>> choice.algorithm
    'fiba'
    >>> choice = explain(Max(), "1h", lateness="5min", arrays=False)  # doctest: +ELLIPSIS
    two_stacks_lite: rows come one by one; ...
      rows wait until none before them can come, 5min, and then go in in order
    """
    if ranges not in (None, "any"):
        raise ValueError(
            f"ranges is 'any'; give ranges that are known as the window, not {ranges!r}."
        )
    need = _need(op, window, lateness, latency, threads, dtype, arrays)
    choice = choose(replace(need, ranges="any") if ranges else need)
    print(choice)
    if lateness not in (None, "any"):
        print(f"  rows wait until none before them can come, {lateness}, and then go in in order")
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
        if lateness != "any" and isinstance(length(lateness), int):
            raise TypeError(f"lateness is a length of time, such as '10min', not {lateness!r}.")
        order = "any" if lateness == "any" else "fifo"
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


def _shape(window: Any) -> Shape:
    return "policy" if callable(window) else shape_of(definition(window))


def shape_of(window: Definition) -> Shape:
    """How rows leave a window: one for one, many at once, or as a policy says."""
    if isinstance(window, SlideWhile):
        return "policy"
    one_by_one = isinstance(window, Last) and isinstance(window.size, int)
    return "fixed" if one_by_one and isinstance(window.every, int) else "bulk"  # type: ignore[attr-defined]

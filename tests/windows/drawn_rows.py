"""Random windows and rows for Hypothesis: times, ties, gaps, nulls, marks, keys, lateness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from cases import Affine
from hypothesis import strategies as st
from windows.naive import Row, amount, is_length

import sash
from sash.windows.definitions import Last, Punctuated

CLOSED = ("right", "left", "both", "neither")
TOGETHER = sash.Together(n=sash.Count("x"), hi=sash.Max("x"), all=sash.Collect("y"))

# What a policy may be for an operator: it must be True up to some number of rows and False beyond.
# As text it is compiled once, and kept.
POLICIES: dict[sash.Operator, Callable[[int], Any]] = {
    sash.Sum("x"): lambda k: f"total - old >= {k}",
    sash.Collect("y"): lambda k: lambda total, old: len(total) - len(old) >= k,
    TOGETHER: lambda k: f"total.n - old.n >= {k}",
}
OPERATORS = [
    sash.Sum("x"),
    sash.Collect("y"),
    TOGETHER,
    sash.Max("x"),
    sash.Mean("f"),
    sash.ArgMax("x", "y"),
    Affine("x"),
]

TYPES = {"x": pa.int64(), "f": pa.float64(), "y": pa.string(), "d": pa.int64(), "mark": pa.bool_()}
"""The columns of `rows`."""


def lengths(low: int, high: int, unit: int) -> st.SearchStrategy[str]:
    """As integers are counted, or seconds."""
    return st.integers(low, high).map(lambda n: f"{n}{'i' if unit == 1 else 's'}")


@st.composite
def definitions(draw: st.DrawFn, op: sash.Operator, unit: int) -> Any:
    """A window of any kind that goes with this operator."""
    kinds = ["last"] * 4 + ["tumbling", "delta", "punctuated", "session"]
    kind = draw(st.sampled_from([*kinds, "slide_while"] if op in POLICIES else kinds))
    if kind == "tumbling":
        return sash.tumbling(draw(lengths(1, 12, unit)), offset=draw(lengths(0, 9, unit)))
    if kind == "punctuated":
        return sash.punctuated("mark", draw(st.sampled_from(["start", "end"])))
    if kind == "session":
        return sash.session(draw(lengths(1, 6, unit)))
    on_grid = lengths(1, 8, unit)
    every = draw(
        st.one_of(st.just(1), st.integers(1, 4), on_grid, on_grid, st.just(sash.punctuated("mark")))
    )
    offset = {"offset": draw(lengths(0, 9, unit))} if isinstance(every, str) else {}
    if kind == "slide_while":
        return sash.slide_while(POLICIES[op](draw(st.sampled_from([0, 3, 12]))), every=every)
    if kind == "delta":
        return sash.delta("d", draw(st.integers(0, 9)), every=every, **offset)
    size = draw(st.one_of(st.integers(1, 9), lengths(1, 16, unit)))
    if not isinstance(every, str):
        offset["closed"] = draw(st.sampled_from(CLOSED))
    return sash.last(size, every=every, **offset)


def smallest(definition: Any, min_size: int) -> int:
    """min_size=0 where it is clear which windows are meant; else at least 1."""
    if isinstance(definition, Punctuated):
        return max(1, min_size)
    if isinstance(definition, Last) and is_length(definition.size) and is_length(definition.every):
        return max(int(amount(definition.size) < amount(definition.every)), min_size)
    return min_size


@st.composite
def rows(
    draw: st.DrawFn,
    unit: int = 1,
    keyed: bool = False,
    ties: bool = True,
    most: int = 40,
) -> list[Row]:
    """Rows in the order of time. The column d never goes back with it."""
    gaps = draw(
        st.lists(st.sampled_from([0, 0, 1, 1, 2, 3, 9] if ties else [1, 1, 2, 3, 9]), max_size=most)
    )
    time = draw(st.integers(-25, 25))
    found = []
    for gap in gaps:
        time += gap
        value = {
            "x": draw(st.one_of(st.none(), st.integers(0, 9), st.integers(0, 9))),
            "f": draw(st.integers(-8, 8)) / 4,
            "y": draw(st.sampled_from("pqrs")),
            "d": time + time // 7,
            "mark": draw(st.sampled_from([True, False, False, None])),
        }
        key = draw(st.sampled_from("abc")) if keyed else None
        found.append(Row(value, time * unit, key))
    return found


@st.composite
def shuffled(draw: st.DrawFn, given: list[Row], lateness: int, late: bool = False) -> list[Row]:
    """The rows as they may come: none is late, unless `late` says that some may be.

    Rows of one time stay in their order, which is what decides between them.
    """
    delays = draw(
        st.lists(
            st.integers(0, lateness * (2 if late else 1)),
            min_size=len(given),
            max_size=len(given),
        )
    )
    waits = [row.time + delay for row, delay in zip(given, delays, strict=True)]
    order = sorted(range(len(given)), key=lambda at: (waits[at], at))
    waiting: dict[Any, list[Row]] = {}
    for row in given:
        waiting.setdefault(row.time, []).append(row)
    return [waiting[given[at].time].pop(0) for at in order]


@st.composite
def cuts(draw: st.DrawFn, count: int) -> list[tuple[int, int, bool]]:
    """Pieces from start to end, and whether their rows are pushed one by one."""
    found, at = [], 0
    while at < count:
        size = draw(st.integers(1, count - at))
        found.append((at, at + size, draw(st.booleans())))
        at += size
    return found

"""Rows with all that is special: ties, gaps, nulls, NaN, -0.0, empty text, times before 1970."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import Affine

import sash


def some_rows(count: int = 90, seed: int = 3) -> pa.Table:
    """By t, an integer that several rows share. `d` and `e` go up with it, `id` with the rows."""
    draw = np.random.default_rng(seed)
    t = np.cumsum(draw.choice([0, 0, 1, 1, 2, 3, 9], count)) - 60
    return pa.table(
        {
            "k": pa.array(draw.choice(["a", "a", "a", "b", "c", ""], count)),
            "t": pa.array(t),
            "x": pa.array(draw.integers(-5, 9, count), mask=draw.random(count) < 0.1),
            "f": pa.array(draw.choice([-2.5, -0.0, 0.0, 0.25, 1e3, np.nan, 7.0], count)),
            "g": pa.array(draw.normal(size=count)),
            "y": pa.array(draw.choice(["p", "q", "", "ß"], count), mask=draw.random(count) < 0.1),
            "d": pa.array(t + t // 7),
            "e": pa.array((t + t // 7) / 4),
            "mark": pa.array(draw.random(count) < 0.2, mask=draw.random(count) < 0.1),
            "id": pa.array(np.arange(count)),
        }
    )


def every_second(names: Iterable[str]) -> list[Any]:
    """All of them, of which every second one is left to the full run: each takes seconds."""
    full = [pytest.mark.full]
    return [pytest.param(name, marks=full if k % 2 else []) for k, name in enumerate(names)]


def with_column(rows: pa.Table, name: str, values: pa.Array) -> pa.Table:
    """The rows with other values in one column, or with one more."""
    if name not in rows.column_names:
        return rows.append_column(name, values)
    return rows.set_column(rows.column_names.index(name), name, values)


AGGS = {
    "n": sash.Count(),
    "seen": sash.Count("x"),
    "total": sash.Sum("g"),
    "hi": sash.Max("f"),
    "first": sash.First("x"),
    "last": sash.Last("x"),
    "who": sash.ArgMax("x", "y"),
    "said": sash.Concat("y"),
    "all": sash.Collect("x"),
    "fn": Affine("id"),
}
"""Of every shape: numbers, objects, payloads, chosen, computed. `fn` shows any other order."""

NUMBERS = {name: AGGS[name] for name in ("n", "seen", "total", "hi", "first", "last", "who", "fn")}
"""Those whose windows are kept in arrays, and whose rows can be sent as a total."""

"""Slices instead of rows: the same answers, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from windows.test_shard import FLUSH, Run, asked_for, by_what, shuffled

import sash
from sash.operators.base import Operator
from sash.windows.definitions import definition
from sash.windows.shapes import Shape
from sash.windows.shard import Asked
from sash.windows.slices import Grid, Slices

SCHEMA = pa.schema(
    {"k": pa.string(), "t": pa.int64(), "x": pa.int64(), "y": pa.float64(), "s": pa.string()}
)


@sash.operator(partial={"lo": "value", "n": "int32"}, commutative=True, empty=None)
class LowestOf:
    """A user's own: the lowest value, and of how many."""

    def identity():
        return 2**31 - 1, 0

    def lift(v):
        return v, 1

    def combine(a, b):
        return min(a.lo, b.lo), a.n + b.n

    def lower(p):
        return p.lo * 1000 + p.n


TOGETHER = sash.Together(
    hi=sash.Max("x"),
    s=sash.Sum("x"),
    dev=sash.StdDev("x"),
    own=LowestOf("x"),
)
WINDOWS = {
    "a grid": sash.last("9i", every="6i"),
    "shifted": sash.last("8i", every="4i", offset="3i"),
    "with gaps": sash.last("4i", every="10i"),
    "tumbling": sash.tumbling("7i"),
    "several": [
        sash.last("8i", every="4i", offset="3i"),
        sash.tumbling("6i", offset="1i"),
        sash.last("4i", every="10i", offset="3i"),
    ],
}


def drawn(count: int, seed: int) -> pa.Table:
    draw = np.random.default_rng(seed)
    columns = {
        "k": pa.array(draw.choice(["a", "a", "b", "c", None], count)),
        "t": pa.array(np.cumsum(draw.choice([0, 0, 0, 1, 2, 9], count)) - 40),
        "x": pa.array(draw.integers(-5, 9, count), mask=draw.random(count) < 0.2),
        "y": pa.array(draw.normal(size=count)),
        "s": pa.array(["z"] * count),
    }
    return pa.table(columns, schema=SCHEMA)


class SlicedRun(Run):
    """A run whose rows are cut into slices before they come, in two places."""

    slices: Slices

    def feed(self, rows: pa.Table, newest: int | None = None) -> None:
        times = rows["t"].to_numpy()
        now = newest if newest is not None else int(times.max(initial=-(2**62)))
        middle = len(rows) // 3
        tables = [self.cut(rows.slice(0, middle)), self.cut(rows.slice(middle))]
        super().feed(pa.concat_tables(tables), now)

    def cut(self, rows: pa.Table) -> pa.Table:
        columns = {name: rows[name].combine_chunks() for name in ("x", "y")}
        times = rows["t"].to_numpy()
        given = self.slices.cut(columns, [rows["k"].combine_chunks()], times)
        partials, (keys,), moments, weights = given
        assert weights.sum() == len(rows)
        return pa.table({"k": keys, "t": moments, "weight": weights, **partials})


def runs(window: Any, op: Operator, lateness: int | None, **options: Any) -> tuple[Run, SlicedRun]:
    plain = replace(
        asked_for(window, lateness, op, **options), order=("x", "y"), stored=("x", "y", "t")
    )
    several = window if isinstance(window, list) else [window]
    slices = Slices.of(op, [Shape(definition(each)) for each in several], SCHEMA)
    assert slices is not None
    names = tuple(slices.fields.names)
    cut: Asked = replace(
        plain,
        questions=tuple(replace(each, operator=slices.merged) for each in plain.questions),
        order=(),
        stored=(*names, "weight", "t"),
        weight="weight",
        grid=slices.grid,
    )
    sliced = SlicedRun(cut, 5)
    sliced.slices = slices
    return Run(plain, 5), sliced


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("lateness", [None, 0, 5, 12])
@pytest.mark.parametrize("kind", WINDOWS)
def test_the_same_answers_step_by_step(kind: str, lateness: int | None, early: bool) -> None:
    if early and lateness is None:
        return
    plain, sliced = runs(WINDOWS[kind], TOGETHER, lateness, early=early)
    rows = drawn(120, 4)
    given = rows if not lateness else shuffled(rows, lateness, 4)
    draw = np.random.default_rng(4)
    at = 0
    while at < len(given):
        size = int(draw.choice([0, 1, 5, 40]))
        plain.feed(given.slice(at, size), None if size else -(10**9))
        sliced.feed(given.slice(at, size), None if size else -(10**9))
        at += size
        assert as_numbers(sliced.answers) == as_numbers(plain.answers)
        if draw.random() < 0.4:
            sliced.rebuild()
    for run in (plain, sliced):
        run.feed(given.slice(0, 0), FLUSH)
    assert as_numbers(sliced.answers) == as_numbers(plain.answers)
    assert plain.answers and not sliced.late


def as_numbers(answers: list[tuple[Any, ...]]) -> list[Any]:
    """As they are, up to what another order of sums rounds otherwise."""
    rounded = [
        (*what, tuple(round(x, 9) if isinstance(x, float) else x for x in got))
        for *what, got in answers
    ]
    return by_what(rounded)


def test_an_operator_alone() -> None:
    plain, sliced = runs(sash.last("9i", every="6i"), sash.Mean("y"), 3)
    rows = drawn(80, 6)
    sizes = []
    for run in (plain, sliced):
        run.feed(rows)
        sizes.append(run.size)
        run.feed(rows.slice(0, 0), FLUSH)
    assert as_numbers(sliced.answers) == as_numbers(plain.answers)
    assert sizes[1] < sizes[0]


def test_slices_that_are_late_are_counted_by_their_rows() -> None:
    """A row is late if all of its slice is."""
    _, sliced = runs(sash.tumbling("10i"), sash.Max("x"), 0)
    rows = drawn(4, 0)
    columns = {"t": [25, 12, 13, 21], "k": ["a"] * 4}
    for name, values in columns.items():
        rows = rows.set_column(rows.column_names.index(name), name, pa.array(values))
    sliced.feed(rows.slice(0, 1))
    sliced.feed(rows.slice(1))  # 12 and 13 are late; 21 is not, as windows with it are open
    assert sliced.late == 2


@pytest.mark.parametrize(
    ("op", "window"),
    [
        (sash.Max("x"), 5),
        (sash.Max("x"), "5i"),
        (sash.Max("x"), sash.session("5i")),
        (sash.Max("x"), sash.last(5, every="3i")),
        (sash.First("x"), sash.tumbling("5i")),
        (sash.ArgMax("x", "s"), sash.tumbling("5i")),
        (sash.Collect("x"), sash.tumbling("5i")),
        (sash.Max("s"), sash.tumbling("5i")),
        (sash.Together(a=sash.Max("x"), b=sash.Concat("s")), sash.tumbling("5i")),
    ],
)
def test_what_has_no_slices(op: Operator, window: Any) -> None:
    assert Slices.of(op, [Shape(definition(window))], SCHEMA) is None


@pytest.mark.parametrize(
    ("window", "width", "offset"),
    [
        (sash.last("60i", every="1i"), 1, 0),
        (sash.last("60i", every="25i"), 5, 0),
        (sash.tumbling("60i"), 60, 0),
        (sash.tumbling("60i", offset="7i"), 60, 7),
    ],
)
def test_how_wide_slices_are(window: Any, width: int, offset: int) -> None:
    grid = Grid.of([Shape(window)])
    assert grid is not None
    assert (grid.width, grid.offset) == (width, offset)


def test_where_slices_begin() -> None:
    grid = Grid(5, 1)
    times = np.arange(-6, 7)
    assert grid.begin(times).tolist() == [-9, -9, -4, -4, -4, -4, -4, 1, 1, 1, 1, 1, 6]

"""Windows over arrays, as each library computes them: calls that answer alike.

`make bench-core` has them from here, too. Everyone has one thread. Where windows are not full yet,
all answer for the rows that there are.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import sash
from sash.figures.cases import Case, Group, Point
from sash.figures.data import Array
from sash.figures.measures.installed import installed, missing

NS_A_ROW = "ns a row"
FLOOR = "numpy, floor"
"""A pass over an array that does next to nothing with a row: np.maximum.accumulate."""

# Operators that a decorator makes have no signature that mypy knows.
ops: Any = sash
OPERATORS = {"Max": ops.Max(), "Mean": ops.Mean(), "StdDev": ops.StdDev()}

Run = Callable[[], Any]
Asked = Callable[[str, Array, int], Run | None]
"""What is asked, the values and the window's size; None if the library does not have it."""


def one_thread() -> None:
    """Must be called before polars is imported, which reads it once."""
    os.environ["POLARS_MAX_THREADS"] = "1"


def by_sash(what: str, values: Array, size: int) -> Run:
    return lambda: sash.rolling(values, size, OPERATORS[what])


def by_pandas(what: str, values: Array, size: int) -> Run:
    import pandas as pd

    series, name = pd.Series(values), {"Max": "max", "Mean": "mean", "StdDev": "std"}[what]
    return lambda: getattr(series.rolling(size, min_periods=1), name)().to_numpy()


def by_polars(what: str, values: Array, size: int) -> Run:
    one_thread()
    import polars as pl

    series, name = pl.Series("x", values), {"Max": "max", "Mean": "mean", "StdDev": "std"}[what]
    call = getattr(series, f"rolling_{name}")
    return lambda: call(size, min_samples=1).to_numpy()


def by_bottleneck(what: str, values: Array, size: int) -> Run:
    import bottleneck

    if what == "StdDev":
        return lambda: bottleneck.move_std(values, size, 1, ddof=1)
    call = {"Max": bottleneck.move_max, "Mean": bottleneck.move_mean}[what]
    return lambda: call(values, size, 1)


def by_numbagg(what: str, values: Array, size: int) -> Run | None:
    import numbagg

    if what == "Max":
        return None
    call = {"Mean": numbagg.move_mean, "StdDev": numbagg.move_std}[what]
    return lambda: call(values, window=size, min_count=1)


def by_duckdb(what: str, values: Array, size: int) -> Run:
    over = f"order by i rows between {size - 1} preceding and current row"
    return duckdb_query(what, pa.table({"i": np.arange(len(values)), "x": values}), over)


def duckdb_query(what: str, rows: pa.Table, over: str) -> Run:
    """A window of a table of DuckDB's own, in memory."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("set threads = 1")
    connection.register("given", rows)
    connection.execute("create table readings as select * from given")
    name = {"Max": "max", "Mean": "avg", "StdDev": "stddev_samp"}[what]
    query = f"select {name}(x) over ({over}) as a from readings"
    return lambda: np.ma.filled(connection.sql(query).fetchnumpy()["a"], np.nan)


def floor(what: str, values: Array, size: int) -> Run:
    return lambda: np.maximum.accumulate(values)


LIBRARIES: dict[str, Asked] = {
    "sash": by_sash,
    "pandas": by_pandas,
    "polars": by_polars,
    "duckdb": by_duckdb,
    "bottleneck": by_bottleneck,
    "numbagg": by_numbagg,
    FLOOR: floor,
}


class Timed:
    """A call that is timed, and what it answered first, of every so-many-th row."""

    STEP = 97

    def __init__(self, run: Run, rows: int) -> None:
        self._run, self._rows = run, rows
        self._first: Any = None

    def run(self) -> list[Point]:
        start = time.perf_counter_ns()
        found = self._run()
        took = time.perf_counter_ns() - start
        if self._first is None:
            # The first row has no deviation, and libraries differ in how they say so.
            self._first = np.asarray(found)[1 :: self.STEP].copy()
        return [Point(NS_A_ROW, took / self._rows)]

    def answers(self) -> Any:
        return self._first


def on_arrays(
    *,
    operators: Sequence[str],
    sizes: Sequence[int],
    rows: int,
    fewer: dict[str, int] | None = None,
) -> list[Group]:
    """A panel for each operator, a line for each library.

    fewer: how many rows those have that would take minutes; but twice the window at least.
    """
    one_thread()
    values = np.random.default_rng(0).random(rows)

    def group(operator: str, size: int) -> list[Case]:
        cases = []
        for name in installed(LIBRARIES):
            few = min(max((fewer or {}).get(name, rows), 2 * size), rows)
            run = LIBRARIES[name](operator, values[:few], size)
            if run is not None:
                timed = Timed(run, few)
                answers = None if name == FLOOR else timed.answers
                cases.append(Case(operator, name, size, timed.run, answers))
        return cases

    told = missing(LIBRARIES)
    return told + [partial(group, operator, size) for operator in operators for size in sizes]

"""An aggregate of a user's own: compiled with the algorithm here, called for each window there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import sash
from sash.figures.cases import Case, Group, Point
from sash.figures.data import Array
from sash.figures.measures.installed import installed, missing
from sash.figures.measures.rivals_on_arrays import NS_A_ROW, one_thread
from sash.figures.own_operators import OwnGeometricMean, OwnMax

# Operators that a decorator makes have no signature that mypy knows.
ops: Any = sash
own_max: Any = OwnMax
own_geometric_mean: Any = OwnGeometricMean

Call = Callable[[Array], Any]


def geometric_mean(window: Array) -> Any:
    return np.exp(np.mean(np.log(window)))


def highest(window: Array) -> Any:
    return np.max(window)


class Own(NamedTuple):
    """One aggregate, as users of each library would write it."""

    operator: Any
    built_in: Any
    call: Call


ASKED = {
    "geometric mean": Own(own_geometric_mean(), ops.GeometricMean(), geometric_mean),
    "maximum": Own(own_max(), ops.Max(), highest),
}


class Ours:
    """Over all rows; the answers to compare are those of full windows."""

    def __init__(self, values: Array, size: int, operator: Any) -> None:
        self._values, self._size, self._operator = values, size, operator
        self._first: Any = None

    def run(self) -> list[Point]:
        start = time.perf_counter_ns()
        found = sash.rolling(self._values, self._size, self._operator)
        took = time.perf_counter_ns() - start
        if self._first is None:
            self._first = found[self._size - 1 :]
        return [Point(NS_A_ROW, took / len(self._values))]

    def answers(self) -> Any:
        return self._first


class Theirs:
    """Over so few rows that a run takes a moment. Only full windows are asked for, and counted."""

    def __init__(self, values: Array, size: int, answers: int, called: Callable[[Array], Any]):
        self._values, self._size = values[: size + answers - 1], size
        self._called = called
        self._first: Any = None

    def run(self) -> list[Point]:
        start = time.perf_counter_ns()
        found = self._called(self._values)
        took = time.perf_counter_ns() - start
        if self._first is None:
            self._first = np.asarray(found)[self._size - 1 :]
        return [Point(NS_A_ROW, took / len(self._first))]

    def answers(self) -> Any:
        return self._first


def _pandas(call: Call, size: int, engine: str, values: Array) -> Any:
    import pandas as pd

    rolled = pd.Series(values).rolling(size, min_periods=size)
    return rolled.apply(call, raw=True, engine=engine).to_numpy()


def _polars(call: Call, size: int, values: Array) -> Any:
    import polars as pl

    def called(window: Any) -> Any:
        return call(window.to_numpy())

    return pl.Series("x", values).rolling_map(called, size, min_samples=size).to_numpy()


SERIES = ("sash", "sash, built in", "pandas", "pandas, numba", "polars")


def of_ones_own(
    *, aggregates: Sequence[str], sizes: Sequence[int], rows: int, work: int, stop: dict[str, int]
) -> list[Group]:
    """A panel for each aggregate.

    work: how many rows of windows a rival may look at in a run; stop: the longest window of some.
    """
    one_thread()
    values = np.random.default_rng(0).random(rows) + 0.5

    def group(aggregate: str, size: int) -> list[Case]:
        own, few = ASKED[aggregate], min(max(work // size, 20), 100_000)
        # pandas looks for missing values in windows that are not full: half as many as it answers.
        more = max(few, 2 * size)
        made: dict[str, Callable[[], Ours | Theirs]] = {
            "sash": lambda: Ours(values, size, own.operator),
            "sash, built in": lambda: Ours(values, size, own.built_in),
            "pandas": lambda: Theirs(values, size, few, partial(_pandas, own.call, size, "cython")),
            "pandas, numba": lambda: Theirs(
                values, size, more, partial(_pandas, own.call, size, "numba")
            ),
            "polars": lambda: Theirs(values, size, few, partial(_polars, own.call, size)),
        }
        cases = []
        for name in installed(SERIES):
            if size <= stop.get(name, size):
                one = made[name]()
                cases.append(Case(aggregate, name, size, one.run, one.answers))
        return cases

    told = missing(SERIES)
    return told + [partial(group, aggregate, size) for aggregate in aggregates for size in sizes]

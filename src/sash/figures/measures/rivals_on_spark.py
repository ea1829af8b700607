"""Windows of a DataFrame: `sash.spark.sliding`, and what Spark has of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import sash
from sash.figures.cases import Case, Group, Point
from sash.figures.measures import spark_ground
from sash.figures.measures.installed import installed, missing
from sash.figures.measures.processor_time import java_of, timed
from sash.figures.measures.rivals_on_arrays import NS_A_ROW
from sash.figures.measures.spark_data import write_rows
from sash.figures.measures.spark_streams import Streams
from sash.figures.own_operators import OwnMax

OWN = "own maximum"
SAMPLE = 5_000
"""Rows whose answers are compared."""

# Operators that a decorator makes have no signature that mypy knows.
ops: Any = sash
own_max: Any = OwnMax
OPERATORS = {
    "Max": ops.Max("v"),
    "Mean": ops.Mean("v"),
    "StdDev": ops.StdDev("v"),
    OWN: own_max("v"),
}

Ask = Callable[[Any], Any]
"""Given a DataFrame, one with the answers in the column `a`."""


@dataclass
class Ground:
    """A session, and files of rows, as many as are asked for."""

    keys: int
    _files: dict[int, Path] = field(default_factory=dict)

    @cached_property
    def folder(self) -> Path:
        return spark_ground.folder()

    @cached_property
    def spark(self) -> Any:
        return spark_ground.session("local[2]")

    def rows(self, count: int) -> Any:
        if count not in self._files:
            path = self.folder / f"{count}.parquet"
            self._files[count] = write_rows(path, count, self.keys)
        return self.spark.read.parquet(str(self._files[count]))


class Timed:
    """The whole call, from the file into Spark's `noop` sink."""

    def __init__(self, ground: Ground, rows: int, ask: Ask) -> None:
        self._ground, self._rows, self._ask = ground, rows, ask
        self._df = ground.rows(rows)

    def run(self) -> list[Point]:
        from sash.figures.measures.sparks_own import answer_into_noop

        run = partial(answer_into_noop, self._ask, self._df)
        seconds, spent = timed(java_of(self._ground.spark), run)
        points = [Point(NS_A_ROW, seconds * 1e9 / self._rows)]
        return points + (spent.points(self._rows, "a row") if spent else [])

    def answers(self) -> Any:
        from sash.figures.measures.sparks_own import in_order

        return in_order(self._ask(self._ground.rows(SAMPLE)))


def on_spark(
    *,
    operators: Sequence[str],
    sizes: Sequence[int],
    rows: int,
    keys: int,
    work: int,
    calls: int,
    stop: dict[str, int],
    warm: bool,
    streams: dict[str, Any],
) -> list[Group]:
    """A panel for each operator; then the streams, in the same session.

    work: how many rows of windows one that recomputes may look at, if its windows get full with
    that; calls: how many rows a pandas_udf has at most; stop: the longest window of some, or of
    some in one panel (`StdDev, spark`); warm: whether each runs once before it is timed, which its
    answers to a sample have done as well, but for fewer rows.
    """
    if not installed(["spark"]):
        return missing(["spark"])
    ground = Ground(keys)

    def group(operator: str, size: int) -> list[Case]:
        cases = []
        for name, ask in _asked(operator, size).items():
            if size > stop.get(f"{operator}, {name}", stop.get(name, size)):
                continue
            few = rows
            if name == "spark":
                few = min(rows, max(work // size, 2 * keys * size))
            elif name == "spark, pandas_udf":
                few = min(rows, calls)
            one = Timed(ground, few, ask)
            answers = None if name in (SORTED, THERE_AND_BACK) else one.answers
            cases.append(Case(operator, name, size, one.run, answers, timed=warm))
        return cases

    found: list[Group] = [partial(group, each, size) for each in operators for size in sizes]
    return found + Streams(ground, **streams).groups()


SORTED = "spark, shuffle and sort alone"
THERE_AND_BACK = "spark, to Python and back"


def _asked(operator: str, size: int) -> dict[str, Ask]:
    from sash.figures.measures import sparks_own as own

    found: dict[str, Ask] = {"sash": lambda df: own.slid(df, size, OPERATORS[operator])}
    if operator == OWN:
        found["sash, built in"] = lambda df: own.slid(df, size, OPERATORS["Max"])
        found["spark, pandas_udf"] = lambda df: own.windowed(df, own.by_udf, own.frame(size), False)
        return found
    call = own.SPARKS[operator]
    found["spark"] = lambda df: own.windowed(df, call, own.frame(size), False)
    found["spark, segment tree"] = lambda df: own.windowed(df, call, own.frame(size), True)
    found[SORTED] = own.sorted_only
    if operator == "Max":  # it is the same for all
        found[THERE_AND_BACK] = own.to_python_and_back
    return found

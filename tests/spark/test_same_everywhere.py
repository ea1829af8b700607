"""One question, the same answers: from arrays, and from Spark in all the ways it runs.

Rows come in batches of a few, so that windows reach over batches, and parts over parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from cases import CASES, COMPILED, Case
from spark.engines import SPLITS, Asked, check
from spark.some_rows import AGGS, NUMBERS, every_second, some_rows, with_column

import sash
from sash.spark.query import with_columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MARKS = sash.punctuated("mark")
WINDOWS: dict[str, Any] = {
    "rows": 5,
    "one row": 1,
    "more rows than there are": 1000,
    "rows, closed left": sash.last(4, closed="left"),
    "rows, closed both": sash.last(4, closed="both"),
    "rows, closed neither": sash.last(4, closed="neither"),
    "each third row": sash.last(5, every=3),
    "each third row, open": sash.last(5, every=3, closed="neither"),
    "rows at marks": sash.last(5, every=MARKS),
    "rows on a grid": sash.last(5, every="7i"),
    "rows on a grid with an offset": sash.last(5, every="4i", offset="3i"),
    "time": "6i",
    "time, closed left": sash.last("6i", closed="left"),
    "time, closed both": sash.last("6i", closed="both"),
    "time, closed neither": sash.last("6i", closed="neither"),
    "more time than there is": "100000i",
    "time at each second row": sash.last("6i", every=2),
    "time at marks": sash.last("6i", every=MARKS),
    "time at marks, open": sash.last("6i", every=MARKS, closed="left"),
    "a grid": sash.last("9i", every="4i"),
    "a grid with an offset": sash.last("8i", every="4i", offset="3i"),
    "a grid with gaps": sash.last("3i", every="10i"),
    "tumbling": sash.tumbling("7i"),
    "delta": sash.delta("d", 5),
    "delta of floats": sash.delta("e", 1.25),
    "delta at each second row": sash.delta("d", 5, every=2),
    "delta at marks": sash.delta("d", 5, every=MARKS),
    "delta on a grid": sash.delta("d", 5, every="4i"),
    "from mark to mark": sash.punctuated("mark"),
    "up to a mark": sash.punctuated("mark", marks="end"),
    "session": sash.session("2i"),
    "policy": sash.slide_while("total.n - old.n >= 4"),
    "policy at each second row": sash.slide_while("total.seen - old.seen >= 3", every=2),
    "policy at marks": sash.slide_while("total.n - old.n >= 4", every=MARKS),
    "policy on a grid": sash.slide_while("total.n - old.n >= 4", every="5i"),
    "policy of a function": sash.slide_while(lambda total, old: total.n - old.n >= 4),
}
"""All kinds of windows, and all the times when they answer."""


@pytest.fixture(autouse=True)
def small_batches(settings: Callable[..., None]) -> None:
    settings(
        **{
            "spark.sql.execution.arrow.maxRecordsPerBatch": 7,
            "spark.sql.shuffle.partitions": 3,
        }
    )


@pytest.mark.parametrize("kind", every_second(WINDOWS))
def test_windows(spark: SparkSession, kind: str) -> None:
    """Each in two or three ways; `test_windows_all_ways` has them all."""
    number = list(WINDOWS).index(kind)
    asked = Asked(WINDOWS[kind], AGGS, by=("k",))
    keyed = ("auto", 3) if number % 3 == 0 else ("auto",)
    check(spark, some_rows(), asked, keyed=keyed, series=[(2, 3, 7)[number % 3]])


@pytest.mark.full
@pytest.mark.parametrize("kind", WINDOWS)
def test_windows_all_ways(spark: SparkSession, kind: str) -> None:
    for aggs in (AGGS, NUMBERS):
        asked = Asked(WINDOWS[kind], aggs, by=("k",))
        check(spark, some_rows(120, seed=4), asked, keyed=("auto", False, 2, 3), series=SPLITS)


LONG = {
    "rows": 70,
    "rows, closed both": sash.last(70, closed="both"),
    "each third row": sash.last(70, every=3),
    "rows at marks": sash.last(70, every=MARKS),
    "time": "100i",
    "time at each second row": sash.last("100i", every=2, closed="both"),
    "a grid": sash.last("100i", every="9i"),
}
"""Windows that are longer than parts."""


@pytest.mark.parametrize(
    "kind",
    [
        kind if k % 3 == 0 else pytest.param(kind, marks=pytest.mark.full)
        for k, kind in enumerate(LONG)
    ],
)
def test_long_windows(spark: SparkSession, kind: str) -> None:
    """Rows that stay in the window for as long as a part runs are sent to it as one total."""
    check(spark, some_rows(), Asked(LONG[kind], NUMBERS), keyed=(), series=(7,))


@pytest.mark.parametrize("min_size", [0, 3])
def test_min_size(spark: SparkSession, min_size: int) -> None:
    kinds = ("rows, closed left", "each third row, open", "time at marks", "a grid", "session")
    for kind in kinds:
        asked = Asked(WINDOWS[kind], NUMBERS, by=("k",), min_size=min_size)
        check(spark, some_rows(40), asked, keyed=("auto",), series=(3,))


# Operators


def pooled(case: Case) -> list[str]:
    """The columns that a case's operator reads; one for each pool, or two for pairs."""
    number = [each.pool for each in CASES].index(case.pool)
    return [f"c{number}", f"p{number}"] if isinstance(case.pool[0], tuple) else [f"c{number}"]


def rows_for_all_operators(count: int = 60) -> pa.Table:
    draw = np.random.default_rng(6)
    rows = some_rows(count).select(["k", "t", "id"])
    for case in CASES:
        names = pooled(case)
        if names[0] in rows.column_names:
            continue
        chosen = [case.pool[i] for i in draw.integers(0, len(case.pool), count)]
        for k, name in enumerate(names):
            values = [value[k] for value in chosen] if len(names) > 1 else chosen
            rows = with_column(rows, name, pa.array(values, mask=draw.random(count) < 0.1))
    return rows


def operators(cases: list[Case]) -> dict[str, sash.Operator]:
    """All but Together: here aggregates are together anyway."""
    return {
        f"{case.operator.name}_{number}": with_columns(case.operator, tuple(pooled(case)))
        for number, case in enumerate(cases)
        if not isinstance(case.operator, sash.Together)
    }


def test_operators(spark: SparkSession) -> None:
    """All at once. Some have partials that are objects, so that nothing is compiled."""
    asked = Asked(4, operators(CASES), by=("k",))
    rows = rows_for_all_operators()
    check(spark, rows, asked, keyed=("auto",), series=(3,), one_by_one=True)


@pytest.mark.full
@pytest.mark.parametrize("part", [0, 1])
def test_compiled_operators(spark: SparkSession, part: int) -> None:
    """A few at once: compiling takes seconds for each."""
    numbers = [case for case in COMPILED if case.shape != "composite"]
    asked = Asked(4, operators(numbers[part::2]), by=("k",))
    check(spark, rows_for_all_operators(), asked, keyed=("auto",), series=(), one_by_one=True)


@pytest.mark.full
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_operators_one_by_one(spark: SparkSession, case: Case) -> None:
    aggs = operators([case])
    for window in (4, sash.last("20i", every="9i"), sash.last(40), sash.session("2i")):
        if aggs:
            check(spark, rows_for_all_operators(), Asked(window, aggs, by=("k",)), series=(3,))

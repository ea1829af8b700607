"""Keys with too many rows, found, forced and forbidden to be computed in parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from spark.engines import Asked, check, spread
from spark.some_rows import AGGS, NUMBERS, some_rows, with_column

import sash
from sash.spark.frames import planned
from sash.spark.reading import Call

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def skewed(count: int = 300) -> pa.Table:
    """One key has most of the rows."""
    draw = np.random.default_rng(4)
    keys = draw.choice(["hot", "warm", None, "x", "y"], count, p=[0.7, 0.15, 0.05, 0.05, 0.05])
    return with_column(some_rows(count, seed=9), "k", pa.array(keys))


@pytest.fixture
def few_are_many(settings: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sash.spark.parts.HEAVY_ROWS", 40)
    monkeypatch.setattr("sash.spark.parts.PART_ROWS", 10)
    settings(**{"spark.sql.execution.arrow.maxRecordsPerBatch": 16})


def parts_of(df: DataFrame, window: Any, **options: Any) -> dict[Any, int]:
    """Into how many parts each key is cut."""
    given: dict[str, Any] = {"by": ("k",), "split": "auto"} | options
    _, plan = planned(df, Call(window, AGGS, given["by"], "t"), given["split"])
    return {series.key: len(series.parts) for series in plan.series}


WINDOWS = [
    5,
    100,
    "6i",
    sash.last(5, every=3),
    sash.last(3, every="4i"),
    sash.last("40i", every="3i"),
    sash.delta("d", 5),
    sash.session("2i"),
    sash.punctuated("mark"),
]


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize(
    "window",
    [*WINDOWS[::2], *(pytest.param(each, marks=pytest.mark.full) for each in WINDOWS[1::2])],
    ids=repr,
)
def test_found_without_asking(spark: SparkSession, window: Any) -> None:
    """Only what has more than its share of rows is cut: others need not wait for it then."""
    rows = skewed()
    found = parts_of(spread(spark, rows), window)
    assert list(found) == [("hot",)] and found["hot",] > 1
    aggs = AGGS if window == 5 else NUMBERS
    check(spark, rows, Asked(window, aggs, by=("k",)), keyed=("auto",), series=())


@pytest.mark.usefixtures("few_are_many")
def test_nothing_to_find(spark: SparkSession) -> None:
    even = with_column(skewed(), "k", pa.array([f"k{at % 9}" for at in range(300)]))
    assert parts_of(spread(spark, even), 5) == {}


def test_few_rows_are_not_looked_at(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark knows about how much data there is; counting the rows of keys costs a pass."""
    df = spread(spark, skewed())
    monkeypatch.setattr("pyspark.sql.classic.dataframe.DataFrame.collect", None)
    assert parts_of(df, 5) == {}


@pytest.mark.usefixtures("few_are_many")
def test_forbidden(spark: SparkSession) -> None:
    df = spread(spark, skewed())
    assert parts_of(df, 5, split=False) == {}
    assert parts_of(df, 5, by=(), split=False) == {}
    check(spark, skewed(), Asked(5, AGGS, by=("k",)), keyed=(False,), series=(False,))


def test_forced(spark: SparkSession) -> None:
    df = spread(spark, skewed())
    found = parts_of(df, 5, split=3)
    assert found == {(key,): 3 for key in ("hot", "warm", None, "x", "y")}
    assert parts_of(df, 5, by=(), split=4) == {(): 4}


@pytest.mark.usefixtures("few_are_many")
def test_all_rows_without_a_key_are_one_series(spark: SparkSession) -> None:
    found = parts_of(spread(spark, skewed()), 5, by=())
    assert list(found) == [()] and found[()] > 1
    check(spark, skewed(), Asked(5, AGGS), keyed=(), series=("auto",))


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("window", [sash.slide_while("total.n - old.n >= 3")], ids=repr)
def test_what_cannot_be_cut(spark: SparkSession, window: Any) -> None:
    """What a policy lets go depends on all rows before."""
    df = spread(spark, skewed())
    for options in ({}, {"by": ()}, {"split": 3}):
        assert parts_of(df, window, **options) == {}
    check(spark, skewed(), Asked(window, AGGS, by=("k",)), keyed=("auto",), series=("auto",))

"""Columns and aggregates may be called whatever Spark allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from spark.engines import Asked, check, on_spark, rows_of, same, spread
from spark.some_rows import some_rows

import sash

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ODD = {
    "k": "a.b",
    "t": "the time",
    "x": "back`tick",
    "y": "Ünï.`x y`",
    "mark": "select",
    "d": "``",
    "e": ".",
    "f": "*",
    "g": "a b.c",
}
AGGS = {
    "n o": sash.Count(),
    "s.u`m": sash.Sum("back`tick"),
    "Ü": sash.Concat("Ünï.`x y`"),
    "from": sash.ArgMax("back`tick", "Ünï.`x y`", "a b.c"),
}


@pytest.mark.parametrize(
    "window",
    [
        3,
        60,
        sash.tumbling("5i"),
        sash.delta("``", 4),
        sash.last(3, every=sash.punctuated("select")),
        sash.punctuated("select"),
        sash.slide_while("total.answer_0 - old.answer_0 >= 3"),
    ],
    ids=repr,
)
def test_odd_names(spark: SparkSession, window: Any) -> None:
    rows = some_rows(60)
    rows = rows.rename_columns([ODD.get(name, name) for name in rows.column_names])
    asked = Asked(window, AGGS, by=("a.b",), order_by=("the time",))
    check(spark, rows, asked, keyed=("auto",), series=(5,))


def test_names_that_are_used_inside(spark: SparkSession) -> None:
    for names in ("one_ rank y d o n part", "count a0 here o total stretch cut"):
        given = ["k", "t", "x", *names.split()]
        rows = some_rows(60)
        rows = rows.rename_columns([*given, *rows.column_names[len(given) :]])
        aggs = {"a1": sash.Count(), "c0": sash.Sum("x"), "stretch_": sash.Collect("x")}
        check(spark, rows, Asked(60, aggs, by=("k",)), keyed=("auto",), series=(5,))


def test_any_case(spark: SparkSession) -> None:
    """As Spark does unless it is told otherwise, and the output has the input's names."""
    df = spread(spark, some_rows())
    found = []
    for change in (str.upper, str.lower):
        marks = sash.punctuated(change("mark"))
        for window in (sash.last(3, every=marks), sash.delta(change("d"), 4, every=marks)):
            asked = Asked(
                window,
                {"m": sash.Max(change("x")), "w": sash.ArgMax(change("x"), change("y"))},
                by=(change("k"),),
                order_by=(change("t"), change("id")),
            )
            found.append(on_spark(df, asked))
    same(found[0], found[2], "last")
    same(found[1], found[3], "delta")
    assert list(found[0][0]) == [*df.columns, "m", "w"]


def test_this_case(spark: SparkSession, settings: Callable[..., None]) -> None:
    from pyspark.sql import functions as F

    settings(**{"spark.sql.caseSensitive": "true"})
    df = spread(spark, some_rows()).withColumn("X", -F.col("x"))
    aggs = {"m": sash.Max("X"), "M": sash.Max("x")}
    for row in rows_of(sash.spark.sliding(df, 1, aggs, order_by="t", split=3).toArrow()):
        assert (row["m"], row["M"]) == (row["X"], row["x"])
    with pytest.raises(ValueError, match="there is no column 'K' among k, "):
        sash.spark.sliding(df, 1, aggs, by="K", order_by="t")


def test_columns(spark: SparkSession) -> None:
    """Which are given; whatever they are, all that is needed is read."""
    df = spread(spark, some_rows(30))
    aggs = {"m": sash.Max("x")}
    for columns in ([], ["id"], ["y", "t"], "y"):
        found = sash.spark.sliding(df, 3, aggs, by="k", order_by=["t", "id"], columns=columns)
        assert found.columns == [*([columns] if isinstance(columns, str) else columns), "m"]
        assert found.count() == 30
    whole = sash.spark.sliding(df, 3, aggs, by="k", order_by=["t", "id"])
    some = sash.spark.sliding(df, 3, aggs, by="k", order_by=["t", "id"], columns=["id"])
    same(rows_of(whole.select("id", "m").toArrow()), rows_of(some.toArrow()), "columns")
    hidden = sash.spark.sliding(df, 3, {"x": sash.Max("x")}, order_by="t", columns=["id"])
    assert hidden.columns == ["id", "x"]


def test_several_columns_of_one_name(spark: SparkSession) -> None:
    """None of them can be read, but all others can."""
    from pyspark.sql import functions as F

    df = spread(spark, some_rows(30)).select("*", F.col("x"))
    found = sash.spark.sliding(df, 3, {"m": sash.Max("g")}, order_by="t", columns=["id", "t"])
    assert found.columns == ["id", "t", "m"] and found.count() == 30
    windows = sash.spark.sliding(df, sash.tumbling("5i"), {"m": sash.Max("g")}, order_by="t")
    assert windows.count() > 5
    with pytest.raises(ValueError, match="there are several columns 'x'"):
        sash.spark.sliding(df, 3, {"m": sash.Max("x")}, order_by="t")

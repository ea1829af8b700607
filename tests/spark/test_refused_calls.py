"""What is wrong with a call is said at the call, in a sentence, before any row is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from spark.engines import spread
from spark.some_rows import some_rows

import sash

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST = {"m": sash.Max("x")}


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    """With a column of each type that something is refused for."""
    from pyspark.sql import functions as F

    return spread(spark, some_rows()).select(
        "*",
        F.create_map(F.lit("a"), "x").alias("map"),
        F.struct("x", "y").alias("struct"),
        F.col("x").cast("decimal(10,2)").alias("decimal"),
        F.timestamp_seconds("t").alias("time"),
        F.expr("date_from_unix_date(t)").alias("day"),
        F.expr("INTERVAL '1' MONTH").alias("months"),
        F.expr("parse_json('1')").alias("variant"),
        F.expr("y COLLATE UTF8_LCASE").alias("folded"),
    )


def refused(
    df: Any, window: Any, aggs: Any, sentence: str, kind: type[Exception], **options: Any
) -> None:
    with pytest.raises(kind) as caught:
        sash.spark.sliding(df, window, aggs, **options)
    said = str(caught.value)
    assert sentence in said
    assert said.endswith((".", "…")) and "\n" not in said and "__sash" not in said


@pytest.mark.parametrize(
    ("window", "sentence", "kind"),
    [
        (0, "size must be more than nothing, not 0", ValueError),
        ("5 parsecs", "'5 parsecs' is not a length of time", ValueError),
        (None, "a window is a number of rows, such as 1000,", TypeError),
        (2.5, "not 2.5", TypeError),
        ("1h", "the integers of the order column 't' have no unit: write size", ValueError),
        (sash.session("1h"), "write gap in theirs", ValueError),
        (sash.last(3, every="1h"), "write every in theirs", ValueError),
        (sash.punctuated("marks"), "there is no column 'marks' among k, t, x", ValueError),
        (sash.punctuated("y"), "needs booleans or numbers in the column 'y'", TypeError),
        (sash.punctuated("day"), "needs booleans or numbers in the column 'day'", TypeError),
        (sash.last(3, every=sash.punctuated("y")), "booleans or numbers in the column", TypeError),
        (sash.delta("dd", 5), "there is no column 'dd'", ValueError),
        (sash.delta("y", 5), "needs numbers in the column 'y', and it is of string", TypeError),
        (sash.delta("time", 5), "needs numbers in the column 'time'", TypeError),
        (sash.delta("decimal", 5), "needs numbers in the column 'decimal'", TypeError),
        (sash.delta("d", "5s"), "has a width of time, and the column 'd' has no times", TypeError),
        (sash.slide_while("total.zz > 3"), "with one aggregate its answer is total", ValueError),
    ],
    ids=repr,
)
def test_windows(df: DataFrame, window: Any, sentence: str, kind: type[Exception]) -> None:
    refused(df, window, MOST, sentence, kind, order_by="t")


def test_policies_that_ask_for_what_there_is_not(df: DataFrame) -> None:
    two = {"m": sash.Sum("x"), "n": sash.Count()}
    for policy in ("total.zz - old.zz > 3", lambda total, old: total.zz - old.zz > 3):
        window = sash.slide_while(policy)
        refused(df, window, two, "asks for 'zz', and there are m, n", ValueError, order_by="t")


@pytest.mark.parametrize(
    ("window", "order_by", "sentence", "kind"),
    [
        (3, (), "rows of a DataFrame have no order of their own: say order_by='ts'", ValueError),
        (3, "tt", "order_by: there is no column 'tt' among k, t, x", ValueError),
        (3, "t desc", "order_by: there is no column 't desc'", ValueError),
        (3, 5, "order_by takes the names of columns, as text, not 5", TypeError),
        (3, "map", "'map' is of map<string,bigint>, which Spark cannot sort by", TypeError),
        (3, "variant", "'variant' is of variant, which Spark cannot sort by", TypeError),
        (3, "months", "a type that does not travel to Python: interval month", TypeError),
        ("5i", "y", "goes by the order column, and 'y' is of string", TypeError),
        (sash.tumbling("5i"), "f", "and 'f' is of double: order by a timestamp", TypeError),
        (sash.session("5i"), "decimal", "and 'decimal' is of decimal128(10, 2)", TypeError),
        (sash.punctuated("mark"), "y", "and 'y' is of string", TypeError),
        ("5i", "time", "size '5i' is for integers, and the order column 'time'", ValueError),
        ("5ns", "time", "count microseconds, and size '5ns' is no whole number", ValueError),
        ("1h", "day", "count days, and size '1h' is no whole number of them", ValueError),
        (sash.last("2d", every="1d", offset="1h"), "day", "offset '1h' is no whole", ValueError),
    ],
    ids=repr,
)
def test_order(
    df: DataFrame, window: Any, order_by: Any, sentence: str, kind: type[Exception]
) -> None:
    refused(df, window, MOST, sentence, kind, order_by=order_by)


@pytest.mark.parametrize(
    ("aggs", "sentence", "kind"),
    [
        (None, "aggregates are given by name, as in {'highest': sash.Max('len')}", TypeError),
        ({}, "aggregates are given by name", TypeError),
        ([sash.Max("x")], "not [Max('x')]", TypeError),
        (sash.Max("x"), "not Max('x')", TypeError),
        ({1: sash.Max("x")}, "an aggregate's name is text, not 1", TypeError),
        ({"": sash.Max("x")}, "an aggregate's name is text, not ''", TypeError),
        ({"m": sash.Max}, "give an operator, not its class: write Max()", TypeError),
        ({"m": "max"}, "an operator such as sash.Max() is needed, not 'max'", TypeError),
        ({"m": sash.Max()}, "'m': say which column Max is of", ValueError),
        ({"m": sash.Max("xx")}, "'m', Max('xx'): there is no column 'xx' among", ValueError),
        ({"m": sash.ArgMax("x", "yy")}, "there is no column 'yy' among", ValueError),
        ({"m": sash.Together(a=sash.Max("x"))}, "write its members as aggregates", TypeError),
        ({"m": sash.Sum("y")}, "Sum('y') takes numbers or decimals", TypeError),
        ({"m": sash.Sum("decimal")}, "cast the column to double", TypeError),
        ({"m": sash.Mean("day")}, "Mean of date32[day] values is not defined", TypeError),
        ({"m": sash.Concat("x")}, "Concat('x') takes text or lists", TypeError),
        ({"m": sash.Max("map")}, "give one of its values as a column", TypeError),
        ({"m": sash.Max("struct")}, "give one of its fields as a column", TypeError),
        ({"m": sash.First("months")}, "does not travel to Python: interval month", TypeError),
        ({"x": sash.Max("x")}, "there is a column 'x' already; give the aggregate", ValueError),
        ({"X": sash.Max("x")}, "or leave that one out with columns=[…]", ValueError),
        ({"m": sash.Max("x"), "M": sash.Min("x")}, "column 'm' already", ValueError),
    ],
    ids=repr,
)
def test_aggregates(df: DataFrame, aggs: Any, sentence: str, kind: type[Exception]) -> None:
    refused(df, 3, aggs, sentence, kind, order_by="t")


def test_names_of_windows(df: DataFrame) -> None:
    grid = sash.tumbling("5i")
    for name in ("k", "window_start", "Window_End"):
        refused(df, grid, {name: sash.Max("x")}, "already", ValueError, by="k", order_by="t")
    renamed = df.withColumnRenamed("k", "window_start")
    sentence = "give the key 'window_start' another name"
    refused(renamed, grid, MOST, sentence, ValueError, by="window_start", order_by="t")


@pytest.mark.parametrize(
    ("by", "sentence", "kind"),
    [
        ("kk", "by: there is no column 'kk' among", ValueError),
        (["k", "kk"], "by: there is no column 'kk' among", ValueError),
        (5, "by takes the names of columns, as text, not 5", TypeError),
        ("map", "which Spark cannot sort by", TypeError),
        ("variant", "which Spark cannot sort by", TypeError),
        ("months", "does not travel to Python", TypeError),
        ("folded", "text that is compared by UTF8_LCASE", TypeError),
    ],
    ids=repr,
)
def test_keys(df: DataFrame, by: Any, sentence: str, kind: type[Exception]) -> None:
    refused(df, 3, MOST, sentence, kind, by=by, order_by="t")


@pytest.mark.parametrize(
    ("options", "sentence", "kind"),
    [
        ({"columns": ["zz"]}, "columns: there is no column 'zz' among", ValueError),
        ({"min_size": -1}, "min_size must be at least 0, not -1", ValueError),
        ({"min_size": "3"}, "min_size is a whole number, not '3'", TypeError),
        ({"algorithm": "dabba"}, "there is no algorithm 'dabba'; there are recalc", ValueError),
        ({"algorithm": "subtract_on_evict"}, "Max has no inverse", TypeError),
        ({"split": 0}, "split is 'auto', a number of parts, or False", ValueError),
        ({"split": True}, "to forbid it; not True", ValueError),
        ({"split": "3"}, "to forbid it; not '3'", ValueError),
        ({"lateness": "soon"}, "'soon' is not a length of time", ValueError),
        ({"lateness": 5}, "lateness is a length of time, such as '10min', not 5", TypeError),
    ],
    ids=repr,
)
def test_options(
    df: DataFrame, options: dict[str, Any], sentence: str, kind: type[Exception]
) -> None:
    refused(df, 3, MOST, sentence, kind, order_by="t", **options)


def test_columns_instead_of_their_names(df: DataFrame) -> None:
    from pyspark.sql import functions as F

    for given in (F.col("t"), [F.col("t")]):
        sentence = "takes the names of columns, as text, not Column<'t'>"
        refused(df, 3, MOST, f"order_by {sentence}", TypeError, order_by=given)
        refused(df, 3, MOST, f"by {sentence}", TypeError, order_by="t", by=given)
    most = F.max("x")
    refused(df, 3, {"m": most}, "an operator such as sash.Max() is needed", TypeError, order_by="t")


def test_what_is_no_dataframe() -> None:
    refused(some_rows(), 3, MOST, "a Spark DataFrame is needed, not Table", TypeError, order_by="t")


def test_streams(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    asked = {"m": sash.Max("value")}
    sentence = "rows of a stream go by time, and 'text' is of string"
    named = stream.selectExpr("*", "string(value) text", "array(value) list")
    refused(named, 3, asked, sentence, TypeError, order_by="text")
    sentence = "the key 'list' is of list<element: int64>, which a stream cannot go by"
    refused(named, 3, asked, sentence, TypeError, order_by="timestamp", by="list")
    sentence = "is for integers, and the order column 'timestamp' is a timestamp"
    refused(stream, 3, asked, sentence, ValueError, order_by="timestamp", lateness="5i")


def test_too_many_keys_to_force(spark: SparkSession) -> None:
    df = spark.range(100).selectExpr("id as k", "id as t", "id as x")
    sentence = "split=2 cuts every key into parts, and there are more than 64 keys"
    refused(df, 3, MOST, sentence, ValueError, by="k", order_by="t", split=2)


def test_nothing_is_read_for_it(
    spark: SparkSession, df: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that is refused starts no job, however long looking at the rows would take."""

    def read(*_: Any) -> Callable[..., Any]:
        raise AssertionError("the rows were looked at")

    monkeypatch.setattr("sash.spark.frames.plan_parts", read)
    refused(df, "1h", MOST, "have no unit", ValueError, order_by="t", split=3)
    refused(df, 3, {"m": sash.Sum("y")}, "takes numbers", TypeError, order_by="t", split=3)
    with pytest.raises(AssertionError, match="the rows were looked at"):
        sash.spark.sliding(df, 3, MOST, order_by="t")

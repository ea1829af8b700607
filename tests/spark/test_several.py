"""Several windows in one call: the answers of a call for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from spark.engines import Asked, on_stream, rows_of
from spark.some_rows import some_rows

import sash
from sash.spark.reading import Call
from sash.spark.streams import stream_query_of_several

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AGGS = {"most": sash.Max("x"), "mean": sash.Mean("x"), "who": sash.ArgMax("x", "name")}
AT_ROWS = {"3": sash.last(3), "1h": sash.last("1h"), "1d": "1d"}
GRIDS = {
    "hourly": sash.last("2h", every="1h"),
    "daily": sash.tumbling("1d"),
    "sessions": sash.session("30min"),
}


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    draw = np.random.default_rng(5)
    times = 1_700_000_000 + np.cumsum(draw.integers(1, 1200, 600))
    each = [
        (k, int(t), None if k % 17 == 0 else float(x), f"n{k}", f"k{key}")
        for k, (t, x, key) in enumerate(
            zip(times, draw.normal(size=600), draw.integers(0, 4, 600), strict=True)
        )
    ]
    schema = "id int, at bigint, x double, name string, k string"
    df = spark.createDataFrame(each, schema)
    return df.selectExpr("id", "timestamp_seconds(at) AS ts", "x", "name", "k").cache()


def sorted_rows(df: DataFrame, *by: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in df.select(*by).collect()), key=repr)


@pytest.mark.parametrize("by", [["k"], pytest.param([], marks=pytest.mark.full)])
def test_answers_at_rows_stand_side_by_side(rows: DataFrame, by: list[str]) -> None:
    """By key in one pass; one series, in parts, window by window."""
    split: Any = "auto" if by else 3
    found = sash.spark.sliding(rows, AT_ROWS, AGGS, by=by, order_by="ts", split=split)
    names = [f"{agg}_{window}" for window in AT_ROWS for agg in AGGS]
    assert found.columns == [*rows.columns, *names]
    if by:
        plan = found._jdf.queryExecution().toString()
        assert plan.split("== Physical Plan ==")[1].count("Exchange ") == 1
    for name, window in AT_ROWS.items():
        alone = sash.spark.sliding(rows, window, AGGS, by=by, order_by="ts", split=split)
        mine = sorted_rows(found, "id", *(f"`{agg}_{name}`" for agg in AGGS))
        assert mine == sorted_rows(alone, "id", *AGGS)


@pytest.mark.full
def test_some_rows_have_answers(rows: DataFrame) -> None:
    """A row is there if any window has an answer for it."""
    windows = {"third": sash.last(5, every=3), "fifth": sash.last(5, every=5)}
    aggs = {"n": sash.Count("x")}
    found = sash.spark.sliding(rows, windows, aggs, by="k", order_by="ts", columns=["id"])
    each = {row["id"]: (row["n_third"], row["n_fifth"]) for row in found.collect()}
    for k, (name, window) in enumerate(windows.items()):
        alone = sash.spark.sliding(rows, window, aggs, by="k", order_by="ts", columns=["id"])
        wanted = {row["id"]: row["n"] for row in alone.collect()}
        assert wanted == {at: pair[k] for at, pair in each.items() if pair[k] is not None}, name


@pytest.mark.parametrize("by", [["k"], pytest.param([], marks=pytest.mark.full)])
def test_windows_of_their_own_stand_below_one_another(rows: DataFrame, by: list[str]) -> None:
    split: Any = "auto" if by else 3
    found = sash.spark.sliding(rows, GRIDS, AGGS, by=by, order_by="ts", split=split)
    assert found.columns == ["window", *by, "window_start", "window_end", *AGGS]
    for name, window in GRIDS.items():
        alone = sash.spark.sliding(rows, window, AGGS, by=by, order_by="ts", split=split)
        mine = found.filter(found["window"] == name).drop("window")
        assert sorted_rows(mine, "*") == sorted_rows(alone, "*")


@pytest.mark.parametrize(
    ("windows", "sentence"),
    [
        ({}, "no window at all"),
        ({1: "1h"}, "windows are given by name"),
        (
            {"a": 3, "b": sash.tumbling("1h")},
            "'a' is answered at rows, and 'b' has rows of its own",
        ),
        ({"a": 3, "A": 4}, "'a' and 'A' both give a column 'most_A'"),
        ({"a": "soon"}, "soon"),
    ],
)
def test_refused(rows: DataFrame, windows: Any, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        sash.spark.sliding(rows, windows, AGGS, by="k", order_by="ts")


def test_one_window_as_a_dict_is_one_window(rows: DataFrame) -> None:
    found = sash.spark.sliding(rows, {"last": "1h"}, AGGS, by="k", order_by="ts")
    assert found.columns == [*rows.columns, *AGGS]


# On a stream


@pytest.fixture
def few_shards(settings: Callable[..., None]) -> None:
    settings(**{"spark.sql.shuffle.partitions": 2})


ON_A_STREAM = {
    "rows": ({"3": 3, "9i": "9i"}, {}),
    "some rows": ({"third": sash.last(5, every=3), "9i": "9i"}, {}),
    "slices": ({"a": sash.last("9i", every="6i"), "b": sash.tumbling("4i")}, {}),
    "windows": ({"a": sash.last("9i", every="6i"), "b": sash.session("2i")}, {}),
    "early": ({"a": sash.last("9i", every="6i"), "b": sash.session("2i")}, {"emit": "early"}),
}
NUMBERS = {"n": sash.Count(), "total": sash.Sum("x"), "hi": sash.Max("f")}
FULL = pytest.mark.full


@pytest.mark.usefixtures("few_shards")
@pytest.mark.parametrize(
    "kind",
    ["slices", *(pytest.param(k, marks=FULL) for k in ON_A_STREAM if k != "slices")],
)
def test_a_stream_answers_as_a_batch_does(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    """The last row is only there to end what is before it."""
    windows, options = ON_A_STREAM[kind]
    table = some_rows(70)
    asked = Asked(windows, NUMBERS, by=("k",), order_by=("t", "id"))
    found = on_stream(spark, table, asked, tmp_path, lateness="12i", **options)
    if options:  # of each window the last that was said, if it was not taken back
        found.sort(key=lambda row: row.pop("version"))
        named = ("window", "k", "window_start", "window_end")
        last = {tuple(row[name] for name in named): row for row in found}
        end = max(row["window_end"] for row in found) - 500
        found = [row for row in last.values() if row["n"] and row["window_end"] < end]
    df = spark.createDataFrame(table)
    expected = rows_of(
        sash.spark.sliding(
            df, windows, NUMBERS, by="k", order_by=("t", "id"), lateness="12i", **options
        ).toArrow()
    )
    if options:
        assert {row.pop("version") for row in expected} == {1}
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


def test_a_stream_keeps_rows_once(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Slices are of a width that all windows are made of, and `explain` tells."""
    rows = spark.readStream.schema("k string, t bigint, x bigint, f double").parquet(str(tmp_path))
    options: Any = {"by": "k", "order_by": "t", "lateness": "9i"}
    sash.spark.explain(rows, ON_A_STREAM["slices"][0], NUMBERS, **options)
    told = capsys.readouterr().out
    assert "a           last('9i', every='6i'), kept by" in told
    assert "before the shuffle, of 1 steps" in told
    assert "rows are sent, kept and logged once, for all windows" in told


def test_windows_that_order_ties_otherwise(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.readStream.schema("k string, t bigint, x bigint, end boolean")
    windows = {"a": sash.tumbling("5i"), "b": sash.punctuated("end")}
    with pytest.raises(ValueError, match="'a' and 'b' read other columns"):
        sash.spark.sliding(
            rows.parquet(str(tmp_path)), windows, {"s": sash.Sum("x")}, by="k", order_by="t"
        )


def test_where_windows_stand_is_known_by_their_order(spark: SparkSession, tmp_path: Path) -> None:
    """A stream that goes on with the same windows in another order would take one for the other."""
    rows = spark.readStream.schema("k string, t bigint, x bigint, f double").parquet(str(tmp_path))
    call = Call(None, NUMBERS, "k", "t", "9i")
    windows = ON_A_STREAM["slices"][0]
    one = stream_query_of_several(rows, call, windows)
    other = stream_query_of_several(rows, call, dict(reversed(windows.items())))
    assert one.fingerprint != other.fingerprint
    assert "window was ['b: tumbling('4i')'" in one.difference(other.fingerprint).replace('"', "'")
    swapped = replace(call, aggs=dict(reversed(NUMBERS.items())))  # as slices they have numbers
    assert stream_query_of_several(rows, swapped, windows).fingerprint != one.fingerprint

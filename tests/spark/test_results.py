"""The DataFrame that comes back is used like any other, and its plan is as it should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from spark.engines import Asked, alike, locally, rows_of, same, spread
from spark.some_rows import some_rows

import sash

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AGGS = {"s": sash.Sum("x"), "n": sash.Count()}


def plan_of(df: DataFrame) -> str:
    return str(df._jdf.queryExecution().executedPlan().toString())


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spread(spark, some_rows())


@pytest.fixture(scope="module")
def slid(rows: DataFrame) -> DataFrame:
    return sash.spark.sliding(rows, 3, AGGS, by="k", order_by=["t", "id"])


@pytest.fixture(scope="module")
def by_id(slid: DataFrame) -> dict[int, dict[str, Any]]:
    return {row["id"]: row for row in rows_of(slid.toArrow())}


@pytest.mark.parametrize("split", ["auto", False, 1, 3])
@pytest.mark.parametrize(
    "window", [3, sash.tumbling("5i"), sash.slide_while("total.n - old.n >= 3")], ids=repr
)
def test_nothing_is_made_one_partition(rows: DataFrame, window: Any, split: Any) -> None:
    """What Spark does with a series without a key, for all that comes after it too."""
    found = sash.spark.sliding(rows, window, AGGS, order_by="t", split=split)
    plan = plan_of(found)
    assert "Exchange" in plan and "SinglePartition" not in plan


def test_rows_are_shuffled_once(slid: DataFrame) -> None:
    assert plan_of(slid).count("Exchange") == 1
    assert "hashpartitioning(k" in plan_of(slid)


def test_filters_see_answers_of_all_rows(slid: DataFrame, by_id: dict[int, dict[str, Any]]) -> None:
    from pyspark.sql import functions as F

    for column, wanted in (
        (F.col("x") > 3, lambda row: row["x"] is not None and row["x"] > 3),
        (F.col("k") == "a", lambda row: row["k"] == "a"),
        (F.col("id") == 5, lambda row: row["id"] == 5),
        ((F.col("s") > 4) & (F.col("t") > 0), lambda row: row["s"] > 4 and row["t"] > 0),
    ):
        found = rows_of(slid.filter(column).toArrow())
        same(found, [row for row in by_id.values() if wanted(row)], str(column))
        assert found


def test_filters_stay_above_the_windows(
    spark: SparkSession, rows: DataFrame, tmp_path: Any
) -> None:
    """A source that could filter is not asked to."""
    rows.write.parquet(str(tmp_path / "rows"))
    read = spark.read.parquet(str(tmp_path / "rows"))
    for window in (3, sash.tumbling("5i")):
        found = sash.spark.sliding(read, window, AGGS, by="k", order_by=["t", "id"])
        assert "PushedFilters: []" in plan_of(found.filter("k = 'a'"))


def test_some_of_it(slid: DataFrame, by_id: dict[int, dict[str, Any]]) -> None:
    assert slid.count() == len(by_id)
    for some in (slid.limit(5).collect(), slid.take(5)):
        assert len(some) == 5
        assert all(alike(row["s"], by_id[row["id"]]["s"]) for row in some)
    ordered = slid.orderBy("id").select("id", "s").collect()
    assert [tuple(row) for row in ordered] == [(at, by_id[at]["s"]) for at in sorted(by_id)]


def test_shown(slid: DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    slid.select("id", "s").show(3)
    assert "only showing top 3 rows" in capsys.readouterr().out


def test_used_twice(slid: DataFrame, by_id: dict[int, dict[str, Any]]) -> None:
    from pyspark.sql import functions as F

    pairs = slid.alias("a").join(slid.alias("b"), "id")
    found = pairs.select("id", F.col("a.s").alias("one"), F.col("b.s").alias("other")).collect()
    assert sorted(tuple(row) for row in found) == [
        (at, by_id[at]["s"], by_id[at]["s"]) for at in sorted(by_id)
    ]
    assert slid.union(slid).count() == 2 * len(by_id)
    totals = {row["k"]: row["n"] for row in slid.groupBy("k").agg(F.sum("n").alias("n")).collect()}
    for key in totals:
        assert totals[key] == sum(row["n"] for row in by_id.values() if row["k"] == key)


def test_cached(slid: DataFrame, by_id: dict[int, dict[str, Any]]) -> None:
    kept = slid.cache()
    try:
        same(rows_of(kept.toArrow()), list(by_id.values()), "cached")
        same(rows_of(kept.filter("id < 9").toArrow()), [by_id[at] for at in range(9)], "cached")
    finally:
        kept.unpersist()


def test_windows_over_windows(slid: DataFrame, by_id: dict[int, dict[str, Any]]) -> None:
    listed = list(by_id.values())
    table = pa.table({name: [row[name] for row in listed] for name in listed[0]})
    again = sash.spark.sliding(slid, 2, {"ss": sash.Sum("s")}, by="k", order_by=["t", "id"])
    asked = Asked(2, {"ss": sash.Sum("s")}, by=("k",), order_by=("t", "id"))
    same(rows_of(again.toArrow()), locally(table, asked), "twice")


def test_from_sql(spark: SparkSession, slid: DataFrame, by_id: dict[int, dict[str, Any]]) -> None:
    slid.createOrReplaceTempView("slid")
    found = spark.sql("select k, max(s) as most from slid where id > 3 group by k").collect()
    for row in found:
        own = [each["s"] for each in by_id.values() if each["k"] == row["k"] and each["id"] > 3]
        assert row["most"] == max(own)


def test_a_run_repeats_exactly(spark: SparkSession) -> None:
    """Whatever order and partitions rows come in."""
    given = some_rows().drop_columns(["id"])
    aggs = {"all": sash.Collect("x"), "sum": sash.Sum("g")}
    runs = []
    for pieces in (1, 5):
        df = spread(spark, given).repartition(pieces)
        found = sash.spark.sliding(df, 5, aggs, by="k", order_by="t").toArrow()
        columns = [(name, "ascending") for name in found.column_names if name not in ("all", "f")]
        runs.append(found.sort_by(columns))
    assert runs[0]["sum"].to_pylist() == runs[1]["sum"].to_pylist()
    assert runs[0]["all"].to_pylist() == runs[1]["all"].to_pylist()

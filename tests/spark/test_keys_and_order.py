"""Keys and order columns of every type, few rows, many ties: the answers are those of arrays."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from spark.engines import END, START, Asked, check, on_spark, rows_of, same, spread
from spark.some_rows import every_second, some_rows, with_column

import sash

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAN, INF = float("nan"), float("inf")
FIRST, LAST = datetime(1, 1, 1, 0, 0, 0, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999)
NIGHT = [datetime(2026, 11, 1, hour, 30, 1, 7) for hour in range(12)]
"""Of these, two are the same on New York's clocks."""

AGGS = {
    "n": sash.Count(),
    "s": sash.Sum("x"),
    "c": sash.Concat("y"),
    "w": sash.ArgMax("x", "y"),
}


@pytest.fixture(autouse=True)
def in_new_york(settings: Callable[..., None]) -> None:
    settings(
        **{
            "spark.sql.session.timeZone": "America/New_York",
            "spark.sql.execution.arrow.maxRecordsPerBatch": 7,
            "spark.sql.shuffle.partitions": 3,
        }
    )


def drawn(values: list[Any], kind: pa.DataType | None, count: int, seed: int = 1) -> pa.Array:
    draw = np.random.default_rng(seed)
    return pa.array([values[i] for i in draw.integers(0, len(values), count)], kind)


def aware(times: list[datetime]) -> list[datetime]:
    return [time.replace(tzinfo=UTC) for time in times]


KEYS: dict[str, tuple[list[Any], pa.DataType | None]] = {
    "text": (["a", None, "", "A", "a.b`c"], None),
    "floats": ([NAN, 0.0, -0.0, None, 1.5, -INF], pa.float64()),
    "short floats": ([NAN, 0.0, -0.0, None, 0.1], pa.float32()),
    "bytes": ([1, -128, None], pa.int8()),
    "booleans": ([True, False, None], None),
    "decimals": ([Decimal("1.10"), Decimal("-2.00"), None], pa.decimal128(10, 2)),
    "binary": ([b"a", b"", None], None),
    "dates": ([FIRST.date(), LAST.date(), date(1969, 12, 31), None], None),
    "timestamps": ([*aware([FIRST, LAST, *NIGHT]), None], pa.timestamp("us", "UTC")),
    "timestamps without a zone": ([FIRST, LAST, *NIGHT, None], pa.timestamp("us")),
    "intervals": ([timedelta(1), timedelta(-1), None], pa.duration("us")),
    "structs": (
        [{"a": 1, "b": NAN}, {"a": 1, "b": None}, {"a": 1, "b": 0.0}, {"a": 1, "b": -0.0}, None],
        pa.struct([("a", pa.int64()), ("b", pa.float64())]),
    ),
    "arrays": ([[1.0, NAN], [1.0], [None], None, []], pa.list_(pa.float64())),
}


@pytest.mark.parametrize("kind", every_second(KEYS))
def test_keys(spark: SparkSession, kind: str) -> None:
    """Null is a key, NaN is one, and -0.0 is 0.0, as Spark groups."""
    rows = with_column(some_rows(60), "k", drawn(*KEYS[kind], 60))
    check(spark, rows, Asked(3, AGGS, by=("k",)), keyed=(2,), series=())
    check(spark, rows, Asked(sash.tumbling("9i"), AGGS, by=("k",)), keyed=("auto",), series=())


def test_several_keys(spark: SparkSession) -> None:
    rows = with_column(some_rows(), "k", drawn(["a", None, "b"], None, 90))
    rows = with_column(rows, "k2", drawn([1.0, None, NAN], None, 90, seed=2))
    check(spark, rows, Asked(3, AGGS, by=("k", "k2")), keyed=(2,), series=())
    check(spark, rows, Asked(sash.session("3i"), AGGS, by=("k2", "k")), series=())


ORDERS: dict[str, tuple[list[Any], pa.DataType | None]] = {
    "text": ([*(f"{i:02d}é" for i in range(30)), "", None], None),
    "floats": ([NAN, INF, -INF, None, 0.0, -0.0, *(i / 3 for i in range(20))], pa.float64()),
    "short floats": ([NAN, INF, None, 0.0, -0.0, *(i / 3 for i in range(20))], pa.float32()),
    "bytes": ([None, -128, 127, *range(-9, 9)], pa.int8()),
    "longs": ([None, -(2**63), 2**63 - 1, *range(-20, 20)], pa.int64()),
    "booleans": ([True, False, None], None),
    "decimals": ([*(Decimal(i) / 100 for i in range(-9, 9)), None], pa.decimal128(20, 2)),
    "long decimals": ([10**35 * Decimal(i) for i in range(-9, 9)], pa.decimal128(38, 0)),
    "binary": ([*(bytes([i]) for i in range(0, 250, 9)), None], None),
    "dates": ([FIRST.date(), LAST.date(), None, *(date(2026, 1, i + 1) for i in range(9))], None),
    "timestamps": ([*aware([FIRST, LAST, *NIGHT]), None], pa.timestamp("us", "UTC")),
    "timestamps without a zone": ([FIRST, LAST, *NIGHT, None], pa.timestamp("us")),
    "intervals": ([*(timedelta(i) for i in range(-5, 9)), None], pa.duration("us")),
    "structs": (
        [*({"a": i // 3, "b": float(i)} for i in range(20)), None],
        pa.struct([("a", pa.int64()), ("b", pa.float64())]),
    ),
    "arrays": ([*([i // 3, i] for i in range(20)), None, []], pa.list_(pa.int64())),
}


@pytest.mark.parametrize("kind", every_second(ORDERS))
def test_order(spark: SparkSession, kind: str) -> None:
    """Windows of rows need an order and nothing else of it: null comes first, NaN last."""
    rows = with_column(some_rows(), "t", drawn(*ORDERS[kind], 90))
    check(spark, rows, Asked(sash.last(4, every=3), AGGS), keyed=(), series=(3,))
    check(spark, rows, Asked(40, AGGS, order_by=("t", "y", "x")), keyed=(), series=(5,))


@pytest.mark.parametrize("zone", ["UTC", None], ids=["timestamps", "timestamps without a zone"])
def test_times_from_year_1_to_9999(spark: SparkSession, zone: str | None) -> None:
    """Against Spark's own windows: arrays count in nanoseconds, and so do not go as far."""
    from pyspark.sql import functions as F

    wide = [FIRST, FIRST + timedelta(hours=5), LAST - timedelta(hours=4), *NIGHT]
    times = drawn(aware(wide) if zone else wide, pa.timestamp("us", zone), 60)
    df = spread(spark, with_column(some_rows(60), "t", times))
    windows = {
        sash.last("3h", every="1h"): F.window("t", "3 hours", "1 hour"),
        sash.session("90min"): F.session_window("t", "90 minutes"),
    }
    for window, own in windows.items():
        grouped = df.groupBy(own.alias("w")).agg(F.count(F.lit(1)).alias("n"))
        edges = F.col("w.start").alias(START), F.col("w.end").alias(END)
        expected = rows_of(grouped.select(*edges, "n").toArrow())
        assert len(expected) >= 4
        found = on_spark(df, Asked(window, {"n": sash.Count()}), split=3)
        same(found, expected, f"{window!r}")
    newest = on_spark(df, Asked("3h", {"newest": sash.Max("t"), "all": sash.Collect("t")}), split=3)
    assert all(row["newest"] == row["t"] for row in newest)


@pytest.mark.parametrize("window", ["3d", sash.tumbling("7d"), sash.session("2d")], ids=repr)
def test_days(spark: SparkSession, window: Any) -> None:
    days = [date(1969, 12, 20), *(date(2026, 1, 1) + timedelta(i) for i in range(0, 60, 3))]
    rows = with_column(some_rows(60), "t", drawn(days, pa.date32(), 60))
    check(spark, rows, Asked(window, AGGS, by=("k",)), keyed=("auto",), series=(3,))


def test_delta_of_times(spark: SparkSession) -> None:
    for zone in ("UTC", None):
        rows = some_rows(60)
        times = pa.array([t * 10**6 for t in rows["d"].to_pylist()]).cast(pa.timestamp("us", zone))
        rows = with_column(rows, "d", times)
        check(spark, rows, Asked(sash.delta("d", "5s"), AGGS), keyed=(), series=(3,))


KINDS = (
    4,
    70,
    "3i",
    sash.last("3i", closed="left"),
    sash.last("3i", every=sash.punctuated("mark")),
    sash.last(3, every=2),
    sash.last(3, every="2i"),
    sash.tumbling("5i"),
    sash.delta("d", 5),
    sash.session("2i"),
    sash.punctuated("mark"),
    sash.slide_while("total.n - old.n >= 3"),
)


def test_all_at_one_time(spark: SparkSession) -> None:
    """Rows of the same order value are never parted."""
    rows = with_column(some_rows(60), "t", pa.array([5] * 60))
    rows = with_column(rows, "d", pa.array([-1] * 60))
    for window in KINDS:
        check(spark, rows, Asked(window, AGGS), keyed=(), series=(4,))


def test_rows_that_are_all_the_same(spark: SparkSession) -> None:
    """Which of them is which cannot be told, and need not."""
    rows = pa.concat_tables([some_rows(30).drop_columns(["id"])] * 3)
    check(spark, rows, Asked(4, AGGS, by=("k",)), keyed=("auto", 2), series=(3,))


@pytest.mark.parametrize("count", [0, 1])
def test_few_rows(spark: SparkSession, count: int) -> None:
    for window in KINDS:
        check(spark, some_rows(count), Asked(window, AGGS, by=("k",)), keyed=("auto",), series=(3,))


def test_one_key(spark: SparkSession) -> None:
    rows = with_column(some_rows(), "k", pa.array(["same"] * 90))
    check(spark, rows, Asked(4, AGGS, by=("k",)), keyed=("auto", 3), series=())


def test_50_000_keys(spark: SparkSession, settings: Callable[..., None]) -> None:
    settings(**{"spark.sql.execution.arrow.maxRecordsPerBatch": 10_000})
    x = np.random.default_rng(4).integers(0, 1000, (50_000, 4))
    keys, times = np.arange(50_000).repeat(4), np.tile(np.arange(4), 50_000)
    df = spark.createDataFrame(pa.table({"k": keys, "t": times, "x": x.ravel()}))
    found = sash.spark.sliding(df, 3, {"m": sash.Max("x")}, by="k", order_by="t").toArrow()
    found = found.sort_by([("k", "ascending"), ("t", "ascending")])
    expected = np.maximum.accumulate(x, axis=1)
    expected[:, 3] = x[:, 1:].max(axis=1)
    assert found["m"].to_numpy().tolist() == expected.ravel().tolist()

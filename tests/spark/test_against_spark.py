"""Windows that Spark has too, with aggregates that it has too: the answers must be Spark's.

Spark's sum of no value is null where ours is 0. It tells the kurtosis and skewness of one value,
NaN, where we say null. Its window() needs a slide no longer than the window.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from spark.engines import END, START, Found, alike, rows_of, sort_key, spread

import sash

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

NEW_YORK = ZoneInfo("America/New_York")
SPRING = datetime(2026, 3, 8, 7, tzinfo=UTC)
"""When New York's clocks go from 2:00 to 3:00."""
AUTUMN = datetime(2026, 11, 1, 6, tzinfo=UTC)
"""When they go from 2:00 back to 1:00."""


def numbers(count: int = 150, seed: int = 5) -> pa.Table:
    """Numbers of all kinds with what is special among them, and text; `id` tells rows apart."""
    draw = np.random.default_rng(seed)
    missing = lambda: draw.random(count) < 0.15  # noqa: E731
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0]
    wild = np.where(draw.random(count) < 0.1, draw.choice(special, count), draw.normal(size=count))
    day = draw.integers(-40_000, 40_000, count)
    cents = [Decimal(int(v)) / 100 for v in draw.integers(-(10**9), 10**9, count)]
    return pa.table(
        {
            "k": pa.array(draw.choice(["a", "b", "c"], count), mask=draw.random(count) < 0.2),
            "t": pa.array(np.sort(draw.integers(-200, 200, count))),
            "long": pa.array(draw.integers(-50, 50, count), mask=missing()),
            "int": pa.array(draw.integers(-50, 50, count), pa.int32(), mask=missing()),
            "byte": pa.array(draw.integers(-50, 50, count), pa.int8()),
            "double": pa.array(draw.normal(3.0, 5.0, count), mask=missing()),
            "float": pa.array(draw.normal(3.0, 5.0, count), pa.float32(), mask=missing()),
            "wild": pa.array(wild),
            "flag": pa.array(draw.random(count) < 0.5, mask=missing()),
            "text": pa.array(draw.choice(["p", "Q", "", "ß", "𝛼", "z"], count), mask=missing()),
            "day": pa.array(day, pa.int32(), mask=missing()).cast(pa.date32()),
            "cents": pa.array(cents, pa.decimal128(12, 2), mask=missing()),
            "rank": pa.array(draw.permutation(count), mask=missing()),
            "id": pa.array(np.arange(count)),
        }
    )


def asked() -> dict[str, tuple[sash.Operator, Column]]:
    """Aggregates by name, as Sash has them and as Spark has them."""
    from pyspark.sql import functions as F

    one = F.lit(1)
    found = {"rows": (sash.Count(), F.count(one)), "values": (sash.Count("long"), F.count("long"))}
    for name in ("long", "int", "byte", "double", "float", "wild"):
        found |= {
            f"sum {name}": (sash.Sum(name), F.sum(name)),
            f"avg {name}": (sash.Mean(name), F.avg(name)),
        }
    for name in ("int", "double", "float"):
        found |= {
            f"std {name}": (sash.StdDev(name), F.stddev(name)),
            f"var {name}": (sash.Variance(name), F.variance(name)),
            f"var_pop {name}": (sash.Variance(name, ddof=0), F.var_pop(name)),
            f"skew {name}": (sash.Skewness(name), F.skewness(name)),
            f"kurt {name}": (sash.Kurtosis(name), F.kurtosis(name)),
        }
    for name in ("long", "byte", "float", "wild", "flag", "text", "day", "cents"):
        found |= {
            f"min {name}": (sash.Min(name), F.min(name)),
            f"max {name}": (sash.Max(name), F.max(name)),
            f"first {name}": (sash.First(name), F.first(name, ignorenulls=True)),
            f"last {name}": (sash.Last(name), F.last(name, ignorenulls=True)),
            f"list {name}": (sash.Collect(name), F.collect_list(name)),
            f"at max {name}": (sash.ArgMax("rank", name), F.max_by(name, "rank")),
            f"at min {name}": (sash.ArgMin("rank", name), F.min_by(name, "rank")),
        }
    found["said"] = (sash.Concat("text", sep="-"), F.listagg("text", F.lit("-")))
    return found


def agree(found: Found, expected: Found, *where: str) -> None:
    """The same rows of the same answers; `where` tells them apart."""
    one, other = (
        sorted(each, key=lambda row: [sort_key(row[name]) for name in where])
        for each in (found, expected)
    )
    assert [[row[name] for name in where] for row in one] == [
        [row[name] for name in where] for row in other
    ]
    assert one, "nothing was compared"
    for row, wanted in zip(one, other, strict=True):
        for name, value in wanted.items():
            here = {at: row[at] for at in where}
            assert close(name, row[name], value), f"{name} at {here}: {row[name]}, Spark {value}"


def close(name: str, found: Any, expected: Any) -> bool:
    if expected is None and name.startswith("sum"):
        return bool(found == 0)
    if expected is None and name.startswith(("skew", "kurt")) and found is not None:
        return bool(np.isnan(found))  # of values that are all the same
    if name.startswith(("sum", "avg", "std", "var", "skew", "kurt")) and expected is not None:
        # Spark adds one after the other, so that the last digits are others.
        return bool(np.isclose(found, expected, rtol=1e-9, atol=1e-9, equal_nan=True))
    return alike(found, expected)


FRAMES = {"right": (-4, 0), "left": (-5, -1), "both": (-5, 0), "neither": (-4, -1)}
"""What Spark calls the last 5, rows or numbers."""


@pytest.mark.parametrize("closed", FRAMES)
def test_rows_between(spark: SparkSession, closed: str) -> None:
    from pyspark.sql import Window

    df, aggs = spread(spark, numbers()), asked()
    frame = Window.partitionBy("k").orderBy("t", "id").rowsBetween(*FRAMES[closed])
    expected = df.select("id", *(own.over(frame).alias(name) for name, (_, own) in aggs.items()))
    found = sash.spark.sliding(
        df,
        sash.last(5, closed=closed),
        {name: op for name, (op, _) in aggs.items()},
        by="k",
        order_by=["t", "id"],
        columns=["id"],
        min_size=0,
    )
    agree(rows_of(found.toArrow()), rows_of(expected.toArrow()), "id")


@pytest.mark.parametrize("closed", FRAMES)
def test_range_between(spark: SparkSession, closed: str) -> None:
    """Spark holds rows of the same time as the row's own all, or none. So do we if that end is
    open; if not, it is those up to the row, so here all times differ."""
    from pyspark.sql import Window

    rows = numbers()
    if closed in ("right", "both"):
        once = np.sort(np.random.default_rng(8).permutation(2 * len(rows))[: len(rows)]) - len(rows)
        rows = rows.set_column(1, "t", pa.array(once))
    df, aggs = spread(spark, rows), asked()
    few = {name: aggs[name] for name in ("rows", "sum long", "avg double", "max wild", "min text")}
    frame = Window.partitionBy("k").orderBy("t").rangeBetween(*FRAMES[closed])
    expected = df.select("id", *(own.over(frame).alias(name) for name, (_, own) in few.items()))
    found = sash.spark.sliding(
        df,
        sash.last("5i", closed=closed),
        {name: op for name, (op, _) in few.items()},
        by="k",
        order_by="t",
        columns=["id"],
        min_size=0,
        split=3,
    )
    agree(rows_of(found.toArrow()), rows_of(expected.toArrow()), "id")


def times_around(*moments: datetime, zone: str | None, seed: int = 2) -> pa.Table:
    """Rows within hours of these moments, to the microsecond, some at the same time."""
    draw = np.random.default_rng(seed)
    offsets = draw.integers(-(5 * 3600 * 10**6), 5 * 3600 * 10**6, (len(moments), 30))
    offsets[:, :10] -= offsets[:, :10] % (1800 * 10**6)  # on the half hours
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    near = [(moment - epoch) // timedelta(microseconds=1) for moment in moments]
    t = (np.array(near)[:, None] + offsets).ravel()
    return pa.table(
        {
            "k": pa.array(draw.choice(["a", "b"], len(t))),
            "t": pa.array(t).cast(pa.timestamp("us", zone)),
            "x": pa.array(draw.integers(-9, 9, len(t)), mask=draw.random(len(t)) < 0.2),
        }
    )


MOMENTS = (
    SPRING,
    AUTUMN,
    datetime(1969, 12, 31, 23, tzinfo=UTC),
    datetime(1883, 11, 18, 17, tzinfo=UTC),  # when New York's clocks were set to a zone
    datetime(1582, 10, 15, tzinfo=UTC),
)
WINDOWS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "tumbling": (sash.tumbling("1h"), lambda F: F.window("t", "1 hour")),
    "sliding": (
        sash.last("90min", every="30min", offset="7min"),
        lambda F: F.window("t", "90 minutes", "30 minutes", "7 minutes"),
    ),
    "days": (sash.tumbling("1d"), lambda F: F.window("t", "1 day")),
    "session": (sash.session("20min"), lambda F: F.session_window("t", "20 minutes")),
}


@pytest.mark.parametrize("zone", ["UTC", None], ids=["timestamp", "timestamp_ntz"])
@pytest.mark.parametrize("session_zone", ["America/New_York", "Asia/Kolkata"])
def test_windows_of_time(
    spark: SparkSession, settings: Callable[..., None], zone: str | None, session_zone: str
) -> None:
    from pyspark.sql import functions as F

    settings(**{"spark.sql.session.timeZone": session_zone})
    df = spread(spark, times_around(*MOMENTS, zone=zone))
    aggs = {
        "rows": (sash.Count(), F.count(F.lit(1))),
        "sum": (sash.Sum("x"), F.sum("x")),
        "max": (sash.Max("x"), F.max("x")),
        "newest": (sash.Max("t"), F.max("t")),
        "oldest": (sash.First("t"), F.min("t")),
    }
    asked = {name: op for name, (op, _) in aggs.items()}
    for name, (window, own) in WINDOWS.items():
        grouped = df.groupBy("k", own(F).alias("w"))
        expected = grouped.agg(*(agg.alias(name) for name, (_, agg) in aggs.items())).select(
            "k", F.col("w.start").alias(START), F.col("w.end").alias(END), *aggs
        )
        found = sash.spark.sliding(df, window, asked, by="k", order_by="t", split=2)
        types = [[field.dataType for field in df.schema] for df in (found, expected)]
        assert types[0] == types[1]
        agree(rows_of(found.toArrow()), rows_of(expected.toArrow()), "k", START, END)

"""The rows of each part: the DataFrame that has every row once for each part that is sent it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sash.spark.clocks import OrderClock
from sash.spark.cut_points import CutPoints
from sash.spark.query import OWN, PART, Query, quoted
from sash.spark.series import Series
from sash.windows import cutting

FIRST, LAST, SERIES = "__sash_first", "__sash_last", "__sash_series"


@dataclass(frozen=True)
class Plan:
    """What is cut, and why; for all other keys, nothing is."""

    series: tuple[Series, ...]
    why: str

    @property
    def offsets(self) -> list[int]:
        """The number of each series' first part."""
        counts = [len(each.parts) for each in self.series]
        return [sum(counts[:k]) for k in range(len(counts))]


def partitions(df: DataFrame) -> int:
    return int(df.sparkSession.conf.get("spark.sql.shuffle.partitions", "200") or 200)


def parallelism(df: DataFrame) -> int:
    """How many tasks run at once."""
    context = getattr(df.sparkSession, "_sc", None)
    return int(context.defaultParallelism) if context is not None else partitions(df)


def points_along(query: Query, name: str) -> CutPoints:
    kind = query.schema.field(name).type
    return CutPoints(quoted(name), kind, OrderClock.of(name, kind))


def order_points(query: Query) -> CutPoints:
    return points_along(query, query.order_by[0])


def along_points(query: Query) -> CutPoints:
    name = query.shape_as_written.along
    assert name is not None
    return points_along(query, name)


def series_number(query: Query, keys: list[tuple[Any, ...]]) -> Column:
    """Which of these keys a row is of; null for others."""
    if not query.by:
        return F.lit(0)
    points = [points_along(query, name) for name in query.by]
    found: Any = F
    for number, key in enumerate(keys):
        same = [each.same(value) for each, value in zip(points, key, strict=True)]
        found = found.when(reduce(lambda a, b: a & b, same), F.lit(number))
    return found  # type: ignore[no-any-return]


def by_series(number: Column, each: list[Column]) -> Column:
    found: Any = F
    for k, column in enumerate(each):
        found = found.when(number == k, column)
    return found  # type: ignore[no-any-return]


def with_parts(df: DataFrame, query: Query, points: CutPoints, plan: Plan) -> DataFrame:
    """Each row once for each part that is sent it, with the part's number; it is OWN in one."""
    keys = [each.key for each in plan.series]
    along = along_points(query) if query.shape.size == cutting.DELTA else points
    numbered = list(zip(plan.offsets, plan.series, strict=True))
    ranks = {
        OWN: [F.lit(at) + points.rank(each.cuts) for at, each in numbered],
        FIRST: [F.lit(at + 1) + points.rank(each.highs) for at, each in numbered],
        LAST: [F.lit(at) + _reached(along, each) for at, each in numbered],
    }
    found = df.withColumn(SERIES, series_number(query, keys))
    found = found.select(
        *map(quoted, df.columns),
        *(by_series(F.col(SERIES), each).cast("int").alias(name) for name, each in ranks.items()),
    )
    others = F.concat(F.array(OWN), F.sequence(FIRST, LAST))
    targets = F.when(F.col(LAST) >= F.col(FIRST), others).otherwise(F.array(OWN))
    return found.withColumn(PART, F.explode(targets)).drop(FIRST, LAST)


def _reached(points: CutPoints, series: Series) -> Column:
    """The last part that is sent a row, if it is not its own."""
    known = [low for low in series.lows if low is not None]
    return F.lit(len(series.lows) - len(known)) + points.rank(known)


def partition_of(query: Query, count: int) -> Column:
    """Each part in its own place, and other keys by hash."""
    part = F.col(PART)
    if query.by:
        part = F.coalesce(part, F.hash(*(quoted(name) for name in query.by)))
    return F.pmod(part, F.lit(count)).cast("int")

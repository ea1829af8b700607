"""Which keys are cut into parts, and where.

A key is heavy if it has more rows than HEAVY_ROWS and than its fair share, all rows divided by the
cores: then others would wait for it. All rows without a key are one such series.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sash.spark.betweens import tell_between, totals_help
from sash.spark.clean_cuts import cut_cleanly
from sash.spark.cut_points import CutPoints, quantiles
from sash.spark.part_rows import (
    SERIES,
    Plan,
    along_points,
    by_series,
    order_points,
    parallelism,
    partitions,
    points_along,
    series_number,
)
from sash.spark.query import Query
from sash.spark.series import GRID, Series, rows_needed
from sash.windows import cutting
from sash.windows.payload import answers_numbers

Split = Literal["auto", False] | int

HEAVY_ROWS = 1_000_000
PART_ROWS = 100_000
"""Parts of fewer rows than this are not worth the trouble."""
MOST_HEAVY = 64
SAMPLED = 64
"""Where to cut many rows, and how many they are, is told by one in so many."""


def plan_parts(df: DataFrame, query: Query, split: Split) -> tuple[Query, Plan]:
    """Look at the rows, if it may be that some key has too many, and say where to cut."""
    plan = _planned(df, query, split)
    parts = {
        offset + q: part
        for offset, series in zip(plan.offsets, plan.series, strict=True)
        for q, part in enumerate(series.parts)
    }
    return replace(query, parts=parts), plan


def _planned(df: DataFrame, query: Query, split: Split) -> Plan:
    hindrance = uncuttable(query)
    if split is False:
        return Plan((), "split=False forbids it")
    if hindrance:
        return Plan((), hindrance)
    keys: list[tuple[Any, ...]] = [()]
    why = "all rows are one series"
    if query.by:
        keys, why = heavy_keys(df, query, split)
        if not keys:
            return Plan((), why)
    points = order_points(query)
    series = spread(df, query, points, keys, split == "auto")
    cores = parallelism(df)
    for each in series:
        each.cut_evenly(_parts(each, query, split, cores, partitions(df)))
    cut = [each for each in series if each.cuts]
    _reach_back(df, query, points, cut)
    number = series_number(query, [each.key for each in cut])
    tell_between(df, query, points, cut, number, partitions(df))
    return Plan(tuple(series), why)


def checked_split(split: Any) -> Split:
    if split is False or split == "auto":
        return split  # type: ignore[no-any-return]
    if isinstance(split, bool) or not isinstance(split, int) or split < 1:
        raise ValueError(
            f"split is 'auto', a number of parts, or False to forbid it; not {split!r}."
        )
    return split


def uncuttable(query: Query) -> str:
    """What keeps a window from being computed in parts, if anything does."""
    shape = query.shape
    if query.idle is not None:
        return "whether a key begins anew depends on all rows before"
    if shape.size == cutting.POLICY:
        return "what a slide policy lets go depends on all rows before"
    first = query.order_by[0]
    if pa.types.is_nested(query.schema.field(first).type) or first in query.collated:
        return f"the values of {first!r} are not compared as Python would"
    if shape.trigger == cutting.AT_ENDS and query.min_size == 0:
        return "with min_size=0 windows without any row are answered too, in no part"
    return ""


def _parts(series: Series, query: Query, split: Split, cores: int, most: int) -> int:
    if split != "auto":
        return max(int(split), 1)
    need = rows_needed(query.shape) or 0
    worth = -(-series.rows // max(PART_ROWS, need))
    return max(1, min(most, max(worth, min(cores, series.rows // PART_ROWS))))


# Which keys


def heavy_keys(df: DataFrame, query: Query, split: Split) -> tuple[list[tuple[Any, ...]], str]:
    """The keys that are cut, and why; all of them if it is forced."""
    for name in query.by:
        kind = query.schema.field(name).type
        if pa.types.is_nested(kind):
            return [], f"keys that are {kind} are not looked for"
    if split == "auto" and _bytes(df) < 16 * HEAVY_ROWS:
        return [], f"there is too little for a key of more than {HEAVY_ROWS:,} rows"
    points = [points_along(query, name) for name in query.by]
    by = [each.value.alias(f"k{k}") for k, each in enumerate(points)]
    count = F.count(F.lit(1)).alias(SERIES)
    found = df.groupBy(*by).agg(count).orderBy(F.desc(SERIES)).limit(MOST_HEAVY + 1).collect()
    most = [tuple(row) for row in found]
    if split != "auto":
        if len(most) > MOST_HEAVY:
            raise ValueError(
                f"split={split} cuts every key into parts, and there are more than {MOST_HEAVY} "
                f"keys: leave split out, and those with too many rows are found."
            )
        return [row[:-1] for row in most], f"split={split} cuts every key"
    if not most or most[0][-1] <= HEAVY_ROWS:
        return [], f"no key has more than {HEAVY_ROWS:,} rows"
    share = df.count() // parallelism(df)
    heavy = [row[:-1] for row in most[:MOST_HEAVY] if row[-1] > max(HEAVY_ROWS, share)]
    return heavy, f"a key with more than {max(HEAVY_ROWS, share):,} rows has too many"


def _bytes(df: DataFrame) -> int:
    """About how much data it is, as far as Spark can tell without reading it."""
    plan = getattr(df, "_jdf", None)
    if plan is None:
        return 1 << 62
    return int(str(plan.queryExecution().optimizedPlan().stats().sizeInBytes()))


# Where


def spread(
    df: DataFrame, query: Query, points: CutPoints, keys: list[tuple[Any, ...]], few_do: bool
) -> list[Series]:
    """How many rows each series has, and how they are spread.

    few_do: whether that may be told by some of them, as all of these series are long.
    """
    numbered = df.select(series_number(query, keys).alias(SERIES), points.value.alias("o"))
    numbered = numbered.filter(F.col(SERIES).isNotNull())
    count = F.count(F.lit(1)).alias("n")
    share = 1
    if points.cuttable:
        if few_do and _bytes(numbered) >= 16 * HEAVY_ROWS:  # quantiles cost most of this pass
            share, numbered = SAMPLED, numbered.filter(F.rand(7) < 1 / SAMPLED)
        grouped = numbered.groupBy(SERIES).agg(count, quantiles("o", GRID).alias("grid"))
        rows = {row[SERIES]: (row["n"] * share, row["grid"] or []) for row in grouped.collect()}
    else:
        rows = {
            row[SERIES]: (row["n"], _sample(numbered, row[SERIES]))
            for row in numbered.groupBy(SERIES).agg(count).collect()
        }
    series = []
    for number, key in enumerate(keys):
        n, grid = rows.get(number, (0, []))
        values = sorted({v for v in grid if v is not None and v == v})
        series.append(Series(key, int(n), values[1:], estimated=share > 1))
    return series


def _sample(numbered: DataFrame, series: int) -> list[Any]:
    """Some values of a column that Spark tells no quantiles of."""
    given = numbered.filter((F.col(SERIES) == series) & F.col("o").isNotNull())
    some = given.orderBy(F.rand(7)).limit(4 * GRID).select("o").collect()
    values = sorted(row["o"] for row in some)
    return values[2::4]


def _reach_back(df: DataFrame, query: Query, points: CutPoints, series: list[Series]) -> None:
    """How far back each part must be sent rows."""
    shape = query.shape
    need = rows_needed(shape)
    if not series:
        return
    by_row = shape.trigger != cutting.AT_ENDS
    if need is not None:
        stay = need + 1 if totals_help(query) else None
        values = [each.candidates(need, stay) for each in series]
        counts = _between(df, query, points, series, values)
        for each, candidates, own in zip(series, values, counts, strict=True):
            each.reach_back_rows(need, stay, candidates, own)
        return
    if shape.trigger == cutting.WHEN_OVER:
        cut_cleanly(df, query, points, series)
    elif shape.size == cutting.DELTA:
        _reach_back_along(df, query, points, series)
        points = along_points(query)
    else:
        stays = totals_help(query)
        greatest = _greatest(df, query, points, series) if stays and by_row else {}
        for k, each in enumerate(series):
            each.reach_back(shape.numbers[1], points.fits, stays, greatest.get(k))
    if _needs_numbers(query):
        lows = [[low for low in each.lows if low is not None] for each in series]
        for each, own in zip(series, _between(df, query, points, series, lows), strict=True):
            each.number_parts(own)


def _greatest(
    df: DataFrame, query: Query, points: CutPoints, series: list[Series]
) -> dict[int, Any]:
    """The greatest value of each series."""
    number = series_number(query, [each.key for each in series])
    values = df.select(number.alias(SERIES), points.value.alias("o"))
    values = values.filter(F.col(SERIES).isNotNull())
    found = values.groupBy(SERIES).agg(F.max("o").alias("greatest")).collect()
    return {row[SERIES]: row["greatest"] for row in found}


def _needs_numbers(query: Query) -> bool:
    """Whether rows must be known by number: each so-many-th, or by an answer."""
    every = query.shape.trigger == cutting.AT_ROWS and query.shape.numbers[2] != 1
    return every or any(map(answers_numbers, query.operator.leaves))


def _between(
    df: DataFrame, query: Query, points: CutPoints, series: list[Series], values: list[list[Any]]
) -> list[list[int]]:
    """How many rows of each series there are before the first of its values, up to the next, …"""
    number = series_number(query, [each.key for each in series])
    rank = by_series(F.col(SERIES), [points.rank(each) for each in values])
    grouped = df.withColumn(SERIES, number).filter(F.col(SERIES).isNotNull())
    found = grouped.groupBy(SERIES, rank.alias("rank")).count().collect()
    counts = {(row[SERIES], row["rank"]): int(row["count"]) for row in found}
    return [
        [counts.get((k, rank), 0) for rank in range(len(each) + 1)] for k, each in enumerate(values)
    ]


def _reach_back_along(df: DataFrame, query: Query, points: CutPoints, series: list[Series]) -> None:
    """By the column that a width is measured along: from its least value in each part."""
    along = along_points(query)
    number = series_number(query, [each.key for each in series])
    own = by_series(F.col(SERIES), [points.rank(each.cuts) for each in series])
    grouped = df.withColumn(SERIES, number).filter(F.col(SERIES).isNotNull())
    least = grouped.groupBy(SERIES, own.alias("part")).agg(F.min(along.value).alias("least"))
    found = {(row[SERIES], row["part"]): row["least"] for row in least.collect()}
    width = query.shape.numbers[1]
    for k, each in enumerate(series):
        lows: list[Any] = []
        for q in range(1, len(each.cuts) + 1):
            value = found.get((k, q))
            low = None if value is None else value - width
            if isinstance(low, float):  # what was rounded must not be missing
                low = float(np.nextafter(low, -np.inf))
            before = lows[-1] if lows else None
            lows.append(low if low is not None and along.fits(low) else before)
        each.lows, each.highs = lows, list(each.cuts)

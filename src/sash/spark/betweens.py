"""The totals of rows that stay in the windows of a part for as long as it runs.

They are computed before the parts are: a pass over the rows gives ⊕ of each stretch between two
of all the values where any of them begins or ends, and what a part needs is ⊕ of some of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sash.aggregators.saving import pack, unpack
from sash.spark.arriving import in_utc
from sash.spark.cut_points import CutPoints
from sash.spark.failing import RowError, told
from sash.spark.query import ROWS, Query, quoted
from sash.spark.rows import Rows
from sash.spark.series import Series
from sash.spark.starting import without_noise
from sash.windows import cutting
from sash.windows.failing_rows import first_failing
from sash.windows.part import Between
from sash.windows.totals import Total, has_totals, joined, total_of

STRETCH = "__sash_stretch"
KIND = "total"
MANY_ROWS = 50_000
"""So many are summed at once."""


def totals_help(query: Query) -> bool:
    """Whether rows that stay in a window can be sent as their total."""
    shape = query.shape
    by_row = shape.trigger in (cutting.AT_ROWS, cutting.AT_MARKS)
    on_grid = shape.trigger == cutting.AT_ENDS and shape.size == cutting.TIME
    sized = shape.size in (cutting.ROWS, cutting.TIME) and shape.closed[1]
    return sized and (by_row or on_grid) and has_totals(query.operator, query.schema_read)


def tell_between(
    df: DataFrame, query: Query, points: CutPoints, series: list[Series], number: Any, count: int
) -> None:
    """Give each part that needs it the total of the rows that it is not sent.

    number: the column that tells which series a row is of; count: how many partitions to use.
    """
    values = [sorted({v for pair in s.not_sent.values() for v in pair}) for s in series]
    if not any(values):
        return
    offsets = np.cumsum([0, *(len(each) + 1 for each in values)]).tolist()
    wanted = {
        offset + rank
        for each, own, offset in zip(series, values, offsets, strict=False)
        for high, cut in each.not_sent.values()
        for rank in range(own.index(high) + 1, own.index(cut) + 1)
    }
    stretch: Any = F
    for k, (own, offset) in enumerate(zip(values, offsets, strict=False)):
        stretch = stretch.when(number == k, F.lit(offset) + points.rank(own))
    needed = dict.fromkeys([*query.reads, *query.order_by, *query.ties])
    rows = df.select(*map(quoted, needed), stretch.cast("int").alias(STRETCH))
    rows = rows.filter(F.col(STRETCH).isin(sorted(wanted)))
    if not query.operator.commutative:
        rows = rows.repartitionById(count, F.col(STRETCH) % count)
        order = (quoted(name) for name in (*query.order_by, *query.ties))
        rows = rows.sortWithinPartitions(STRETCH, *order)

    def sash(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from totals(query, batches)

    names = [quoted(name).alias(f"c{k}") for k, name in enumerate(query.reads)]
    told = rows.select(*names, STRETCH)
    with without_noise():
        collected = told.mapInArrow(sash, "stretch int, n bigint, total binary").collect()
    found: dict[int, list[tuple[int, Total]]] = {}
    for row in collected:
        found.setdefault(row["stretch"], []).append((row["n"], unpack(KIND, bytes(row["total"]))))
    for each, own, offset in zip(series, values, offsets, strict=False):
        for q, (high, cut) in each.not_sent.items():
            ranks = range(own.index(high) + 1, own.index(cut) + 1)
            parts = [one for rank in ranks for one in found.get(offset + rank, [])]
            if parts:
                total = joined(query.operator, query.schema_read, [t for _, t in parts])
                time = cut - 1 if query.goes_by_time else None
                content = [sum(n for n, _ in parts), total, time]
                each.between[q] = pack(KIND, content)


def between(packed: bytes) -> Between:
    rows, total, time = unpack(KIND, packed)
    return Between(rows, total, time)


def _total(query: Query, columns: dict[str, pa.Array], count: int) -> Total:
    def fails(many: int) -> Exception | None:
        try:
            total_of(query.operator, {name: c[:many] for name, c in columns.items()})
        except Exception as error:
            return error
        return None

    try:
        return total_of(query.operator, columns)
    except Exception:
        at, error = first_failing(count, fails)
        raise RowError(told(query, Rows(columns, count), at, error)) from error


def totals(query: Query, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The total of each stretch of rows in a partition."""
    waiting: dict[int, list[pa.RecordBatch]] = {}
    found: dict[int, tuple[int, Total | None]] = {}

    def add(stretch: int) -> None:
        rows = pa.Table.from_batches(waiting.pop(stretch)).combine_chunks()
        given = (values.combine_chunks() for values in rows.columns[: len(query.reads)])
        columns = in_utc(query.reads, given, query.schema)
        if ROWS in query.operator.columns:
            columns[ROWS] = pa.array(np.ones(rows.num_rows, np.int8))
        total = _total(query, columns, rows.num_rows)
        count, before = found.get(stretch, (0, None))
        if before is not None:
            total = joined(query.operator, query.schema_read, [before, total])
        found[stretch] = count + rows.num_rows, total

    for batch in batches:
        numbers = batch.column(STRETCH).to_numpy()
        for stretch in np.unique(numbers).tolist():
            own = (
                batch if (numbers == stretch).all() else batch.filter(pa.array(numbers == stretch))
            )
            waiting.setdefault(stretch, []).append(own)
            if sum(each.num_rows for each in waiting[stretch]) >= MANY_ROWS:
                add(stretch)
    for stretch in list(waiting):
        add(stretch)
    for stretch, (count, total) in found.items():
        columns = [pa.array([stretch], pa.int32()), pa.array([count], pa.int64())]
        columns.append(pa.array([pack(KIND, total)], pa.binary()))
        yield pa.RecordBatch.from_arrays(columns, names=["stretch", "n", "total"])

"""Cuts at which windows begin, for windows that end by themselves: sessions, and marks.

No window is in two parts then, and nothing need be sent from one to another.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sash.aggregators.columns import column
from sash.spark.cut_points import CutPoints
from sash.spark.part_rows import Plan, partitions, with_parts
from sash.spark.query import PART, Query, quoted
from sash.spark.series import Series
from sash.spark.starting import without_noise
from sash.windows import cutting
from sash.windows.roles import marks_in


def cut_cleanly(df: DataFrame, query: Query, points: CutPoints, series: list[Series]) -> None:
    """Move each cut to the first row from it on that begins a window; without one, drop it."""
    for each in series:
        each.reach_nowhere()
    plan = Plan(tuple(series), "")
    order = [*query.order_by, *query.ties]
    needed = dict.fromkeys([*order, *([query.shape.mark] if query.shape.mark else []), PART])
    given = with_parts(df, query, points, plan).filter(F.col(PART).isNotNull())
    rows = given.select(*map(quoted, needed))
    rows = rows.repartitionById(partitions(df), F.col(PART) % partitions(df))
    rows = rows.sortWithinPartitions(PART, *map(quoted, order))
    # mapInArrow does not take every name that a column may have.
    read = [query.order_by[0], *([query.shape.mark] if query.shape.mark else [])]
    rows = rows.select(PART, *(quoted(name).alias(f"c{k}") for k, name in enumerate(read)))

    def sash(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from clean_cuts(query, batches)

    with without_noise():
        found = rows.mapInArrow(sash, "part int, cut bigint").collect()
    at = {row["part"]: row["cut"] for row in found}
    for each, offset in zip(series, plan.offsets, strict=True):
        cuts = [at.get(offset + q) for q in range(1, len(each.cuts) + 1)]
        each.cuts = [cut for cut in cuts if cut is not None]
        each.reach_nowhere()


def clean_cuts(query: Query, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For each part, the first value but its least at which a window begins."""
    clock, shape = query.clock, query.shape
    assert clock is not None
    last: tuple[int, int, bool] | None = None  # part, time and mark of the row before
    done = -1
    for batch in batches:
        parts, values = batch.column(0).to_numpy(), batch.column(1)
        if not len(parts):
            continue
        times = clock.numbers(values.drop_null())
        if len(times) < len(parts):  # the pass itself tells of it
            continue
        marked = np.zeros(len(parts), bool)
        if shape.mark is not None:
            marked = marks_in(column(batch.column(2)))
        before = last or (-1, 0, False)
        same = np.concatenate([[before[0]], parts[:-1]]) == parts
        earlier = np.concatenate([[before[1]], times[:-1]])
        if shape.size == cutting.SESSION:
            clean = times - earlier > shape.numbers[1]
        elif shape.marks_end:
            clean = np.concatenate([[before[2]], marked[:-1]]) & (earlier < times)
        else:
            clean = marked & (earlier < times)
        rows = np.flatnonzero(clean & same & (parts != done))
        if len(rows):
            first, at = np.unique(parts[rows], return_index=True)
            yield pa.RecordBatch.from_arrays(
                [pa.array(first, pa.int32()), pa.array(times[rows[at]])], names=["part", "cut"]
            )
            if first[-1] == parts[-1]:
                done = int(first[-1])
        last = int(parts[-1]), int(times[-1]), bool(marked[-1])

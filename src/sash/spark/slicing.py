"""Rows of a stream as slices, before they are sent to their shards."""

from __future__ import annotations

import pyarrow as pa

from sash.spark.arriving import in_utc
from sash.spark.failing import RowError, told
from sash.spark.rows import Rows
from sash.spark.stream_query import MOMENT, WEIGHT, StreamQuery
from sash.spark.timing import times_of
from sash.spark.worker import windowed_columns
from sash.windows.failing_rows import first_failing
from sash.windows.slices import Slices


def sliced(asked: StreamQuery, slices: Slices, batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """What is sent of these rows: their keys, a moment, how many they were, and partials."""
    query, clock = asked.query, asked.clock
    table = pa.Table.from_batches(batches).combine_chunks()
    arrays = [values.combine_chunks() for values in table.columns]
    rows = Rows(in_utc(asked.sent, arrays, query.schema), table.num_rows)
    times = times_of(rows.columns[clock.column], clock)

    def cut(count: int) -> pa.RecordBatch:
        some = rows if count == rows.count else rows.slice(0, count)
        columns = windowed_columns(query, some.columns, count)
        keys = [some.columns[name] for name in query.by]
        partials, keys, moments, weights = slices.cut(columns, keys, times[:count])
        found = [*keys, pa.array(moments), pa.array(weights), *partials.values()]
        return pa.RecordBatch.from_arrays(found, names=[*query.by, MOMENT, WEIGHT, *partials])

    def fails(count: int) -> Exception | None:
        try:
            cut(count)
        except Exception as error:
            return error
        return None

    try:
        return cut(rows.count)
    except Exception:
        at, error = first_failing(rows.count, fails)
        raise RowError(told(query, rows, at, error)) from error

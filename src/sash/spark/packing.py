"""Rows on their way to a stream's shards and back: packed, as a row by itself costs too much.

On the way in, a row for a shard holds many of the stream's as Arrow's bytes, or slices of them
where windows allow it, and the newest time of all; every shard is told the time, also if it has no
rows. On the way out, so are answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from sash.spark.clocks import OrderClock
from sash.spark.handing_over import take_answers
from sash.spark.slicing import sliced
from sash.spark.stream_query import StreamQuery
from sash.windows.cutting import NEVER

Array = np.ndarray[Any, Any]
PACKED = "shard int, newest bigint, count bigint, packed binary"
FEW_ROWS = 1 << 14
"""So many rows are packed together: the next ones are packed while these are on their way."""
MANY_ROWS = 1 << 17
"""So many become slices together: the more, the fewer slices."""


def packed(batches: Iterator[pa.RecordBatch], asked: StreamQuery) -> Iterator[pa.RecordBatch]:
    """Rows by shard, which the first column tells."""
    at = 1 + asked.sent.index(asked.clock.column)
    most = FEW_ROWS if asked.slices is None else MANY_ROWS
    newest = NEVER
    held: dict[int, list[pa.RecordBatch]] = {shard: [] for shard in asked.shards}
    counts = dict.fromkeys(asked.shards, 0)
    for batch in batches:
        if not batch.num_rows:
            continue
        newest = max(newest, _newest(batch.column(at), asked.clock))
        rows = pa.RecordBatch.from_arrays(batch.columns[1:], names=batch.schema.names[1:])
        for shard, own in _by_shard(batch.column(0).to_numpy(), rows):
            held[shard].append(own)
            counts[shard] += own.num_rows
            if counts[shard] >= most:
                yield _row(asked, shard, newest, held[shard])
                held[shard], counts[shard] = [], 0
    if newest == NEVER:
        return
    for shard in asked.shards:
        yield _row(asked, shard, newest, held[shard])


def _newest(times: pa.Array, clock: OrderClock) -> int:
    """Of rows that have a time; those that have none are refused where they are needed."""
    numbers = clock.numbers(times.drop_null() if times.null_count else times)
    return int(numbers.max(initial=NEVER))


def _by_shard(numbers: Array, rows: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    if (numbers == numbers[0]).all():
        yield int(numbers[0]), rows
        return
    order = np.argsort(numbers, kind="stable")
    sorted_rows, sorted_numbers = rows.take(pa.array(order)), numbers[order]
    edges = [0, *(np.flatnonzero(np.diff(sorted_numbers)) + 1).tolist(), len(order)]
    for first, last in pairwise(edges):
        yield int(sorted_numbers[first]), sorted_rows.slice(first, last - first)


def _row(asked: StreamQuery, shard: int, newest: int, held: list[pa.RecordBatch]) -> pa.RecordBatch:
    count = sum(rows.num_rows for rows in held)
    if held and asked.slices is not None:
        held = [sliced(asked, asked.slices, held)]
    data = as_bytes(held).to_pybytes() if held else None
    columns = [pa.array([shard], pa.int32()), pa.array([newest]), pa.array([count])]
    columns.append(pa.array([data], pa.binary()))
    return pa.RecordBatch.from_arrays(columns, names=["shard", "newest", "count", "packed"])


def as_bytes(batches: list[pa.RecordBatch]) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
    return sink.getvalue()


def from_bytes(data: Any) -> list[pa.RecordBatch]:
    with pa.ipc.open_stream(pa.py_buffer(data)) as stream:
        return list(stream)


def unpacked(batches: Iterator[pa.RecordBatch], names: list[str]) -> Iterator[pa.RecordBatch]:
    """Answers, as rows again: those that are packed, and those that were left for us."""
    for batch in batches:
        for data, left in zip(*batch.columns, strict=True):
            found = from_bytes(data.as_buffer()) if data.is_valid else []
            if left.is_valid:
                found = take_answers(left.as_py())
            for rows in found:
                rows = rows.rename_columns(names)
                for at in range(0, rows.num_rows, FEW_ROWS):
                    yield rows.slice(at, FEW_ROWS)

"""Rows on their way to a stream's shards and back: packed, as a row by itself costs too much.

On the way in, a row for a shard holds many of the stream's as Arrow's bytes, and the newest time
of all; every shard is told the time, also if it has no rows. On the way out, so are answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from sash.spark.clocks import OrderClock
from sash.windows.cutting import NEVER
from sash.windows.roles import RefusedRowError

Array = np.ndarray[Any, Any]
PACKED = "shard int, newest bigint, packed binary"
MANY_ROWS = 1 << 17
"""So many rows of a shard are packed at most: a part of a batch must fit into memory, not all."""


def packed(
    batches: Iterator[pa.RecordBatch], shards: list[int], clock: OrderClock, at: int
) -> Iterator[pa.RecordBatch]:
    """Rows by shard. The first column tells it; `at` is where the others have the time."""
    newest = NEVER
    held: dict[int, list[pa.RecordBatch]] = {shard: [] for shard in shards}
    counts = dict.fromkeys(shards, 0)
    for batch in batches:
        if not batch.num_rows:
            continue
        newest = max(newest, _newest(batch.column(at), clock))
        rows = pa.RecordBatch.from_arrays(batch.columns[1:], names=batch.schema.names[1:])
        for shard, own in _by_shard(batch.column(0).to_numpy(), rows):
            held[shard].append(own)
            counts[shard] += own.num_rows
            if counts[shard] >= MANY_ROWS:
                yield _row(shard, newest, held[shard])
                held[shard], counts[shard] = [], 0
    if newest == NEVER:
        return
    for shard in shards:
        yield _row(shard, newest, held[shard])


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


def _row(shard: int, newest: int, held: list[pa.RecordBatch]) -> pa.RecordBatch:
    data = as_bytes(held).to_pybytes() if held else None
    columns = [pa.array([shard], pa.int32()), pa.array([newest], pa.int64())]
    columns.append(pa.array([data], pa.binary()))
    return pa.RecordBatch.from_arrays(columns, names=["shard", "newest", "packed"])


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
    """Answers, as rows again."""
    for batch in batches:
        for data in batch.column(0):
            if data.is_valid:
                for rows in from_bytes(data.as_buffer()):
                    yield rows.rename_columns(names)


def times_of(values: pa.Array, clock: OrderClock) -> Array:
    """The times of rows, as numbers; every row needs one."""
    if values.null_count:
        raise RefusedRowError(
            f"every row needs a value of {clock.column!r}, and a row has none; filter such rows "
            f"out."
        )
    numbers = clock.numbers(values)
    if len(numbers) and not -(2**62) < int(numbers.min()) <= int(numbers.max()) < 2**62:
        raise RefusedRowError(f"the values of {clock.column!r} must be within 62 bits.")
    return numbers

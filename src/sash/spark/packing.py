"""Rows on their way to a stream's shards and back: packed, as a row by itself costs too much.

On the way in, a row for a shard holds many of the stream's as Arrow's bytes, or slices of them
where windows allow it, and the newest time of all; every shard is told the time, also if it has no
rows. On the way out, so are answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.spark.clocks import OrderClock
from sash.spark.handing_over import take_answers
from sash.spark.slicing import sliced
from sash.spark.stream_query import StreamQuery
from sash.windows.cutting import NEVER

Array = np.ndarray[Any, Any]
PACKED = "shard int, newest bigint, count bigint, packed binary"
BROUGHT = "question int, packed binary"
ASIDE = -1
"""The number of the shard, and of the question, of rows that are set aside."""
FEW_ROWS = 1 << 14
"""So many rows are packed together: the next ones are packed while these are on their way."""
MANY_ROWS = 1 << 17
"""So many become slices together: the more, the fewer slices."""


def packed(
    batches: Iterator[pa.RecordBatch],
    asked: Sequence[StreamQuery],
    columns: Sequence[str],
    aside: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Rows by shard.

    The first columns of a batch tell the shard of a row for each question; then come those that
    questions are about, as they are called here; and last, why a row is set aside, if `aside`.
    """
    packers = [_Packer(each, k, len(asked), columns) for k, each in enumerate(asked)]
    for batch in batches:
        if aside and batch.num_rows:
            why = batch.column(batch.num_columns - 1)
            if why.null_count < len(why):
                yield _set_aside(why.drop_null())
                batch = batch.filter(pc.is_null(why))
        for packer in packers:
            yield from packer.more(batch)
    for packer in packers:
        yield from packer.rest()


class _Packer:
    """The rows of a task that one question is about, on their way to its shards."""

    def __init__(self, asked: StreamQuery, k: int, questions: int, columns: Sequence[str]) -> None:
        self.asked = asked
        self.shard = k
        self.columns = [questions + columns.index(name) for name in asked.sent]
        self.time = self.columns[asked.sent.index(asked.clock.column)]
        self.most = FEW_ROWS if asked.slices is None else MANY_ROWS
        self.newest = NEVER
        self.held: dict[int, list[pa.RecordBatch]] = {shard: [] for shard in asked.shards}
        self.counts = dict.fromkeys(asked.shards, 0)

    def more(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if not batch.num_rows:
            return
        self.newest = max(self.newest, _newest(batch.column(self.time), self.asked.clock))
        arrays = [batch.column(k) for k in self.columns]
        rows = pa.RecordBatch.from_arrays(arrays, names=[f"c{k}" for k in range(len(arrays))])
        for shard, own in _by_shard(batch.column(self.shard).to_numpy(), rows):
            self.held[shard].append(own)
            self.counts[shard] += own.num_rows
            if self.counts[shard] >= self.most:
                yield self._row(shard)
                self.held[shard], self.counts[shard] = [], 0

    def rest(self) -> Iterator[pa.RecordBatch]:
        """What is left; all shards are told the time."""
        if self.newest != NEVER:
            yield from map(self._row, self.asked.shards)

    def _row(self, shard: int) -> pa.RecordBatch:
        held, slices = self.held[shard], self.asked.slices
        count = sum(rows.num_rows for rows in held)
        if held and slices is not None:
            held = [sliced(self.asked, slices, held)]
        return _row(shard, self.newest, count, held)


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


def _set_aside(why: pa.Array) -> pa.RecordBatch:
    return _row(ASIDE, NEVER, len(why), [pa.RecordBatch.from_arrays([why], names=["c0"])])


def _row(shard: int, newest: int, count: int, held: list[pa.RecordBatch]) -> pa.RecordBatch:
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
            for rows in _found(data, left):
                rows = rows.rename_columns(names)
                for at in range(0, rows.num_rows, FEW_ROWS):
                    yield rows.slice(at, FEW_ROWS)


def brought_along(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answers, packed, with those that were left here: to be unpacked elsewhere."""
    for batch in batches:
        for question, data, left in zip(*batch.columns, strict=True):
            for rows in _found(data, left):
                yield packed_answers(question.as_py(), rows)


def packed_answers(question: int, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Answers to one of several questions, as BROUGHT says."""
    begins = range(0, rows.num_rows, MANY_ROWS)
    packed = [as_bytes([rows.slice(at, MANY_ROWS)]).to_pybytes() for at in begins]
    arrays = [pa.array([question] * len(packed), pa.int32()), pa.array(packed, pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, names=["question", "packed"])


def _found(data: pa.BinaryScalar, left: pa.StringScalar) -> list[pa.RecordBatch]:
    if left.is_valid:
        return take_answers(left.as_py())
    return from_bytes(data.as_buffer()) if data.is_valid else []

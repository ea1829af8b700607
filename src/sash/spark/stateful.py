"""What runs in Spark's stateful operator: a micro-batch's rows of a shard are a step of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from sash.aggregators.saving import SavedError
from sash.spark import handing_over, warm
from sash.spark.arriving import in_utc
from sash.spark.failing import RowError, told
from sash.spark.packing import ASIDE, as_bytes, from_bytes
from sash.spark.rows import Rows
from sash.spark.state_log import HEAD_SCHEMA, KEY_SCHEMA, VALUE_SCHEMA, Head, StateLog
from sash.spark.stream_query import MOMENT, StreamQuery, question_of
from sash.spark.timing import times_of
from sash.spark.worker import typed_answers, window_bounds
from sash.windows.cutting import NEVER
from sash.windows.segments import Segment
from sash.windows.shard import SLACK, FailedRowError, Shard, Stepped

COUNTS = ("rows_in", "rows_out", "late", "keys", "held", "state_bytes", "written", "rebuilt")
OUT = "question int, packed binary, left string, watermark bigint, " + ", ".join(
    f"{name} bigint" for name in COUNTS
)


class ShardProcessor(StatefulProcessor):
    """Spark's side of shards: state comes and goes, windows stay."""

    def __init__(self, asked: Sequence[StreamQuery]) -> None:
        self.asked = asked

    def init(self, handle: Any) -> None:
        head = handle.getValueState("head", HEAD_SCHEMA)
        self.log = StateLog(head, handle.getMapState("log", KEY_SCHEMA, VALUE_SCHEMA))

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: Any,
    ) -> Iterator[Row]:
        (number,) = key
        if number == ASIDE:
            yield from map(_set_aside, rows)
            return
        newest, count, batches = NEVER, 0, []
        for row in rows:
            newest = max(newest, row["newest"])
            count += row["count"]
            if row["packed"] is not None:
                batches += from_bytes(row["packed"])
        question = question_of(self.asked, number)
        turn = Turn(self.asked[question], self.log, number)
        yield from turn.run(batches, newest, count, question)

    def close(self) -> None:
        pass


@dataclass
class Turn:
    """A shard's part of one micro-batch."""

    asked: StreamQuery
    log: StateLog
    number: int

    def run(
        self, batches: list[pa.RecordBatch], newest: int, count: int, question: int = 0
    ) -> Iterator[Row]:
        """count: how many rows of the stream have come; question: which one, if several are."""
        head = self._head()
        shard, rebuilt = self._shard(head)
        rows = self._rows(batches)
        stepped = self._step(shard, rows, newest)
        before = head.length
        head, removed = self._shorter(head, shard, 2 * rows.count + SLACK)
        watermark = None if shard.watermark == NEVER else shard.watermark
        head = replace(
            head,
            keys=shard.count(),
            held=shard.held() - shard.count(),
            late=head.late + stepped.late,
            watermark=watermark,
        )
        segment = shard.segment(os.urandom(16))
        data = segment.packed()
        head = self.log.append(head, segment, data)
        shard.written(len(data))
        handing_over.leave(head.stream, self.number, segment.number, data)
        warm.keep(head.stream, self.number, shard)
        given = answers(self.asked, stepped, shard.number)
        left = handing_over.leave_answers(head.stream, self.number, shard.number, given)
        inline = left is None and given.num_rows
        yield Row(
            question=question,
            packed=as_bytes([given]).to_pybytes() if inline else None,
            left=left,
            watermark=watermark,
            rows_in=count,
            rows_out=given.num_rows,
            late=stepped.late,
            keys=head.keys,
            held=head.held,
            state_bytes=head.length,
            written=head.length - before + removed,
            rebuilt=int(rebuilt),
        )

    def _head(self) -> Head:
        asked, found = self.asked, self.log.head()
        if found is None:
            clock = asked.clock.kind
            return Head(asked.fingerprint, len(asked.shards), os.urandom(16), clock=clock)
        if found.shards != len(asked.shards):
            raise SavedError(
                f"this checkpoint shares its keys among {found.shards} shards, and the query "
                f"among {len(asked.shards)}: set spark.sql.shuffle.partitions to {found.shards} "
                f"before sliding(…), or begin with a new checkpoint."
            )
        if found.asked != asked.fingerprint:
            raise SavedError(
                f"this checkpoint is of another question: {asked.difference(found.asked)}. Ask "
                f"the same again, or begin with a new checkpoint."
            )
        return found

    def _shard(self, head: Head) -> tuple[Shard, bool]:
        """The windows as they are committed: kept here, caught up, or made anew."""
        kept = warm.take(head.stream, self.number)
        if kept is not None and self._catches_up(kept, head):
            return kept, False
        if not head.newest:
            return Shard(self.asked.asked), False
        segments = self.log.segments(head.oldest, head.newest)
        shard = Shard.restored(self.asked.asked, segments)
        if shard.token != head.token:
            raise SavedError("the log of this state does not end as its head says.")
        return shard, True

    def _catches_up(self, kept: Shard, head: Head) -> bool:
        """Whether what is kept here is, or can be made, what is committed."""
        if kept.number == head.newest:
            return kept.token == head.token
        if not head.oldest - 1 <= kept.number < head.newest:
            return False
        for segment in self._missed(kept, head):
            if segment.before != kept.token:
                return False
            kept.follow(segment)
        return kept.token == head.token

    def _missed(self, kept: Shard, head: Head) -> Iterable[Segment]:
        """What was committed since a shard was kept: as another worker left it, or from Spark."""
        segments = []
        token = kept.token
        for number in range(kept.number + 1, head.newest + 1):
            data = handing_over.find(head.stream, self.number, number)
            with suppress(SavedError):
                segments += [Segment.unpacked(data)] if data is not None else []
            if not segments or (segments[-1].number, segments[-1].before) != (number, token):
                break
            token = segments[-1].token
        if token == head.token:
            return segments
        return self.log.segments(kept.number + 1, head.newest)

    def _rows(self, batches: list[pa.RecordBatch]) -> Rows:
        schema = self.asked.packed_schema
        if not batches:
            return Rows({field.name: pa.nulls(0, field.type) for field in schema}, 0)
        table = pa.Table.from_batches(batches).combine_chunks()
        columns = [c.chunk(0) if c.num_chunks else c.combine_chunks() for c in table.columns]
        return Rows(in_utc(schema.names, columns, schema), table.num_rows)

    def _step(self, shard: Shard, rows: Rows, newest: int) -> Stepped:
        query, clock = self.asked.query, self.asked.clock
        keys = [rows.columns[name] for name in query.by]
        sliced = self.asked.slices is not None
        times = (
            rows.columns[MOMENT].to_numpy()
            if sliced
            else times_of(rows.columns[clock.column], clock)
        )
        try:
            return shard.step(rows.columns, keys, times, newest)
        except FailedRowError as failed:
            columns = {clock.column: clock.values(failed.row.times), **failed.row.columns}
            columns |= dict(zip(query.by, failed.key, strict=True))
            where = "in the slice from" if sliced else "at the row with"
            row = Rows(columns, 1)
            whose = self.asked.queries[failed.question]
            raise RowError(told(whose, row, 0, failed.error, where)) from failed.error

    def _shorter(self, head: Head, shard: Shard, most: int) -> tuple[Head, int]:
        """Let the oldest segments go if the log is long for what is held; not many at a time."""
        removed = 0
        shard.log_begins(head.oldest)
        while head.size > 2 * shard.held() + SLACK and head.oldest < shard.number and most > 0:
            extent = shard.let_go(head.oldest)
            if extent is None:
                segment = next(self.log.segments(head.oldest, head.oldest))
                shard.carry(segment)
                extent = segment.extent
            self.log.remove(head.oldest, extent.length)
            removed += extent.length
            most -= extent.size
            head = replace(
                head,
                oldest=head.oldest + 1,
                size=head.size - extent.size,
                length=head.length - extent.length,
            )
        return head, removed


def answers(asked: StreamQuery, stepped: Stepped, number: int = 0) -> pa.RecordBatch:
    """What a step of a shard has brought, as it goes out."""
    told, query = stepped.told, asked.query
    if query.at_rows:
        given = [stepped.rows.columns[name] for name in query.columns]
        if query.early or not all(one.shape.plain for one in asked.queries):
            index = pa.array(told.rows)
            given = [values.take(index) for values in given]
        rest = iter(told.answers)
        each = [(one, [next(rest) for _ in one.aggs]) for one in asked.queries]
        columns = [*given, *chain(*(typed_answers(one, found) for one, found in each))]
    else:
        of = np.zeros(len(told.groups), np.int64) if told.of is None else told.of
        named = [pa.array(asked.names).take(pa.array(of))] if asked.names else []
        bounds = window_bounds(asked.queries, told)
        columns = [*named, *stepped.keys, *bounds, *typed_answers(query, told.answers)]
    count = len(columns[0])
    if query.early:
        columns.append(pa.array(np.full(count, number)))
    names = [f"c{k}" for k in range(len(columns))]
    return pa.RecordBatch.from_arrays(columns, names=names)


def _set_aside(row: Row) -> Row:
    """Rows that are set aside go through as they are."""
    counts = dict.fromkeys(COUNTS, 0) | {"rows_out": row["count"]}
    data = bytes(row["packed"])
    return Row(question=ASIDE, packed=data, left=None, watermark=None, **counts)

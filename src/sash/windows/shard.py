"""Windows of some of a stream's keys, which go on after a stop, wherever that is.

Rows come in batches, and a batch is a step. What a step has brought is a segment: its rows, and
where the windows of the keys that it touched stand. All segments together are a log, and from it
the windows can be made anew:

  - of each key, the newest segment that knows it tells where its window stands
  - a window holds the last of the rows that have come for its key, in their order; how many, is
    told by where it stands

So a step writes as much as it was given, however long windows are. The oldest segments are let go
when the log is more than twice as long as what is held: of an old segment, what is still needed is
carried over into the newest (`carry`). That is little, as most of the log is of no use then.

With `lateness`, rows wait until none before them can come. What is late is told by the clock of
the whole stream, as it was before the step: within a step rows may come in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.saving import SavedError
from sash.operators.base import Operator
from sash.windows import cutting
from sash.windows.batches import Batch
from sash.windows.definitions import Definition
from sash.windows.engine import Engine, Given
from sash.windows.failing_rows import first_failing
from sash.windows.grouped import Told, algorithm_for, as_batch, told_of
from sash.windows.kept_rows import longer
from sash.windows.keys import Keys, by_key
from sash.windows.ordered_rows import NOTHING, Array, StreamRows
from sash.windows.segments import STATES, Segment
from sash.windows.shapes import Shape
from sash.windows.stream_keys import codes_of, key_columns
from sash.windows.tracking import CAME, START

SLACK = 10_000
"""A log that is no longer than this is not worth the trouble of making it shorter."""

Columns = Callable[[Mapping[str, pa.Array], int], dict[str, pa.Array]]


def as_they_are(columns: Mapping[str, pa.Array], count: int) -> dict[str, pa.Array]:
    return dict(columns)


@dataclass(frozen=True)
class Asked:
    """What is asked of a stream, the same for all its shards."""

    operator: Operator
    window: Definition
    """In the units of the times."""
    keys: tuple[pa.DataType, ...] = ()
    """The types of the columns that are keys."""
    order: tuple[str, ...] = ()
    """The columns that order rows of one time."""
    stored: tuple[str, ...] = ()
    """The columns that windows are made anew of."""
    columns: Columns = as_they_are
    """What goes into windows, made of the columns of so many rows."""
    lateness: int | None = None
    idle: int | None = None
    min_size: int = 1
    algorithm: str = "auto"


@dataclass(frozen=True)
class Stepped:
    """What a step brought: answers, and the rows that they are for, if any."""

    told: Told
    keys: list[pa.Array]
    """Of each answer, by column; of windows that no row tells of."""
    rows: StreamRows
    late: int
    """How many rows came too late, and were dropped."""


class FailedRowError(Exception):
    """A row that windows cannot take, or an operator fails on."""

    def __init__(self, rows: StreamRows, at: int, error: Exception) -> None:
        super().__init__(at, error)
        self.rows = rows
        self.at = at
        self.error = error


class Shard:
    """The windows of some keys, and the rows that wait."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.shape = Shape(asked.window)
        self.engine = Engine(
            asked.operator,
            self.shape,
            least=asked.min_size,
            idle=cutting.FOREVER if asked.idle is None else asked.idle,
            algorithm=algorithm_for(asked.operator, asked.window, asked.algorithm),
            keyed=True,
            keeps_times=True,
        )
        self.keys = Keys()
        self.waiting: StreamRows | None = None
        self.newest = cutting.NEVER
        self.number = 0
        """Of the last step."""
        self.token = b""
        """Of the segment that it brought."""
        self.last_told = np.zeros(0, np.int64)
        """Of each key, the last segment that tells where its window stands."""
        self._touched: list[Array] = []
        self._gone: list[Any] = []
        self._rows: list[StreamRows] = []

    @property
    def watermark(self) -> int:
        """What is before it is final; NEVER if nothing is known to be."""
        if self.asked.lateness is None or self.newest == cutting.NEVER:
            return cutting.NEVER
        return self.newest - self.asked.lateness

    def held(self) -> int:
        """How many rows windows hold, or will, and how many keys there are."""
        states = self.engine.tracker.states
        waiting = 0 if self.waiting is None else len(self.waiting)
        return int((states[CAME] - states[START]).sum()) + waiting + self.count()

    def count(self) -> int:
        """How many keys there are."""
        return len(self.keys) - len(self.keys.free)

    # A step

    def step(
        self, columns: dict[str, pa.Array], keys: list[pa.Array], times: Array, newest: int
    ) -> Stepped:
        """Rows come, and the newest time of the whole stream. If it fails, so has the shard."""
        rows = StreamRows(columns, times, times, np.full(len(times), self.number + 1, np.int64))
        early = times >= self.watermark
        late = len(rows) - int(early.sum())
        if late:
            index = pa.array(np.flatnonzero(early))
            rows, keys = rows.only(early), [key.take(index) for key in keys]
        return replace(self._step(rows, keys, newest, self.asked.order), late=late)

    def _step(
        self, rows: StreamRows, keys: list[pa.Array], newest: int, order: tuple[str, ...]
    ) -> Stepped:
        self.number += 1
        self.newest = max(self.newest, newest)
        rows = replace(rows, codes=self._codes(keys, len(rows)))
        if self.asked.lateness is None:  # they are stored in the order in which they go in
            rows = rows.in_order(order)
        ready = rows if self.asked.lateness is None else self._ready(rows)
        given = self._run(ready)
        touched = self.engine.touched
        given, gone = self._without_idle(given, rows)
        told = told_of(given, given.codes, self.asked.operator, self.shape, self.asked.min_size)
        values = self.keys.values
        whose = [] if self.shape.plain else [values[code] for code in told.groups.tolist()]
        self._touched = [rows.codes, touched, gone]
        self._gone = [values[code] for code in gone.tolist()]
        stored = rows.with_columns(self.asked.stored)
        if len(gone):
            stored = stored.only(~np.isin(rows.codes, gone))
            self._touched = [np.setdiff1d(np.concatenate(self._touched), gone)]
            self.engine.forget(gone)
            self.keys.forget(gone)
        self._rows = [stored]
        return Stepped(told, key_columns(whose, self.asked.keys), ready, 0)

    def _run(self, rows: StreamRows) -> Given:
        now = self.watermark
        try:
            return self.engine.run(self._batch(rows), now, all_keys=now != cutting.NEVER)
        except Exception as error:
            if not len(rows):
                raise
            raise self._failed(rows, error) from error

    def _failed(self, rows: StreamRows, error: Exception) -> FailedRowError:
        """Which row it is. A call that fails has changed nothing."""

        def fails(many: int) -> Exception | None:
            try:
                self.engine.copy().run(self._batch(rows.take(np.arange(many))))
            except Exception as found:
                return found
            return error if many == len(rows) else None

        return FailedRowError(rows, *first_failing(len(rows), fails))

    def _codes(self, keys: list[pa.Array], count: int) -> Array:
        found = codes_of(self.keys, keys, count)
        self.engine.add_keys(len(self.keys) - self.engine.keys)
        self.last_told = longer(self.last_told, self.engine.keys)
        return found

    def _ready(self, rows: StreamRows) -> StreamRows:
        """The rows whose turn it is, in order; the others wait."""
        if self.waiting is not None:
            rows = self.waiting.then(rows)
        due = rows.times < self.watermark
        self.waiting = None if due.all() else rows.only(~due)
        return rows.only(due).in_order(self.asked.order)

    def _batch(self, rows: StreamRows) -> Batch:
        columns = self.asked.columns(rows.columns, len(rows))
        return replace(as_batch(columns, rows.times), codes=rows.codes)

    def _without_idle(self, given: Given, rows: StreamRows) -> tuple[Given, Array]:
        """Keys without rows for too long: what is left of them is answered, and they go."""
        clock = self.newest if self.asked.lateness is None else self.watermark
        if self.asked.idle is None or clock == cutting.NEVER:
            return given, NOTHING
        idle = self.engine.idle(clock - self.asked.idle)
        if self.waiting is not None and len(idle):
            idle = idle[~np.isin(idle, self.waiting.codes)]
        if not len(idle):
            return given, NOTHING
        last = self.engine.run(self._batch(rows.take(NOTHING)), closing=idle)
        return given.then(last, self.keys.values), idle

    # The log

    def carry(self, old: Segment) -> None:
        """The oldest segment is let go: what is still needed of it goes into the newest."""
        codes = self._known(old.keys, len(old.gone))
        told = codes[(codes >= 0) & ~old.gone]
        self._touched.append(told[self.last_told[told] == old.number])
        if not len(old.rows):
            return
        rows = replace(old.rows, codes=codes[old.rows.codes])
        needed = rows.times >= self.engine.tracker.oldest()[np.maximum(rows.codes, 0)]
        if self.asked.lateness is not None:
            needed |= rows.times >= self.watermark
        self._rows.append(rows.only(needed & (rows.codes >= 0)))

    def _known(self, keys: list[pa.Array], count: int) -> Array:
        """The codes of keys; -1 for those that are gone."""
        if not keys:
            return np.zeros(count, np.int64)
        numbers = Keys()
        place = codes_of(numbers, keys, count)
        found = [self.keys.code(key) for key in numbers.values]
        return np.array([-1 if code is None else code for code in found], np.int64)[place]

    def segment(self, token: bytes) -> Segment:
        """What the last step has brought, and what was carried over."""
        rows = self._rows[0]
        for more in self._rows[1:]:
            rows = rows.then(more)
        told = np.unique(np.concatenate([*self._touched, rows.codes]))
        values = [self.keys.values[code] for code in told.tolist()]
        gone = np.arange(len(told) + len(self._gone)) >= len(told)
        nowhere = np.zeros(len(self._gone), np.int64)
        states = [np.concatenate([state[told], nowhere]) for state in self.engine.tracker.states]
        found = Segment(
            *(self.number, token, self.token, self.newest),
            rows=replace(rows, codes=np.searchsorted(told, rows.codes)),
            keys=key_columns(values + self._gone, self.asked.keys),
            states=states,
            gone=gone,
        )
        self.last_told[told] = self.number
        self.token = token
        return found

    def follow(self, segment: Segment) -> None:
        """A step that was made elsewhere, from where this shard stands."""
        if segment.before != self.token or segment.number != self.number + 1:
            raise ValueError("this segment does not follow.")
        own = segment.rows.only(segment.rows.came == segment.number)
        index = pa.array(own.codes)
        self._step(own, [key.take(index) for key in segment.keys], segment.newest, ())
        told = self._known(segment.keys, len(segment.gone))
        self.last_told[told[told >= 0]] = self.number
        self.token = segment.token

    @classmethod
    def restored(cls, asked: Asked, log: Iterable[Segment]) -> Shard:
        """The windows that a log tells of."""
        found = cls(asked)
        states = [NOTHING] * STATES
        rows: list[StreamRows] = []
        for segment in log:
            if rows and (segment.number, segment.before) != (found.number + 1, found.token):
                raise SavedError(f"the log of this stream is broken before {segment.number}.")
            codes = found._codes(segment.keys, len(segment.gone))
            states = [longer(state, len(found.keys)) for state in states]
            for state, given in zip(states, segment.states, strict=True):
                state[codes] = given
            found.last_told[codes] = segment.number
            rows.append(replace(segment.rows, codes=codes[segment.rows.codes]))
            found.number, found.newest = segment.number, segment.newest
            found.token = segment.token
            gone = codes[segment.gone]
            if len(gone):  # rows of theirs are not found by their codes any more
                rows = [each.only(~np.isin(each.codes, gone)) for each in rows]
                found.keys.forget(gone)
        if rows:
            found._refill([state[: len(found.keys)] for state in states], rows)
        return found

    def _refill(self, states: list[Array], parts: list[StreamRows]) -> None:
        rows = parts[0]
        for more in parts[1:]:
            rows = rows.then(more)
        if self.asked.lateness is None:
            rows = rows.take(np.argsort(rows.came, kind="stable"))
        else:
            due = rows.times < self.watermark
            self.waiting = None if due.all() else rows.only(~due)
            if self.waiting is not None:  # as they came
                self.waiting = self.waiting.take(np.argsort(self.waiting.came, kind="stable"))
            rows = rows.only(due).in_order(self.asked.order)
        wanted = states[CAME] - states[START]
        rows = rows.only(_last(rows.codes, wanted))
        if (np.bincount(rows.codes, minlength=len(wanted)) != wanted).any():
            raise SavedError("rows are missing in the log of this stream.")
        self.engine.refill(self._batch(rows), states)


def _last(codes: Array, wanted: Array) -> Array:
    """Which rows are among the last so many of their key."""
    order, there, ends = by_key(codes, len(wanted))
    keep = np.zeros(len(codes), bool)
    if not len(codes):
        return keep
    place = np.arange(len(codes))
    left = np.repeat(ends, np.diff(ends, prepend=0)) - place  # in its key, with itself
    keys = codes if order is None else codes[order]
    keep[place if order is None else order] = left <= wanted[keys]
    return keep

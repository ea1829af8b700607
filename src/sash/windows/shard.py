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
the whole stream, as it was before the step: within a step rows may come in any order. With `early`,
they are answered all the same, as if no more came, and each answer is given again when it changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.saving import SavedError
from sash.windows import cutting
from sash.windows.engine import Given
from sash.windows.grouped import Told, joined
from sash.windows.kept_rows import longer
from sash.windows.keys import Keys, by_key
from sash.windows.ordered_rows import NOTHING, Array, StreamRows, arrivals
from sash.windows.provisional import LAST, Names, Provisional, matched, names_of_windows
from sash.windows.questions import Answering, Question, RefusedError, together
from sash.windows.segments import STATES, Extent, Segment
from sash.windows.slices import Grid
from sash.windows.stream_keys import codes_of, key_columns
from sash.windows.tracking import CAME, START

SLACK = 10_000
"""A log that is no longer than this is not worth the trouble of making it shorter."""

NO_MORE: dict[str, Any] = {"now": cutting.FOREVER, "finish": True}
"""How an engine runs if no more rows came."""


@dataclass(frozen=True)
class Asked:
    """What is asked of a stream, the same for all its shards."""

    questions: tuple[Question, ...]
    """All answered at rows, or none."""
    keys: tuple[pa.DataType, ...] = ()
    """The types of the columns that are keys."""
    order: tuple[str, ...] = ()
    """The columns that order rows of one time."""
    stored: tuple[str, ...] = ()
    """The columns that windows are made anew of."""
    weight: str | None = None
    """The column that tells how many rows each stands for, if they are slices."""
    grid: Grid | None = None
    """Of such slices."""
    lateness: int | None = None
    early: bool = False
    """Whether answers are given before they are final."""
    idle: int | None = None
    min_size: int = 1


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

    def __init__(
        self, question: int, row: StreamRows, key: list[pa.Array], error: Exception
    ) -> None:
        super().__init__(error)
        self.question = question
        """Which one's windows it is."""
        self.row = row
        self.key = key
        """By column."""
        self.error = error


class Shard:
    """The windows of some keys, and the rows that wait."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.each = [Answering(one, asked.min_size, asked.idle) for one in asked.questions]
        self.at_rows = self.each[0].shape.at_rows
        self.keys = Keys()
        self.waiting: StreamRows | None = None
        self.given: Provisional | None = None
        """The answers that are not final, if they are given early, and known."""
        self.newest = cutting.NEVER
        self.number = 0
        """Of the last step."""
        self.token = b""
        """Of the segment that it brought."""
        self.last_told = np.zeros(0, np.int64)
        """Of each key, the last segment that tells where its window stands."""
        self.extents: dict[int, Extent] = {}
        """Of the segments in the log."""
        self._touched: list[Array] = []
        self._gone: list[Any] = []
        self._rows: list[StreamRows] = []

    @property
    def watermark(self) -> int:
        """What is before it is final; NEVER if nothing is known to be."""
        if self.asked.lateness is None or self.newest == cutting.NEVER:
            return cutting.NEVER
        exact = self.newest - self.asked.lateness
        return exact if self.asked.grid is None else int(self.asked.grid.begin(exact))

    def held(self) -> int:
        """How many rows windows hold, or will, and how many keys there are."""
        states = self._states
        held = states[CAME] - np.minimum.reduce(states[START::STATES])
        waiting = 0 if self.waiting is None else len(self.waiting)
        return int(held.sum()) + waiting + self.count()

    def count(self) -> int:
        """How many keys there are."""
        return len(self.keys) - len(self.keys.free)

    @property
    def _states(self) -> list[Array]:
        """Where the windows of each key stand: six numbers for each question."""
        return [state for one in self.each for state in one.engine.tracker.states]

    def _oldest(self) -> Array:
        """Of each key, the time of the oldest row in its windows; a bound, if none is in one."""
        return np.asarray(np.minimum.reduce([one.engine.tracker.oldest() for one in self.each]))

    # A step

    def step(
        self, columns: dict[str, pa.Array], keys: list[pa.Array], times: Array, newest: int
    ) -> Stepped:
        """Rows come, and the newest time of the whole stream. If it fails, so has the shard."""
        rows = StreamRows(columns, times, times, times)  # codes and numbers are told below
        in_time = times >= self.watermark
        late = 0
        if not in_time.all():
            late = self._weight(rows.only(~in_time))
            index = pa.array(np.flatnonzero(in_time))
            rows, keys = rows.only(in_time), [key.take(index) for key in keys]
        before = self._given_before(rows) if self.asked.early else None
        stepped = replace(self._step(rows, keys, newest, self.asked.order), late=late)
        return stepped if before is None else self._with_early(stepped, before)

    def _weight(self, rows: StreamRows) -> int:
        """How many rows of the stream these are."""
        weight = self.asked.weight
        return len(rows) if weight is None else int(rows.columns[weight].to_numpy().sum())

    def _step(
        self, rows: StreamRows, keys: list[pa.Array], newest: int, order: tuple[str, ...]
    ) -> Stepped:
        self.number += 1
        self.newest = max(self.newest, newest)
        rows = replace(rows, codes=self._codes(keys, len(rows)))
        if self.asked.lateness is None:  # they are stored in the order in which they go in
            rows = rows.in_order(order)
        else:
            rows = rows.with_columns(self.asked.stored)
        rows = replace(rows, came=arrivals(self.number, len(rows)))
        ready = rows if self.asked.lateness is None else self._ready(rows)
        now = self.watermark
        given = self._run(ready, now=now, all_keys=now != cutting.NEVER)
        touched = [one.engine.touched for one in self.each]
        given, gone = self._without_idle(given, rows)
        told = together(self.each, given)
        values = self.keys.values
        whose = self._whose(told)
        self._touched = [rows.codes, *touched, gone]
        self._gone = [values[code] for code in gone.tolist()]
        stored = rows.with_columns(self.asked.stored)
        if len(gone):
            stored = stored.only(~np.isin(rows.codes, gone))
            self._touched = [np.setdiff1d(np.concatenate(self._touched), gone)]
            for one in self.each:
                one.engine.forget(gone)
            self._forget(gone)
        self._rows = [stored]
        self.given = None
        return Stepped(told, whose, ready, 0)

    def _whose(self, told: Told) -> list[pa.Array]:
        """The keys of windows that no row tells of."""
        codes = [] if self.at_rows else told.groups.tolist()
        return key_columns([self.keys.values[code] for code in codes], self.asked.keys)

    def _run(self, rows: StreamRows, **how: Any) -> list[Given]:
        """Rows go into the windows of each question."""
        found: list[Given] = []
        for k, one in enumerate(self.each):
            try:
                found.append(one.run(rows, **how))
            except RefusedError as refused:
                row = rows.take(np.array([refused.at]))
                key = [self.keys.values[int(row.codes[0])]]
                whose = key_columns(key, self.asked.keys)
                raise FailedRowError(k, row, whose, refused.error) from refused.error
        return found

    def _codes(self, keys: list[pa.Array], count: int) -> Array:
        found = codes_of(self.keys, keys, count)
        for one in self.each:
            one.engine.add_keys(len(self.keys) - one.engine.keys)
        self.last_told = longer(self.last_told, len(self.keys))
        return found

    def _ready(self, rows: StreamRows) -> StreamRows:
        """The rows whose turn it is, in order; the others wait."""
        if self.waiting is not None:
            rows = self.waiting.then(rows)
        due = rows.times < self.watermark
        self.waiting = None if due.all() else rows.only(~due)
        return rows.only(due).in_order(self.asked.order)

    def _without_idle(self, given: list[Given], rows: StreamRows) -> tuple[list[Given], Array]:
        """Keys without rows for too long: what is left of them is answered, and they go."""
        clock = self.newest if self.asked.lateness is None else self.watermark
        if self.asked.idle is None or clock == cutting.NEVER:
            return given, NOTHING
        idle = self.each[0].engine.idle(clock - self.asked.idle)
        if self.waiting is not None and len(idle):
            idle = idle[~np.isin(idle, self.waiting.codes)]
        if not len(idle):
            return given, NOTHING
        last = self._run(rows.take(NOTHING), closing=idle)
        values = self.keys.values
        return [one.then(more, values) for one, more in zip(given, last, strict=True)], idle

    def if_no_more_came(self, like: StreamRows) -> Stepped:
        """What would be answered then; nothing is changed. like: rows with the same columns."""
        waiting = self._in_turn(like)
        told = self._if_no_more_came(waiting)
        return Stepped(told, self._whose(told), waiting, 0)

    # Answers that are not final

    def _given_before(self, like: StreamRows) -> Provisional:
        """What was given by the steps so far and is not final, wherever these were made."""
        if self.given is None:
            waiting = self._in_turn(like.with_columns(self.asked.stored))
            told = self._if_no_more_came(waiting)
            self.given = Provisional(self._names(told, waiting), told.answers)
        return self.given

    def _with_early(self, final: Stepped, before: Provisional) -> Stepped:
        """What is new in answers that are final, and in those that are not."""
        ready = final.rows
        waiting = self._in_turn(ready)
        told = self._if_no_more_came(waiting)
        rows = ready.then(waiting)
        told = replace(told, rows=told.rows + len(ready))
        self.given = Provisional(self._names(told, rows), told.answers)
        whole = joined([each for each in (final.told, told) if len(each.groups)] or [told])
        news, gone = before.changes(self._names(whole, rows), whole.answers)
        found = whole.take(news)
        if not self.at_rows:  # of windows that share all that names them, one is left or none
            gone = gone[before.names[-1][gone] == LAST]
        if len(gone):
            found = joined([found, self._taken_back(before, gone, rows, whole)])
        return replace(final, told=found, keys=self._whose(found), rows=rows)

    def _in_turn(self, like: StreamRows) -> StreamRows:
        """The rows that wait, in order."""
        waiting = like.take(NOTHING) if self.waiting is None else self.waiting
        return waiting.in_order(self.asked.order)

    def _if_no_more_came(self, waiting: StreamRows) -> Told:
        """What would be answered then."""
        return together(self.each, self._run(waiting, copied=True, **NO_MORE))

    def _names(self, told: Told, rows: StreamRows) -> Names:
        if self.at_rows:
            return [rows.came[told.rows]]
        of = np.zeros(len(told.groups), np.int64) if told.of is None else told.of
        begins = np.array([one.begins_tell for one in self.each])[of]
        return names_of_windows([of, told.groups, told.times, np.where(begins, told.since, 0)])

    def _taken_back(self, given: Provisional, gone: Array, rows: StreamRows, like: Told) -> Told:
        """Answers of nothing for those that are no more."""
        names = [name[gone] for name in given.names]
        nothing = [
            [None] * len(gone) if isinstance(each, list) else pa.nulls(len(gone), each.type)
            for each in like.answers
        ]
        if not self.at_rows:
            of, groups, times, since, _ = names
            marks = groups, np.full(len(gone), len(rows)), times, since
            return Told(nothing, *marks, of=None if like.of is None else of)
        at = matched([rows.came], names)
        return Told(nothing, rows.codes[at], at, rows.times[at], rows.times[at])

    def _forget(self, gone: Array) -> None:
        self.last_told[gone] = 0
        self.keys.forget(gone)

    # The log

    def let_go(self, number: int) -> Extent | None:
        """Let the oldest segment go, of which no row is needed; None if some may be.

        Keys that it was the last to tell of are told of by the newest.
        """
        extent = self.extents.get(number)
        needed = int(self._oldest().min(initial=cutting.FOREVER))
        if self.asked.lateness is not None:
            needed = min(needed, self.watermark)
        if extent is None or extent.newest >= needed:
            return None
        self._touched.append(np.flatnonzero(self.last_told == number))
        return self.extents.pop(number)

    def log_begins(self, oldest: int) -> None:
        """Segments before this one were let go, maybe elsewhere."""
        self.extents = {number: e for number, e in self.extents.items() if number >= oldest}

    def carry(self, old: Segment) -> None:
        """Let the oldest segment go: what is still needed of it goes into the newest."""
        self.extents.pop(old.number, None)
        codes = self._known(old.keys, len(old.gone))
        told = codes[(codes >= 0) & ~old.gone]
        self._touched.append(told[self.last_told[told] == old.number])
        if not len(old.rows):
            return
        rows = replace(old.rows, codes=codes[old.rows.codes])
        needed = rows.times >= self._oldest()[np.maximum(rows.codes, 0)]
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
        place = np.zeros(len(self.keys.values), np.int64)
        for codes in (*self._touched, rows.codes):
            place[codes] = 1
        told = np.flatnonzero(place)
        place[told] = np.arange(len(told))
        values = [self.keys.values[code] for code in told.tolist()]
        gone = np.arange(len(told) + len(self._gone)) >= len(told)
        nowhere = np.zeros(len(self._gone), np.int64)
        states = [np.concatenate([state[told], nowhere]) for state in self._states]
        found = Segment(
            *(self.number, token, self.token, self.newest),
            rows=replace(rows, codes=place[rows.codes]),
            keys=key_columns(values + self._gone, self.asked.keys),
            states=states,
            gone=gone,
        )
        self.last_told[told] = self.number
        self.token = token
        self.extents[self.number] = found.extent
        return found

    def written(self, length: int) -> None:
        """The last segment has so many bytes."""
        self.extents[self.number] = replace(self.extents[self.number], length=length)

    def follow(self, segment: Segment) -> None:
        """A step that was made elsewhere, from where this shard stands."""
        if segment.before != self.token or segment.number != self.number + 1:
            raise ValueError("this segment does not follow.")
        own = segment.rows.only(segment.rows.came >> 32 == segment.number)
        index = pa.array(own.codes)
        self._step(own, [key.take(index) for key in segment.keys], segment.newest, ())
        told = self._known(segment.keys, len(segment.gone))
        self.last_told[told[told >= 0]] = self.number
        self.token = segment.token
        self.extents[self.number] = segment.extent

    @classmethod
    def restored(cls, asked: Asked, log: Iterable[Segment]) -> Shard:
        """The windows that a log tells of."""
        found = cls(asked)
        states = [NOTHING] * STATES * len(asked.questions)
        rows: list[StreamRows] = []
        for segment in log:
            if rows and (segment.number, segment.before) != (found.number + 1, found.token):
                raise SavedError(f"the log of this stream is broken before {segment.number}.")
            if len(segment.states) != len(states):
                raise SavedError("the log of this stream is of another number of windows.")
            codes = found._codes(segment.keys, len(segment.gone))
            states = [longer(state, len(found.keys)) for state in states]
            for state, given in zip(states, segment.states, strict=True):
                state[codes] = given
            found.last_told[codes] = segment.number
            rows.append(replace(segment.rows, codes=codes[segment.rows.codes]))
            found.number, found.newest = segment.number, segment.newest
            found.extents[segment.number] = segment.extent
            found.token = segment.token
            gone = codes[segment.gone]
            if len(gone):  # rows of theirs are not found by their codes any more
                rows = [each.only(~np.isin(each.codes, gone)) for each in rows]
                found._forget(gone)
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
        for k, one in enumerate(self.each):
            own = states[STATES * k : STATES * (k + 1)]
            wanted = own[CAME] - own[START]
            held = rows.only(_last(rows.codes, wanted))
            if (np.bincount(held.codes, minlength=len(wanted)) != wanted).any():
                raise SavedError("rows are missing in the log of this stream.")
            one.engine.refill(one.batch(held), own)


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

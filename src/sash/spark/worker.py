"""What runs in Spark's Python workers: one partition's rows, in order, as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.spark.arriving import in_utc
from sash.spark.betweens import between
from sash.spark.clocks import OrderClock
from sash.spark.edges import begins
from sash.spark.failing import RowError, locating
from sash.spark.failing import told as failure
from sash.spark.query import ALONG, OWN, PART, ROWS, Query
from sash.spark.rows import Rows
from sash.spark.series import Part
from sash.windows import cutting
from sash.windows.answer_types import as_arrow
from sash.windows.definitions import Delta
from sash.windows.grouped import GroupedWindows, Told
from sash.windows.part import PartWindow
from sash.windows.roles import RefusedRowError

Array = np.ndarray[Any, Any]
HERE = "here"
MANY_ROWS, MANY_BYTES = 1 << 15, 1 << 26


@dataclass(frozen=True)
class Piece:
    """The answers that some rows brought, and the keys they are of, by group."""

    told: Told
    keys: list[pa.Array]
    rows: int


class Windows:
    """The windows of a partition, from batch to batch."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.grouped = self._new(None)
        self.past_between = False
        self.part: Part | None = None
        """The part that the last rows were of, if its key is cut into such."""
        self.key: list[pa.Array] | None = None
        """The key that the last row was of, one value of each column."""
        self.last: Rows | None = None
        """The last row."""

    def _new(self, part: Part | None) -> GroupedWindows:
        query = self.query
        asked = query.operator, query.steps
        options: dict[str, Any] = {"min_size": query.min_size, "algorithm": query.chosen}
        if part is None:
            return GroupedWindows(*asked, idle=query.idle_steps, **options)
        told = None if part.between is None else between(part.between)
        return PartWindow(*asked, first=part.first, between=told, **options)

    def take(self, rows: Rows) -> Iterator[Piece]:
        """Rows come: answers for stretches of them, one after the other."""
        keys = [rows.columns[name] for name in self.query.grouped_by]
        edges = begins(keys, self.key, rows.count)
        if not self.query.parts:
            yield self._run(rows, edges)
            return
        for first, last, part in self._stretches(rows, edges):
            inside = edges[(edges >= first) & (edges < last)] - first
            if len(inside) and (part is not None or self.part is not None):
                yield from self.finish()
                self.key, self.part, self.past_between = None, part, False
                self.grouped = self._new(part)
            yield from self._of_stretch(rows.slice(first, last), inside)

    def _of_stretch(self, rows: Rows, edges: Array) -> Iterator[Piece]:
        """Rows of one part, or of none; those that are sent to it come before its own."""
        window = self.grouped
        if not isinstance(window, PartWindow) or window.between is None or self.past_between:
            yield self._run(rows, edges)
            return
        own = pc.equal(rows.columns[OWN], rows.columns[PART]).to_numpy(zero_copy_only=False)
        first = int(np.argmax(own)) if own.any() else rows.count
        if first:
            yield self._run(rows.slice(0, first), edges)
        if first < rows.count:
            rest = rows.slice(first, rows.count)
            window.insert_between(self._columns(rest), self._times(rest))
            self.past_between = True
            yield self._run(rest, edges if not first else edges[:0])

    def _stretches(self, rows: Rows, edges: Array) -> Iterator[tuple[int, int, Part | None]]:
        """Rows of one part each, or of keys that are not cut."""
        numbers = rows.columns[PART].fill_null(-1).to_numpy(zero_copy_only=False)
        changes = np.flatnonzero(np.diff(numbers)) + 1
        cuts = sorted({0, rows.count, *changes.tolist(), *edges[numbers[edges] >= 0].tolist()})
        for first, last in pairwise(cuts):
            yield first, last, self.query.parts.get(int(numbers[first]))

    def _run(self, rows: Rows, edges: Array) -> Piece:
        keys = [rows.columns[name] for name in self.query.by]
        told = locating(self, rows, edges, self._ask)
        known = [key[:1] for key in keys]
        if not isinstance(self.grouped, PartWindow):
            known = [
                _after(None if self.key is None else self.key[k], key.take(pa.array(edges)))
                for k, key in enumerate(keys)
            ]
        self.last = rows.slice(rows.count - 1, rows.count)
        self.key = [self.last.columns[name] for name in self.query.grouped_by]
        return Piece(self._of_part(told), known, rows.count)

    def finish(self) -> Iterator[Piece]:
        """The last key has no more rows."""
        if self.query.at_rows or self.key is None:
            return
        try:
            yield from self._finish(self.key)
        except Exception as error:
            assert self.last is not None
            raise RowError(failure(self.query, self.last, 0, error)) from error

    def _finish(self, key: list[pa.Array]) -> Iterator[Piece]:
        window, part = self.grouped, self.part
        waits = isinstance(window, PartWindow) and window.between and not self.past_between
        if waits and window.like:  # none of its own rows has come
            assert isinstance(window, PartWindow)
            window.insert_between(*window.like)
            self.past_between = True
        if isinstance(window, PartWindow) and part is not None and part.until is not None:
            # Windows of so many rows are answered at every end, up to the next part's first row.
            ends = self.query.shape.trigger == cutting.AT_ENDS
            told = window.advance(part.until) if ends else None
            if told is not None:
                yield Piece(self._of_part(told), key, 0)
        told = window.finish()
        if told is not None:
            yield Piece(self._of_part(told, over=True), key, 0)

    def _of_part(self, told: Told, over: bool = False) -> Told:
        """Of a part, only the windows that end in it."""
        part, shape = self.part, self.query.shape
        if part is None or self.query.at_rows:
            return told
        if shape.trigger == cutting.AT_ENDS:
            stay = np.ones(len(told.times), bool)
            if part.since is not None:
                stay &= told.times > part.since
            if part.until is not None:
                stay &= told.times <= part.until
            return told if stay.all() else told.take(np.flatnonzero(stay))
        if shape.size == cutting.MARKED and over and part.until is not None:
            # A window goes on up to the next mark, with which the next part begins.
            return replace(told, times=np.full(len(told.times), part.until, np.int64))
        return told

    def _ask(self, rows: Rows, edges: Array) -> Told:
        return self.grouped.rows(self._columns(rows), edges, self._times(rows))

    def _columns(self, rows: Rows) -> dict[str, pa.Array]:
        return windowed_columns(self.query, rows.columns, rows.count)

    def _times(self, rows: Rows) -> Array | None:
        clock = self.query.clock
        if clock is None or not self.query.goes_by_time:
            return None
        values = rows.columns[clock.column]
        if values.null_count:
            raise RefusedRowError(
                f"every row needs a value of {clock.column!r}, and row 0 has none; filter such "
                f"rows out."
            )
        numbers = clock.numbers(values)
        if not -(2**62) < int(numbers.min()) <= int(numbers.max()) < 2**62:
            raise RefusedRowError(f"the values of {clock.column!r} must be within 62 bits.")
        return numbers


def windowed_columns(
    query: Query, given: Mapping[str, pa.Array], count: int
) -> dict[str, pa.Array]:
    """What goes into windows, of so many rows."""
    columns = {name: given[name] for name in query.windowed}
    if ROWS in query.operator.columns:
        columns[ROWS] = pa.array(np.ones(count, np.int8))
    if isinstance(query.window, Delta):
        columns[ALONG] = _along(columns[query.window.column], query.window)
    return columns


def typed_answers(query: Query, answers: Sequence[Any]) -> list[pa.Array]:
    """Each aggregate's answers, of the types that were promised."""
    found = []
    each = zip(answers, query.answer_types.values(), query.aggs.items(), strict=True)
    for values, kind, (name, op) in each:
        try:
            found.append(as_arrow(values, kind, op))
        except TypeError as error:
            raise TypeError(f"{name} = {error}") from error
    return found


def window_bounds(queries: Sequence[Query], told: Told) -> list[pa.Array]:
    """When windows begin and end, each of which is of one of these questions."""
    clock = queries[0].clock
    assert clock is not None
    since = clock.values(told.since)
    shapes = [query.shape for query in queries]
    begins = [s.trigger != cutting.AT_ENDS or s.size == cutting.TIME for s in shapes]
    if not all(begins):  # some begin at no time
        of = np.zeros(len(told.times), np.int64) if told.of is None else told.of
        since = pc.if_else(pa.array(np.array(begins)[of]), since, pa.scalar(None, since.type))
    return [since, clock.values(told.times)]


def _after(before: pa.Array | None, keys: pa.Array) -> pa.Array:
    """The key that was open, or null if there was none, and then others."""
    if before is None:
        before = pa.nulls(1, keys.type)
    return pa.concat_arrays([before, keys])


def _along(values: pa.Array, window: Delta) -> pa.Array:
    """Times that a width is measured along, as numbers."""
    clock = OrderClock.of(window.column, values.type)
    if clock is None or clock.kind == "integer" or values.null_count:
        return values
    return pa.array(clock.numbers(values))


# Answers for rows


def gathered(batches: Iterator[Sequence[pa.Array]]) -> Iterator[Sequence[pa.Array]]:
    """Several batches as one, as long as they are small: each costs as much as a thousand rows."""
    held: list[Sequence[pa.Array]] = []
    rows = size = 0
    for batch in batches:
        more = sum(column.nbytes for column in batch)
        if held and (rows >= MANY_ROWS or size + more > MANY_BYTES):
            yield _joined(held)
            held, rows, size = [], 0, 0
        held.append(batch)
        rows += len(batch[0])
        size += more
    if held:
        yield _joined(held)


def _joined(batches: list[Sequence[pa.Array]]) -> Sequence[pa.Array]:
    if len(batches) == 1:
        return batches[0]
    return [pa.concat_arrays(each) for each in zip(*batches, strict=True)]


def answers_at_rows(query: Query, batches: Iterator[Sequence[pa.Array]]) -> Iterator[pa.Array]:
    """For each row its answers; if only some rows have any, with a mark of those."""
    windows = Windows(query)
    nothing = _packed(query, [pa.nulls(0, kind) for kind in query.answer_types.values()], None)
    for batch in gathered(batches):
        rows = Rows(in_utc(query.sent, batch, query.schema), len(batch[0]))
        pieces = windows.take(rows) if rows.count else ()
        found = [_packed(query, *_for_rows(query, piece)) for piece in pieces]
        yield found[0] if len(found) == 1 else pa.concat_arrays([nothing, *found])


def answers_to_all(
    asked: Sequence[Query], sent: Sequence[str], batches: Iterator[Sequence[pa.Array]]
) -> Iterator[pa.Array]:
    """For each row the answers to several questions, of keys that are not cut into parts."""
    each = [Windows(query) for query in asked]
    schema = pa.unify_schemas([query.schema for query in asked])
    plain = all(query.shape.plain for query in asked)
    for batch in gathered(batches):
        rows = Rows(in_utc(sent, batch, schema), len(batch[0]))
        arrays: list[pa.Array] = []
        here = np.zeros(rows.count, bool)
        for windows in each:
            query = windows.query
            if not rows.count:
                arrays += [pa.nulls(0, kind) for kind in query.answer_types.values()]
                continue
            (piece,) = windows.take(rows)
            found, mine = _for_rows(query, piece)
            arrays += found
            here |= True if mine is None else mine
        arrays += [] if plain else [pa.array(here)]
        names = [f"a{k}" for k in range(len(arrays))]
        yield pa.StructArray.from_arrays(arrays, names if plain else [*names[:-1], HERE])


def _for_rows(query: Query, piece: Piece) -> tuple[list[pa.Array], Array | None]:
    """Answers for each row; and which rows have one, if not all."""
    told = piece.told
    found = typed_answers(query, told.answers)
    if query.shape.plain:
        return found, None
    where = np.full(piece.rows, -1, np.int64)
    inside = told.rows < piece.rows
    where[told.rows[inside]] = np.flatnonzero(inside)
    here = where >= 0
    index = pa.array(where, mask=~here)
    return [values.take(index) for values in found], here


def _packed(query: Query, found: list[pa.Array], here: Array | None) -> pa.Array:
    if query.bare:
        return found[0]
    names = [f"a{k}" for k in range(len(found))]
    if not query.shape.plain:
        here = np.zeros(len(found[0]), bool) if here is None else here
        found, names = [*found, pa.array(here)], [*names, HERE]
    return pa.StructArray.from_arrays(found, names)


# Windows of their own


def windows_of(query: Query, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The windows of a partition, each with its key, begin and end."""
    windows = Windows(query)
    for batch in batches:
        if batch.num_rows:
            columns = in_utc(query.sent, batch.columns, query.schema)
            for piece in windows.take(Rows(columns, batch.num_rows)):
                yield from _table(windows, piece)
    for piece in windows.finish():
        yield from _table(windows, piece)


def _table(windows: Windows, piece: Piece) -> Iterator[pa.RecordBatch]:
    query, told = windows.query, piece.told
    if len(told.times):
        groups = pa.array(told.groups)
        keys = [key.take(groups) for key in piece.keys[: len(query.by)]]
        columns = [*keys, *window_bounds([query], told), *typed_answers(query, told.answers)]
        yield pa.RecordBatch.from_arrays(columns, names=[f"c{k}" for k in range(len(columns))])


def windows_of_all(
    asked: Mapping[str, Query], sent: Sequence[str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The windows of several questions, each with the name of its own."""
    each = {name: Windows(query) for name, query in asked.items()}
    schema = pa.unify_schemas([query.schema for query in asked.values()])
    for batch in batches:
        if batch.num_rows:
            rows = Rows(in_utc(sent, batch.columns, schema), batch.num_rows)
            for name, windows in each.items():
                for piece in windows.take(rows):
                    yield from _named(name, _table(windows, piece))
    for name, windows in each.items():
        for piece in windows.finish():
            yield from _named(name, _table(windows, piece))


def _named(name: str, tables: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for table in tables:
        columns = [pa.array([name] * table.num_rows), *table.columns]
        yield pa.RecordBatch.from_arrays(columns, names=[f"c{k}" for k in range(len(columns))])

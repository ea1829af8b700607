"""A stream's question whose window is in a store, and not in Spark's state.

Rows come to the driver, micro-batch by micro-batch. What a shard does with them is done here: they
wait while others may come before them, and go into the window in order. With the window is stored
what belongs to it: the rows that wait, the newest time, and which micro-batch was the last. So the
store has a micro-batch whole or not at all, and one that Spark runs again is known.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.saving import SavedError
from sash.spark.failing import RowError, told
from sash.spark.packing import as_bytes, from_bytes
from sash.spark.rows import Rows
from sash.spark.stateful import answers
from sash.spark.stream_query import StreamQuery
from sash.spark.timing import times_of
from sash.spark.worker import windowed_columns
from sash.stores.contract import StoreError
from sash.stores.places import Place
from sash.windows.answers import Answers
from sash.windows.cutting import NEVER
from sash.windows.engine import Given
from sash.windows.grouped import Told, joined, told_of
from sash.windows.ordered_rows import StreamRows
from sash.windows.shard import Stepped
from sash.windows.storing import StoredWindow
from sash.windows.window import Window

Array = np.ndarray[Any, Any]


class TellingWindow(Window):
    """A window that tells which row each answer is for."""

    given: Given

    @cached_property
    def _at_rows(self) -> bool:
        return False

    def _give(self, given: Given) -> Answers:
        self.given = given
        return Answers([], [])


def window_in_store(asked: StreamQuery, place: Place) -> TellingWindow:
    """The window of a question, with times and lengths in the units of its clock."""
    query = asked.query
    options: dict[str, Any] = {"min_size": query.min_size, "algorithm": query.algorithm}
    return TellingWindow(query.operator, query.steps, store=place, **options)


class StoredQuestion:
    """One question, its window, and the rows that wait."""

    def __init__(self, asked: StreamQuery, place: Place) -> None:
        self.asked = asked
        self.window = window_in_store(asked, place)
        assert self.window._store is not None
        self.stored: StoredWindow = self.window._store
        # Or a crash would leave some of a micro-batch, whose answers are not written yet.
        self.stored.only_synced = True
        self.stream: str | None = None
        """Whose micro-batches it has."""
        self.batch = -1
        """The last of them."""
        self.newest = NEVER
        self.waiting: StreamRows | None = None
        try:
            self._go_on(self.stored.note)
        except (LookupError, TypeError) as error:
            self.let_go()
            raise SavedError("what is noted with it is no stream's.") from error
        except BaseException:
            self.let_go()
            raise

    def _go_on(self, note: Any) -> None:
        if note is None:
            if self.window.pushed:
                raise SavedError("its rows were pushed by another program.")
            return
        if note["asked"] != self.asked.fingerprint:
            raise SavedError(f"{self.asked.difference(note['asked'])}.")
        self.stream, self.batch, self.newest = note["stream"], note["batch"], note["newest"]
        if note["waiting"] is not None:
            (rows,) = from_bytes(note["waiting"])
            self.waiting = self._rows(dict(zip(self.asked.sent, rows.columns, strict=True)))

    @property
    def watermark(self) -> int:
        """What is before it is final; NEVER if nothing is known to be."""
        lateness, slices = self.asked.query.lateness_steps, self.asked.slices
        if lateness is None or self.newest == NEVER:
            return NEVER
        exact = self.newest - lateness
        return exact if slices is None else int(slices.grid.begin(exact))

    def has(self, stream: str, batch: int) -> bool:
        """Whether a micro-batch is in the window already."""
        return self.stream == stream and batch <= self.batch

    def check_has(self, stream: str, batch: int) -> None:
        """Refuse to go on without a micro-batch whose answers are written."""
        if not self.has(stream, batch):
            there = f"up to {self.batch}" if self.stream == stream else "none of them"
            raise SavedError(
                f"the checkpoint is at micro-batch {batch} of its stream, and the store has "
                f"{there}; name the store that has all, or begin with a new checkpoint."
            )

    def push(self, columns: dict[str, pa.Array], newest: int) -> tuple[pa.RecordBatch | None, int]:
        """Rows come, and the newest time of all: the answers, and how many rows were late."""
        rows = self._rows(columns)
        in_time = rows.times >= self.watermark
        late = len(rows) - int(in_time.sum())
        rows = rows.only(in_time)
        self.newest = max(self.newest, newest)
        if self.asked.query.lateness is not None:
            rows = rows if self.waiting is None else self.waiting.then(rows)
            due = rows.times < self.watermark
            self.waiting = None if due.all() else rows.only(~due)
            rows = rows.only(due)
        rows = rows.in_order(self.asked.asked.order)
        found = self._into_window(rows)
        if self.watermark != NEVER and not self.asked.query.at_rows:
            self.window.advance(self.watermark)
            found.append(self._told())
        return self._answers(found, rows), late

    def if_no_more_came(self) -> pa.RecordBatch | None:
        """The answers of what is open. The window takes no more rows then; its store is as it was.

        Nothing of it is stored: `let_go` is what comes next.
        """
        if self.asked.query.at_rows and self.asked.query.lateness is None:
            return None  # rows are answered as they come: none waits
        rows, found = None, []
        if self.waiting is not None:
            rows = self.waiting.in_order(self.asked.asked.order)
            found = self._into_window(rows)
        self.window.finish()
        found += [] if self.asked.query.at_rows else [self._told()]
        return self._answers(found, rows)

    def sync(self, stream: str, batch: int) -> None:
        """Let the store have all, up to this micro-batch."""
        self.stream, self.batch = stream, batch
        waiting = None
        if self.waiting is not None:
            arrays = [self.waiting.columns[name] for name in self.asked.sent]
            names = [f"c{k}" for k in range(len(arrays))]
            rows = pa.RecordBatch.from_arrays(arrays, names=names)
            waiting = as_bytes([rows]).to_pybytes()
        self.stored.note = {
            "asked": self.asked.fingerprint,
            "stream": stream,
            "batch": batch,
            "newest": self.newest,
            "waiting": waiting,
        }
        self.window.sync()

    def let_go(self) -> None:
        """Let others open the window, as it was when it was synced."""
        self.stored.let_go()

    def _rows(self, columns: dict[str, pa.Array]) -> StreamRows:
        clock, slices = self.asked.clock, self.asked.slices
        times = times_of(columns[clock.column], clock)
        if slices is not None:  # where the order of rows within a slice makes no difference
            times = slices.grid.begin(times)
        alike = np.zeros(len(times), np.int64)
        return StreamRows(columns, times, alike, alike)

    def _into_window(self, rows: StreamRows) -> list[Told]:
        if not len(rows):
            return []
        try:
            self._push(rows, 0, len(rows))
        except StoreError:
            raise
        except Exception as error:
            raise self._located(rows, error) from error
        return [self._told()]

    def _push(self, rows: StreamRows, first: int, last: int) -> None:
        given = {name: values[first:last] for name, values in rows.columns.items()}
        columns = windowed_columns(self.asked.query, given, last - first)
        self.window.push_many(columns, rows.times[first:last])

    def _located(self, rows: StreamRows, error: Exception) -> Exception:
        """Which row it is, found by halving. The window is of no use then, nor is it stored."""
        first, last = 0, len(rows)
        while last - first > 1:
            middle = (first + last) // 2
            try:
                self._push(rows, first, middle)
                first = middle
            except StoreError as gone:
                return gone
            except Exception:
                last = middle
        try:
            self._push(rows, first, last)
        except Exception as itself:
            given = Rows(rows.columns, len(rows))
            return RowError(told(self.asked.query, given, first, itself))
        return error  # of all rows together, and of none of them alone

    def _told(self) -> Told:
        given, query = self.window.given, self.asked.query
        nobody = np.zeros(len(given.held), np.int64)
        return told_of(given, nobody, query.operator, query.shape, query.min_size)

    def _answers(self, found: list[Told], rows: StreamRows | None) -> pa.RecordBatch | None:
        found = [each for each in found if len(each.groups)]
        if not found:
            return None
        if rows is None:
            rows = StreamRows({}, *[np.zeros(0, np.int64)] * 3)
        return answers(self.asked, Stepped(joined(found), [], rows, 0))

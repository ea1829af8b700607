"""One window whose rows have times and may come in any order: oldest out first, by time."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sash.aggregators import columns
from sash.aggregators.aggregator import STALE, Aggregator
from sash.aggregators.clocks import EARLIEST, LATEST, Clock
from sash.aggregators.compiling import Compiled
from sash.aggregators.keeping import FEW, Kept
from sash.aggregators.rings import as_arrays, flatten
from sash.aggregators.running import Job
from sash.operators.monoid import Monoid, Partial

Entry = tuple[int, int]
"""A time and a row number: what entries are ordered by."""

LATE_COST = 24
"""A late row takes about as long as writing so many rows anew, in order."""


class TimedAggregator(Aggregator):
    """A window kept in the order of times. Made by `sash.aggregator("fiba", …)`.

    Times are integers or datetimes, one kind for a window. Rows of equal time keep the order in
    which they came. Without times it is a window like any other: in, and out, in order of arrival.

    >>> from sash.operators.collections import Collect
    >>> window = TimedAggregator("fiba", Collect())
    >>> for value, time in (("a", 1), ("c", 5), ("b", 3)):
    ...     window.insert(value, time)
    >>> window.query(), window.query(start=2, end=5)
    (['a', 'b', 'c'], ['b'])
    >>> window.bulk_evict(up_to=3)
    >>> window.query()
    ['c']
    """

    _kept: KeptByTime | None

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._clock: Clock | None = None  # of a window without times, for ever None
        self._with_rows: list[Marks] = [Marks() for _ in self._leaves]

    # One by one

    def insert(self, value: Any, time: Any = None) -> None:
        """Add a value: at its time, behind all that are not younger; or at the young end."""
        self._check_timed(time is not None)
        if time is None:
            super().insert(value)
            return
        clock = Clock.of(time, self._clock)
        self._insert_at(value, clock, clock.number(time))

    def _insert_at(self, value: Any, clock: Clock, at: int) -> None:
        cells, payloads = self._cells(value)
        p = self._lifted(cells, self._in)
        if self._kept is not None:
            self._kept.insert_at(at, self._in, p)
        self._begin(clock)
        for marks, payload in zip(self._with_rows, payloads, strict=True):
            if payload:
                marks.append((at, self._in))
        self._note((at, self._in), cells, payloads)

    def query(self, last: int | None = None, *, start: Any = None, end: Any = None) -> Any:
        """The answer for the window, for its `last` values, or for times start ≤ t < end."""
        if start is None and end is None:
            return super().query(last)
        if last is not None:
            raise TypeError("query is given a number of values or times, not both.")
        low, high = self._clocked(start, EARLIEST), self._clocked(end, LATEST)
        if self._kept is None:
            return super().query()
        return self._lowered(
            self._kept.monoid, self._kept.query_between(low, high), ((low, -1), (high, -1))
        )

    # In bulk

    def bulk_insert(self, values: Any, times: Any = None) -> None:
        """Add many values, or rows of several columns; with times, in any order."""
        self._check_timed(times is not None)
        if times is None:
            super().bulk_insert(values)
            return
        values = columns.table(values)
        clock, at = Clock.of_column(times, self._clock)
        rows = len(next(iter(values.values())))
        if len(at) != rows:
            raise ValueError(f"there are {rows} values and {len(at)} times.")
        order = np.argsort(at, kind="stable")
        job, kept, rows = self._job(values)
        if job is None or kept is None:
            self._insert_each(list(self._each(values)), clock, at)
            return
        assert isinstance(kept, KeptByTime)
        kept.insert_rows(job, at, order, self._in)
        self._begin(clock)
        for leaf, mask in enumerate(job.valid):
            if mask is not None:
                rows_null = np.flatnonzero(~mask)
                self._nulls[leaf].extend(
                    zip(at[rows_null].tolist(), (rows_null + self._in).tolist(), strict=True)
                )
        self._in += rows
        self._answer = STALE

    def _insert_each(self, values: list[Any], clock: Clock, at: Any) -> None:
        """One by one, in the order of arrival, which numbers the rows."""
        for value in values:  # all of them are tried before the first goes in
            self._lifted(self._cells(value)[0], self._in)
        for value, number in zip(values, at.tolist(), strict=True):
            self._insert_at(value, clock, number)

    def bulk_evict(self, count: int | None = None, *, up_to: Any = None) -> None:
        """Remove the `count` oldest values, or all of this time and earlier ones."""
        if (count is None) == (up_to is None):
            raise TypeError("bulk_evict is given either a count or a time, as in up_to=….")
        if count is None:
            count = self._rank(self._clocked(up_to, 0))
        super().bulk_evict(count)

    def slide(self, values: Any, size: int | Sequence[int]) -> Any:
        self._check_timed(False)
        return super().slide(values, size)

    def check_invariants(self, window: list[Any]) -> None:
        if self._clock is None or self._kept is None:
            super().check_invariants(window)
            return
        assert len(self) == len(window)
        kept = self._kept
        kept.to_lists()
        rows = [kept.entry(i)[1] for i in range(len(window))]
        each = zip(window, rows, strict=True)
        lift = kept.monoid.lift_cells
        kept.check_invariants([lift(iter(self._cells(v)[0]), row) for v, row in each])

    # Times

    def _check_timed(self, timed: bool) -> None:
        if self._in and timed != (self._clock is not None):
            has, lacks = ("times", "none was") if not timed else ("no times", "one was")
            raise TypeError(f"the rows of this window have {has}, and {lacks} given.")

    def _begin(self, clock: Clock) -> None:
        """The first time is in: from now on all rows have one."""
        if self._clock is None:
            self._clock = clock
            self._nulls = [Marks() for _ in self._leaves]

    def _clocked(self, time: Any, default: int) -> int:
        if time is None:
            return default
        if self._clock is None and self._in:
            raise TypeError("the rows of this window have no times; remove and ask by count.")
        return Clock.of(time, self._clock).number(time)

    def _rank(self, time: int) -> int:
        """How many rows have this time or an earlier one."""
        if self._kept is not None:
            return self._kept.rank(time)
        return self._nulls[0].before((time + 1, -1)) if len(self) else 0

    # What stands beside the window

    def _keeping(self, monoid: Monoid) -> Kept:
        kept = KeptByTime(self._module, monoid, self._settings)
        for mark in self._nulls[0]:  # nothing but nulls so far
            time, row = mark if self._clock is not None else (mark, mark)
            kept.insert_at(time, row, monoid.identity())
        return kept

    def _nothing_in(self, leaf: int, part: Any) -> bool:
        if self._clock is None or part is None:
            return super()._nothing_in(leaf, part)
        kept, nulls = self._kept, self._nulls[leaf]
        if kept is None:
            return True
        if isinstance(part, int):  # the rows from this position on, as they are numbered in order
            first = part - self._out
            if first == len(self):
                return True
            return nulls.since(kept.entry(first)) == len(self) - first  # type: ignore[no-any-return]
        start, end = part
        held = kept.rank(end[0] - 1) - kept.rank(start[0] - 1)
        return nulls.before(end) - nulls.before(start) >= held  # type: ignore[no-any-return]

    def _evicted(self, count: int) -> None:
        if self._clock is None:
            super()._evicted(count)
            return
        self._out += count
        self._answer = STALE
        if not count:
            return
        if not len(self):
            oldest: Entry = (LATEST, 0)
        elif self._kept is None:
            oldest = self._nulls[0].at(count)
        else:
            oldest = self._kept.entry(0)
        for nulls, marks, payloads in zip(
            self._nulls, self._with_rows, self._payloads, strict=True
        ):
            nulls.drop(oldest)
            for _, row in marks.drop(oldest):
                del payloads[row]


class Marks:
    """Entries that something is noted of, in order; they leave with the window's old end."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.gone = 0

    def __len__(self) -> int:
        return len(self.entries) - self.gone

    def __iter__(self) -> Any:
        return iter(self.entries[self.gone :])

    def append(self, entry: Entry) -> None:
        if self.entries and entry < self.entries[-1]:
            insort(self.entries, entry, lo=self.gone)
        else:
            self.entries.append(entry)

    def extend(self, entries: Any) -> None:
        del self.entries[: self.gone]
        self.gone = 0
        self.entries.extend(entries)
        self.entries.sort()

    def at(self, i: int) -> Entry:
        return self.entries[self.gone + i]

    def before(self, entry: Entry) -> int:
        return bisect_left(self.entries, entry, lo=self.gone) - self.gone

    def since(self, entry: Entry) -> int:
        return len(self) - self.before(entry)

    def drop(self, oldest: Entry) -> list[Entry]:
        """Forget what is before the oldest entry of the window; the dropped ones."""
        end = self.gone + self.before(oldest)
        dropped = self.entries[self.gone : end]
        self.gone = end
        if 2 * self.gone > len(self.entries):
            del self.entries[: self.gone]
            self.gone = 0
        return dropped


class KeptByTime(Kept):
    """What fiba keeps. A long window that a compiled loop has filled stays in arrays for a while.

    Single calls read and write the fields of partials where they are, until there have been as
    many as the window has values: moving them to lists would not have cost more.
    """

    single_calls = 0

    def insert_at(self, time: int, row: int, p: Partial) -> None:
        self.make_room()
        rings, state = self.at_hand()
        self.put_back(self.run.insert_at(rings, state, time, row, p))

    def insert(self, p: Partial) -> None:
        self.make_room()
        rings, state = self.at_hand()
        self.put_back(self.run.insert(rings, state, p))

    def query(self) -> Partial:
        return self.run.query(*self.at_hand())

    def query_last(self, count: int) -> Partial:
        return self.run.query_last(*self.at_hand(), count)

    def query_between(self, start: int, end: int) -> Partial:
        return self.run.query_between(*self.at_hand(), start, end)

    def oldest_value(self) -> Partial:
        return self.run.oldest_value(*self.at_hand())

    def rank(self, time: int) -> int:
        return int(self.run.count_up_to(self.rings, self._as_items(), time))

    def entry(self, i: int) -> Entry:
        time, row = self.run.entry(self.rings, self._as_items(), i)
        return int(time), int(row)

    def insert_rows(self, job: Job, times: Any, order: Any, first: int) -> None:
        """Rows by their times, in one compiled loop: each from the finger, or all in one merge."""
        held, rows = self.held(), len(order)
        late = 0
        if held:
            late = int(np.searchsorted(times[order], self.entry(held - 1)[0]))
        self.to_arrays(job.code, held + rows)
        given = (job.rows, times, order, first, rows)
        if late * LATE_COST > held + rows:
            rings = tuple(as_arrays(self.algorithm, self.monoid, self.capacity))
            self.state = job.call("merge_rows", tuple(self.rings), rings, self.state, *given)
        else:
            rings = self.copied() if self.may_stop_inserting else tuple(self.rings)
            self.state = job.call("insert_rows", rings, self.state, *given)
        self.rings = list(rings)

    def to_arrays(self, compiled: Compiled, count: int) -> None:
        self.single_calls = 0
        super().to_arrays(compiled, count)

    def at_hand(self) -> tuple[list[Any], Any]:
        """Rings and state as plain Python takes them."""
        self.single_calls += 1
        if self.in_arrays and self.held() <= max(FEW, self.single_calls):
            self.to_lists()
        if not self.in_arrays:
            return self.rings, self.state
        rings = [InFields(r, self._partial) if isinstance(r, tuple) else r for r in self.rings]
        return rings, self._as_items()

    def put_back(self, state: Any) -> None:
        self.state = flatten(state) if self.in_arrays else state


class InFields:
    """A ring whose partials lie in arrays, one for each field, as a list of partials."""

    def __init__(self, arrays: tuple[Any, ...], make: Callable[[list[Any]], Partial]) -> None:
        self.arrays = arrays
        self.make = make

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, i: int) -> Partial:
        return self.make([array[i].item() for array in self.arrays])

    def __setitem__(self, i: int, p: Partial) -> None:
        for array, value in zip(self.arrays, flatten(p), strict=True):
            array[i] = value

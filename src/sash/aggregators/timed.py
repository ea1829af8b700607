"""One window whose rows have times and may come in any order: oldest out first, by time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sash.aggregators import columns
from sash.aggregators.aggregator import STALE, Aggregator
from sash.aggregators.clocks import EARLIEST, LATEST, Clock
from sash.aggregators.keeping import Kept
from sash.aggregators.keeping_by_time import KeptByTime
from sash.aggregators.marks import Entry, Marks
from sash.operators.monoid import Monoid


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
        if isinstance(part, range):  # the youngest rows, as many as these
            first = len(self) - len(part)
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

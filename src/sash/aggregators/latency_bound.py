"""A latency bound: a tree for what may still be overtaken, a queue for what may not.

order late by no more than a bound · needs associativity · time O(log y) ⊕ per insert for the y
values within the bound, ≤ 5 when one leaves them, 2 per evict, 4 per query · space n + y
paper Constant-Time Sliding Window Aggregation (2015), Section 9

No row comes later than the bound behind the newest time seen. So rows older than that are in their
final order, and are kept by daba_lite, in constant time; fiba keeps the younger ones. A row is
taken from the one to the other when time has passed it by.

Invariants (newest the latest time seen):
  every time in the tree  > newest - bound
  every time in the queue ≤ newest - bound, in order
  answer = queue ⊕ tree
"""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from itertools import takewhile
from typing import Any

import numpy as np

from sash.aggregators import daba_lite, fiba
from sash.aggregators.clocks import Clock
from sash.aggregators.keeping import Kept
from sash.aggregators.keeping_by_time import KeptByTime
from sash.aggregators.marks import Entry
from sash.aggregators.timed import TimedAggregator
from sash.operators.base import Operator
from sash.operators.monoid import Monoid, Partial


class LatencyBound(TimedAggregator):
    """A window for rows that are late by no more than `bound`. A later one is refused.

    >>> from sash.operators.collections import Collect
    >>> window = LatencyBound("latency_bound", Collect(), bound=10)
    >>> for value, time in (("b", 95), ("c", 100), ("a", 90)):
    ...     window.insert(value, time)
    >>> window.query()
    ['a', 'b', 'c']
    >>> window.insert("too late", 89)
    Traceback (most recent call last):
    ValueError: a row of time 89 is later than the bound of 10 allows: the newest is of 100.
    """

    made_of = "fiba"

    def __init__(self, name: str, operator: Operator, *, bound: Any = None, **options: Any) -> None:
        if isinstance(bound, (timedelta, np.timedelta64)):
            self._bound = int(np.timedelta64(bound).astype("timedelta64[ns]").astype(np.int64))
        elif isinstance(bound, (int, np.integer)) and not isinstance(bound, bool):
            self._bound = int(bound)
        else:
            raise TypeError(
                f"{name} needs a bound: an integer for integer times, a timedelta for datetimes, "
                f"as in bound=10; not {bound!r}."
            )
        if self._bound < 0:
            raise ValueError(f"a bound is 0 or more, not {bound!r}.")
        self._of_datetimes = isinstance(bound, (timedelta, np.timedelta64))
        self._newest: int | None = None
        super().__init__(name, operator, **options)

    def query(self, last: int | None = None, *, start: Any = None, end: Any = None) -> Any:
        """The answer for what the window holds."""
        if last is not None or start is not None or end is not None:
            raise TypeError("latency_bound answers for its whole window only; fiba for any part.")
        return super().query()

    def bulk_insert(self, values: Any, times: Any = None) -> None:
        """Add many values, or none if one of them is too late."""
        self._check_timed(times is not None)
        clock, at = Clock.of_column(times, self._clock)
        newest = self._newest
        for number in at.tolist():
            self._check_bound(clock, number, newest)
            newest = number if newest is None else max(newest, number)
        super().bulk_insert(values, times)

    def _job(self, values: Any, few: int = 0, taking: bool = False) -> tuple[None, None, int]:
        return None, None, 0  # one by one

    def _insert_at(self, value: Any, clock: Clock, at: int) -> None:
        self._check_bound(clock, at, self._newest)
        super()._insert_at(value, clock, at)
        self._newest = at if self._newest is None else max(self._newest, at)

    def _check_bound(self, clock: Clock, at: int, newest: int | None) -> None:
        if self._of_datetimes != (clock.kind != "integers"):
            wanted = "a timedelta" if clock.kind != "integers" else "an integer"
            raise TypeError(f"where times are {clock.kind}, the bound is {wanted}.")
        if newest is not None and at < newest - self._bound:
            unit = "ns" if self._of_datetimes else ""
            raise ValueError(
                f"a row of time {at}{unit} is later than the bound of {self._bound}{unit} allows: "
                f"the newest is of {newest}{unit}."
            )

    def _check_timed(self, timed: bool) -> None:
        if not timed:
            raise TypeError("latency_bound needs a time for each row: insert(value, time).")

    def _keeping(self, monoid: Monoid) -> Any:
        kept = TwoAges(monoid, self._bound)
        for time, row in self._nulls[0]:  # nothing but nulls so far
            kept.insert_at(time, row, monoid.identity())
        return kept


class TwoAges:
    """Partials beyond the bound in a queue, those within it in a tree."""

    def __init__(self, monoid: Monoid, bound: int) -> None:
        self.monoid = monoid
        self.bound = bound
        self.newest: int | None = None
        self.old = Kept(daba_lite, monoid)
        self.entries: deque[Entry] = deque()
        self.young = KeptByTime(fiba, monoid)

    def insert_at(self, time: int, row: int, p: Partial) -> None:
        self.young.insert_at(time, row, p)
        self.newest = time if self.newest is None else max(self.newest, time)
        for _ in range(self.young.rank(self.newest - self.bound)):
            self.entries.append(self.young.entry(0))
            self.old.insert(self.young.oldest_value())
            self.young.evict(1)

    def evict(self, count: int) -> None:
        from_old = min(count, len(self.entries))
        if from_old:
            self.old.evict(from_old)
        for _ in range(from_old):
            self.entries.popleft()
        if count > from_old:
            self.young.evict(count - from_old)

    def query(self) -> Partial:
        return self.monoid.combine(self.old.query(), self.young.query())

    def rank(self, time: int) -> int:
        found = sum(1 for _ in takewhile(lambda entry: entry[0] <= time, self.entries))
        return found if found < len(self.entries) else found + self.young.rank(time)

    def entry(self, i: int) -> Entry:
        held = len(self.entries)
        return self.entries[i] if i < held else self.young.entry(i - held)

    def to_lists(self) -> None:
        """They are in lists."""

    def partials_held(self) -> int:
        return self.old.partials_held() + self.young.partials_held()

    def check_invariants(self, window: list[Partial]) -> None:
        held = len(self.entries)
        assert self.newest is not None
        assert all(time <= self.newest - self.bound for time, _ in self.entries)
        assert list(self.entries) == sorted(self.entries)
        if held:
            self.old.check_invariants(window[:held])
        if held < len(window):
            assert self.young.entry(0)[0] > self.newest - self.bound
            self.young.check_invariants(window[held:])

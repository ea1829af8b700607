"""Several sources in one window, each FIFO by itself, however far they drift apart.

order FIFO per source · needs commutativity · time ≤ 3 + 1 + ⌈log₂ s⌉ ⊕ per insert or evict for s
sources, 0 per query · space n + 2 s
paper Constant-Time Sliding Window Aggregation (2015), Section 9

Each source has a queue of its own, kept by daba_lite; a tree above them has their answers for
leaves, and its root is that of the window. When one queue changes, so do the sums on the way up.

Invariants (s a power of two):
  s ≤ i < 2 s : totals[i] = the answer of the (i - s)-th queue, or the identity
  1 ≤ i < s   : totals[i] = totals[2 i] ⊕ totals[2 i + 1]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any

from sash.aggregators import columns, daba_lite
from sash.aggregators.aggregator import STALE, Aggregator
from sash.aggregators.clocks import Clock
from sash.aggregators.keeping import Kept
from sash.operators.base import Operator
from sash.operators.laws import close
from sash.operators.monoid import Monoid, Partial

ONLY = "per_source {} only; a row leaves by evict(source) or evict_up_to(time)."


class PerSource(Aggregator):
    """A window whose rows come from sources that are in order by themselves.

    >>> from sash.operators.extremes import Max
    >>> window = PerSource("per_source", Max())
    >>> window.insert(5, source="east", time=100)
    >>> window.insert(3, source="west", time=10)
    >>> window.evict("east")
    >>> window.query(), len(window)
    (3, 1)
    """

    made_of = "daba_lite"

    def __init__(self, name: str, operator: Operator, **options: Any) -> None:
        super().__init__(name, operator, **options)
        if not operator.commutative:
            raise TypeError(
                f"{name} needs an operator that does not mind the order of sources, and "
                f"{operator!r} is not commutative; use 'fiba'."
            )
        self._queues: dict[Hashable, deque[tuple[int, int]]] = {}
        self._clock: Clock | None = None

    def insert(self, value: Any, source: Hashable = None, time: Any = None) -> None:
        """Add a value at the young end of its source, whose times do not go back."""
        queue = self._queues.get(source)
        clock, at = self._placed(source, time, self._clock, queue[-1][1] if queue else None)
        cells, payloads = self._cells(value)
        p = self._lifted(cells, self._in)
        if self._kept is not None:
            self._sources().insert(source, p)
        self._clock = clock
        self._queues.setdefault(source, deque()).append((self._in, at))
        self._note(self._in, cells, payloads)

    def _placed(
        self, source: Hashable, time: Any, clock: Clock | None, last: int | None
    ) -> tuple[Clock | None, int]:
        """The clock and the time of a row, if it may come after what its source had last."""
        if source is None:
            raise TypeError("per_source needs the source of each row: insert(value, source=…).")
        if self._in and (time is None) == (clock is not None):
            has, lacks = ("no times", "one") if clock is None else ("times", "none")
            raise TypeError(f"the rows of this window have {has}, and {lacks} was given.")
        clock = None if time is None else Clock.of(time, clock)
        at = 0 if clock is None else clock.number(time)
        if last is not None and at < last:
            raise ValueError(
                f"the times of a source must not go back, and {source!r} goes from {last} to {at}."
            )
        return clock, at

    def bulk_insert(self, values: Any, sources: Any = None, times: Any = None) -> None:
        """Add many values, each at the young end of its source."""
        each = list(self._each(columns.table(values)))
        whence = [None] * len(each) if sources is None else columns.column(sources).objects()
        when = [None] * len(each) if times is None else columns.column(times).objects()
        for what, given in (("sources", whence), ("times", when)):
            if len(given) != len(each):
                raise ValueError(f"there are {len(each)} values and {len(given)} {what}.")
        with self._types_if_done():
            for value in each:  # all of them are tried before the first goes in
                self._lifted(self._cells(value)[0], self._in)
            self._check_times(whence, when)
        for value, source, time in zip(each, whence, when, strict=True):
            self.insert(value, source, time)

    def _check_times(self, sources: list[Hashable], times: list[Any]) -> None:
        """Every source, and that its times do not go back, before the first row goes in."""
        clock = self._clock
        last = {source: queue[-1][1] for source, queue in self._queues.items()}
        for source, time in zip(sources, times, strict=True):
            clock, at = self._placed(source, time, clock, last.get(source))
            last[source] = at

    def evict(self, source: Hashable = None) -> None:
        """Remove the oldest value of a source."""
        queue = self._queues.get(source)
        if not queue:
            raise IndexError(f"evict from a source that holds nothing: {source!r}.")
        self._leave(source, queue, 1)

    def evict_up_to(self, time: Any) -> None:
        """Remove what has this time or an earlier one, of all sources."""
        if self._clock is None:
            if len(self):
                raise TypeError("the rows of this window have no times; use evict(source).")
            return
        at = Clock.of(time, self._clock).number(time)
        for source, queue in list(self._queues.items()):
            count = 0
            while count < len(queue) and queue[count][1] <= at:
                count += 1
            if count:
                self._leave(source, queue, count)

    def bulk_evict(self, count: int) -> None:
        raise TypeError(ONLY.format("knows what is oldest per source"))

    def slide(self, values: Any, size: int | Sequence[int]) -> Any:
        raise TypeError(ONLY.format("takes rows with their source"))

    def query(self, last: int | None = None) -> Any:
        """The answer for all sources together."""
        if last is not None:
            raise TypeError(ONLY.format("answers for its whole window"))
        return super().query()

    def sources(self) -> list[Hashable]:
        """Those that hold a value."""
        return list(self._queues)

    def check_invariants(self, window: list[Any]) -> None:
        assert len(self) == len(window) == sum(map(len, self._queues.values()))
        if self._kept is not None:
            self._sources().check()

    def _leave(self, source: Hashable, queue: deque[tuple[int, int]], count: int) -> None:
        if self._kept is not None:
            self._sources().evict(source, count)
        for _ in range(count):
            row, _ = queue.popleft()
            for nulls, payloads in zip(self._nulls, self._payloads, strict=True):
                nulls.pop(row, None)
                payloads.pop(row, None)
        if not queue:
            del self._queues[source]
        self._out += count
        self._answer = STALE

    def _sources(self) -> Any:
        return self._kept

    def _keeping(self, monoid: Monoid) -> Any:
        kept = Sources(monoid)
        for source, queue in self._queues.items():
            for _ in queue:  # nothing but nulls so far
                kept.insert(source, monoid.identity())
        return kept


class Sources:
    """A queue of partials for each source, and the tree of their totals."""

    def __init__(self, monoid: Monoid) -> None:
        self.monoid = monoid
        self.slots: dict[Hashable, int] = {}
        self.free = [0]
        self.queues: list[Kept | None] = [None]
        self.totals: list[Partial] = [monoid.identity()] * 2

    def insert(self, source: Hashable, p: Partial) -> None:
        if source not in self.slots:
            if not self.free:
                self.grow()
            self.slots[source] = self.free.pop()
            self.queues[self.slots[source]] = Kept(daba_lite, self.monoid)
        slot = self.slots[source]
        queue = self.queue(slot)
        try:
            total = self.totals[len(self.queues) + slot]
            renewed = self.above(slot, self.monoid.combine(total, p))
            queue.insert(p)
        except BaseException:
            if not queue.held():
                self.leave(source, slot)
            raise
        for i, total in renewed:
            self.totals[i] = total

    def evict(self, source: Hashable, count: int) -> None:
        slot = self.slots[source]
        queue = self.queue(slot)
        queue.evict(count)
        if not queue.held():
            self.leave(source, slot)
            total = self.monoid.identity()
        else:
            total = queue.query()
        for i, above in self.above(slot, total):
            self.totals[i] = above

    def leave(self, source: Hashable, slot: int) -> None:
        self.queues[slot] = None
        del self.slots[source]
        self.free.append(slot)

    def query(self) -> Partial:
        return self.totals[1]

    def queue(self, slot: int) -> Kept:
        queue = self.queues[slot]
        assert queue is not None
        return queue

    def above(self, slot: int, total: Partial) -> list[tuple[int, Partial]]:
        """The new total of a queue, and what those above it come to."""
        i = len(self.queues) + slot
        found = [(i, total)]
        while i > 1:
            beside = self.totals[i ^ 1]
            total = (
                self.monoid.combine(beside, total) if i & 1 else self.monoid.combine(total, beside)
            )
            i //= 2
            found.append((i, total))
        return found

    def grow(self) -> None:
        """Room for twice as many."""
        held = len(self.queues)
        self.free = list(range(2 * held - 1, held - 1, -1))
        self.queues += [None] * held
        leaves = self.totals[held:] + [self.monoid.identity()] * held
        self.totals = [self.monoid.identity()] * (2 * held) + leaves
        for i in range(2 * held - 1, 0, -1):
            self.totals[i] = self.monoid.combine(self.totals[2 * i], self.totals[2 * i + 1])

    def partials_held(self) -> int:
        return len(self.totals) + sum(q.partials_held() for q in self.queues if q is not None)

    def check(self) -> None:
        for slot, queue in enumerate(self.queues):
            own = self.monoid.identity() if queue is None else queue.query()
            assert close(self.totals[len(self.queues) + slot], own)
        for i in range(1, len(self.queues)):
            both = self.monoid.combine(self.totals[2 * i], self.totals[2 * i + 1])
            assert close(self.totals[i], both)

"""A profile of slides by policy: how many calls each part of Sash does, and the time it takes.

The windows are those of other experiments; what is told of them is in `profiling`. Of evictions of
many values, which are few, the calls of a store are timed instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from threading import current_thread, main_thread
from typing import Any

from sash.figures.cases import Case, Group, Point
from sash.figures.measures.bulk_evictions import Eviction
from sash.figures.measures.constant_size import constant_size
from sash.figures.measures.dimensions import dimensions
from sash.figures.measures.policy_slides import Slides
from sash.figures.measures.policy_streams import SHRINKING, policy_streams
from sash.figures.measures.policy_windows import (
    SIZED,
    PolicyWindow,
    made,
    missing_stores,
    no_collections,
    there,
)
from sash.figures.measures.profiling import PARTS, Calls, Samples

CALLS, C_CALLS, SHARE = "calls", "C calls", "% of time"
"""Each also by part: `calls: ⊕`."""
COMBINED, SHOWN = "⊕", "sums shown"
HELD, LEFT, EVICTIONS = "values held", "values that left", "slides that let some leave"
EVICTION_CALLS, EVICTION_C_CALLS = "calls of an eviction", "C calls of an eviction"
READS, BLOCKS_READ = "reads", "blocks read"
READING, OPENING = "ns of reading", "ns of opening blocks"
CHECKPOINT = "ns of a checkpoint"
FEW = 1025
"""Slides whose calls are counted of windows that shrink, and the first, which is not."""
ONE, HALF, ALL = "one leaves", "half leave", "all but one leave"


def python_calls(
    *,
    series: Sequence[str],
    constant: dict[str, Any],
    streams: Sequence[dict[str, Any]],
    evictions: dict[str, Any],
    several: dict[str, Any],
) -> list[Group]:
    """constant, streams, evictions, several: what `constant_size`, `policy_streams` (once or more),
    bulk evictions and `dimensions` are given.
    """
    slides = [
        *constant_size(series=there(series), **constant),
        *(group for given in streams for group in policy_streams(**given)),
        *dimensions(**several),
    ]
    profiled = [partial(_profiled, group) for group in slides]
    return [*profiled, partial(_evictions, **evictions), *missing_stores(series)]


def _profiled(group: Group) -> list[Case]:
    """Cases of another experiment, whose slides are looked at."""
    found = []
    for case in group():
        slides: Any = getattr(case.run, "__self__", None)
        if not isinstance(slides, Slides):
            raise TypeError(f"{case.series} does not slide value by value.")
        seen = SlidesSeen(slides, shrinks=case.panel in SHRINKING)
        found.append(Case(case.panel, case.series, case.x, seen.run, case.answers))
    return found


class Watched:
    """A window that tells how many leave, and how many sums it shows to its policy."""

    def __init__(self, inner: PolicyWindow) -> None:
        own: Any = inner
        self.inner, self.window = inner, own.window
        self.insert = inner.insert
        self.within: AbstractContextManager[Any] = nullcontext()
        self.left = self.evictions = self.enforced = 0

    def enforce(self) -> None:
        before = self.window._out
        with self.within:
            self.inner.enforce()
        left = self.window._out - before
        self.left += left
        self.evictions += left > 0
        self.enforced += 1

    def answer(self) -> Any:
        with self.within:
            return self.inner.answer()

    def begin(self) -> None:
        self.left = self.evictions = self.enforced = 0


class SlidesSeen:
    """Calls are counted in the first run, which is not timed; time is sampled in the others."""

    def __init__(self, slides: Slides, shrinks: bool) -> None:
        """shrinks: by its policy. The window is at once as it will be, and its first values are to
        be those of the experiment that it is of; any other is slid through before."""
        self.slides, self.shrinks = slides, shrinks
        self.window = slides.window = Watched(slides.window)
        self.calls, self.counted = Calls(), 0

    def run(self) -> list[Point]:
        slides, window = self.slides, self.window
        if not slides.first:
            self._count()
            return []
        window.begin()
        with Samples() as samples:
            found = slides.run()
        shares = samples.shares()
        found += [Point(f"{SHARE}: {part}", 100 * share) for part, share in shares.items()]
        found += [
            Point(HELD, len(window.window)),
            Point(LEFT, window.left),
            Point(EVICTIONS, window.evictions),
        ]
        if self.counted:
            found += counted(self.calls, self.counted, CALLS, C_CALLS)
            self.counted = 0
        return found

    def _count(self) -> None:
        """The first slide is apart: Naive forms its sum, and rings may have to grow."""
        slides = self.slides
        if not self.shrinks:
            slides.run()
        values = slides.following()
        end = FEW if self.shrinks else len(values)
        found = [slides._slide(values[0])]
        with no_collections(), self.calls:
            found += [slides._slide(value) for value in values[1:end]]
        self.counted = len(found) - 1
        found += [slides._slide(value) for value in values[end:]]
        slides.first = slides.first or found


def counted(calls: Calls, times: int, python: str, c: str) -> Iterator[Point]:
    """All calls, and those of each part that has any, of one slide of so many."""
    for metric, by_part in ((python, calls.python), (c, calls.c)):
        each = {part: by_part[part] / times for part in PARTS if by_part[part]}
        yield Point(metric, sum(each.values()))
        for part, number in each.items():
            yield Point(f"{metric}: {part}", number)
    yield Point(COMBINED, calls.combined / times)
    yield Point(SHOWN, calls.shown / times)


# Many leave at once


def _evictions(*, series: Sequence[str], size: int) -> list[Case]:
    cases = []
    for name in there(series):
        window = Watched(made(name, SIZED))
        for panel, count in ((ONE, 1), (HALF, size // 2), (ALL, size - 1)):
            seen = EvictionSeen(window, size, count)
            cases.append(Case(panel, name, size, seen.run, seen.eviction.answers))
    return cases


class EvictionSeen:
    """Calls are counted in the first run; in the others those of the store are timed."""

    def __init__(self, window: Watched, size: int, count: int) -> None:
        self.window, self.eviction = window, Eviction(window, size, count)
        self.calls: Calls | None = None
        self.counted = 0

    def run(self) -> list[Point]:
        window = self.window
        window.begin()
        if self.calls is None:
            self.calls = Calls()
            window.within = self.calls
            self.eviction.run()
            window.within, self.counted = nullcontext(), window.enforced
            return []
        with StoreSeen(window) as store:
            found = self.eviction.run()
        if window.window.stored:
            found += store.told(window.enforced)
        if self.counted:
            found += counted(self.calls, self.counted, EVICTION_CALLS, EVICTION_C_CALLS)
            self.counted = 0
        return found


class StoreSeen:
    """Times what an eviction asks a store for, and what is done to take its blocks."""

    def __init__(self, window: Watched) -> None:
        self.window = window
        self.watches: list[Stopwatch] = []

    def __enter__(self) -> StoreSeen:
        window = self.window.window
        if window.stored:
            shelf, codec = window._shelf, window._kept.codec
            self.reads = Stopwatch(shelf.behind.space, "get")
            self.opens, self.decodes = Stopwatch(shelf._seal, "open"), Stopwatch(codec, "block")
            self.writes = Stopwatch(shelf, "checkpoint")
            self.watches = [self.reads, self.opens, self.decodes, self.writes]
            self.window.within = AllOn(self.watches)
        return self

    def __exit__(self, *_: Any) -> None:
        self.window.within = nullcontext()
        for watch in self.watches:
            watch.remove()

    def told(self, times: int) -> list[Point]:
        return [
            Point(READS, self.reads.calls / times),
            Point(BLOCKS_READ, self.opens.calls / times),
            Point(READING, self.reads.took / times),
            Point(OPENING, (self.opens.took + self.decodes.took) / times),
            Point(CHECKPOINT, self.writes.took / times),
        ]


class Stopwatch:
    """Times a method of one object, called by the thread that measures, while it is on."""

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name
        self.calls = self.took = 0
        self.on = False
        setattr(owner, name, partial(self._timed, getattr(owner, name)))

    def _timed(self, method: Callable[..., Any], *args: Any, **options: Any) -> Any:
        if not self.on or current_thread() is not main_thread():
            return method(*args, **options)
        start = time.perf_counter_ns()
        try:
            return method(*args, **options)
        finally:
            self.took += time.perf_counter_ns() - start
            self.calls += 1

    def remove(self) -> None:
        delattr(self.owner, self.name)


class AllOn:
    """Stopwatches that are on while this is entered."""

    def __init__(self, watches: Sequence[Stopwatch]) -> None:
        self.watches = watches

    def __enter__(self) -> None:
        self._turn(True)

    def __exit__(self, *_: Any) -> None:
        self._turn(False)

    def _turn(self, on: bool) -> None:
        for watch in self.watches:
            watch.on = on

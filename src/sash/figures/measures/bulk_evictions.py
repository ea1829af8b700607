"""Many values leave at once by a slide policy: how long that takes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median
from typing import Any

from sash.figures.cases import Case, Group, Point
from sash.figures.measures.policy_windows import (
    SIZED,
    PolicyWindow,
    as_numbers,
    made,
    missing_stores,
    no_collections,
    there,
)

NS_AN_EVICTION = "ns an eviction"
PANEL = "bulk evictions"
REPEATED = 5
"""Few values are evicted so often in a run, and the median counts: it takes but microseconds."""


def bulk_evictions(*, series: Sequence[str], size: int, counts: Sequence[int]) -> list[Group]:
    """A window of `size` values loses each of `counts` of them, and is filled again in between."""

    def group() -> list[Case]:
        cases = []
        for name in there(series):
            window = made(name, SIZED)
            for count in [*(count for count in counts if count < size - 1), size - 1]:
                timed = Eviction(window, size, count)
                cases.append(Case(PANEL, name, count, timed.run, timed.answers))
        return cases

    return [group, *missing_stores(series)]


class Eviction:
    """The value that comes lets so few stay that `count` must leave."""

    def __init__(self, window: PolicyWindow, size: int, count: int) -> None:
        self.window, self.size, self.count = window, size, count
        self.first: Any = None

    def run(self) -> list[Point]:
        times = REPEATED if self.count * REPEATED < self.size // 8 else 1
        return [Point(NS_AN_EVICTION, median(self._evict() for _ in range(times)))]

    def _evict(self) -> int:
        window: Any = self.window
        with no_collections():
            for _ in range(self.size - len(window.window)):
                window.insert(self.size)
            if window.window.stored:
                window.window.sync()  # or some are still on their way
            window.insert(self.size + 1 - self.count)
            start = time.perf_counter_ns()
            window.enforce()
            answer = window.answer()
            took = time.perf_counter_ns() - start
        if self.first is None:
            self.first = as_numbers([answer])
        return took

    def answers(self) -> Any:
        return self.first

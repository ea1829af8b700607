"""Event by event: one call for each, and its answer before the next one comes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

import sash
from sash.figures.cases import Case, Group, Point
from sash.figures.measures.installed import installed, missing

NS_AN_EVENT = "ns an event"
HOUR = timedelta(hours=1)
BY_TIME = "Mean over 1h"
"""The panel in which windows are of an hour, and sizes are how many events it has on average."""

# Operators that a decorator makes have no signature that mypy knows.
ops: Any = sash
OPERATORS = {"Max": ops.Max(), "Mean": ops.Mean(), "Var": ops.Variance()}

Push = Callable[[float, datetime], Any]
"""An event comes, at a time; the answer."""


def by_window(what: str, size: int) -> Push:
    window = sash.Window(OPERATORS[what], size)
    return lambda value, at: window.push(value)


def by_window_of_time() -> Push:
    window = sash.Window(OPERATORS["Mean"], "1h")
    return window.push


def by_aggregator(what: str, size: int) -> Push:
    """What `Window` is made of, called by hand."""
    window = sash.aggregator("auto", OPERATORS[what])

    def push(value: float, at: datetime) -> Any:
        if len(window) == size:
            window.evict()
        window.insert(value)
        return window.query()

    return push


def by_river(what: str, size: int) -> Push:
    from river import stats, utils

    wrapped: Any = utils.Rolling  # those that can take a value back
    rolling = stats.RollingMax(size) if what == "Max" else wrapped(getattr(stats, what), size)

    def push(value: float, at: datetime) -> Any:
        rolling.update(value)
        return rolling.get()

    return push


def by_river_of_time() -> Push:
    from river import stats, utils

    rolling: Any = utils.TimeRolling(stats.Mean, HOUR)

    def push(value: float, at: datetime) -> Any:
        rolling.update(value, t=at)
        return rolling.get()

    return push


def by_deque(what: str, size: int) -> Push:
    """All of the window again, in plain Python, once it is full."""
    window: deque[float] = deque(maxlen=size)
    call: Any = {"Max": max, "Mean": fmean, "Var": _variance}[what]

    def push(value: float, at: datetime) -> Any:
        full = len(window) == size
        window.append(value)
        return call(window) if full else None

    return push


def _variance(window: deque[float]) -> float:
    mean = fmean(window)
    return sum((value - mean) ** 2 for value in window) / (len(window) - 1)


BY_ROWS: dict[str, Callable[[str, int], Push]] = {
    "sash": by_window,
    "sash, aggregator": by_aggregator,
    "river": by_river,
    "python": by_deque,
}
OVER_AN_HOUR: dict[str, Callable[[], Push]] = {"sash": by_window_of_time, "river": by_river_of_time}


class Events:
    """A window that is full; each run goes on with the events that follow."""

    def __init__(self, push: Push, size: int, before: int, count: int) -> None:
        """before: how many events come before the clock starts; count: how many in a run."""
        self._push, self._count = push, count
        # Two, so that those with fewer events have the first of the same ones.
        self._values, self._gaps = (np.random.default_rng([size, k]) for k in (0, 1))
        self._gap = HOUR.total_seconds() / size
        self._now = datetime(2026, 1, 1)
        self._first: Any = None
        for value, at in self._next(before):
            push(value, at)

    def _next(self, count: int) -> list[tuple[float, datetime]]:
        found = []
        gaps = self._gaps.exponential(self._gap, count).tolist()
        for value, gap in zip(self._values.random(count).tolist(), gaps, strict=True):
            self._now += timedelta(seconds=gap, microseconds=1)
            found.append((value, self._now))
        return found

    def run(self) -> list[Point]:
        events, push = self._next(self._count), self._push
        answers = []
        start = time.perf_counter_ns()
        for value, at in events:
            answers.append(push(value, at))
        took = time.perf_counter_ns() - start
        if self._first is None:
            self._first = np.array(answers, float)
        return [Point(NS_AN_EVENT, took / self._count)]

    def answers(self) -> Any:
        return self._first


def on_events(
    *, operators: Sequence[str], sizes: Sequence[int], events: int, work: int
) -> list[Group]:
    """A panel for each operator.

    events: at least so many in a run, or else as many as the window holds, so that it is slid
    through; work: how many values one that goes through its window at every event may look at: the
    deque, and river's list of times.
    """

    def group(operator: str, size: int) -> list[Case]:
        made: dict[str, Callable[[], Push]] = (
            OVER_AN_HOUR
            if operator == BY_TIME
            else {name: partial(push, operator, size) for name, push in BY_ROWS.items()}
        )
        cases = []
        for name in installed(made):
            count = max(events, size)
            if name == "python" or (name, operator) == ("river", BY_TIME):
                count = max(min(count, work // size), 50)
            # An hour may have more events than it has on average.
            before = size + size // 5 if operator == BY_TIME else size
            one = Events(made[name](), size, before, count)
            cases.append(Case(operator, name, size, one.run, one.answers))
        return cases

    told = missing(BY_ROWS)
    return told + [partial(group, operator, size) for operator in operators for size in sizes]

"""Values that come to a window with a slide policy: insert, enforce, answer, timed as one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from sash.figures.asked import Array
from sash.figures.cases import Point
from sash.figures.measures.policy_windows import (
    PolicyWindow,
    Question,
    as_numbers,
    compiled,
    no_collections,
)
from sash.figures.measures.sliding import NS_A_SLIDE


class Slides:
    """Values one by one; `following` tells those of each run, of which the first is not timed."""

    def __init__(
        self, window: PolicyWindow, filling: Sequence[Any], following: Callable[[], Sequence[Any]]
    ) -> None:
        self.window, self.following = window, following
        self.first: list[Any] = []
        with no_collections():
            for value in filling:
                window.insert(value)
            window.enforce()

    def run(self) -> list[Point]:
        values = self.following()
        if not self.first:
            self.first = [self._slide(value) for value in values]
            return []
        with no_collections():
            start = time.perf_counter_ns()
            for value in values:
                self._slide(value)
            took = time.perf_counter_ns() - start
        return [Point(NS_A_SLIDE, took / len(values))]

    def _slide(self, value: Any) -> Any:
        window = self.window
        window.insert(value)
        window.enforce()
        return window.answer()

    def answers(self) -> Any:
        return as_numbers(self.first)


class SlidesInLoop:
    """The same in one compiled loop."""

    def __init__(
        self, series: str, question: Question, filling: Any, following: Callable[[], Any]
    ) -> None:
        self.window, self.following = compiled(series, question), following
        self.window.push_many(filling)
        self.first: Array | None = None

    def run(self) -> list[Point]:
        values = self.following()
        start = time.perf_counter_ns()
        found = self.window.push_many(values)
        took = time.perf_counter_ns() - start
        if self.first is None:
            self.first = as_numbers(found)
            return []
        return [Point(NS_A_SLIDE, took / len(self.first))]

    def answers(self) -> Any:
        return self.first

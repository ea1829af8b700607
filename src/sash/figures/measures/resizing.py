"""A FlatFAT whose capacity goes up and down all the time, against one that stays as it is.

The window goes from n + 1 values to less than n / 2 at once, and up again one by one: so its tree
of 2n leaves shrinks to n leaves and doubles again. There are many such windows side by side if they
are short, so that what is timed is the compiled loops and not how they are called.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from sash.aggregators import flat_fat, two_stacks
from sash.aggregators.rings import lengths
from sash.aggregators.running import Job
from sash.figures.asked import ASKED, Array, Asked, values_of
from sash.figures.cases import Case, Group, Point
from sash.figures.measures.batches import NS_A_TUPLE
from sash.figures.measures.sliding import Slider, answered

US_A_RESIZE = "µs a resize"
PAGES_THERE = "pages there"
"""Of a resize to memory that was written to before, so that the kernel need not clear it."""
LEVELS = 32
TOGETHER = 1 << 14
"""How many values windows that lie side by side hold together, if one alone does not."""


def resizing(
    *,
    operators: Sequence[str],
    sizes: Sequence[int],
    tuples: int,
    workload: str,
    resized: Sequence[str],
    resizes: Sequence[int],
) -> list[Group]:
    """sizes: n, for the cost of a tuple; resizes: n, for one resize from n to 2n, of `resized`."""

    def group(operator: str, size: int) -> list[Case]:
        asked = ASKED[operator]
        count = max(tuples, 2 * size)
        fixed = Slider("flat_fat", asked, values_of(workload, size + count), size, count)
        oscillating = Oscillating(asked, workload, size, tuples)
        return [
            Case(operator, "fixed", size, partial(_by_tuple, fixed)),
            Case(operator, "oscillating", size, oscillating.run, oscillating.answers),
            Case(operator, "two_stacks", size, list, oscillating.expected),
        ]

    def single(operator: str, size: int) -> list[Case]:
        panel, resize = f"from {size:,} to {2 * size:,}", Resize(ASKED[operator], workload, size)
        return [
            Case(panel, operator, size, resize.run),
            Case(panel, f"{operator}, {PAGES_THERE}", size, resize.run_with_pages),
        ]

    return [
        *(partial(group, operator, size) for operator in operators for size in sizes),
        *(partial(single, operator, size) for operator in resized for size in resizes),
    ]


def _by_tuple(slider: Slider) -> list[Point]:
    return [Point(NS_A_TUPLE, point.value) for point in slider.run()]


class SideBySide:
    """Windows of one capacity, one after the other in arrays that they share."""

    def __init__(self, job: Job, many: int, capacity: int) -> None:
        self.job, self.many = job, many
        self.keys = np.arange(many)
        self.kept = tuple(np.zeros(many, np.int64) for _ in job.new_state())
        self.lengths = np.zeros((LEVELS, len(flat_fat.room(1))), np.int64)
        for level in range(LEVELS):
            self.lengths[level] = lengths(job.algorithm, 1 << level, {})
        self._lie(capacity)

    def _lie(self, capacity: int) -> None:
        self.rings = self.job.rings(self.many * capacity)
        level = capacity.bit_length() - 1
        self.levels = np.full(self.many, level, np.int8)
        self.offsets = self.keys[:, None] * self.lengths[level]

    def resize(self, capacity: int) -> None:
        """All of them to new rings; the old ones are given back."""
        self.prepared(capacity)()

    def prepared(self, capacity: int) -> Callable[[], None]:
        """The new rings are there; what is returned moves all windows to them."""
        before, offsets, levels = self.rings, self.offsets, self.levels
        self._lie(capacity)
        given = (before, self.rings, self.lengths, self.keys, offsets, levels)
        return partial(self.job.call, "move_keys", *given, self.offsets, self.levels, self.kept)

    def fill(self, asked: Asked, values: Array) -> None:
        """A row of values for each window."""
        filling = Job(self.job.algorithm, asked.operator, asked.leaves(values.ravel()))
        many = values.shape[1]
        bounds = self.bounds(0, 0, many, many, many, False)
        self.follow(filling.rows, bounds, filling.outputs(0)[0])

    def bounds(
        self, held: int, first_row: int, apart: int, entering: int, left: int, answered: bool
    ) -> tuple[Array, ...]:
        """Rows that enter each window one by one, with an answer for each or with none.

        held: how many values there are before; apart: how far the rows of one window are from those
        of the next; left: how many of the youngest values stay in the end.
        """
        none, then = np.zeros(self.many, np.int64), held + entering
        answers = entering if answered else 0
        ends = np.tile(np.arange(held + 1, held + 1 + answers), self.many)
        first = self.keys * answers
        rows = first_row + self.keys * apart
        bounds = (rows, none, none + held, np.zeros_like(ends), ends, first, first + answers)
        return (*bounds, none + (then - left), none + then)

    def follow(self, rows: Any, bounds: tuple[Array, ...], out: Any) -> None:
        """Let all windows follow their bounds."""
        where = (self.rings, self.offsets, self.lengths, self.levels, self.kept)
        self.job.call("follow_keys", *where, rows, self.keys, *bounds, out)


class Oscillating:
    """Windows whose capacity is n and 2n by turns.

    One cycle: of n + 1 values all leave at once but so many that less than a quarter of 2n is used;
    the tree shrinks; rows enter one by one till it is full; it doubles, and one more enters.
    """

    def __init__(self, asked: Asked, workload: str, size: int, tuples: int) -> None:
        self.asked, self.size = asked, size
        many = max(TOGETHER // size, 1)
        self.stay, self.enter = size // 2 - 1, size // 2 + 1
        """How many are left, and how many enter before the tree is full."""
        self.each = self.enter + 1
        self.cycles = max(tuples // (many * self.each), 2)
        self.values = values_of(workload, many * self.each).reshape(many, self.each)
        self.job = Job(flat_fat, asked.operator, asked.leaves(self.values.ravel()))
        self.windows = windows = SideBySide(self.job, many, 2 * size)
        # As after a cycle, so that each cycle answers the same.
        full = np.concatenate([self.values, self.values], axis=1)[:, -(size + 1) :]
        windows.fill(asked, full)
        self.leaving = windows.bounds(size + 1, 0, 0, 0, self.stay, False)
        self.entering = windows.bounds(self.stay, 0, self.each, self.enter, size, True)
        self.one_more = windows.bounds(size, self.enter, self.each, 1, size + 1, True)
        self.out, _ = self.job.outputs(many * self.enter)
        self.last, _ = self.job.outputs(many)
        self._first: Any = None

    def run(self) -> list[Point]:
        windows, rows = self.windows, self.job.rows
        start = time.perf_counter_ns()
        for _ in range(self.cycles):
            windows.follow(rows, self.leaving, self.last)
            windows.resize(self.size)
            windows.follow(rows, self.entering, self.out)
            windows.resize(2 * self.size)
            windows.follow(rows, self.one_more, self.last)
        took = time.perf_counter_ns() - start
        if self._first is None:
            before, after = answered(self.job, self.out), answered(self.job, self.last)
            self._first = np.concatenate([before[: self.enter], after[:1]])
        return [Point(NS_A_TUPLE, took / (self.cycles * self.windows.many * self.each))]

    def answers(self) -> Any:
        """Those of the first window in a cycle."""
        return self._first

    def expected(self) -> Array:
        """The same, of one that has no tree."""
        values = np.concatenate([self.values[0], self.values[0]])
        job = Job(two_stacks, self.asked.operator, self.asked.leaves(values))
        ends = np.arange(self.each + 1, len(values) + 1)
        starts = np.full(len(ends), self.each - self.stay)
        out, _ = job.outputs(len(ends))
        rings = job.rings(len(values))
        job.call("slide_bounds", rings, job.new_state(), job.rows, starts, ends, 0, len(ends), out)
        found: Array = answered(job, out)
        return found


class Resize:
    """Full windows of n values, which move to trees of 2n leaves."""

    def __init__(self, asked: Asked, workload: str, size: int) -> None:
        self.size = size
        many = max(TOGETHER // size, 1)
        values = values_of(workload, many * size)
        job = Job(flat_fat, asked.operator, asked.leaves(values))
        self.windows = SideBySide(job, many, size)
        self.windows.fill(asked, values.reshape(many, size))

    def run(self) -> list[Point]:
        return self._timed(partial(self.windows.resize, 2 * self.size))

    def run_with_pages(self) -> list[Point]:
        """Without the time that the kernel takes for pages that are touched for the first time."""
        move = self.windows.prepared(2 * self.size)
        for ring in self.windows.rings:
            for array in ring if isinstance(ring, tuple) else (ring,):
                array.fill(0)
        return self._timed(move)

    def _timed(self, resize: Callable[[], None]) -> list[Point]:
        start = time.perf_counter_ns()
        resize()
        took = time.perf_counter_ns() - start
        self.windows.resize(self.size)
        return [Point(US_A_RESIZE, took / self.windows.many / 1e3)]

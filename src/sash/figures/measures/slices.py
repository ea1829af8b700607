"""Windows that slide by more than a row: rows become slices first, and slices are slid over.

Which rows make up a slice is known beforehand; to form the slices is part of what is timed, by the
same compiled loop for every algorithm.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

import numpy as np

from sash.aggregators.chunk_sizes import optimal_chunk
from sash.aggregators.registry import named
from sash.aggregators.running import Job
from sash.figures.asked import ASKED, Array, Asked, values_of
from sash.figures.cases import Case, Group, Point
from sash.figures.measures.sliding import NS_A_SLIDE, Slider, slides_for
from sash.figures.measures.two_threads import TWO_THREADS, TwoThreads
from sash.workloads import manufacturing

NS_A_ROW = "ns a row"
CHUNK = "chunk"

Bounds = tuple[Array, Array]
"""Where each slice begins and ends."""


def rows_slid(
    *,
    algorithms: Sequence[str],
    workloads: Mapping[str, str],
    ranges: Sequence[int],
    slides: int,
    work: int,
    stop: Mapping[str, int] | None = None,
) -> list[Group]:
    """Max over ranges of rows that slide by one: a panel for each workload, by its name.

    stop: the longest range of some algorithms. Also tells how long the chunks of pba are.
    """

    def group(panel: str, size: int) -> list[Case]:
        cases = []
        for name in algorithms:
            if size > (stop or {}).get(name, size):
                continue
            count = slides_for(name, size, slides, work)
            values = values_of(workloads[panel], size + count)
            kind = TwoThreads if name == TWO_THREADS else Slider
            slider = kind(name.partition(",")[0], ASKED["Max"], values, size, count)
            run = partial(_with_chunk, slider) if name == "pba" else slider.run
            cases.append(Case(panel, name, size, run, slider.answers))
        return cases

    return [partial(group, panel, size) for panel in workloads for size in ranges]


def _with_chunk(slider: Slider) -> list[Point]:
    return [*slider.run(), Point(CHUNK, optimal_chunk(slider.size))]


def slices_of_rows(
    *,
    algorithms: Sequence[str],
    workloads: Mapping[str, str],
    range: int,
    every: Sequence[int],
    slides: int,
    work: int,
) -> list[Group]:
    """Max over a range of rows, as many whole slides as fit into it; x is the slide."""

    def group(panel: str, slide: int) -> list[Case]:
        size = range // slide
        cases = []
        for name in algorithms:
            count = slides_for(name, size, slides, work)
            edges = np.arange(size + count + 1, dtype=np.int64) * slide
            values = values_of(workloads[panel], int(edges[-1]))
            sliced = Sliced(name, ASKED["Max"], values, (edges[:-1], edges[1:]), size)
            cases.append(Case(panel, name, slide, sliced.run, sliced.answers))
        return cases

    return [partial(group, panel, slide) for panel in workloads for slide in every]


def slices_of_time(
    *,
    algorithms: Sequence[str],
    minutes: Sequence[int],
    milliseconds: Sequence[int],
    slides: int,
    work: int,
) -> list[Group]:
    """Max of DEBS 2012 readings over time, in two panels: by range, and by slide.

    By range, the slide is the shortest of all; by slide, the range is the longest.
    """

    def group(panel: str, x: int, minute: int, millisecond: int) -> list[Case]:
        size = minute * 60_000 // millisecond
        cases = []
        for name in algorithms:
            count = slides_for(name, size, slides, work)
            bounds = _by_time(size + count, millisecond)
            values = values_of("debs2012", int(bounds[1][-1]))
            sliced = Sliced(name, ASKED["Max"], values, bounds, size)
            cases.append(Case(panel, name, x, sliced.run, sliced.answers))
        return cases

    shortest, longest = min(milliseconds), max(minutes)
    groups: list[Group] = [partial(group, "range", each, each, shortest) for each in minutes]
    groups += [partial(group, "slide", each, longest, each) for each in milliseconds]
    return groups


@lru_cache(2)
def _by_time(count: int, milliseconds: int) -> Bounds:
    """So many slices of time, from the first reading on; where readings paused, some are empty."""
    edges = manufacturing.START + np.arange(count + 1) * np.timedelta64(milliseconds, "ms")
    # 100 readings a second at most: rows come 10 ms apart, or later.
    times = manufacturing.times(count * milliseconds // 9 + 1_000)
    first = np.searchsorted(times, edges).astype(np.int64)
    return first[:-1], first[1:]


class Sliced:
    """Rows to be made slices of, and a `Slider` over the slices."""

    def __init__(
        self, algorithm: str, asked: Asked, values: Array, bounds: Bounds, size: int
    ) -> None:
        """The first `size` slices fill the window; the others are slid over."""
        self.starts, self.ends = bounds
        self.size, self.count = size, len(self.starts)
        longest = int((self.ends - self.starts).max())
        self.slicer = Job(named("recalc"), asked.operator, asked.leaves(values))
        self.room = self.slicer.rings(2 * longest)
        self.slices, _ = self.slicer.outputs(self.count)
        self._slice(0)
        # The slider reads the array that each run writes anew.
        self.slider = Slider(algorithm, asked, self.slices[0], size, self.count - size)
        self.rows = int(self.ends[-1] - self.starts[size])
        self.answers = self.slider.answers

    def run(self) -> list[Point]:
        start = time.perf_counter_ns()
        self._slice(self.size)
        self.slider.slide()
        took = time.perf_counter_ns() - start
        self.slider.note_answers()
        per_slide = took / (self.count - self.size)
        return [Point(NS_A_ROW, took / self.rows), Point(NS_A_SLIDE, per_slide)]

    def _slice(self, first: int) -> None:
        given = (self.starts, self.ends, first, self.count, self.slices)
        empty = self.slicer.new_state()
        self.slicer.call("slide_bounds", self.room, empty, self.slicer.rows, *given)

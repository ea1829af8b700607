"""One window, a query for every range from 1 to its size, all of them answered at each slide."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from sash.aggregators.registry import named
from sash.aggregators.running import Job
from sash.figures.asked import ASKED, values_of
from sash.figures.cases import Case, Group, Point
from sash.figures.measures.sliding import NS_A_SLIDE, answered


def all_ranges(
    *,
    algorithms: Sequence[str],
    operators: Sequence[str],
    sizes: Sequence[int],
    answers: int,
    work: int,
    workload: str,
) -> list[Group]:
    """answers: about how many are given in a run; work: how many ⊕ one without memory may spend."""

    def group(operator: str, size: int) -> list[Case]:
        cases = []
        for algorithm in algorithms:
            slides = max(answers // size, 16)
            if algorithm == "recalc":
                slides = max(min(slides, 2 * work // size**2), 2)
            values = values_of(workload, size + slides)
            slider = RangeSlider(algorithm, operator, values, size, slides)
            cases.append(Case(operator, algorithm, size, slider.run, slider.answers))
        return cases

    return [partial(group, operator, size) for operator in operators for size in sizes]


class RangeSlider:
    """A full window, and values to slide it over; as `Slider`, for all ranges."""

    def __init__(
        self, algorithm: str, operator: str, values: np.ndarray[Any, Any], size: int, slides: int
    ) -> None:
        asked = ASKED[operator]
        self.slides = slides
        self.ranges = np.arange(size, 0, -1)
        filling = Job(named(algorithm), asked.operator, asked.leaves(values[:size]))
        self.job = Job(named(algorithm), asked.operator, asked.leaves(values[size:]), base=size)
        self.rings = filling.rings(size)
        empty = filling.new_state()
        self.state = filling.call("bulk_insert", self.rings, empty, filling.rows, size)
        self.out, _ = self.job.outputs(slides * size)
        self._first: Any = None

    def run(self) -> list[Point]:
        start = time.perf_counter_ns()
        given = (self.rings, self.state, self.job.rows, self.slides, self.ranges, self.out)
        self.state = self.job.call("slide_ranges", *given)
        took = time.perf_counter_ns() - start
        if self._first is None:
            self._first = answered(self.job, self.out)
        return [Point(NS_A_SLIDE, took / self.slides)]

    def answers(self) -> Any:
        return self._first

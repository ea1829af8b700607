"""A window that is full, slid over the next values again and again: how long does a slide take?"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from sash.aggregators.registry import named
from sash.aggregators.running import Job
from sash.figures.asked import Array, Asked
from sash.figures.cases import Point

NS_A_SLIDE = "ns a slide"


class Slider:
    """One algorithm with its window full, and values to slide it over.

    Memory is there already, and so is what is compiled after the first run. Each run goes on where
    the last one ended, over the same values.
    """

    def __init__(self, algorithm: str, asked: Asked, values: Array, size: int, slides: int) -> None:
        """The first `size` values fill the window; the `slides` that follow are slid over."""
        self.size, self.slides = size, slides
        first, rest = values[:size], values[size : size + slides]
        assert len(rest) == slides
        filling = Job(named(algorithm), asked.operator, asked.leaves(first))
        self.job = Job(named(algorithm), asked.operator, asked.leaves(rest), base=size)
        self.rings = filling.rings(size)
        empty = filling.new_state()
        self.state = filling.call("bulk_insert", self.rings, empty, filling.rows, size)
        self.out, _ = self.job.outputs(slides)
        self._first: Any = None

    def run(self) -> list[Point]:
        """Slide over all values once."""
        start = time.perf_counter_ns()
        self.state = self.job.slide(self.rings, self.state, self.slides, self.size, self.out)
        took = time.perf_counter_ns() - start
        if self._first is None:
            self._first = answered(self.job, self.out)
        return [Point(NS_A_SLIDE, took / self.slides)]

    def answers(self) -> Any:
        """What the first run answered."""
        return self._first


def answered(job: Job, out: Any) -> Any:
    """Answers as something to compare: an array of numbers, or a list of objects."""
    if job.compiled is None:
        return list(out)
    return np.concatenate([np.asarray(field, float) for field in out if field.dtype.kind != "b"])


def slides_for(algorithm: str, size: int, least: int, work: int) -> int:
    """How many slides to time: all states of the window twice, or so many ⊕ as `work` allows.

    What is amortised is only seen if the window is slid through.
    """
    if algorithm == "recalc":
        return int(max(min(least, work // size), 8))
    return max(least, 2 * size)

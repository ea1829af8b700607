"""A window that is full, slid over the next values again and again: how long does a slide take?"""

from __future__ import annotations

import time
from types import ModuleType
from typing import Any

import numpy as np

from sash.aggregators import recalc
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

    def __init__(
        self, algorithm: str | ModuleType, asked: Asked, values: Array, size: int, slides: int
    ) -> None:
        """The first `size` values fill the window; the `slides` that follow are slid over."""
        module = named(algorithm) if isinstance(algorithm, str) else algorithm
        self.size, self.slides = size, slides
        first, rest = values[:size], values[size : size + slides]
        assert len(rest) == slides
        filling = Job(module, asked.operator, asked.leaves(first))
        self.job = Job(module, asked.operator, asked.leaves(rest), base=size)
        self.rings = filling.rings(size)
        self.state = self._filled(module, filling)
        self.out, _ = self.job.outputs(slides)
        self._first: Any = None

    def _filled(self, algorithm: ModuleType, filling: Job) -> Any:
        """By the loop that is timed, so that no other is compiled; recalc would take too long."""
        empty = filling.new_state()
        if algorithm is recalc:
            return filling.call("bulk_insert", self.rings, empty, filling.rows, self.size)
        out, _ = filling.outputs(self.size)
        return filling.slide(self.rings, empty, self.size, self.size, out)

    def run(self) -> list[Point]:
        """Slide over all values once."""
        start = time.perf_counter_ns()
        self.slide()
        took = time.perf_counter_ns() - start
        self.note_answers()
        return [Point(NS_A_SLIDE, took / self.slides)]

    def slide(self) -> None:
        """What is timed."""
        self.state = self.job.slide(self.rings, self.state, self.slides, self.size, self.out)

    def note_answers(self) -> None:
        """Keep those of the first run."""
        if self._first is None:
            self._first = answered(self.job, self.out)

    def answers(self) -> Any:
        """What the first run answered."""
        return self._first


def answered(job: Job, out: Any) -> Any:
    """Answers as something to compare: an array with a row for each, or a list of objects."""
    if job.compiled is None:
        return list(out)
    fields: list[Array] = []
    for field in out:
        if field.dtype.kind == "b":  # tells which of those before are null, and hold anything
            fields = [np.where(field, each, np.nan) for each in fields]
        else:
            fields.append(np.asarray(field, float))
    return np.stack(fields, axis=1)


def slides_for(algorithm: str, size: int, least: int, work: int) -> int:
    """How many slides to time: all states of the window twice, or so many ⊕ as `work` allows.

    What is amortised is only seen if the window is slid through.
    """
    if algorithm == "recalc":
        return int(max(min(least, work // size), 8))
    return max(least, 2 * size)

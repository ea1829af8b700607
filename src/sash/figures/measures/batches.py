"""m rows enter and m leave between two answers: what does a row cost then, and what an answer?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from sash.aggregators.registry import named
from sash.aggregators.running import Job
from sash.figures.asked import ASKED, Array, Asked, values_of
from sash.figures.cases import Case, Group, Point
from sash.figures.measures.sliding import answered

NS_A_TUPLE, NS_AN_ANSWER = "ns a tuple", "ns an answer"
CHECKED = 4
"""How many answers are checked by one that is not timed."""


def batches(
    *,
    algorithms: Sequence[str],
    operators: Sequence[str],
    sizes: Sequence[int],
    steps: Sequence[str],
    tuples: int,
    work: int,
    workload: str,
    checked_by: str = "",
) -> list[Group]:
    """A panel for each operator, a line for each algorithm and each m, named by what differs.

    steps: each m, as a number or as a part of the window (`n/16`); tuples: how many rows a run
    takes at least; work: how many ⊕ one without memory may spend on a run; checked_by: one whose
    first answers the others must give, if there are no others to compare with.
    """

    def group(operator: str, size: int, step: str) -> list[Case]:
        m = step_of(step, size)
        cases = []
        for algorithm in algorithms:
            count = max(max(tuples, 2 * size) // m, 1)
            if algorithm == "recalc":
                count = max(min(count, work // size), 1)
            names = [algorithm] if len(algorithms) > 1 else []
            names += [f"m = {step}"] if len(steps) > 1 else []
            values = values_of(workload, size + count * m)
            batcher = Batcher(algorithm, ASKED[operator], values, size, m)
            name = ", ".join(names)
            cases.append(Case(operator, name, size, batcher.run, batcher.answers))
        if checked_by:
            values = values_of(workload, size + CHECKED * m)
            oracle = Batcher(checked_by, ASKED[operator], values, size, m)
            cases.append(
                Case(operator, checked_by, size, list, lambda: oracle.run() and oracle.answers())
            )
        return cases

    return [
        partial(group, operator, size, step)
        for operator in operators
        for step in steps
        for size in sizes
        if 0 < step_of(step, size) <= size
    ]


def step_of(step: str, size: int) -> int:
    """m, for a window of this size; 0 if there is no such part of it."""
    whole, _, part = step.partition("/")
    return (size if whole == "n" else int(whole)) // int(part or 1)


class Batcher:
    """A full window, and values of which m at a time take the place of the oldest.

    As `Slider`: each run goes on where the last one ended, over the same values.
    """

    def __init__(self, algorithm: str, asked: Asked, values: Array, size: int, m: int) -> None:
        """The first `size` values fill the window."""
        filling = Job(named(algorithm), asked.operator, asked.leaves(values[:size]))
        self.job = Job(named(algorithm), asked.operator, asked.leaves(values[size:]), base=size)
        self.rings = filling.rings(size)
        empty = filling.new_state()
        self.state = filling.call("bulk_insert", self.rings, empty, filling.rows, size)
        self.size, self.tuples = size, len(values) - size
        self.ends = np.arange(size + m, len(values) + 1, m)
        self.starts = self.ends - size
        self.out, _ = self.job.outputs(len(self.ends))
        self._first: Any = None

    def run(self) -> list[Point]:
        """Answer after every m rows, till all are in."""
        count = len(self.ends)
        bounds = (0, self.size, self.starts, self.ends, 0, count, self.starts[-1], self.ends[-1])
        start = time.perf_counter_ns()
        self.state = self.job.call(
            "follow", self.rings, self.state, self.job.rows, 0, *bounds, self.out
        )
        took = time.perf_counter_ns() - start
        if self._first is None:
            self._first = answered(self.job, self.out)
        return [Point(NS_A_TUPLE, took / self.tuples), Point(NS_AN_ANSWER, took / count)]

    def answers(self) -> Any:
        """What the first run answered."""
        return self._first

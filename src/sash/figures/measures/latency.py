"""How long each of many slides takes, one by one.

A machine that is interrupted adds to one slide or another: the same slides are run several times,
and each is given the mean of those of its times that are close to the shortest. What is left is the
algorithm's own doing. The shortest time alone would be too short: a processor's clock may go in
steps of ten nanoseconds, so that a slide of five is seen to take ten or none.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from sash.aggregators.registry import named
from sash.aggregators.running import Job
from sash.figures.asked import ASKED, Array, Asked, values_of
from sash.figures.cases import Case, Group, Point
from sash.figures.measures.sliding import answered
from sash.figures.measures.two_threads import timed_in_two_threads

LONGEST = "longest slide, ns"
"""Of each bin of slides that follow each other: a trace."""
AVERAGE, DEVIATION = "avg", "std"
TICKS, TICKS_DEVIATION = "avg, ticks", "std, ticks"
SPIKES = "spikes a window"
"""How many slides took more than half as long as the longest, for each `size` of slides."""

PLACES = "longest slides at 4 places of a page"
"""Which share of the thousandth of slides that take longest is at the four fullest places, if
slides are counted round a page's numbers: 512, of eight bytes. Of a thousand slides some three in a
hundred would be there by chance, of fewer more."""
PAGE = 512

CLOSE, SHARE = 50.0, 0.1
"""A time is close to the shortest if it is longer by no more nanoseconds than these, or this share
of it: more than a clock's step, and less than an interruption."""
CHECKED = 20_000
"""So many answers are compared."""


def latency(
    *,
    algorithms: Sequence[str],
    operators: Sequence[str],
    windows: Mapping[str, int],
    slides: int,
    runs: int,
    workload: str,
    bins: int,
    traced: Sequence[str] | None = None,
    untraced: Sequence[str] = (),
    instead: Mapping[str, Mapping[str, int]] | None = None,
) -> list[Group]:
    """A panel for each operator and window, those of which there are several giving its name.

    windows: how many values each holds; runs: how many times the same slides are timed; bins: how
    many points a trace has; traced: the operators of which one is kept; untraced: the algorithms of
    which none is; instead: other `slides` and `runs` of some operators.
    """

    def group(operator: str, window: str) -> list[Case]:
        names = [operator] * (len(operators) > 1) + [window] * (len(windows) > 1)
        panel, size = ", ".join(names or [operator]), windows[window]
        own = (instead or {}).get(operator, {})
        values = values_of(workload, 2 * size + own.get("slides", slides))
        cases = []
        for algorithm in algorithms:
            timed = Latency(algorithm, ASKED[operator], values, size, own.get("runs", runs))
            if algorithm not in untraced and (traced is None or operator in traced):
                timed.bins = bins
            cases.append(Case(panel, algorithm, size, timed.run, timed.answers))
        return cases

    return [partial(group, operator, window) for operator in operators for window in windows]


class Latency:
    """One algorithm over the same rows again and again, from an empty window on."""

    def __init__(self, algorithm: str, asked: Asked, values: Array, size: int, runs: int) -> None:
        """What counts is what follows the first two windows of values."""
        self.two_threads = algorithm == "pba"
        self.size, self.count, self.runs = size, len(values), runs
        self.job = Job(named(algorithm), asked.operator, asked.leaves(values))
        self.rings = self.job.rings(size)
        self.out, _ = self.job.outputs(self.count)
        self.ticks = np.zeros(self.count, np.int64)
        self.bins = 0
        self._runs_so_far = 0

    def run(self) -> list[Point]:
        """The first one only warms up; the trace is that of the second."""
        runs = self.runs if self._runs_so_far else 1
        length = tick_length()
        unit = length if self.job.compiled is not None else 1.0
        ns = undisturbed([self._once() * unit for _ in range(runs)])
        found = [*summary(ns), Point(SPIKES, spikes(ns, self.size))]
        found.append(Point(PLACES, at_few_places(ns)))
        found.append(Point(TICKS, ns.mean() / length))
        found.append(Point(TICKS_DEVIATION, ns.std() / length))
        if self.bins and self._runs_so_far == 1:
            found += trace(ns, self.bins)
        self._runs_so_far += 1
        return found

    def _once(self) -> Array:
        rings, count, size, out, ticks = self.rings, self.count, self.size, self.out, self.ticks
        if self.two_threads and self.job.compiled is not None:
            timed_in_two_threads(self.job, rings, count, size, out, ticks)
        else:
            empty = self.job.new_state()
            self.job.call("timed_slide", rings, empty, self.job.rows, count, size, out, ticks)
        return ticks[2 * size :].copy()

    def answers(self) -> Any:
        """Those of the first slides that count."""
        places = slice(2 * self.size, 2 * self.size + CHECKED)
        out: Any = self.out
        if self.job.compiled is not None:
            return answered(self.job, tuple(field[places] for field in out))
        return list(out[places])


def undisturbed(runs: Sequence[Array]) -> Array:
    """For each slide, the mean of its times without those in which something came between."""
    shortest = np.min(runs, axis=0)
    most = shortest + np.maximum(CLOSE, SHARE * shortest)
    total, count = np.zeros(len(shortest)), np.zeros(len(shortest))
    for ns in runs:
        close = ns <= most
        total += np.where(close, ns, 0.0)
        count += close
    found: Array = total / count
    return found


def summary(ns: Array) -> Iterator[Point]:
    """The seven numbers of the papers' tables."""
    yield Point("min", ns.min())
    yield Point("max", ns.max())
    yield Point(AVERAGE, ns.mean())
    yield Point(DEVIATION, ns.std())
    for name, share in (("LQ", 0.25), ("med", 0.5), ("HQ", 0.75)):
        yield Point(name, float(np.quantile(ns, share)))


def spikes(ns: Array, size: int) -> float:
    return float((ns > ns.max() / 2).sum()) / len(ns) * size


def at_few_places(ns: Array) -> float:
    most = max(len(ns) // 1000, 1)
    longest = np.argpartition(ns, -most)[-most:]
    return float(np.sort(np.bincount(longest % PAGE))[-4:].sum()) / most


def trace(ns: Array, bins: int) -> Iterator[Point]:
    """The longest slide of each bin, at the number of the slide."""
    starts = np.unique(np.linspace(0, len(ns), bins, endpoint=False).astype(np.int64))
    for start, end in zip(starts, [*starts[1:], len(ns)], strict=True):
        at = start + int(ns[start:end].argmax())
        yield Point(LONGEST, ns[at], float(at))


@cache
def tick_length() -> float:
    """Nanoseconds of one tick of the clock that compiled loops read.

    Slides that take so long that reading the clock takes nothing beside them.
    """
    size, slides = 1 << 12, 1_000
    asked = ASKED["Max"]
    job = Job(named("recalc"), asked.operator, asked.leaves(values_of("uniform", size + slides)))
    out, _ = job.outputs(size + slides)
    ticks = np.zeros(size + slides, np.int64)
    found = []
    for _ in range(4):
        rings, state = job.rings(size), job.new_state()
        start = time.perf_counter_ns()
        job.call("timed_slide", rings, state, job.rows, size + slides, size, out, ticks)
        found.append((time.perf_counter_ns() - start) / ticks.sum())
    return float(np.median(found[1:]))

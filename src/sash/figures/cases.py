"""What is measured: cases that are compared, run in turn.

A measuring function tells its groups; a group makes its cases when its turn comes, so that only one
group's data is in memory. The cases of a group run once to warm up, must answer alike, and then run
in turn, round after round, forwards and backwards: what the machine does besides hits all of them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

NOT_INSTALLED = "not installed"
"""The metric of a rival that is not there: it is named, and has no other."""


class Point(NamedTuple):
    """One number that a case has found; at another x than the case's, if it says so."""

    metric: str
    value: float
    x: float | None = None


class Row(NamedTuple):
    """One number as results keep it."""

    panel: str
    series: str
    x: float
    metric: str
    round: int
    value: float


@dataclass(frozen=True)
class Case:
    """One line of a figure at one place of its axis: `run` measures it once."""

    panel: str
    series: str
    x: float
    run: Callable[[], Iterable[Point]]
    answers: Callable[[], Any] | None = None
    """What it answered when it ran for the first time; the shorter ones of a group are the
    beginning of the longer."""
    timed: bool = True
    """Whether it must warm up, and run more than once. What is counted need not."""


Group = Callable[[], Sequence[Case]]


class DisagreementError(Exception):
    """Two of those that are compared do not answer alike."""


def measured(group: Group, turns: Sequence[int]) -> Iterator[Row]:
    """Run the cases of one group, once for each of these rounds."""
    cases = group()
    for case in cases:
        if case.timed:
            list(case.run())
    check(cases)
    # Python would look through all that the cases hold, answers of others too, while one is timed.
    gc.collect()
    gc.freeze()
    try:
        for turn in turns:
            for case in cases if turn % 2 == 0 else reversed(cases):
                if turn and not case.timed:
                    continue
                for point in case.run():
                    x = case.x if point.x is None else point.x
                    yield Row(case.panel, case.series, x, point.metric, turn, float(point.value))
    finally:
        gc.unfreeze()


def check(cases: Sequence[Case]) -> None:
    """Whether all cases of a group that tell their answers answer alike."""
    by_panel: dict[tuple[str, float], tuple[str, Any]] = {}
    for case in cases:
        if case.answers is None:
            continue
        answers = case.answers()
        first, expected = by_panel.setdefault((case.panel, case.x), (case.series, answers))
        if not alike(expected, answers):
            raise DisagreementError(
                f"{case.series} answers otherwise than {first} ({case.panel}, {case.x:g})."
            )


def alike(one: Any, other: Any) -> bool:
    """Whether answers are the same, up to the rounding of sums, as far as both go."""
    if isinstance(one, np.ndarray) and one.dtype.kind in "fiu":
        length = min(len(one), len(other))
        first, second = np.asarray(one[:length], float), np.asarray(other[:length], float)
        return length > 0 and bool(np.allclose(first, second, rtol=1e-7, atol=1e-7, equal_nan=True))
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        pairs = list(zip(one, other, strict=False))
        return bool(pairs) and all(alike(a, b) for a, b in pairs)
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        # Whole windows of numbers are compared one by one: most of them are the same at once.
        close = one == other or np.isclose(one, other, rtol=1e-7, atol=1e-7, equal_nan=True)
        return bool(close)
    return bool(one == other)

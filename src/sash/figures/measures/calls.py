"""How many ⊕ an algorithm does: counted, not timed, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import sash
from sash.figures.cases import Case, Group, Point
from sash.testing import Counting

Ask = Callable[[sash.Aggregator, int], None]

MEAN, WORST, HELD = "⊕ a slide", "⊕ of the worst slide", "partials held"


def calls(
    *, algorithms: Sequence[str], sizes: Sequence[int], all_ranges: Sequence[int] = ()
) -> list[Group]:
    """One query over the whole window; and in `all_ranges` sizes, one for each range up to it."""
    asked: list[tuple[str, Sequence[int], Ask]] = [
        ("one query", sizes, _one_query),
        ("all queries", all_ranges, _all_queries),
    ]
    return [
        partial(_cases, algorithms, size, panel, ask)
        for panel, those, ask in asked
        for size in those
    ]


def _cases(algorithms: Sequence[str], size: int, panel: str, ask: Ask) -> list[Case]:
    return [
        Case(panel, name, size, partial(_counted, name, size, ask), timed=False)
        for name in algorithms
    ]


def _one_query(window: sash.Aggregator, size: int) -> None:
    window.query()


def _all_queries(window: sash.Aggregator, size: int) -> None:
    for last in range(size, 0, -1):
        window.query(last)


def _counted(name: str, size: int, ask: Ask) -> list[Point]:
    """A window that is full and has been slid through once, slid through again."""
    counting = Counting()
    # Values in which a deque of maxima grows and shrinks; whole numbers, so that Sum is exact.
    values = np.random.default_rng(size).integers(0, 1 << 30, 3 * size + 2).tolist()
    operator: Any = sash.Max()
    window = sash.aggregator(name, counting.of(operator))
    for value in values[:size]:
        window.insert(value)
    ask(window, size)
    each = []
    for place, value in enumerate(values[size:]):
        window.evict()
        window.insert(value)
        ask(window, size)
        each.append(counting.taken())
        if place == size:
            each.clear()
    return [
        Point(MEAN, sum(each) / len(each)),
        Point(WORST, max(each)),
        Point(HELD, window.partials_held()),
    ]

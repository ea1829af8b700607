"""How many ⊕ an algorithm does: counted, not timed, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import sash
from sash.figures.cases import Case, Group, Point
from sash.figures.measures.first_thread import FIRST_THREAD, FirstThread
from sash.testing import Counting

Ask = Callable[[Any, int], None]

MEAN, WORST, HELD = "⊕ a slide", "⊕ of the worst slide", "partials held"
EACH = "partials for each value"


def calls(
    *,
    algorithms: Sequence[str],
    sizes: Sequence[int],
    all_ranges: Sequence[int] = (),
    falling: bool = False,
) -> list[Group]:
    """One query over the whole window; and in `all_ranges` sizes, one for each range up to it.

    falling: the worst slide is also looked for where values fall through a whole window and then
    rise above all of them, which is the worst for a deque.
    """
    asked: list[tuple[str, Sequence[int], Ask]] = [
        ("one query", sizes, _one_query),
        ("all queries", all_ranges, _all_queries),
    ]
    return [
        partial(_cases, algorithms, size, panel, ask, falling)
        for panel, those, ask in asked
        for size in those
    ]


def _cases(algorithms: Sequence[str], size: int, panel: str, ask: Ask, falling: bool) -> list[Case]:
    return [
        Case(panel, name, size, partial(_counted, name, size, ask, falling), timed=False)
        for name in algorithms
    ]


def _one_query(window: Any, size: int) -> None:
    window.query()


def _all_queries(window: Any, size: int) -> None:
    for last in range(size, 0, -1):
        window.query(last)


def _counted(name: str, size: int, ask: Ask, falling: bool) -> list[Point]:
    """A window that is full and has been slid through once, slid through again."""
    counting = Counting()
    # Values in which a deque of maxima grows and shrinks; whole numbers, so that Sum is exact.
    values = np.random.default_rng(size).integers(0, 1 << 30, 3 * size + 2).tolist()
    operator: Any = sash.Max()
    window: Any
    if name == FIRST_THREAD:
        window = FirstThread(operator, counting, size)
    else:
        window = sash.aggregator(name, counting.of(operator))
    for value in values[:size]:
        window.insert(value)
    ask(window, size)
    each = []
    for place, value in enumerate(values[size:]):
        each.append(_slide(window, value, size, ask, counting))
        if place == size:
            each.clear()
    worst, held = max(each), window.partials_held()
    if falling:
        for value in (*range(size, 0, -1), 1 << 31):
            worst = max(worst, _slide(window, value, size, ask, counting))
            held = max(held, window.partials_held())
    return [
        Point(MEAN, sum(each) / len(each)),
        Point(WORST, worst),
        Point(HELD, held),
        Point(EACH, held / size),
    ]


def _slide(window: Any, value: int, size: int, ask: Ask, counting: Counting) -> int:
    window.evict()
    window.insert(value)
    ask(window, size)
    return counting.taken()

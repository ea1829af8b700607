"""⊕ and partials of windows that slide one by one, lose many values at once, or slide by a policy.

Counted, not timed, in plain Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import sash
from sash.aggregators.registry import named
from sash.figures.cases import Case, Group, Point
from sash.figures.measures.calls import HELD, MEAN, WORST
from sash.figures.measures.in_stores import new_place
from sash.figures.measures.policy_windows import SIZED, missing_stores, there
from sash.testing import Counting

PANEL = "counted"
BULK = "⊕ of the worst bulk eviction"
BY_POLICY, BY_POLICY_WORST = "⊕ a slide by policy", "⊕ of the worst slide by policy"
POLICY_BULK, POLICY_ASKED = "⊕ of the worst bulk eviction by policy", "policy calls at worst"


def policy_calls(
    *,
    algorithms: Sequence[str],
    sizes: Sequence[int],
    stored: Sequence[str] = (),
    stored_sizes: Sequence[int] = (),
) -> list[Group]:
    """stored: series of windows in a store, of which only the partials in memory are counted."""

    def counted(size: int) -> list[Case]:
        return [
            Case(PANEL, name, size, partial(_counted, name, size), timed=False)
            for name in algorithms
        ]

    def held() -> list[Case]:
        return [
            Case(PANEL, name, 0, partial(_held, name, stored_sizes), timed=False)
            for name in there(stored)
        ]

    return [*(partial(counted, size) for size in sizes), held, *missing_stores(stored)]


def _counted(name: str, size: int) -> list[Point]:
    counting = Counting()
    window = _full(name, counting, size)
    slides = []
    for _ in range(2 * size + 2):
        window.evict()
        window.insert(size)
        window.query()
        slides.append(counting.taken())
    found = [
        Point(MEAN, sum(slides) / len(slides)),
        Point(WORST, max(slides)),
        Point(HELD, window.partials_held()),
        Point(BULK, max(_evicted(window, counting, size, k) for k in _counts(size))),
    ]
    return found + (_by_policy(name, size) if hasattr(named(name), "evict_while") else [])


def _full(name: str, counting: Counting, size: int) -> Any:
    """A window that has been slid through once."""
    window = sash.aggregator(name, counting.of(SIZED.operator))
    for _ in range(size):
        window.insert(size)
    for _ in range(size):
        window.evict()
        window.insert(size)
    window.query()
    counting.taken()
    return window


def _counts(size: int) -> list[int]:
    """How many leave: each power of two, one less, one more, and half of it more."""
    near = [(1 << k) + more for k in range(size.bit_length()) for more in (-1, 0, 1, 1 << k >> 1)]
    return sorted({count for count in near if 0 < count < size})


def _evicted(window: Any, counting: Counting, size: int, count: int) -> int:
    """⊕ of an eviction and the answer after it; the window is full before and after."""
    window.bulk_evict(count)
    window.query()
    calls = counting.taken()
    _fill(window, counting, size)
    return calls


def _fill(window: Any, counting: Counting, size: int) -> None:
    while len(window) < size:
        window.insert(size)
    window.query()
    counting.taken()


def _by_policy(name: str, size: int) -> list[Point]:
    counting, asked = Counting(), 0
    window = _full(name, counting, size)

    def policy(total: Any, old: Any) -> bool:
        nonlocal asked
        asked += 1
        return SIZED.policy(total, old)

    slides, evictions, most_asked = [], [], 0
    for _ in range(2 * size + 2):
        window.insert(size)
        window.evict_while(policy)
        window.query()
        slides.append(counting.taken())
    for count in _counts(size):
        window.insert(size + 1 - count)
        window.query()
        counting.taken()
        asked = 0
        window.evict_while(policy)
        window.query()
        evictions.append(counting.taken())
        most_asked = max(most_asked, asked)
        _fill(window, counting, size)
    return [
        Point(BY_POLICY, sum(slides) / len(slides)),
        Point(BY_POLICY_WORST, max(slides)),
        Point(POLICY_BULK, max(evictions)),
        Point(POLICY_ASKED, most_asked),
    ]


def _held(series: str, sizes: Sequence[int]) -> list[Point]:
    """What is in memory of a window that grows and then slides on by two blocks."""
    algorithm, _, store = series.partition(", ")
    place = new_place(store)
    window: Any = sash.aggregator(algorithm, SIZED.operator, store=place)
    found = []
    for size in sizes:
        while len(window) < size:
            window.insert(size)
        most = 0
        for k in range(2 * place.block):
            window.evict()
            window.insert(size)
            if k % 64 == 0:
                window.sync()  # what is on its way to the store is not counted
                most = max(most, window.partials_held())
        found.append(Point(HELD, most, size))
    return found

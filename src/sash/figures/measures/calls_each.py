"""How many ⊕ each insert, each evict and each query does: counted, in plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import sash
from sash.figures.cases import Case, Group, Point
from sash.testing import Counting

SLIDING, ANY_ORDER = "sliding", "any order"
OPERATIONS = ("insert", "evict", "query")


def calls_each(*, algorithms: Sequence[str], sizes: Sequence[int], steps: int) -> list[Group]:
    """Two panels: a window that slides by one, and one that grows and shrinks at random.

    steps: how many inserts each window sees, apart from some times its size: 8 where it slides; 64
    where values come and go in runs of random length, of which it takes more for a mean.
    """

    def group(panel: str, size: int) -> list[Case]:
        return [
            Case(panel, name, size, partial(_counted, panel, name, size, steps), timed=False)
            for name in algorithms
        ]

    return [partial(group, panel, size) for panel in (SLIDING, ANY_ORDER) for size in sizes]


def most(operation: str) -> str:
    """The metric of the most ⊕ that one such operation did."""
    return f"{operation}, most"


def mean(operation: str) -> str:
    return f"{operation}, mean"


def _counted(panel: str, algorithm: str, size: int, steps: int) -> list[Point]:
    counting = Counting()
    operator: Any = sash.Max()
    window = sash.aggregator(algorithm, counting.of(operator))
    chance = np.random.default_rng(size)
    each: dict[str, list[int]] = {operation: [] for operation in OPERATIONS}
    held = 0
    orders, times = (_sliding, 8) if panel == SLIDING else (_any_order, 64)
    for place, operation in enumerate(orders(size, times * size + steps, chance)):
        if operation == "insert":
            window.insert(int(chance.integers(0, 1 << 30)))
        elif operation == "evict":
            window.evict()
        else:
            window.query()
        each[operation].append(counting.taken())
        if place % (size // 8 + 1) == 0:  # it takes longer than the operation
            held = max(held, window.partials_held())
    found = [Point(most(name), max(counts)) for name, counts in each.items()]
    # The first window is being filled; what follows is the rule.
    found += [Point(mean(name), float(np.mean(counts[size:]))) for name, counts in each.items()]
    return [*found, Point("partials held", held)]


def _sliding(size: int, inserts: int, chance: np.random.Generator) -> Iterator[str]:
    for count in range(inserts):
        if count >= size:
            yield "evict"
        yield "insert"
        yield "query"


def _any_order(size: int, inserts: int, chance: np.random.Generator) -> Iterator[str]:
    """Runs of inserts and of evictions, of random lengths, around the size and down to one."""
    held = inserted = 0
    while inserted < inserts:
        for _ in range(int(chance.integers(1, size + 1))):
            yield "insert"
            yield "query"
            held, inserted = held + 1, inserted + 1
        surplus = max(held - 2 * size, 0)
        leaving = min(surplus + int(chance.integers(0, size + 1)), held - 1)
        for _ in range(leaving):
            yield "evict"
            yield "query"
            held -= 1

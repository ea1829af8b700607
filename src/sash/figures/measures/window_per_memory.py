"""How long a window becomes with so much memory: a new process fills one, and is weighed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from multiprocessing.connection import Connection

import sash
from sash.figures.cases import Case, Group, Point
from sash.figures.measures.in_stores import new_address
from sash.figures.measures.memory import in_new_process, resident
from sash.figures.measures.policy_windows import SIZED, missing_stores, no_collections, there
from sash.stores import Place

PANEL = "memory"
MORE, REACHED = "MB for the window", "values reached"
STEP = 4
"""A window is weighed so often while it doubles."""


def window_per_memory(*, series: Sequence[str], upto: int, budgets: Sequence[int]) -> list[Group]:
    """Windows grow to `upto` values; budgets: MB that they may take beyond an empty one."""

    def group() -> list[Case]:
        return [
            Case(PANEL, name, 0, partial(_grown, name, upto, budgets), timed=False)
            for name in there(series)
        ]

    return [group, *missing_stores(series)]


def sizes_up_to(most: int) -> list[int]:
    sizes, size = [], 128
    while size < most:
        sizes += [size + size * k // STEP for k in range(STEP) if size + size * k // STEP < most]
        size *= 2
    return [*sizes, most]


def _grown(series: str, upto: int, budgets: Sequence[int]) -> list[Point]:
    algorithm, _, store = series.partition(", ")
    address = new_address(store) if store else None
    found = []
    reached, over = dict.fromkeys(budgets, 0), set()
    for size, held in in_new_process(_grow, algorithm, address, series, sizes_up_to(upto)):
        found.append(Point(MORE, held / 2**20, size))
        for budget in budgets:
            if held > budget << 20:
                over.add(budget)
            elif budget not in over:
                reached[budget] = size
    return found + [Point(REACHED, size, budget) for budget, size in reached.items()]


def _grow(
    told: Connection, algorithm: str, address: str | None, name: str, sizes: list[int]
) -> None:
    """Tell what this process holds more than with an empty window."""
    store = None if address is None else Place(address, name)
    window = sash.aggregator(algorithm, SIZED.operator, store=store)
    most = sizes[-1]
    window.insert(most)
    window.evict()
    empty = resident()
    with no_collections():
        for size in sizes:
            for _ in range(size - len(window)):
                window.insert(most)
            assert window.query()["count"] == size
            told.send((size, max(resident() - empty, 0)))
    if store is not None:
        window.abandon()  # type: ignore[attr-defined]

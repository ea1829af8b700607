"""The levels of a tree whose nodes are in a store: a column for each.

`level_get`, `level_put` and `level_drop` stand for those of `levels`, and the algorithms do not
know. `level_drop` is told of each eviction before anything changes. It sees that all nodes which
the algorithm may ask for then are at hand, those next to the oldest value on each level, so that a
store which fails fails before the eviction has begun.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from sash.aggregators.shelf import Shelf
from sash.aggregators.stored_blocks import Partials
from sash.aggregators.stored_columns import Column
from sash.operators.monoid import Partial

LEVELS = range(64)
"""The numbers of the columns that levels are."""
NOT_SOON = 2**63


class StoredLevels:
    """All levels, as an algorithm's first ring."""

    def __init__(self, shelf: Shelf, codec: Partials) -> None:
        self.shelf = shelf
        self.codec = codec
        self.columns: list[Column] = []
        self.soon = 0
        """The first value to which a drop needs more than is at hand, or soon will."""
        for level in shelf.stored_columns():
            if level in LEVELS:
                self.add()

    def add(self) -> Column:
        """One level more."""
        level = len(self.columns)
        column = self.shelf.column(level, self.codec, derived=level > 0)
        self.columns.append(column)
        return column

    def at_hand(self) -> int:
        """How many nodes are in memory."""
        return sum(len(c.tail) + sum(map(len, c.blocks.values())) for c in self.columns)

    def drop(self, start: int) -> None:
        """See that all is at hand that is needed when `start` is the oldest value."""
        firsts = [(column, start >> level) for level, column in enumerate(self.columns)]
        self.shelf.bring(firsts)
        soon = NOT_SOON
        for level, (column, first) in enumerate(firsts):
            again = self.shelf.ahead(column, first)
            if again is not None:
                soon = min(soon, again << level)
        self.soon = soon

    def settle(self, start: int) -> None:
        """Before a checkpoint: what is before `start` may go."""
        for level, column in enumerate(self.columns):
            column.drop(start >> level)
        self.soon = 0  # a checkpoint lets go of blocks

    def rebuild(
        self,
        whole: Callable[[int], tuple[int, int]],
        combine: Callable[[Partial, Partial], Partial],
    ) -> None:
        """Compute the tails of all levels but the lowest, which is as it was stored.

        whole: tells which nodes of a level are there, from one to before another.
        """
        for level in range(1, len(self.columns)):
            below, column = self.columns[level - 1], self.columns[level]
            first, end = whole(level)
            for p in range(max(first, column.base), end):
                column.put(p, combine(below.get(2 * p), below.get(2 * p + 1)))

    def undoing(self) -> LevelsMark:
        return LevelsMark(self)


class LevelsMark:
    """Where all levels were, to go back to."""

    def __init__(self, levels: StoredLevels) -> None:
        self.levels = levels
        self.marks = [column.mark() for column in levels.columns]

    def undo(self) -> None:
        columns = self.levels.columns
        for column, mark in zip(columns, self.marks, strict=False):
            column.back_to(mark)
        self.levels.shelf.renew(range(len(self.marks), len(columns)))
        del columns[len(self.marks) :]
        self.levels.soon = 0


def level_get(levels: StoredLevels, level: int, position: int) -> Partial:
    return levels.columns[level].get(position)


def level_put(levels: StoredLevels, level: int, position: int, p: Partial) -> None:
    columns = levels.columns
    column = columns[level] if level < len(columns) else levels.add()
    if position == column.base + len(column.tail):
        column.tail.append(p)
    else:
        column.put(position, p)


def level_drop(levels: StoredLevels, start: int) -> None:
    if start >= levels.soon:
        levels.drop(start)


IN_STORE: dict[str, Any] = {
    "level_get": level_get,
    "level_put": level_put,
    "level_drop": level_drop,
}


def can_be_stored(algorithm: ModuleType) -> bool:
    """Whether only its levels grow with the window, so that they may be in a store."""
    return algorithm.RINGS[0] == "levels" and hasattr(algorithm, "whole_nodes")

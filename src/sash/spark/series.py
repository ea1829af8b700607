"""How one long series is cut into parts that run side by side.

Part q has the rows from cut q on, T(q) ≤ row < T(q+1), as its own. Windows that are answered there
reach further back, so it is also sent the rows before, lo(q) ≤ row < hi(q), as far as a window may:
they go into the window, and nothing is answered for them. hi(q) is T(q), unless windows are longer
than the part: then the rows from hi(q) on stay in the window for as long as the part runs, and
their total is sent instead. So no row is sent to more than two or three parts, however long windows
are. All of it is cut by value: rows of the same order value are never parted.

For windows of so many rows, lo(q) is such that at least as many lie between it and T(q), and hi(q)
such that none of those from it on leaves; how many there are is counted, not estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from sash.windows import cutting
from sash.windows.shapes import Shape

GRID = 512
"""Values, evenly spread over the rows, among which cuts are chosen."""


@dataclass(frozen=True)
class Part:
    """One part of a series, as far as a worker must know."""

    first: int
    """The number of the first row that is sent there."""
    since: Any
    until: Any
    """Its own rows are at least this, and less than that; None for no limit."""
    between: bytes | None = None
    """What is told of rows that are not sent, but are in its windows; packed."""


@dataclass
class Series:
    """A key with all its rows, or all rows there are, and where it is cut."""

    key: tuple[Any, ...]
    rows: int
    grid: list[Any]
    """Values that the rows are evenly spread between, rising."""
    estimated: bool = False
    """Whether the number of rows, and the grid, are told by some of them."""
    cuts: list[Any] = field(default_factory=list)
    """T(1), …: where each part but the first begins."""
    lows: list[Any] = field(default_factory=list)
    """lo(1), …: from where on each part but the first is sent rows; None for all."""
    highs: list[Any] = field(default_factory=list)
    """hi(1), …: up to where each part but the first is sent rows before its own."""
    begins: list[int] = field(default_factory=list)
    """The number of the first row that each part is sent, if it is known."""
    between: dict[int, bytes] = field(default_factory=dict)
    """Of each part with windows longer than it, what is told of rows that it is not sent."""

    @property
    def parts(self) -> list[Part]:
        edges = [None, *self.cuts, None]
        begins = self.begins or [0] * (len(self.cuts) + 1)
        return [
            Part(first, since, until, self.between.get(q))
            for q, (first, since, until) in enumerate(
                zip(begins, edges[:-1], edges[1:], strict=True)
            )
        ]

    def cut_evenly(self, parts: int) -> None:
        """Into as many parts as this, or fewer if its values do not tell so many apart."""
        steps = len(self.grid) + 1
        wanted = (self.grid[max(q * steps // parts, 1) - 1] for q in range(1, parts))
        self.cuts = list(dict.fromkeys(wanted)) if self.grid else []

    def candidates(self, need: int, all_stay: int | None) -> list[Any]:
        """Cuts, and values that `need` rows, or at most `all_stay`, may lie between and a cut."""
        found = set(self.cuts)
        share = max(self.rows / (len(self.grid) + 1), 1.0)
        places = [self.grid.index(cut) for cut in self.cuts]
        for at in places:
            found |= {self.grid[i] for i in _around(at - need / share, (-3, -1)) if i >= 0}
        if all_stay is not None:
            for at in (*places[1:], len(self.grid)):
                near = _around(at - all_stay / share, (1, 3))
                found |= {self.grid[i] for i in near if 0 <= i < len(self.grid)}
        return sorted(found)

    def reach_back_rows(
        self, need: int, all_stay: int | None, values: Sequence[Any], counts: Sequence[int]
    ) -> None:
        """Each part is sent at least so many rows before its own; `all_stay` before the next cut
        are held throughout, so they need not be sent.

        counts: how many rows there are before the first of `values`, between it and the next, …
        """
        at = dict(zip(values, accumulate(counts), strict=False))
        ends = [*(at[cut] for cut in self.cuts[1:]), sum(counts)]
        self.lows, self.highs, self.begins = [], [], [0]
        for cut, end in zip(self.cuts, ends, strict=True):
            enough = [v for v in values if at[v] <= at[cut] - need and v <= cut]
            self.lows.append(enough[-1] if enough else None)
            self.begins.append(at[enough[-1]] if enough else 0)
            stay = [] if all_stay is None else [v for v in values if at[v] >= end - all_stay]
            above = [v for v in stay if not enough or v >= enough[-1]]
            self.highs.append(min([*above[:1], cut]))

    def reach_back(
        self, width: Any, fits: Callable[[Any], bool], stay: bool, greatest: Any = None
    ) -> None:
        """Each part is sent the rows of at most this width before its own.

        stay: whether those that a part holds throughout need not be sent; for the last part that is
        known only with the greatest value of all.
        """
        lows = [cut - width for cut in self.cuts]
        ends: list[Any] = [*self.cuts[1:], None if greatest is None else greatest + 1]
        self.lows = [low if fits(low) else None for low in lows]
        self.highs = [
            cut if end is None or not stay else min(cut, max(end - width, low))
            for cut, end, low in zip(self.cuts, ends, lows, strict=True)
        ]
        if not all(map(fits, self.highs)):
            self.highs = list(self.cuts)

    @property
    def not_sent(self) -> dict[int, tuple[Any, Any]]:
        """For each part, from where up to where there are rows that stay in its windows."""
        pairs = zip(self.highs, self.cuts, strict=True)
        return {q + 1: (high, cut) for q, (high, cut) in enumerate(pairs) if high < cut}

    def number_parts(self, counts: Sequence[int]) -> None:
        """Which row is the first that each part is sent, told by how many lie between lows."""
        everything = sum(low is None for low in self.lows)
        before = list(accumulate(counts))[:-1]
        self.begins = [0] * (1 + everything) + before

    def reach_nowhere(self) -> None:
        """No window reaches from one part into another."""
        self.lows, self.highs = list(self.cuts), list(self.cuts)


def _around(place: float, offsets: tuple[int, int]) -> list[int]:
    return [int(place) + offset for offset in offsets]


def rows_needed(shape: Shape) -> int | None:
    """How many rows before a part's own its windows may hold; None if it is not told by number."""
    if shape.size != cutting.ROWS:
        return None
    size = shape.numbers[0]
    at_ends = shape.trigger == cutting.AT_ENDS
    return size if at_ends else size - 1 + int(shape.closed[0])

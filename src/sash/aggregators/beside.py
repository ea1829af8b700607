"""What is known of a window's rows beside their partials: which are null, what answers are taken
from.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sash.aggregators.aggregator import Aggregator


class NullRows(dict[int, None]):
    """The rows that are null for a leaf, rising."""

    def append(self, row: int) -> None:
        self[row] = None

    def extend(self, rows: Iterable[int]) -> None:
        self.update(dict.fromkeys(rows))


class Beside:
    """What was known when several steps on a window began, to go back to."""

    def __init__(self, window: Aggregator) -> None:
        self.window = window
        self.nulls: list[list[int]] = [[] for _ in window._nulls]
        self.payloads: list[dict[int, Any]] = [{} for _ in window._nulls]

    def note(self, leaving: int) -> None:
        """Remember what is known of the oldest rows, as they leave."""
        window = self.window
        if not any(window._nulls) and not any(window._payloads):
            return
        for row in range(window._out, window._out + leaving):
            for leaf, (nulls, payloads) in enumerate(
                zip(window._nulls, window._payloads, strict=True)
            ):
                if row in nulls:
                    self.nulls[leaf].append(row)
                if row in payloads:
                    self.payloads[leaf][row] = payloads[row]

    def undo(self) -> None:
        """Go back; the window's counts have gone back already."""
        window = self.window
        for leaf, gone in enumerate(self.nulls):
            still = (row for row in window._nulls[leaf] if row < window._in)
            window._nulls[leaf] = NullRows.fromkeys((*gone, *still))
            left = {k: v for k, v in window._payloads[leaf].items() if k < window._in}
            window._payloads[leaf] = {**self.payloads[leaf], **left}

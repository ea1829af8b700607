"""Where a stream is cut into slices, so that every window is made of whole ones.

A window of `range` that slides by `slide` begins and ends again and again at the same places of a
slide. Three techniques cut there:

    panes   at every multiple of gcd(range, slide)          range / gcd slices a window
    pairs   where a window begins, and where one ends       2 · range / slide
    cutty   where a window begins; one that ends is asked   range / slide + 1
            for while its last slice is still open

(range / slide of them if the slide divides the range, whichever technique it is.) Several windows
cut where any of them does; how that goes on repeats with the least common multiple of their slides,
the composite slide.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd, lcm
from typing import Any, Literal, get_args

import numpy as np

Array = np.ndarray[Any, Any]
Technique = Literal["cutty", "pairs", "panes"]
TECHNIQUES: tuple[Technique, ...] = get_args(Technique)


@dataclass(frozen=True, order=True)
class Edges:
    """Cuts at every `step`, from `offset` on."""

    step: int
    offset: int

    def between(self, low: int, high: int) -> Array:
        """The cuts in low ≤ i < high."""
        first = low + (self.offset - low) % self.step
        return np.arange(first, high, self.step, dtype=np.int64)

    def count_between(self, low: int, high: int) -> int:
        """How many cuts there are in low ≤ i < high."""
        first = low + (self.offset - low) % self.step
        return max(0, -((first - high) // self.step))


@dataclass(frozen=True)
class Sliding:
    """A window of a range that slides: it ends at each offset + k · slide."""

    range: int
    slide: int
    offset: int = 0

    def edges(self, technique: Technique) -> tuple[Edges, ...]:
        """Where it must be cut.

        >>> Sliding(10, 3).edges("pairs")
        (Edges(step=3, offset=0), Edges(step=3, offset=2))
        """
        if technique == "panes":
            pane = gcd(self.range, self.slide)
            return (Edges(pane, self.offset % pane),)
        begins = Edges(self.slide, (self.offset - self.range) % self.slide)
        if technique == "cutty":
            return (begins,)
        return tuple(sorted({begins, Edges(self.slide, self.offset % self.slide)}))

    def slices(self, technique: Technique) -> int:
        """How many slices a window is made of.

        >>> [Sliding(10, 3).slices(each) for each in ("panes", "pairs", "cutty")]
        [10, 7, 4]
        """
        whole, rest = divmod(self.range, self.slide)
        if technique == "panes":
            return self.range // gcd(self.range, self.slide)
        if technique == "pairs":
            return 2 * whole + 1 if rest else whole
        return whole + bool(rest)


def composite_slide(windows: Iterable[Sliding]) -> int:
    """After how much the cuts of several windows repeat."""
    return lcm(*(window.slide for window in windows))


def all_edges(windows: Iterable[Sliding], technique: Technique) -> tuple[Edges, ...]:
    """The cuts of several windows, each but once.

    >>> all_edges([Sliding(6, 2), Sliding(8, 4)], "pairs")
    (Edges(step=2, offset=0),)
    """
    found: list[Edges] = []
    for one in sorted({each for window in windows for each in window.edges(technique)}):
        if not any(one.step % e.step == 0 == (one.offset - e.offset) % e.step for e in found):
            found.append(one)
    return tuple(found)


def cuts_between(edges: Iterable[Edges], low: int, high: int) -> Array:
    """The cuts of all of these in low ≤ i < high, each once."""
    return in_order([edge.between(low, high) for edge in edges])


def in_order(rising: list[Array]) -> Array:
    """The numbers of some arrays, each of which rises: each number once, rising."""
    joined = np.concatenate([np.zeros(0, np.int64), *rising])
    joined.sort(kind="stable")  # runs that rise are merged
    fresh = np.ones(len(joined), bool)
    np.not_equal(joined[1:], joined[:-1], out=fresh[1:])
    return joined[fresh]


def slices_in(window: Sliding, edges: Iterable[Edges], end: int) -> int:
    """How many slices the window that ends here is made of, if there are these cuts.

    >>> slices_in(Sliding(8, 4), all_edges([Sliding(6, 2), Sliding(8, 4)], "pairs"), 8)
    4
    """
    return 1 + len(cuts_between(edges, end - window.range + 1, end))

"""What the loop over rows is to do, step by step: when a slice is full, and who asks for what.

The loop itself (`sash.aggregators.driving.share`) knows no windows. Here it is told of each step up
to which row it takes rows in, whether that fills a slice, how many slices leave, and of how many of
the youngest slices each answer is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sash.plans.asked import Asked, AskedAtRows, Came, Shared, Sliced
from sash.plans.lines import Array, Line, first_from
from sash.plans.slicing import Edges, Technique, all_edges, cuts_between, in_order

TIDYING = 1024
"""So many steps may pass before slices leave that nobody asks for: it is room that they cost."""


@dataclass(frozen=True)
class Due:
    """The answers of one window: for which rows, and which numbers they have in the loop."""

    asked: Asked
    starts: Array
    """The first row of each."""
    places: Array
    """The first slice of each."""
    numbers: Array | slice

    @property
    def held(self) -> Array:
        """For how many rows each is."""
        return self.asked.ends - self.starts


@dataclass(frozen=True)
class DueAtRows:
    """The same of a window that is answered at each row; each row is a slice."""

    asked: AskedAtRows
    numbers: slice

    @property
    def starts(self) -> Array:
        return self.asked.starts

    places = starts

    @property
    def held(self) -> Array:
        return self.asked.ends - self.starts


@dataclass(frozen=True)
class Steps:
    """What `share` is given, and whose its answers are."""

    upto: Array
    closes: Array
    leaving: Array
    first: Array
    reach: Array
    due: list[Due]
    begun: bool
    """Whether a slice is open before the first step."""
    room: int
    """How many slices there may be at once."""


@dataclass(frozen=True)
class Ranges:
    """What `slide_ranges` is given, and whose its answers are."""

    ranges: Array
    """How many rows the windows are of, the longest first."""
    due: list[DueAtRows]
    room: int
    """How many rows there may be at once."""


class Slices:
    """Windows that begin at known places: rows between two of these are one slice."""

    def __init__(self, technique: Technique) -> None:
        self.technique = technique
        self.windows: list[Any] = []
        self.rows, self.times = Line(), Line()
        """Of each slice the first row, and its time; the one that is open is the last of them."""
        self.closed = 0
        """How many slices have been full: the place of the one that is open."""
        self.left = 0
        """How many slices have left."""
        self.row_edges: tuple[Edges, ...] = ()
        self.time_edges: tuple[Edges, ...] = ()
        self.born: set[int] = set()
        """The first rows of windows that have come since the last rows."""

    def settle(self, windows: Sequence[Any]) -> None:
        """These windows, which are `Sliced`, from now on."""
        born = {window.born for window in windows if window not in self.windows}
        self.windows = list(windows)
        by_row = [each.sliding for each in windows if not each.by_time]
        by_time = [each.sliding for each in windows if each.by_time]
        self.row_edges = all_edges(by_row, self.technique)
        self.time_edges = all_edges(by_time, self.technique)
        self.born |= born

    @property
    def begun(self) -> bool:
        """Whether a slice is open that has rows."""
        return self.rows.end > self.closed

    def steps(self, came: Came, asked: list[Any]) -> Steps:
        cuts = self._cuts(came)
        begun = self.begun
        if len(cuts) and cuts[0] == came.before and not begun:
            cuts = cuts[1:]
        self._begin(came, cuts)
        full_before = np.zeros(came.rows + 1, bool)
        full_before[cuts - came.before] = True
        filled = _marks_upto(full_before)
        due = zip(self.windows, asked, strict=True)
        each = [self._due(window, given, came, filled) for window, given in due]
        one = len(self.windows) == 1
        # A step for each row that something happens before, and for the end.
        happens = full_before.copy()
        happens[-1] = True
        for given in each:
            happens[given.asked.ends - came.before] = True
        upto = np.flatnonzero(happens)
        closes = full_before[upto]
        if one:
            upto, closes = _one_by_one(upto, closes, each[0].asked.ends - came.before)
            ends = each[0].asked.ends
            at = [first_from(upto, ends - came.before) + np.arange(len(ends))]
            at[0] -= first_from(ends, ends)
        else:
            number = _marks_upto(happens)
            at = [number[due.asked.ends - came.before] - 1 for due in each]
        full = self.closed + np.cumsum(closes)
        far = [np.maximum(full[s] - due.places, 0) for s, due in zip(at, each, strict=True)]
        floors = [self._place(window, window.needs_from(came)) for window in self.windows]
        leaving = _leaving(len(upto), at, [due.places for due in each], floors, self.left, full)
        room = int((full - self.left - np.cumsum(leaving) + leaving).max(initial=0))
        first, reach, numbers = _in_order(len(upto), at, far)
        each = [replace(d, numbers=n) for d, n in zip(each, numbers, strict=True)]
        return Steps(upto, closes, leaving, first, reach, each, begun, room)

    def _cuts(self, came: Came) -> Array:
        """Where slices are cut: places before ≤ i < end."""
        found = [cuts_between(self.row_edges, came.before, came.end)]
        found.append(np.array([row for row in self.born if row < came.end], np.int64))
        if self.time_edges and came.rows:
            found.append(came.before + _changes(self.time_edges, came))
        return in_order(found)

    def _begin(self, came: Came, cuts: Array) -> None:
        """The slices that these rows begin."""
        if came.rows and not self.begun:
            cuts = np.concatenate([[came.before], cuts])
        self.rows.append(cuts)
        none = np.zeros_like(cuts)
        self.times.append(came.times[cuts - came.before] if len(came.times) else none)

    def _due(self, window: Sliced, asked: Asked, came: Came, filled: Array) -> Due:
        """filled: for each row that has come, and the next, how many slices are full before it."""
        rows, times = self.rows, self.times
        if window.by_time:
            places = times.first + first_from(times.numbers, asked.starts)
            born = rows.first + int(np.searchsorted(rows.numbers, window.born))
            places = np.maximum(places, born)
        else:
            old = int(np.searchsorted(asked.starts, came.before))
            places = self.closed + filled[np.maximum(asked.starts - came.before, 0)].astype(int)
            places[:old] = rows.first + first_from(rows.numbers, asked.starts[:old])
        there = places < rows.end
        starts = asked.ends.copy()
        starts[there] = rows.at(places[there])
        if window.by_time:
            some = np.flatnonzero(asked.ends - starts >= window.least)
            asked, starts, places = asked.take(some), starts[some], places[some]
        return Due(asked, starts, places, places)

    def _place(self, window: Sliced, since: int) -> int:
        """The slice that begins at a row, or time, or the first after it."""
        line = self.times if window.by_time else self.rows
        return line.first + int(np.searchsorted(line.numbers, since))

    def commit(self, came: Came, steps: Any) -> None:
        self.closed += int(steps.closes.sum())
        self.left += int(steps.leaving.sum())
        self.born = set()
        for line in (self.rows, self.times):
            line.forget_before(self.left)

    def begins(self, place: int) -> Array:
        """The first rows of the slices from this one on."""
        return self.rows.numbers[max(place - self.rows.first, 0) :]

    @property
    def oldest(self) -> int:
        """The first row that an answer can still be for."""
        return int(self.rows.numbers[0]) if len(self.rows) else 0

    def undo(self, came: Came) -> None:
        """These rows have not come."""
        known = int(np.searchsorted(self.rows.numbers, came.before)) + self.rows.first
        for line in (self.rows, self.times):
            line.forget_from(known)


class EachRow:
    """Windows of so many rows that begin at every row: each row is a slice."""

    def __init__(self, first: int) -> None:
        self.windows: list[Shared] = []
        self.left = self.closed = first

    begun = False

    def settle(self, windows: Sequence[Shared]) -> None:
        self.windows = list(windows)

    def steps(self, came: Came, asked: list[Any]) -> Ranges:
        sizes = np.array([window.size for window in self.windows])
        longest_first = np.argsort(-sizes, kind="stable")
        places = np.argsort(longest_first).tolist()
        each = zip(asked, places, strict=True)
        due = [DueAtRows(one, slice(place, None, len(sizes))) for one, place in each]
        room = min(came.end - self.left, int(sizes.max()))
        return Ranges(sizes[longest_first], due, room)

    def commit(self, came: Came, steps: Any) -> None:
        self.closed = came.end
        if came.rows:  # what is too much leaves when a row comes
            self.left = max(self.left, came.end - int(steps.ranges[0]))

    def begins(self, place: int) -> Array:
        return np.arange(place, self.closed)

    @property
    def oldest(self) -> int:
        return self.left

    def undo(self, came: Came) -> None:
        """Nothing was noted."""


def _changes(edges: tuple[Edges, ...], came: Came) -> Array:
    """The rows, of those that have come, that are the first after some edge in time."""
    times = came.times
    first = came.newest if came.before else int(times[0])
    low, high = first + 1, int(times[-1]) + 1
    few = [each for each in edges if each.count_between(low, high) <= 2 * came.rows]
    found = [first_from(times, cuts_between(few, low, high))]
    for each in edges:
        if each not in few:  # rather look at each row
            number = np.concatenate([[first], times])
            number = (number - each.offset) // each.step
            found.append(np.flatnonzero(number[1:] != number[:-1]))
    return np.concatenate(found)


def _marks_upto(marked: Array) -> Array:
    """For each place how many are marked up to it; in few bytes, as there is one for each row."""
    return np.cumsum(marked, dtype=np.int32 if len(marked) < 2**31 else np.int64)


def _one_by_one(places: Array, closes: Array, ends: Array) -> tuple[Array, Array]:
    """A step for each answer: between two at the same place slices may leave."""
    counts = np.maximum(np.bincount(first_from(places, ends), minlength=len(places)), 1)
    if len(counts) == counts.sum():
        return places, closes
    repeated = np.zeros(int(counts.sum()), bool)
    repeated[np.cumsum(counts) - counts] = closes
    return np.repeat(places, counts), repeated


def _leaving(
    steps: int, at: list[Array], places: list[Array], floors: list[int], left: int, full: Array
) -> Array:
    """How many slices leave at each step.

    Of one window, just those that its answer is not for. Of several, from time to time, those that
    no answer will be for.
    """
    leaving = np.zeros(steps, np.int64)
    if not steps:
        return leaving
    if len(at) == 1:
        known = np.minimum(np.maximum(places[0], left), full[at[0]])
        # What nobody asks for leaves all the same: answers for too few rows are none.
        first = max(min(floors[0] if not len(known) else int(known[0]), int(full[0])), left)
        leaving[0] = first - left
        np.add.at(leaving, at[0], np.diff(np.maximum(known, first), prepend=first))
        return leaving
    looked = np.arange(0, steps, TIDYING)
    needed = full[looked]
    for own, place, floor in zip(at, places, floors, strict=True):
        following = np.searchsorted(own, looked)
        needed = np.minimum(needed, np.append(place, floor)[following])
    leaving[looked] = np.diff(np.maximum.accumulate(np.maximum(needed, left)), prepend=left)
    return leaving


def _in_order(steps: int, at: list[Array], reach: list[Array]) -> tuple[Array, Array, list[Array]]:
    """Answers of all windows, step by step, the longest first: what the loop asks for.

    Given back: where the answers of each step begin, their reach, and of each window the numbers
    that its answers have.
    """
    longest = sorted(range(len(at)), key=lambda k: -int(reach[k][-1]) if len(reach[k]) else 0)
    counts = np.zeros(steps, np.int64)
    whose: list[Array] = [np.zeros(0, np.int64)] * len(at)
    for k in longest:  # first the place of each answer among those of its step
        when = at[k]
        whose[k] = counts[when]
        if (when[1:] == when[:-1]).any():  # a window may have several answers at a step
            whose[k] += np.arange(len(when)) - first_from(when, when)
            np.add.at(counts, when, 1)
        else:
            counts[when] += 1
    first = np.zeros(steps + 1, np.int64)
    np.cumsum(counts, out=first[1:])
    far = np.empty(int(first[-1]), np.int64)
    for k, when in enumerate(at):
        whose[k] += first[when]
        far[whose[k]] = reach[k]
    return first, far, whose

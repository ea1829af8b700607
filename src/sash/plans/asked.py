"""Which rows the answers of a window are for: by arithmetic, without looking at each row.

Rows are counted from the first that ever came. Three kinds of windows can be shared:

    Counted   so many rows, at each so-many-th            last(1000, every=10)
    Timed     so long, at ends on a grid of time          last("1h", every="1min")
    AtRows    so many rows, at each row                   last(1000)

The first two begin at places that are apart, so rows between two such places can stand as one
slice. Windows of the third kind begin at every row: each row is a slice by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sash.plans.lines import Array, first_from
from sash.plans.slicing import Sliding
from sash.windows import cutting
from sash.windows.shapes import Shape

NOTHING: Array = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Came:
    """Rows that have come, in order, and how far time is."""

    before: int
    """How many rows came before these."""
    rows: int
    times: Array
    """Of these rows; empty if they have none."""
    newest: int
    """The time of the newest row before these."""
    now: int
    """The time that has come; NEVER if only rows tell it."""
    finish: bool = False

    @property
    def end(self) -> int:
        return self.before + self.rows

    @cached_property
    def each_end(self) -> Array:
        """The places after each of these rows."""
        return np.arange(self.before + 1, self.end + 1)

    @cached_property
    def longest_gap(self) -> int:
        """The longest time without a row, up to the last of these."""
        if not len(self.times):
            return 0
        first = int(self.times[0])
        since = first if self.newest == cutting.NEVER else self.newest
        return int(np.diff(self.times).max(initial=first - since))

    @property
    def latest(self) -> int:
        """The time of the newest row, these included."""
        return int(self.times[-1]) if len(self.times) else self.newest

    def times_of(self, ends: Array) -> Array:
        """The time of the last row before each of these places."""
        return self.times[ends - 1 - self.before] if len(self.times) else np.zeros_like(ends)


@dataclass(frozen=True)
class Asked:
    """Answers that are due, in the order of their ends."""

    ends: Array
    """Each is for rows before this one,"""
    starts: Array
    """from this one on; or from this time on, if it is of a window that is `Timed`."""
    times: Array
    since: Array

    def take(self, which: Array) -> Asked:
        each = (self.ends, self.starts, self.times, self.since)
        return Asked(*(given[which] for given in each))


@dataclass(frozen=True)
class AskedAtRows:
    """The same of a window of so many rows that is answered at each; where it begins, if asked."""

    came: Came
    size: int
    born: int

    @property
    def ends(self) -> Array:
        return self.came.each_end

    @property
    def starts(self) -> Array:
        return np.asarray(np.maximum(self.ends - self.size, self.born))

    @property
    def times(self) -> Array:
        return self.came.times if len(self.came.times) else np.zeros(self.came.rows, np.int64)

    since = times


class Shared:
    """A window that can be shared, and where it stands."""

    sliced: bool
    by_time: bool
    """Whether it begins at times."""

    def __init__(self, shape: Shape, least: int, born: int) -> None:
        """least: no answer for fewer rows; born: the first row that it sees."""
        self.shape = shape
        self.least = least
        self.born = born
        self.size, self.width, self.every, self.offset = shape.numbers

    def ask(self, came: Came) -> Asked | AskedAtRows:
        """What is due when these rows have come."""
        raise NotImplementedError

    def commit(self, came: Came) -> None:
        """These rows are in."""


class Sliced(Shared):
    """A window that begins at places that are apart."""

    sliced = True

    @property
    def sliding(self) -> Sliding:
        raise NotImplementedError

    def needs_from(self, came: Came) -> int:
        """The first row, or the first time, that an answer after these rows can begin at."""
        raise NotImplementedError


class Counted(Sliced):
    by_time = False

    @property
    def sliding(self) -> Sliding:
        return Sliding(self.size, self.every, self.born % self.every)

    def ask(self, came: Came) -> Asked:
        ends = _multiples(self.born, self.every, came)
        at = came.times_of(ends)
        return Asked(ends, np.maximum(ends - self.size, self.born), at, at)

    def needs_from(self, came: Came) -> int:
        following = came.end - (came.end - self.born) % self.every + self.every
        return int(max(following - self.size, self.born))


class Timed(Sliced):
    by_time = True

    def __init__(self, shape: Shape, least: int, born: int) -> None:
        super().__init__(shape, least, born)
        self.next_end: int | None = None  # until a row has come

    @property
    def sliding(self) -> Sliding:
        return Sliding(self.width, self.every, self.offset)

    def ask(self, came: Came) -> Asked:
        first = self.next_end
        if first is None:
            if not came.rows:
                return Asked(NOTHING, NOTHING, NOTHING, NOTHING)
            first = self._end_after(int(came.times[0]))
        ends = self._ends(came, first)
        rows = came.before + first_from(came.times, ends)
        return Asked(rows, ends - self.width, ends, ends - self.width)

    def _ends(self, came: Came, first: int) -> Array:
        """The ends, from the first on, of windows that some row can be in.

        After a long time without rows there are none until the next.
        """
        begin = int(came.times[0]) if self.next_end is None else came.newest
        begins, lasts = np.array([begin]), np.array([came.latest])
        if came.longest_gap > self.width + self.every:
            moments = np.concatenate([begins, came.times])
            apart = np.flatnonzero(np.diff(moments) > self.width + self.every)
            begins = np.concatenate([begins, moments[apart + 1]])
            lasts = np.concatenate([moments[apart], lasts])
        upto = self._moment(came)
        low = np.maximum(self._end_after(begins), first)
        high = np.minimum(lasts + self.width, upto)
        counts = np.maximum((high - low) // self.every + 1, 0)
        total = int(counts.sum())
        if total > cutting.MANY + 4 * came.rows:
            raise ValueError(
                f"{self.shape.definition!r} has {total:,} ends between these rows; is the unit of "
                f"the times right?"
            )
        if len(low) == 1:
            return int(low[0]) + self.every * np.arange(total)
        number = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.asarray(np.repeat(low, counts) + number * self.every, np.int64)

    def _end_after(self, time: Any) -> Any:
        return time - (time - self.offset) % self.every + self.every

    def _moment(self, came: Came) -> int:
        return cutting.FOREVER if came.finish else max(came.latest, came.now)

    def needs_from(self, came: Came) -> int:
        if came.finish:
            return cutting.FOREVER
        if self.next_end is None and not came.rows:
            return cutting.NEVER
        return int(self._end_after(self._moment(came)) - self.width)

    def commit(self, came: Came) -> None:
        if (came.rows or self.next_end is not None) and not came.finish:
            self.next_end = max(
                self.next_end or cutting.NEVER, int(self._end_after(self._moment(came)))
            )


class AtRows(Shared):
    sliced, by_time = False, False

    def ask(self, came: Came) -> AskedAtRows:
        return AskedAtRows(came, self.size, self.born)


def _multiples(born: int, every: int, came: Came) -> Array:
    """The ends after each so-many-th row."""
    first = came.before + every - (came.before - born) % every
    return np.arange(first, came.end + 1, every, dtype=np.int64)

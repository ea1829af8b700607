"""Where each key's window stands: which rows it holds, when it answers next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sash.windows import cutting
from sash.windows.kept_rows import KeptRows, longer
from sash.windows.shapes import Shape

Array = np.ndarray[Any, Any]
CAME, START, END, NEXT, NEWEST, BEGUN = range(6)
NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Groups:
    """Rows of one key side by side: those of codes[g] are first[g] ≤ i < last[g].

    The first `seen` of them have come before and are not in the window yet.
    """

    codes: Any
    first: Any
    last: Any
    seen: Any
    finish: Any
    """Whose rows end here."""


@dataclass(frozen=True)
class Cuts:
    """What rows and time have done to the windows of some keys, before it is made so."""

    groups: Groups
    before: Any
    """Of each key, the six numbers that `cutting` tells of, as they were."""
    after: Any
    starts: Any
    ends: Any
    times: Any
    since: Any
    rows: Any
    """For each answer, the row that it came at; the end of the group's rows if time brought it."""
    upto: Any
    """For each group, the end of its answers."""


class Tracker:
    """The windows of all keys, as far as `cut` knows them."""

    def __init__(
        self, shape: Shape, least: int, idle: int = cutting.FOREVER, keeps_times: bool = False
    ) -> None:
        """least: no answer for fewer rows; idle: after so long without a row a key begins anew.

        keeps_times: whether the times of rows are asked for later, whatever they leave by.
        """
        self.shape = shape
        self.keeps_times = keeps_times
        # What a policy leaves is not known here.
        self.least = 0 if shape.size == cutting.POLICY else least
        self.idle = idle
        self._states = [np.zeros(0, np.int64) for _ in range(6)]
        self._only: Any = None  # the states of the only key as lists, while rows come one by one
        self.kept = KeptRows()

    @property
    def states(self) -> list[Array]:
        """Of each key, the six numbers that `cutting` tells of."""
        if self._only is not None:
            for state, (number,) in zip(self._states, self._only, strict=True):
                state[0] = number
            self._only = None
        return self._states

    @states.setter
    def states(self, states: list[Array]) -> None:
        self._only, self._states = None, states

    @property
    def measures(self) -> bool:
        """Whether rows leave by a time or a column of theirs, which must be kept then."""
        return self.shape.size in (cutting.TIME, cutting.DELTA)

    def of_rows(self, times: Any, along: Any) -> list[Any]:
        """What is kept of each row but what answers are taken from."""
        found = [along] if self.measures else []
        if self.keeps_times and self.shape.size != cutting.TIME:
            found.append(times)
        return found

    def oldest(self) -> Array:
        """Of each key, the time of the oldest row in its window; a bound, if none is in it yet."""
        came, start, end, newest = (self.states[k] for k in (CAME, START, END, NEWEST))
        found = np.where(came > start, newest, cutting.FOREVER)
        held = np.flatnonzero(end > start)
        if len(held) and self.kept.columns:
            column = self.kept.columns[len(self.of_rows(0, 0)) - 1]
            slots = self.kept.offsets[held] + (start[held] & (self.kept.rooms[held] - 1))
            found[held] = column[slots]
        return found

    def add(self, keys: int) -> None:
        """There are so many keys now."""
        self.states = [longer(state, keys) for state in self.states]
        self.kept.add(keys)

    def cut(
        self,
        groups: Groups,
        times: Any,
        along: Any,
        marks: Any,
        now: int = cutting.NEVER,
        few: bool = False,
    ) -> Cuts:
        """What these rows do, and then the time `now`; in plain Python if they are few."""
        kept = self.kept.columns[0] if self.measures and self.kept.columns else NOTHING
        size, width, every, offset = self.shape.numbers
        codes = groups.codes
        before = [s[codes] for s in self.states]
        offsets, masks = self.kept.offsets[codes], self.kept.rooms[codes] - 1
        grouped: tuple[Any, ...] = (groups.first, groups.last, groups.seen)
        if few:
            states = [s.tolist() for s in before]
            first = groups.first[0] + groups.seen[0]
            if self.kept.far and self.measures and first < groups.last[0]:
                self._skip(states, times[first] if len(times) else 0, along[first])
            found: tuple[Any, ...] = ({}, {}, {}, {}, {})  # grow as they are written
            upto: Any = [0] * len(codes)
            given = (states, offsets.tolist(), masks.tolist(), kept, times, along, marks)
            loop = self.shape.loops[0]
            rest = (size, width, every, offset, self.least, self.idle, now, groups.finish)
            self._check(loop(*grouped, *given, *rest, True, found, upto))
            starts, ends, at, since, rows = (list(each.values()) for each in found)
            return Cuts(groups, before, states, starts, ends, at, since or at, rows, upto)
        loop = self.shape.loops[1]
        if kept is NOTHING and self.measures:
            kept = np.zeros(1, along.dtype)
        upto = np.zeros(len(codes), np.int64)
        rest = (
            *(size, along.dtype.type(width), every, offset),
            *(self.least, self.idle, now, groups.finish),
        )

        def run(count: int, writing: bool) -> tuple[int, Any, Any]:
            states = tuple(s.copy() for s in before)
            noted = 0 if self.shape.plain else count
            found = tuple(np.zeros(each, np.int64) for each in (count, count, *[noted] * 3))
            given = (states, offsets, masks, kept, times, along, marks)
            got = loop(*grouped, *given, *rest, writing, found, upto)
            return self._check(got), found, states

        if self.shape.trigger == cutting.AT_ENDS:
            most = run(0, False)[0]
        elif self.shape.trigger == cutting.AT_ROWS:
            most = int((groups.last - groups.first).sum())
        else:
            most = int((groups.last - groups.first + 1).sum())
        count, found, states = run(most, True)
        starts, ends, at, since, rows = (each[:count] for each in found)
        return Cuts(groups, before, states, starts, ends, at, since, rows, upto)

    def only(self) -> list[list[int]]:
        """The states of the only key, while rows come one by one; what is written there counts."""
        if self._only is None:
            self._only = [state.tolist() for state in self._states]
        found: list[list[int]] = self._only
        return found

    def cut_one(self, time: int, along: Any, mark: Any) -> tuple[Any, Any, Any]:
        """What one row of the only key does: its states before and after, and what is found."""
        before = self.only()
        after = [[number] for (number,) in before]
        if self.kept.far and self.measures:
            self._skip(after, time, along)
        found: tuple[dict[int, Any], ...] = ({}, {}, {}, {}, {})
        kept, at, mask = self.kept.only() if self.measures else (NOTHING, 0, 0)
        given = ((0,), (1,), (0,), after, (at,), (mask,), kept, (time,), (along,), (mark,))
        rest = (self.least, self.idle, cutting.NEVER, (False,), True, found, [0])
        self._check(self.shape.loops[0](*given, *self.shape.numbers, *rest))
        return before, after, found

    def _skip(self, states: Any, time: int, along: Any) -> None:
        """Rows of the only key that leave before anything is answered need not be looked at."""
        _, width, _, _ = self.shape.numbers
        came, start, end, following = (states[k][0] for k in (CAME, START, END, NEXT))
        until = along
        if self.shape.trigger == cutting.AT_ENDS:
            if not came or time < following:
                return
            until = following
        states[START][0] = self.kept.skip(start, end, until - width)

    def commit_one(self, before: Any, after: Any, along: Any) -> None:
        """Make it so, and keep the row."""
        self._only = after
        if not self.measures:
            return
        start, end = after[START][0], after[END][0]
        kept = self.kept
        if not kept.columns:
            kept.settle([np.array([along]).dtype])
        if isinstance(along, float) and kept.columns[0].dtype.kind != "f":
            kept.cast(0, np.float64)
        kept.put_one(before[START][0], before[END][0], start, end, along)

    def leaving(self, time: int) -> int:
        """How many rows of the only key's window leave as one comes, if it rolls; -1: refuse it."""
        (came,), (start,), (end,), _, (newest,), _ = self.only()
        if not self.measures:
            return -1 if time < newest else int(came - start == self.shape.numbers[0])
        if time < newest or end == start:
            return -1
        column, at, mask = self.kept.only()
        oldest, position = time - self.shape.numbers[1], start
        while position < end and column.item(at + (position & mask)) <= oldest:
            position += 1
        return position - start

    def commit_rolled(self, leaving: int, time: int) -> None:
        """A row has come to the only key's window, which rolls, and so many have left."""
        came, start, end, _, newest, _ = self.only()
        before, start[0] = start[0], start[0] + leaving
        if self.measures:
            self.kept.put_one(before, end[0], start[0], end[0] + 1, time)
        came[0] = end[0] = came[0] + 1
        newest[0] = time

    def due(self, now: int, finish: bool) -> Array:
        """Which keys have something to answer when time comes to `now`."""
        came = self.states[CAME] > 0
        if finish or self.shape.trigger not in (cutting.AT_ENDS, cutting.WHEN_OVER):
            return came & finish
        if self.shape.trigger == cutting.AT_ENDS:
            return np.asarray(came & (self.states[NEXT] <= now))
        over = self.states[NEWEST] < now - self.shape.numbers[1]
        return np.asarray(came & over & (self.shape.size == cutting.SESSION))

    def _check(self, got: tuple[int, int]) -> int:
        answer, wrong = got
        if wrong:
            raise MisplacedError(int(answer), int(wrong))
        return int(answer)

    def commit(self, cuts: Cuts) -> None:
        """Make it so."""
        for state, after in zip(self.states, cuts.after, strict=True):
            state[cuts.groups.codes] = after
        self.kept.tidy(self.states[START], self.states[END])

    def keep(self, cuts: Cuts, columns: list[Any]) -> None:
        """Keep the rows that are in the windows now, by what rows leave by and answers take.

        columns: an array, or a function of row numbers, for each column that is kept.
        """
        codes = np.asarray(cuts.groups.codes)
        (S, E), (S_then, E_then) = [
            [np.asarray(states[k], np.int64) for k in (START, END)]
            for states in (cuts.before, cuts.after)
        ]
        self.kept.make_room(codes, S, E, S_then, E_then)
        first = np.maximum(S_then, E)
        rows = np.asarray(cuts.groups.first) + first - E
        self.kept.put(codes, first, np.maximum(E_then, first), rows, columns)

    def held(self) -> Array:
        """How many rows each key's window holds, or will with the next."""
        found: Array = self.states[CAME] - self.states[START]
        return found

    def forget(self, codes: Array) -> None:
        for state in self.states:
            state[codes] = 0
        self.kept.forget(codes)

    def copy(self) -> Tracker:
        found = Tracker(self.shape, self.least, self.idle, self.keeps_times)
        found.states = [s.copy() for s in self.states]
        found.kept = self.kept.copy()
        return found


class MisplacedError(Exception):
    """A row that cannot come where it does."""

    def __init__(self, row: int, wrong: int) -> None:
        super().__init__(row, wrong)
        self.row = row
        self.wrong = wrong

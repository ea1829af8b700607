"""Where many windows lie: the rings of each are segments of arrays that all of them share.

A window has a *level*: its rings have room for 2^level values, or none at all on level 0. A window
that needs more gets new segments at the end of the arrays, and its old ones are left behind. Now
and then, when more than half of the arrays is such waste, all windows are moved to fresh ones.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from sash.aggregators.compiling import Compiled, compile_plain
from sash.aggregators.generating import state_layout
from sash.aggregators.plan import Array, levels_for
from sash.aggregators.rings import (
    Settings,
    apart,
    field_types,
    flatten,
    indexes,
    lays_out,
    lengths,
    overwritten,
    put_once,
)
from sash.operators.monoid import Monoid

LEVELS = 41
NUMBER = np.dtype(np.int64)


class Segments:
    """The rings and states of many windows, by the codes of their keys."""

    def __init__(
        self, algorithm: ModuleType, monoid: Monoid, settled: Settings, new: tuple[Any, ...]
    ) -> None:
        """settled: what is in rings that never change; new: the state of an empty window, flat."""
        self.algorithm = algorithm
        self.new = new
        names = (*algorithm.RINGS, *indexes(algorithm))
        fields = field_types(monoid)
        self.types = [fields if r < len(algorithm.RINGS) else [NUMBER] for r in range(len(names))]
        self.shared = np.array([name in settled for name in names], bool)
        self.put_once = [name in put_once(algorithm) for name in names]
        self.lengths = np.zeros((LEVELS, len(names)), np.int64)
        for level in range(1, LEVELS):
            self.lengths[level] = lengths(algorithm, 1 << level, settled)
        self.pools: list[tuple[Array, ...]] = []
        for r, name in enumerate(names):
            if name in settled:
                self.lengths[:, r] = len(settled[name])
                self.pools.append((np.array(settled[name], np.int64),))
            else:
                self.pools.append(self._arrays(r, 0))
        self.weights = np.where(self.shared, 0, self.lengths).sum(axis=1)
        # What a slot holds before anything is put there, if that matters.
        self.blank = flatten(monoid.identity()) if lays_out(algorithm) else None
        self.used = np.zeros(len(names), np.int64)
        self.work = 0
        self.count = 0
        self.held = np.zeros(0, np.int64)
        self.levels = np.zeros(0, np.int8)
        self.offsets = np.zeros((0, len(names)), np.int64)
        columns: list[np.dtype[Any]] = []
        self.is_position: list[bool] = []
        for is_partial in state_layout(algorithm):
            columns += fields if is_partial else [NUMBER]
            self.is_position += [not is_partial] * (len(columns) - len(self.is_position))
        self.kept = tuple(np.zeros(0, dtype) for dtype in columns)

    def rings(self) -> tuple[Any, ...]:
        """The shared arrays, as compiled loops take them."""
        partials = len(self.algorithm.RINGS)
        return (*self.pools[:partials], *(arrays[0] for arrays in self.pools[partials:]))

    def windows(self) -> tuple[Any, ...]:
        """What compiled loops find any window by."""
        return self.rings(), self.offsets, self.lengths, self.levels, self.kept

    # Keys

    def add(self, count: int) -> None:
        """So many keys more, without any room."""
        start, self.count = self.count, self.count + count
        if self.count > len(self.held):
            room = max(self.count, 2 * len(self.held))
            self.held = _longer(self.held, room)
            self.levels = _longer(self.levels, room)
            self.offsets = _longer(self.offsets, room)
            self.kept = tuple(_longer(column, room) for column in self.kept)
        self._empty(slice(start, self.count))

    def forget(self, keys: Array) -> None:
        """The windows of these keys are empty, and have no room."""
        self.work += int(self.weights[self.levels[keys]].sum())
        self._empty(keys)
        self.levels[keys] = 0

    def _empty(self, keys: Any) -> None:
        self.held[keys] = 0
        self.set_states(keys, self.new)

    def set_states(self, keys: Any, states: Any) -> None:
        """Write the states of these keys, column by column."""
        for column, value in zip(self.kept, states, strict=True):
            column[keys] = value

    # Room

    def grow(self, compiled: Compiled, keys: Array, levels: Array) -> None:
        """Give the windows of these keys the room of another level."""
        self.work += int(self.weights[levels].sum())
        offsets, ends = self._one_after_the_other(levels)
        self._reserve(ends)
        pools = self.rings()
        self._move(compiled, pools, pools, keys, offsets, levels.astype(np.int8))

    def _one_after_the_other(self, levels: Array) -> tuple[Array, Array]:
        """Where new segments of these levels lie, and where the last of them end."""
        each = np.where(self.shared, 0, self.lengths[levels])
        ends = np.cumsum(each, axis=0) + self.used
        return ends - each, ends[-1]

    def _reserve(self, ends: Array) -> None:
        """Arrays that reach as far as `ends`."""
        for r in np.flatnonzero(~self.shared).tolist():
            start, end = int(self.used[r]), int(ends[r])
            arrays = self.pools[r]
            if end > len(arrays[0]):
                self.pools[r] = self._arrays(r, max(end, 2 * len(arrays[0])))
                for array, before in zip(self.pools[r], arrays, strict=True):
                    array[:start] = before[:start]
            if self.blank is not None:
                blanks = self.blank if r < len(self.algorithm.RINGS) else (0,)
                for array, blank in zip(self.pools[r], blanks, strict=True):
                    array[start:end] = blank
        self.used = ends

    def _arrays(self, r: int, length: int) -> tuple[Array, ...]:
        return tuple(apart(i, np.empty, length, dtype) for i, dtype in enumerate(self.types[r]))

    def _move(
        self, compiled: Compiled, old: Any, pools: Any, keys: Array, offsets: Array, levels: Array
    ) -> None:
        """What the windows hold, to segments that lie there."""
        full = self.held[keys] > 0
        if full.any():
            there = (
                (keys, offsets, levels) if full.all() else (keys[full], offsets[full], levels[full])
            )
            compiled.call(
                "move_keys",
                *(old, pools, self.lengths, there[0], self.offsets, self.levels),
                *(*there[1:], self.kept),
            )
        self._empty(keys[~full])
        self.offsets[keys] = offsets
        self.levels[keys] = levels

    def tidy_if_due(self, compiled: Compiled, work: int) -> None:
        """Look for waste when as much has been done since the last time as looking costs."""
        self.work += work
        if self.work > int(self.used.sum()) + self.count:
            self.work = 0
            self.tidy(compiled)

    def tidy(self, compiled: Compiled) -> None:
        """Move all windows to fresh arrays, if they need less than half of these.

        One that has shrunk to less than a quarter of its room gives some back; an empty one, all.
        """
        keys = np.flatnonzero(self.levels[: self.count])
        held, levels = self.held[keys], self.levels[keys].astype(np.int64)
        if not getattr(self.algorithm, "KEEPS_ROOM", False):
            levels = np.where(4 * held < (1 << levels), levels_for(2 * held), levels)
        levels[held == 0] = 0
        if 2 * int(self.weights[levels].sum()) > int(self.used.sum()):
            return
        self.forget(keys[levels == 0])
        keys, levels = keys[levels > 0], levels[levels > 0]
        old = self.rings()
        self.used = np.zeros_like(self.used)
        for r in np.flatnonzero(~self.shared).tolist():
            self.pools[r] = self._arrays(r, 0)
        if len(keys):
            offsets, ends = self._one_after_the_other(levels)
            self._reserve(ends)
            self._move(compiled, old, self.rings(), keys, offsets, levels.astype(np.int8))
        self.work = 0

    # Copies

    def copy(self) -> Segments:
        found = copy.copy(self)
        found.pools = [
            arrays if shared else tuple(array.copy() for array in arrays)
            for arrays, shared in zip(self.pools, self.shared, strict=True)
        ]
        found.held, found.levels = self.held.copy(), self.levels.copy()
        found.offsets, found.used = self.offsets.copy(), self.used.copy()
        found.kept = tuple(column.copy() for column in self.kept)
        return found

    def backup(self, keys: Array, counts: Array) -> Callable[[], None]:
        """Copy what so many values of these keys can write over; what is returned puts it back.

        They may have got more room in between.
        """
        places: list[Array] = [self.held, self.levels, self.offsets, *self.kept]
        columns = [(column, column[keys]) for column in places]
        pools, used = list(self.pools), self.used
        run = compile_plain(copy_parts)
        saved = []
        for r in np.flatnonzero(~self.shared).tolist():
            starts, sizes = self._at_risk(r, keys, counts)
            there = np.cumsum(sizes) - sizes
            for array in self.pools[r]:
                before = np.empty(int(sizes.sum()), array.dtype)
                run(array, before, starts, there, sizes)
                saved.append((before, array, there, starts, sizes))

        def undo() -> None:
            for part in saved:
                run(*part)
            for column, before in columns:
                column[keys] = before
            self.pools, self.used = pools, used

        return undo

    def _at_risk(self, r: int, keys: Array, counts: Array) -> tuple[Array, Array]:
        """Which parts of the r-th ring's arrays these windows can write to, where it matters."""
        levels = self.levels[keys].astype(np.int64)
        starts, sizes = self.offsets[keys, r], self.lengths[levels, r]
        if self.put_once[r]:
            lengths = sizes
            first, sizes = overwritten(lengths, 1 << levels, self.kept[1][keys], counts)
            before_end = np.minimum(sizes, lengths - first)
            starts = np.concatenate([starts + first, starts])
            sizes = np.concatenate([before_end, sizes - before_end])
        if 2 * int(sizes.sum()) < int(self.used[r]):
            return starts, sizes
        return np.zeros(1, np.int64), self.used[r : r + 1]


def copy_parts(source, target, sources, targets, sizes):  # type: ignore[no-untyped-def]
    """Copy parts of one array to another, from where and to where it is told."""
    for i in range(len(sizes)):
        s, t = sources[i], targets[i]
        for j in range(sizes[i]):
            target[t + j] = source[s + j]


def _longer(array: Array, length: int) -> Array:
    found = np.zeros((length, *array.shape[1:]), array.dtype)
    found[: len(array)] = array
    return found

"""Where one window's partials are kept: lists for single calls, arrays for compiled loops.

The algorithm sees rings and a state either way. Going from one to the other costs the window's
length, once: a caller that stays with single calls, or with bulk calls, does not pay it again.
"""

from __future__ import annotations

from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from sash.aggregators.binding import bind
from sash.aggregators.generating import state_layout
from sash.aggregators.registry import check_fits
from sash.aggregators.running import flatten, ring_length
from sash.aggregators.sources import may_raise
from sash.operators.monoid import Monoid, Partial


class Kept:
    """The rings and the state of one algorithm, and its functions in plain Python."""

    def __init__(self, algorithm: ModuleType, monoid: Monoid) -> None:
        self.algorithm = algorithm
        self.monoid = monoid
        check_fits(algorithm, monoid)
        self.run = bind(algorithm, monoid)
        self.state: Any = self.run.new()
        self.rings: list[Any] = [[None] * ring_length(1) for _ in algorithm.RINGS]
        self.in_arrays = False

    # Single calls

    def insert(self, p: Partial, held: int) -> None:
        self.to_lists()
        self.grow(held + 1)
        self.state = self.run.insert(self.rings, self.state, p)

    def evict(self, count: int) -> None:
        self.to_lists()
        start = self.run.span(self.state)[0]
        if count == 1:
            self.state = self.run.evict(self.rings, self.state)
        else:
            self.state = self.run.bulk_evict(self.rings, self.state, count)
        self._forget(start, start + count)

    def query(self) -> Partial:
        self.to_lists()
        return self.run.query(self.rings, self.state)

    def check_invariants(self, window: list[Partial]) -> None:
        self.to_lists()
        self.run.check_invariants(self.rings, self.state, window)

    def partials_held(self) -> int:
        """How many partials are kept, in rings and beside them."""
        self.to_lists()
        in_rings = sum(p is not None for ring in self.rings for p in ring)
        return in_rings + sum(state_layout(self.algorithm))

    # Room

    def grow(self, count: int) -> None:
        """Make room for so many partials in each ring, in lists."""
        old = self.rings
        if count <= len(old[0]):
            return
        length = ring_length(count)
        self.rings = [[None] * length for _ in old]
        for ring, before in zip(self.rings, old, strict=True):
            for i in range(*self.run.span(self.state)):
                ring[i & (length - 1)] = before[i & (len(before) - 1)]

    @cached_property
    def may_stop(self) -> bool:
        """Whether a loop over this operator can end with an error, half-way."""
        return may_raise(self.monoid)

    def copied(self) -> tuple[Any, ...]:
        """The rings once more, for a loop that may not come to its end."""
        return tuple(tuple(array.copy() for array in ring) for ring in self.rings)

    def _forget(self, first: int, last: int) -> None:
        """Let go of partials that have left the window."""
        start, end = self.run.span(self.state)
        for position in range(first, last):
            if not start <= position < end:
                for ring in self.rings:
                    ring[position & (len(ring) - 1)] = None

    # Lists and arrays

    def to_arrays(self, count: int) -> None:
        """For a compiled loop: each field in an array of its own, with room for so many."""
        state = self._unflattened(self.state) if self.in_arrays else self.state
        held = np.arange(*self.run.span(state))
        old_length = len(self.rings[0][0]) if self.in_arrays else len(self.rings[0])
        length = max(old_length, ring_length(count))
        if self.in_arrays and length == old_length:
            return
        before, after = held & (old_length - 1), held & (length - 1)
        types = [dtype for leaf in self.monoid.leaves() for _, dtype in leaf.fields or ()]
        for k, ring in enumerate(self.rings):
            arrays = tuple(np.zeros(length, dtype) for dtype in types)
            if self.in_arrays:
                for array, old in zip(arrays, ring, strict=True):
                    array[after] = old[before]
            else:
                there = [(at, ring[i]) for at, i in zip(after, before, strict=True)]
                for at, p in there:
                    for array, value in zip(
                        arrays, flatten(p) if p is not None else (), strict=False
                    ):
                        array[at] = value
            self.rings[k] = arrays
        self.state = flatten(state)
        self.in_arrays = True

    def to_lists(self) -> None:
        """For single calls: each partial a Python object."""
        if not self.in_arrays:
            return
        self.in_arrays = False
        self.state = self._unflattened(self.state)
        start, end = self.run.span(self.state)
        for k, arrays in enumerate(self.rings):
            length = len(arrays[0])
            ring: list[Any] = [None] * length
            fields = [array.tolist() for array in arrays]
            for i in range(start, end):
                at = i & (length - 1)
                ring[at] = self._partial([values[at] for values in fields])
            self.rings[k] = ring

    def _unflattened(self, flat: tuple[Any, ...]) -> tuple[Any, ...]:
        width = sum(len(leaf.fields or ()) for leaf in self.monoid.leaves())
        state: list[Any] = []
        at = 0
        for is_partial in state_layout(self.algorithm):
            step = width if is_partial else 1
            part = list(flat[at : at + step])
            state.append(self._partial(part) if is_partial else part[0])
            at += step
        return tuple(state)

    def _partial(self, fields: list[Any]) -> Partial:
        if not self.monoid.members:
            return self.monoid.partial._make(fields)
        parts, at = [], 0
        for leaf in self.monoid.leaves():
            width = len(leaf.fields or ())
            parts.append(leaf.partial._make(fields[at : at + width]))
            at += width
        return self.monoid.partial._make(parts)

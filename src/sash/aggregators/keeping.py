"""Where one window's partials are kept: lists for single calls, arrays for compiled loops.

The algorithm sees rings and a state either way. Going from one to the other costs the window's
length, once: a caller that stays with single calls, or with bulk calls, does not pay it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cached_property
from itertools import accumulate
from types import ModuleType
from typing import Any

import numpy as np

from sash.aggregators.binding import bind
from sash.aggregators.compiling import Compiled
from sash.aggregators.generating import state_layout
from sash.aggregators.registry import fitting
from sash.aggregators.rings import (
    NOTHING,
    Settings,
    as_arrays,
    as_lists,
    flatten,
    indexes,
    lays_out,
    lengths,
    overwritten,
    put_once,
    ring_length,
)
from sash.aggregators.slide_policies import check_monotone
from sash.aggregators.sources import may_raise
from sash.operators.monoid import Monoid, Partial

SMALLEST = ring_length(1)
FEW = 512
"""A window of fewer values goes back to lists for a single eviction; a longer one stays."""
MOVED_AT_ONCE = 1024
"""From rings of so many places values are moved to others, and these freed, in no time."""


class Kept:
    """The rings and the state of one algorithm, and its functions in plain Python."""

    def __init__(self, algorithm: ModuleType, monoid: Monoid, settled: Settings = NOTHING) -> None:
        self.algorithm = algorithm = fitting(algorithm, monoid)
        self.monoid = monoid
        self.settled = settled
        self.run = bind(algorithm, monoid)
        self.state: Any = self.run.new()
        self.capacity = SMALLEST
        self.rings: list[Any] = as_lists(algorithm, monoid, self.capacity, settled)
        self.in_arrays = False
        self.single_calls = 0
        self.journals: list[Journal] | None = None
        """What single calls write over is noted here, if it is not None."""
        self.compiled: Compiled | None = None
        self.too_roomy = False
        """Whether so much has left at once that the next value finds smaller rings."""
        self._insert, self._evict = self.run.insert, self.run.evict
        self._query, self._size = self.run.query, self.run.size
        self._used = getattr(self.run, "used", self.run.size)
        self._journals = self.may_stop_inserting or not monoid.fixed_width
        # Partials of a few numbers may stay in their slots until others come.
        self._forgets = not (lays_out(algorithm) or monoid.fixed_width)

    # Single calls

    def insert(self, p: Partial) -> None:
        if self.too_roomy:
            self.give_back(self.held())
        if self._used(self.state if not self.in_arrays else self._as_items()) >= self.capacity:
            self.make_room()
        self.put_back(self._at_once(self._insert, p))

    def evict(self, count: int) -> None:
        held = self.held()
        loops = self.in_arrays and self.compiled is not None and self.journals is None
        if loops and held > FEW:
            assert self.compiled is not None
            rings = tuple(self.rings)
            self.state = self.compiled.call("bulk_evict", rings, self.state, count)
        else:
            before = self.state
            if count == 1:
                self.put_back(self._at_once(self._evict))
            else:
                self.put_back(self._at_once(self.run.bulk_evict, count))
            if self._forgets:
                start = self.run.span(before)[0]
                self._forget(start, start + count)
        self._shrunk(held - count)

    def roll(self, p: Partial, leaving: int) -> Partial:
        """So many oldest leave, a partial comes in, and what there is then answers."""
        at_once = leaving <= 1 and self.never_fails and not self.too_roomy
        if not at_once or self.in_arrays or self.journals is not None:
            if leaving:
                self.evict(leaving)
            self.insert(p)
            return self.query()
        state = self._evict(self.rings, self.state) if leaving else self.state
        if self._used(state) >= self.capacity:
            self.state = state
            self.make_room()
            state = self.state
        self.state = state = self._insert(self.rings, state, p)
        return self._query(self.rings, state)

    def at_hand(self) -> tuple[list[Any], Any]:
        """Rings and state as plain Python takes them.

        A long window that a compiled loop has filled stays in arrays for a while: single calls read
        and write the fields of partials where they are, until there have been as many as the window
        has values; moving them to lists would not have cost more.
        """
        if self.in_arrays:
            self.single_calls += 1
            if self.held() <= max(FEW, self.single_calls):
                self.to_lists()
        rings, state = self.rings, self.state
        if self.in_arrays:
            rings = [InFields(r, self._partial) if isinstance(r, tuple) else r for r in rings]
            state = self._as_items()
        if self.journals is not None:
            rings = [Journal(ring) for ring in rings]
            self.journals += rings
        return rings, state

    def put_back(self, state: Any) -> None:
        self.state = flatten(state) if self.in_arrays else state

    def evict_while(self, policy: Callable[[Partial, Partial], bool], debug: bool = False) -> int:
        """Evict by a slide policy on partials; how many have left.

        debug: try it on every number of oldest values first, and refuse one that is ambiguous.
        """
        held = self.held()
        rings, state = self.at_hand()
        if debug:
            total = self.run.query(rings, state)
            values = (self.run.nth(rings, state, i) for i in range(held))
            check_monotone(policy(total, old) for old in accumulate(values, self.monoid.combine))
        self.put_back(self.run.evict_while(rings, state, policy))
        left = self.held()
        self._shrunk(left)
        return held - left

    def _at_once(self, call: Callable[..., Any], *args: Any) -> Any:
        """A call that an error in ⊕ ends with nothing changed, where it would else be half done."""
        rings, state = self.at_hand()
        if not self._journals or self.journals is not None:
            return call(rings, state, *args)
        rings = [Journal(ring) for ring in rings]
        try:
            return call(rings, state, *args)
        except BaseException:
            for ring in rings:
                ring.undo()
            raise

    def query(self) -> Partial:
        return self._at_once(self.run.query)

    def query_last(self, count: int) -> Partial:
        return self._at_once(self.run.query_last, count)

    # By handle

    def evict_handle(self, handle: int) -> None:
        self.to_lists()
        position = self.run.position_of(self.rings, self.state, handle)
        self.state = self._at_once(self.run.evict_at, position)
        self.give_back(self.held())

    def update(self, replaced: dict[int, Partial]) -> None:
        """Write partials over those with these handles, and what depends on them."""
        self.to_lists()
        tree, _, work = self.rings
        at = {
            self.run.leaf_of(tree, self.run.position_of(self.rings, self.state, handle)): p
            for handle, p in replaced.items()
        }

        def write(rings: list[Any], state: Any) -> None:
            for leaf, p in at.items():
                rings[0][leaf] = p
            self.run.propagate(rings, len(at))

        work[: len(at)] = sorted(at)
        self._at_once(write)

    def between_handles(self, first: int | None, last: int | None) -> Partial:
        """The sum from one handle to another, both included; None: from, or to, the end."""
        self.to_lists()
        start, end = self.state[:2]
        if first is not None:
            start = self.run.position_of(self.rings, self.state, first)
        if last is not None:
            end = self.run.position_of(self.rings, self.state, last) + 1
        return self.run.sum_between(self.rings, start, end)

    # Checks

    def check_invariants(self, window: list[Partial]) -> None:
        self.to_lists()
        self.run.check_invariants(self.rings, self.state, window)

    def partials_held(self) -> int:
        """How many partials are kept, in rings and beside them."""
        self.to_lists()
        partials = self.rings[: len(self.algorithm.RINGS)]
        in_rings = sum(p is not None for ring in partials for p in ring)
        return in_rings + sum(state_layout(self.algorithm))

    def held(self) -> int:
        """How many values the window holds."""
        found: int = self._size(self._as_items() if self.in_arrays else self.state)
        return found

    def used(self) -> int:
        """How many slots are in use: more than are held, if there are holes between them."""
        found: int = self._used(self._as_items())
        return found

    def empty_state(self) -> tuple[Any, ...]:
        """The state of a window that has run empty."""
        emptied = getattr(self.run, "emptied", None)
        state: tuple[Any, ...] = emptied(self._as_items()) if emptied else self.run.new()
        return state

    def emptied(self) -> Kept:
        """One that holds nothing, for the same algorithm and operator."""
        found = copy(self)
        found.state, found.capacity = self.run.new(), SMALLEST
        found.rings = as_lists(self.algorithm, self.monoid, SMALLEST, self.settled)
        found.in_arrays, found.single_calls, found.journals = False, 0, None
        found.too_roomy = False
        return found

    # Room

    def make_room(self, more: int = 1) -> None:
        """See that so many more values fit."""
        held, used = self.held(), self.used()
        if used + more <= self.capacity:
            return
        if used > held and held <= self.capacity * 3 // 4 and held + more <= self.capacity:
            self.state = self.run.compact(self.rings, self.state)
        else:
            self._move(ring_length(max(held, self.capacity) + more))

    def _shrunk(self, held: int) -> None:
        """Give room back: at once if nothing is left, or was there; else when a value comes.

        To move what is left, and to free the rest, takes as long as there is of it, and evictions
        of any number may not: insertions are those that take constant time only on average.
        """
        if held == 0 or self.capacity <= MOVED_AT_ONCE:
            self.give_back(held)
        elif held < self.capacity // 4:
            self.too_roomy = True

    def give_back(self, held: int) -> None:
        """A window that has shrunk to less than a quarter of its room gives half of it back."""
        self.too_roomy = False
        if self.capacity == SMALLEST or held >= self.capacity // 4:
            return
        if held == 0 or not getattr(self.algorithm, "KEEPS_ROOM", False):
            self._move(max(ring_length(2 * held), SMALLEST))

    def _move(self, capacity: int) -> None:
        """To rings of another capacity."""
        if self.in_arrays and self.compiled is None and lays_out(self.algorithm):
            self.to_lists()  # of a window that was loaded, which no loop has seen yet
        before = self.rings, self.capacity, self.state
        try:
            self._move_to(capacity)
        except BaseException:  # of ⊕
            self.rings, self.capacity, self.state = before
            raise

    def _move_to(self, capacity: int) -> None:
        old, self.capacity = self.rings, capacity
        make = as_arrays if self.in_arrays else as_lists
        self.rings = make(self.algorithm, self.monoid, capacity, self.settled)
        if not self.held():
            state = self.empty_state()
            self.state = flatten(state) if self.in_arrays else state
        elif not lays_out(self.algorithm):
            self._move_span(old)
        elif self.in_arrays:
            assert self.compiled is not None
            rings = tuple(self.rings)
            self.state = self.compiled.call("regrow", tuple(old), rings, self.state)
        else:
            self.state = self.run.regrow(old, self.rings, self.state)

    def _move_span(self, old: list[Any]) -> None:
        start, end = self.run.span(self._as_items())
        positions = np.arange(start, end)
        for ring, before in zip(self.rings, old, strict=True):
            if not self.in_arrays:
                for i in range(start, end):
                    ring[i & (len(ring) - 1)] = before[i & (len(before) - 1)]
                continue
            for array, source in zip(_arrays(ring), _arrays(before), strict=True):
                array[positions & (len(array) - 1)] = source[positions & (len(source) - 1)]

    @cached_property
    def may_stop(self) -> bool:
        """Whether a loop over this operator can end with an error, half-way."""
        return may_raise(self.monoid)

    @cached_property
    def may_stop_inserting(self) -> bool:
        """The same for a loop that only inserts."""
        return may_raise(self.monoid, answering=False)

    @cached_property
    def never_fails(self) -> bool:
        """Whether no function of the operator raises, given values that it takes."""
        return self.monoid.fixed_width and not self.may_stop

    @contextmanager
    def unless_it_fails(self, count: int, may_stop: bool) -> Iterator[tuple[Any, ...]]:
        """Rings for a loop over so many values; one that fails leaves the window as it was.

        If it can, it is given copies; but of rings of `PUT_ONCE` what it can write over is kept.
        """
        rings, parts = list(self.rings), list[Any]()
        names = (*self.algorithm.RINGS, *indexes(self.algorithm))
        for r, name in enumerate(names if may_stop else ()):
            if name in put_once(self.algorithm):
                parts += [part for array in rings[r] for part in self._at_risk(array, count)]
            else:
                rings[r] = _copy(rings[r])
        before = [part.copy() for part in parts]
        try:
            yield tuple(rings)
        except BaseException:
            for part, values in zip(parts, before, strict=True):
                part[:] = values
            raise
        self.rings = rings

    def _at_risk(self, array: Any, count: int) -> list[Any]:
        """The parts of a ring of `PUT_ONCE` that so many values can write over."""
        first, size = overwritten(len(array), self.capacity, self.state[1], count)
        return [array[first : first + size], array[: max(first + size - len(array), 0)]]

    def copied(self) -> tuple[Any, ...]:
        """The rings once more, for a loop that may not come to its end."""
        return tuple(_copy(ring) for ring in self.rings)

    def forget_between(self, before: Any) -> None:
        """Let go of partials that have left the window since its state was this one."""
        if self._forgets:
            start, end = self.run.span(self.state)
            # The slots of those before are taken by others already.
            self._forget(max(self.run.span(before)[0], end - self.capacity), start)

    def _forget(self, first: int, last: int) -> None:
        """Let go of partials that have left the window."""
        start, end = self.run.span(self.state)
        rings = self.rings[: len(self.algorithm.RINGS)]
        if self.journals is not None:
            rings = [Journal(ring) for ring in rings]
            self.journals += rings
        for position in range(first, last):
            if not start <= position < end:
                for ring in rings:
                    ring[position & (len(ring) - 1)] = None

    # Lists and arrays

    def to_arrays(self, compiled: Compiled, count: int) -> None:
        """For a compiled loop: each field in an array of its own, with room for so many."""
        self.compiled = compiled
        self.single_calls = 0
        if self.too_roomy:
            self.give_back(max(self.held(), count))
        if not self.in_arrays:
            if not self.held():  # nothing to take along: straight to the right size
                self.capacity = max(self.capacity, ring_length(count))
                self.state = self.empty_state()
                self.rings = as_arrays(self.algorithm, self.monoid, self.capacity, self.settled)
            else:
                if self.used() > self.held():
                    self.state = self.run.compact(self.rings, self.state)
                lists = self.rings
                self.rings = as_arrays(self.algorithm, self.monoid, self.capacity, self.settled)
                for ring, values in zip(self.rings, lists, strict=True):
                    self._fill(ring, values)
            self.state = flatten(self.state)
            self.in_arrays = True
        if count > self.capacity:
            self._move(ring_length(count))

    def _fill(self, ring: Any, values: list[Any]) -> None:
        if not isinstance(ring, tuple):
            ring[:] = values
            return
        there = [(at, flatten(p)) for at, p in enumerate(values) if p is not None]
        slots = np.array([at for at, _ in there], np.int64)
        for k, array in enumerate(ring):
            array[slots] = np.array([fields[k] for _, fields in there], array.dtype)

    def to_lists(self) -> None:
        """For single calls: each partial a Python object."""
        if not self.in_arrays:
            return
        self.state = self._as_items()
        self.in_arrays = False
        if lays_out(self.algorithm):
            room = lengths(self.algorithm, self.capacity, self.settled)
            used: Any = [range(n) for n in room]
        else:
            start, end = self.run.span(self.state)
            slots = [i & (self.capacity - 1) for i in range(start, end)]
            used = [slots] * len(self.rings)
        arrays = self.rings
        self.rings = as_lists(self.algorithm, self.monoid, self.capacity, self.settled)
        for ring, before, slots in zip(self.rings, arrays, used, strict=True):
            if not isinstance(before, tuple):
                ring[:] = before.tolist()
                continue
            fields = [array.tolist() for array in before]
            for at in slots:
                ring[at] = self._partial([values[at] for values in fields])

    def _as_items(self) -> tuple[Any, ...]:
        """The state, with its partials whole."""
        if not self.in_arrays:
            items: tuple[Any, ...] = self.state
            return items
        return as_items(self.algorithm, self.monoid, self.state)

    def _partial(self, fields: list[Any]) -> Partial:
        return as_partial(self.monoid, fields)


def as_items(algorithm: ModuleType, monoid: Monoid, flat: Any) -> tuple[Any, ...]:
    """A state with its partials whole, given as a flat tuple of numbers."""
    width = sum(len(leaf.fields or ()) for leaf in monoid.leaves())
    state: list[Any] = []
    at = 0
    for is_partial in state_layout(algorithm):
        step = width if is_partial else 1
        part = list(flat[at : at + step])
        state.append(as_partial(monoid, part) if is_partial else part[0])
        at += step
    return tuple(state)


def as_partial(monoid: Monoid, fields: list[Any]) -> Partial:
    """A partial, given its fields."""
    if not monoid.members:
        return monoid.partial._make(fields)
    parts, at = [], 0
    for leaf in monoid.leaves():
        width = len(leaf.fields or ())
        parts.append(leaf.partial._make(fields[at : at + width]))
        at += width
    return monoid.partial._make(parts)


def _copy(ring: Any) -> Any:
    return tuple(array.copy() for array in ring) if isinstance(ring, tuple) else ring.copy()


def _arrays(ring: Any) -> tuple[Any, ...]:
    return ring if isinstance(ring, tuple) else (ring,)


class InFields:
    """A ring whose partials lie in arrays, one for each field, as a list of partials."""

    def __init__(self, arrays: tuple[Any, ...], make: Callable[[list[Any]], Partial]) -> None:
        self.arrays = arrays
        self.make = make

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, i: int) -> Partial:
        return self.make([array[i].item() for array in self.arrays])

    def __setitem__(self, i: int, p: Partial) -> None:
        for array, value in zip(self.arrays, flatten(p), strict=True):
            array[i] = value


class Journal:
    """A ring that remembers what was written over."""

    def __init__(self, ring: Any) -> None:
        self.ring = ring
        self.before: list[tuple[int, Any]] = []

    def __len__(self) -> int:
        return len(self.ring)

    def __getitem__(self, i: int) -> Any:
        return self.ring[i]

    def __setitem__(self, i: int, value: Any) -> None:
        self.before.append((i, self.ring[i]))
        self.ring[i] = value

    def undo(self) -> None:
        for i, value in reversed(self.before):
            self.ring[i] = value

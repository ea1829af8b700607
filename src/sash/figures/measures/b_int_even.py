"""B-Int with answers that take the same way at every slide: no branch depends on the window.

Only for a measurement of what its branches cost. Each level gives an interval or, where none is
needed, the identity, which stands in slot 0; so there are more ⊕, up to two for each level.
"""

from __future__ import annotations

from typing import Any

from sash.aggregators.b_int import insert as insert_interval
from sash.aggregators.b_int import slot
from sash.aggregators.primitives import Partial, Ring, State, combine, identity, load, store

RINGS = ("nodes",)


def room(capacity: int) -> tuple[int, ...]:
    return (2 * capacity,)


def new() -> State:
    return 0, 0


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    (nodes,) = rings
    store(nodes, 0, identity())
    return insert_interval(rings, state, v)


def evict(rings: tuple[Ring, ...], state: State) -> State:
    F, E = state
    return F + 1, E


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    (nodes,) = rings
    i, end = state
    total = identity()
    level = 0
    while i + (1 << level) <= end:
        there = (i >> level) & 1
        total = combine(total, load(nodes, there * slot(nodes, i, level)))
        i += there << level
        level += 1
    while level > 0:
        level -= 1
        there = ((end - i) >> level) & 1
        total = combine(total, load(nodes, there * slot(nodes, i, level)))
        i += there << level
    return total


def regrow(old: tuple[Ring, ...], rings: tuple[Ring, ...], state: State) -> State:
    raise NotImplementedError("its windows have their room from the start.")


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    assert len(window) == state[1] - state[0]

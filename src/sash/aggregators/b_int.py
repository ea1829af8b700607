"""B-Int, base intervals: the sums of 1, 2, 4, 8, … values, each formed when it is complete.

order FIFO · needs associativity · time < 1 ⊕ per insert amortised, log n at worst, 0 per evict,
≤ 2 log n per query · space 2n to 4n
paper Resource Sharing in Continuous Sliding-Window Aggregates (2004)

Intervals are dyadic: on level l they are 2^l long and begin at the multiples of 2^l. Any range is a
few of them, side by side: they grow longer from its start, and shorter again towards its end.
Unlike the nodes of a tree over the window, an interval does not change once it is there: it needs
no second ⊕ when its oldest value leaves, and none is formed that is not whole inside the window.

All levels share one ring, laid out as a heap: the values in its second half, the sums of two in the
quarter before it, and so on. On each level the intervals take turns.

Invariant (F ≤ E), on each level l, for each multiple i of 2^l with F ≤ i and i + 2^l ≤ E:
  nodes[slot(i, l)] = v[i] ⊕ … ⊕ v[i + 2^l - 1]
"""

from __future__ import annotations

from typing import Any

from sash.aggregators.primitives import (
    Partial,
    Ring,
    State,
    combine,
    fold,
    identity,
    length_of,
    load,
    same,
    store,
)

RINGS = ("nodes",)


def room(capacity: int) -> tuple[int, ...]:
    return (2 * capacity,)


def new() -> State:
    return 0, 0


def slot(nodes: Ring, i: int, level: int) -> int:
    """Where the interval of this level that begins at position i stands."""
    many = length_of(nodes) >> (level + 1)
    return many + ((i >> level) & (many - 1))


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    (nodes,) = rings
    F, E = state
    store(nodes, slot(nodes, E, 0), v)
    E += 1
    level, start = 1, E - 2
    while E & ((1 << level) - 1) == 0 and start >= F:  # one that ends here, and has begun here
        v = combine(load(nodes, slot(nodes, start, level - 1)), v)
        store(nodes, slot(nodes, start, level), v)
        level += 1
        start = E - (1 << level)
    return F, E


def evict(rings: tuple[Ring, ...], state: State) -> State:
    F, E = state
    return F + 1, E


def bulk_evict(rings: tuple[Ring, ...], state: State, count: int) -> State:
    F, E = state
    return F + count, E


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    (nodes,) = rings
    F, E = state
    return sum_of_intervals(nodes, F, E)


def query_last(rings: tuple[Ring, ...], state: State, count: int) -> Partial:
    (nodes,) = rings
    F, E = state
    return sum_of_intervals(nodes, E - count, E)


def sum_of_intervals(nodes: Ring, i: int, end: int) -> Partial:
    """v[i] ⊕ … ⊕ v[end-1]."""
    total = identity()
    level = 0
    while i + (1 << level) <= end:  # i is a multiple of 2^level
        if i & (1 << level):
            total = combine(total, load(nodes, slot(nodes, i, level)))
            i += 1 << level
        level += 1
    while i < end:
        level -= 1
        if i + (1 << level) <= end:
            total = combine(total, load(nodes, slot(nodes, i, level)))
            i += 1 << level
    return total


def regrow(old: tuple[Ring, ...], rings: tuple[Ring, ...], state: State) -> State:
    (before,) = old
    (nodes,) = rings
    F, E = state
    level = 0
    while (1 << level) <= E - F:
        width = 1 << level
        i = (F + width - 1) >> level << level
        while i + width <= E:
            store(nodes, slot(nodes, i, level), load(before, slot(before, i, level)))
            i += width
        level += 1
    return F, E


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    (nodes,) = rings
    F, E = state
    assert len(window) == E - F
    level = 0
    while (1 << level) <= E - F:
        width = 1 << level
        for i in range((F + width - 1) // width * width, E - width + 1, width):
            found = load(nodes, slot(nodes, i, level))
            assert same(found, fold(window[i - F : i + width - F]))
        level += 1

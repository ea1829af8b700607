"""FlatFIT: a jump table over the window, whose jumps grow longer as they are used.

order FIFO · needs associativity · time 0 ⊕ per insert, 0 per evict, 3 per query amortised, n at
worst; n - 1 for all n ranges at once · space n, and n numbers
paper FlatFIT: Accelerated Incremental Sliding-Window Aggregation for Real-Time Analytics (2017)

Each position has a pointer further on and the sum of what the pointer skips. A query goes from its
start to the end by pointers, and then back over the same positions: each but the first gets the sum
from there to the end, and a pointer to the end. Those that come later find the way short.

Invariants (F ≤ E), for F ≤ i < E:
  i < pointers[i] ≤ E
  partials[i] = v[i] ⊕ … ⊕ v[pointers[i]-1]

Where this differs from the paper's Algorithm 1:
  - its line 38 adds what is older on the right; here it is on the left, as operators that are not
    commutative need it;
  - positions are not reduced modulo the window's size, so a window may grow and shrink, and need
    not be filled beforehand;
  - the stack of positions is kept in the pointers themselves: on the way to the end each is turned
    round, and on the way back it is set anew. So no stack is needed, neither for one range nor for
    many, and no other way to rebuild the whole window (section 3.3).

The first position of a query keeps its short pointer, as in the paper: in a window that slides it
leaves next.
"""

from __future__ import annotations

from typing import Any

from sash.aggregators.primitives import (
    Partial,
    Ring,
    State,
    combine,
    fold,
    get,
    get_int,
    identity,
    put,
    put_int,
    same,
)

RINGS = ("partials",)
INDEXES = ("pointers",)


def new() -> State:
    return 0, 0


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    partials, pointers = rings
    F, E = state
    put(partials, E, v)
    put_int(pointers, E, E + 1)
    return F, E + 1


def evict(rings: tuple[Ring, ...], state: State) -> State:
    F, E = state
    return F + 1, E


def bulk_evict(rings: tuple[Ring, ...], state: State, count: int) -> State:
    F, E = state
    return F + count, E


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    F, E = state
    return sum_to_end(rings, F, E)


def query_last(rings: tuple[Ring, ...], state: State, count: int) -> Partial:
    F, E = state
    return sum_to_end(rings, E - count, E)


def sum_to_end(rings: tuple[Ring, ...], start: int, E: int) -> Partial:
    """v[start] ⊕ … ⊕ v[E-1], with the pointers on the way made longer."""
    partials, pointers = rings
    if start == E:
        return identity()
    i, last = get_int(pointers, start), start
    while i != E:  # turn the pointers round
        following = get_int(pointers, i)
        put_int(pointers, i, last)
        i, last = following, i
    total = get(partials, last)
    while last != start:
        before = get_int(pointers, last)
        put(partials, last, total)
        put_int(pointers, last, E)
        total = combine(get(partials, before), total)
        last = before
    return total


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    partials, pointers = rings
    F, E = state
    fine: bool = 0 <= F <= E
    if fine:
        for i in range(F, E):
            fine = fine and i < get_int(pointers, i) <= E
    return fine


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    partials, pointers = rings
    F, E = state
    assert len(window) == E - F
    assert sound(rings, state)
    for i in range(F, E):
        assert same(get(partials, i), fold(window[i - F : get_int(pointers, i) - F]))

"""SlickDeque: keep only the values that can still be an answer.

order FIFO · needs a selective operator, or an inverse, exact only for whole numbers · time < 2 ⊕
per insert amortised, n at worst, 0 per evict, 0 per query (with an inverse: 1 ⊕ per insert, 1 ⊖ per
evict) · space ≤ n, and n numbers
paper SlickDeque: High Throughput and Low Latency Incremental Sliding-Window Aggregation (2018)

Here for a selective operator, whose ⊕ returns one of its arguments; `slick_deque_inv` is for one
with an inverse. A value that loses against a younger one (x ⊕ v = v) will never be an answer again,
and leaves at once. What is left wins against all that follows it: x ⊕ y = x. So the oldest is the
answer for the window, and the first that lies in a range is the answer for that range.

A null is the identity: it loses against whatever comes next, and wins against nothing before it.
Of equal values the operator says which one wins; that one stays.

Invariants (F ≤ E; if F < E, then H ≤ T), for the nodes H ≤ k ≤ T:
  F ≤ places[H] < … < places[T] = E - 1
  nodes[k] = v[places[k]] = v[i] ⊕ … ⊕ v[E-1] for each i ≤ places[k] after places[k-1], from F on
  youngest = nodes[T] = v[E-1], at hand because it is compared first; if F = E, it is the identity
"""

from __future__ import annotations

from typing import Any

from sash.aggregators.primitives import (
    Partial,
    Ring,
    State,
    combine,
    equal,
    fold,
    get,
    get_int,
    identity,
    put,
    put_int,
    same,
)
from sash.aggregators.ranges import checked_ranges
from sash.aggregators.rings import Settings

RINGS = ("nodes",)
INDEXES = ("places",)
NEEDS = "selective"


def settings(ranges: Any = ()) -> Settings:
    """ranges: those that are asked for. Only `slick_deque_inv` must know them."""
    return {"ranges": checked_ranges(ranges)}


def new() -> State:
    return 0, 0, 0, 0, identity()


def span(state: State) -> tuple[int, int]:
    """Slots are found by the number of a node, not by the position of a value."""
    F, E, H, T, youngest = state
    return H, T + 1


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    nodes, places = rings
    F, E, H, T, youngest = state
    if equal(combine(youngest, v), v):
        while H < T and equal(combine(get(nodes, T - 1), v), v):
            T -= 1
    else:
        T += 1
    put(nodes, T, v)
    put_int(places, T, E)
    return F, E + 1, H, T, v


def evict(rings: tuple[Ring, ...], state: State) -> State:
    nodes, places = rings
    F, E, H, T, youngest = state
    if F + 1 == E:  # the next value takes the slot of the one that leaves
        return E, E, H, T, identity()
    return F + 1, E, H + 1 if get_int(places, H) == F else H, T, youngest


def bulk_evict(rings: tuple[Ring, ...], state: State, count: int) -> State:
    nodes, places = rings
    F, E, H, T, youngest = state
    if F + count == E:
        return E, E, T, T, identity()
    return F + count, E, first_from(places, H, T, F + count), T, youngest


def first_from(places: Ring, H: int, T: int, position: int) -> int:
    """The first node from this position on, found by halving; T if there is none before it."""
    while H < T:
        middle = (H + T) >> 1
        if get_int(places, middle) < position:
            H = middle + 1
        else:
            T = middle
    return H


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    nodes, places = rings
    F, E, H, T, youngest = state
    return identity() if F == E else get(nodes, H)


def query_last(rings: tuple[Ring, ...], state: State, count: int) -> Partial:
    """The first node of the `count` youngest values."""
    nodes, places = rings
    F, E, H, T, youngest = state
    return identity() if count == 0 else get(nodes, first_from(places, H, T, E - count))


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    nodes, places = rings
    F, E, H, T, youngest = state
    fine: bool = 0 <= F <= E and 0 <= H <= T and max(E - F, 1) > T - H
    if fine:
        for k in range(H, T + 1 if F < E else H):
            fine = fine and F <= get_int(places, k) < E
    return fine


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    nodes, places = rings
    F, E, H, T, youngest = state
    assert sound(rings, state)
    assert len(window) == E - F
    assert same(youngest, window[-1] if window else identity())
    i = F
    for k in range(H, T + 1 if window else H):
        assert i <= get_int(places, k) < E
        while i <= get_int(places, k):
            assert same(get(nodes, k), fold(window[i - F :]))
            i += 1
    assert i == E

"""ABA, the amortised banker's aggregator: Two-Stacks in one queue, turned over in place.

order FIFO · needs associativity · time 1 ⊕ per insert, 1 per query, 1 per evict amortised, n at
worst · space 2n
paper Constant-Time Sliding Window Aggregation (2015), Figures 6 and 7

Invariants (F ≤ B ≤ E):
  F ≤ i < E : vals[i] = v[i]
  F ≤ i < B : aggs[i] = v[i] ⊕ … ⊕ v[B-1]
  B ≤ i < E : aggs[i] = v[B] ⊕ … ⊕ v[i]

Trace, of max; | stands before B:
  vals 2 6 | 3 5 3    aggs 6 6 | 3 5 5
  evict 2:  6 | 3 5 3      6 | 3 5 5
  insert 1: 6 | 3 5 3 1    6 | 3 5 5 5
  evict 6:    | 3 5 3 1      | 3 5 5 5
  evict 3:  5 3 1 |        5 3 1 |        (turned over first)
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
    identity,
    put,
    same,
)

RINGS = ("vals", "aggs")


def new() -> State:
    return 0, 0, 0


def front_sum(aggs: Ring, F: int, B: int) -> Partial:
    return identity() if F == B else get(aggs, F)


def back_sum(aggs: Ring, B: int, E: int) -> Partial:
    return identity() if B == E else get(aggs, E - 1)


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    vals, aggs = rings
    F, E, B = state
    put(aggs, E, combine(back_sum(aggs, B, E), v))
    put(vals, E, v)
    return F, E + 1, B


def flip(vals: Ring, aggs: Ring, F: int, E: int) -> None:
    """Sum what is in F ≤ i < E from its end instead of from its start."""
    total = get(vals, E - 1)
    put(aggs, E - 1, total)
    for i in range(E - 2, F - 1, -1):
        total = combine(get(vals, i), total)
        put(aggs, i, total)


def evict(rings: tuple[Ring, ...], state: State) -> State:
    vals, aggs = rings
    F, E, B = state
    if F == B:
        flip(vals, aggs, F, E)
        B = E
    return F + 1, E, B


def bulk_evict(rings: tuple[Ring, ...], state: State, count: int) -> State:
    vals, aggs = rings
    F, E, B = state
    F += count
    if F == E:
        B = E
    elif F > B:
        flip(vals, aggs, F, E)
        B = E
    return F, E, B


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    vals, aggs = rings
    F, E, B = state
    return combine(front_sum(aggs, F, B), back_sum(aggs, B, E))


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    F, E, B = state
    return 0 <= F <= B <= E  # type: ignore[no-any-return]


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    vals, aggs = rings
    F, E, B = state
    assert sound(rings, state)
    assert len(window) == E - F
    for i in range(F, E):
        assert same(get(vals, i), window[i - F])
    for i in range(F, B):
        assert same(get(aggs, i), fold(window[i - F : B - F]))
    for i in range(B, E):
        assert same(get(aggs, i), fold(window[B - F : i - F + 1]))

"""Recalc: combine the whole window anew for every answer. What correct means.

order FIFO · needs associativity · time 0 ⊕ per insert, 0 per evict, n per query · space n
paper Constant-Time Sliding Window Aggregation (2015), Figure 20

Invariants (F ≤ E):
  F ≤ i < E : vals[i] = v[i]
"""

from __future__ import annotations

from typing import Any

from sash.aggregators.primitives import Partial, Ring, State, combine, get, identity, put, same

RINGS = ("vals",)


def new() -> State:
    return 0, 0


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    (vals,) = rings
    F, E = state
    put(vals, E, v)
    return F, E + 1


def evict(rings: tuple[Ring, ...], state: State) -> State:
    F, E = state
    return F + 1, E


def bulk_evict(rings: tuple[Ring, ...], state: State, count: int) -> State:
    F, E = state
    return F + count, E


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    F, E = state
    return query_last(rings, state, E - F)


def query_last(rings: tuple[Ring, ...], state: State, count: int) -> Partial:
    (vals,) = rings
    F, E = state
    return sum_between(vals, E - count, E)


def sum_between(vals: Ring, start: int, end: int) -> Partial:
    """The values of these positions, one after the other."""
    total = identity()
    for i in range(start, end):
        total = combine(total, get(vals, i))
    return total


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    (vals,) = rings
    F, E = state
    assert len(window) == E - F
    for i in range(F, E):
        assert same(get(vals, i), window[i - F])

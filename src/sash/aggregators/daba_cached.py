"""DABA with caching: the sum of R and A is kept while it does not change.

order FIFO · needs associativity · time ≤ 3 ⊕ per insert, 2 per evict, 1 per query; 2 and 1 on
average · space 2n + 1
paper Constant-Time Sliding Window Aggregation (2015), Figure 17

Invariants: those of daba, and
  L < R : rest = v[R] ⊕ … ⊕ v[B-1]
"""

from __future__ import annotations

from typing import Any

from sash.aggregators.aba import back_sum, front_sum
from sash.aggregators.daba import check_invariants as check_daba
from sash.aggregators.daba import in_order
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
    return 0, 0, 0, 0, 0, 0, identity()


def fixup(vals: Ring, aggs: Ring, state: State) -> State:
    """One step of turning over, which repairs the invariant on sizes."""
    F, E, L, R, A, B, rest = state
    if F == B:  # at most one value, and it is its own sum
        return F, E, E, E, E, E, rest
    if L == B:  # all turned over: what was the front and the back is now L and R
        L, A, B = F, E, E
        rest = get(aggs, A - 1)
    if L == R:  # L and R are empty, and the sums of A are those of the front already
        return F, E, L + 1, R + 1, A + 1, B, rest
    put(aggs, L, combine(get(aggs, L), rest))
    put(aggs, A - 1, combine(get(vals, A - 1), front_sum(aggs, A, B)))
    return F, E, L + 1, R, A - 1, B, rest


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    vals, aggs = rings
    F, E, L, R, A, B, rest = state
    put(aggs, E, combine(back_sum(aggs, B, E), v))
    put(vals, E, v)
    return fixup(vals, aggs, (F, E + 1, L, R, A, B, rest))


def evict(rings: tuple[Ring, ...], state: State) -> State:
    vals, aggs = rings
    F, E, L, R, A, B, rest = state
    return fixup(vals, aggs, (F + 1, E, L, R, A, B, rest))


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    vals, aggs = rings
    F, E, L, R, A, B, rest = state
    return combine(front_sum(aggs, F, B), back_sum(aggs, B, E))


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    return in_order(state[0], state[1], state[2], state[3], state[4], state[5])


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    assert sound(rings, state)
    check_daba(rings, state[:6], window)
    F, E, L, R, A, B, rest = state
    if L < R:
        assert same(rest, fold(window[R - F : B - F]))

"""DABA Lite: DABA in one queue, with the sums written over the values.

order FIFO · needs associativity · time ≤ 3 ⊕ per insert, 2 per evict, 1 per query; 2 and 1 on
average · space n + 2
paper In-Order Sliding-Window Aggregation in Worst-Case Constant Time (2021)

R and the back are still read value by value when their turn comes, so they hold values; the sums
that DABA keeps there are only ever read at one end, and one partial each does for them.

Invariants (F ≤ L ≤ R ≤ A ≤ B ≤ E):
  F ≤ i < L : slots[i] = v[i] ⊕ … ⊕ v[B-1]
  L ≤ i < R : slots[i] = v[i] ⊕ … ⊕ v[R-1]
  R ≤ i < A : slots[i] = v[i]
  A ≤ i < B : slots[i] = v[i] ⊕ … ⊕ v[B-1]
  B ≤ i < E : slots[i] = v[i]
  back = v[B] ⊕ … ⊕ v[E-1], and while L < R: rest = v[R] ⊕ … ⊕ v[B-1]
  the sizes as in daba
"""

from __future__ import annotations

from typing import Any

from sash.aggregators.aba import front_sum
from sash.aggregators.daba import check_pointers, in_order
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

RINGS = ("slots",)


def new() -> State:
    return 0, 0, 0, 0, 0, 0, identity(), identity()


def fixup(slots: Ring, state: State) -> State:
    """One step of turning over, which repairs the invariant on sizes."""
    F, E, L, R, A, B, rest, back = state
    if F == B:  # at most one value, and it is its own sum
        return F, E, E, E, E, E, rest, identity()
    if L == B:  # all turned over: what was the front and the back is now L and R
        L, A, B = F, E, E
        rest, back = back, identity()
    if L == R:  # L and R are empty, and the sums of A are those of the front already
        return F, E, L + 1, R + 1, A + 1, B, rest, back
    put(slots, L, combine(get(slots, L), rest))
    put(slots, A - 1, combine(get(slots, A - 1), front_sum(slots, A, B)))
    return F, E, L + 1, R, A - 1, B, rest, back


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    (slots,) = rings
    F, E, L, R, A, B, rest, back = state
    put(slots, E, v)
    return fixup(slots, (F, E + 1, L, R, A, B, rest, combine(back, v)))


def evict(rings: tuple[Ring, ...], state: State) -> State:
    (slots,) = rings
    F, E, L, R, A, B, rest, back = state
    return fixup(slots, (F + 1, E, L, R, A, B, rest, back))


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    (slots,) = rings
    F, E, L, R, A, B, rest, back = state
    return combine(front_sum(slots, F, B), back)


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    return in_order(state[0], state[1], state[2], state[3], state[4], state[5])


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    (slots,) = rings
    F, E, L, R, A, B, rest, back = state
    assert sound(rings, state)
    check_pointers((F, E, L, R, A, B), window)
    for start, end, until in ((F, L, B), (L, R, R), (A, B, B)):
        for i in range(start, end):
            assert same(get(slots, i), fold(window[i - F : until - F]))
    for start, end in ((R, A), (B, E)):
        for i in range(start, end):
            assert same(get(slots, i), window[i - F])
    assert same(back, fold(window[B - F :]))
    if L < R:
        assert same(rest, fold(window[R - F : B - F]))

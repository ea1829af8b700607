"""DABA, the de-amortised banker's aggregator: ABA whose turning over is done a step at a time.

order FIFO · needs associativity · time ≤ 4 ⊕ per insert, 3 per evict, 1 per query · space 2n
paper Constant-Time Sliding Window Aggregation (2015), Figures 10 to 14

The front list F … B holds three lists that are being turned over: L (left), R (right) and
A (accumulator). Each insert and each evict does one step, so that the work is done just in time.

Invariants (F ≤ L ≤ R ≤ A ≤ B ≤ E):
  F ≤ i < E : vals[i] = v[i]
  F ≤ i < L : aggs[i] = v[i] ⊕ … ⊕ v[B-1]
  L ≤ i < R : aggs[i] = v[i] ⊕ … ⊕ v[R-1]
  R ≤ i < A : aggs[i] = v[R] ⊕ … ⊕ v[i]
  A ≤ i < B : aggs[i] = v[i] ⊕ … ⊕ v[B-1]
  B ≤ i < E : aggs[i] = v[B] ⊕ … ⊕ v[i]
  F = B = E, or (L … B) + 1 = (F … B) - (B … E) and (L … R) = (R … A)
"""

from __future__ import annotations

from typing import Any

from sash.aggregators.aba import back_sum, front_sum
from sash.aggregators.primitives import Partial, Ring, State, combine, fold, get, put, same

RINGS = ("vals", "aggs")


def new() -> State:
    return 0, 0, 0, 0, 0, 0


def fixup(vals: Ring, aggs: Ring, state: State) -> State:
    """One step of turning over, which repairs the last invariant."""
    F, E, L, R, A, B = state
    if F == B:  # at most one value, and it is its own sum
        return F, E, E, E, E, E
    if L == B:  # all turned over: what was the front and the back is now L and R
        L, A, B = F, E, E
    if L == R:  # L and R are empty, and the sums of A are those of the front already
        return F, E, L + 1, R + 1, A + 1, B
    rest = front_sum(aggs, A, B)
    put(aggs, L, combine(combine(get(aggs, L), get(aggs, A - 1)), rest))
    put(aggs, A - 1, combine(get(vals, A - 1), rest))
    return F, E, L + 1, R, A - 1, B


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    vals, aggs = rings
    F, E, L, R, A, B = state
    put(aggs, E, combine(back_sum(aggs, B, E), v))
    put(vals, E, v)
    return fixup(vals, aggs, (F, E + 1, L, R, A, B))


def evict(rings: tuple[Ring, ...], state: State) -> State:
    vals, aggs = rings
    F, E, L, R, A, B = state
    return fixup(vals, aggs, (F + 1, E, L, R, A, B))


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    vals, aggs = rings
    F, E, L, R, A, B = state
    return combine(front_sum(aggs, F, B), back_sum(aggs, B, E))


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    return in_order(state[0], state[1], state[2], state[3], state[4], state[5])


def in_order(F: int, E: int, L: int, R: int, A: int, B: int) -> bool:
    return 0 <= F <= L <= R <= A <= B <= E


def check_pointers(state: State, window: Any) -> None:
    """The sizes of the lists, which make the work end just in time."""
    F, E, L, R, A, B = state
    assert in_order(F, E, L, R, A, B)
    assert len(window) == E - F
    if not F == B == E:
        assert (B - L) + 1 == (B - F) - (E - B)
        assert R - L == A - R


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    vals, aggs = rings
    check_pointers(state, window)
    F, E, L, R, A, B = state
    for i in range(F, E):
        assert same(get(vals, i), window[i - F])
    for i in range(F, L):
        assert same(get(aggs, i), fold(window[i - F : B - F]))
    for i in range(L, R):
        assert same(get(aggs, i), fold(window[i - F : R - F]))
    for i in range(R, A):
        assert same(get(aggs, i), fold(window[R - F : i - F + 1]))
    for i in range(A, B):
        assert same(get(aggs, i), fold(window[i - F : B - F]))
    for i in range(B, E):
        assert same(get(aggs, i), fold(window[B - F : i - F + 1]))

"""Two-Stacks Lite: both stacks in one queue, and one sum for the whole back.

order FIFO · needs associativity · time 1 ⊕ per insert, 1 per query, 1 per evict amortised, n at
worst · space n + 1
paper In-Order Sliding-Window Aggregation in Worst-Case Constant Time (2021)

Only the top of the back stack is ever asked for its sum, so one partial does for all of them; and
once the stack is turned over its values are no longer needed, so the sums are written over them.

Invariants (F ≤ B ≤ E):
  F ≤ i < B : slots[i] = v[i] ⊕ … ⊕ v[B-1]
  B ≤ i < E : slots[i] = v[i]
  back = v[B] ⊕ … ⊕ v[E-1]
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

RINGS = ("slots",)


def new() -> State:
    return 0, 0, 0, identity()


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    (slots,) = rings
    F, E, B, back = state
    put(slots, E, v)
    return F, E + 1, B, combine(back, v)


def sum_from(slots: Ring, start: int, end: int) -> None:
    """Write over each value in start ≤ i < end the sum from it to the last of them."""
    total = identity()
    for i in range(end - 1, start - 1, -1):
        total = combine(get(slots, i), total)
        put(slots, i, total)


def evict(rings: tuple[Ring, ...], state: State) -> State:
    (slots,) = rings
    F, E, B, back = state
    if F == B:
        sum_from(slots, F, E)
        B, back = E, identity()
    return F + 1, E, B, back


def bulk_evict(rings: tuple[Ring, ...], state: State, count: int) -> State:
    (slots,) = rings
    F, E, B, back = state
    F += count
    if F > B:
        sum_from(slots, F, E)
        B, back = E, identity()
    return F, E, B, back


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    (slots,) = rings
    F, E, B, back = state
    return combine(get(slots, F), back) if F < B else back


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    F, E, B, back = state
    return 0 <= F <= B <= E  # type: ignore[no-any-return]


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    (slots,) = rings
    F, E, B, back = state
    assert sound(rings, state)
    assert len(window) == E - F
    for i in range(F, B):
        assert same(get(slots, i), fold(window[i - F : B - F]))
    for i in range(B, E):
        assert same(get(slots, i), window[i - F])
    assert same(back, fold(window[B - F :]))

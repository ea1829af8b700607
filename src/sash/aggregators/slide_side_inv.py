"""SlideSide for an operator with an exact inverse: running totals, and what is between two of them.

Beside each value stands the total of all before it. What a range holds is the total at its end,
less that at its start: one ⊖, for any range, given beforehand or not.

Totals must not grow for ever, or integers would overflow. So they begin anew at a bound, as soon as
the last one has left the window; a range that reaches beyond the bound is the sum of two parts.

Invariants (F ≤ B ≤ E, and C ≤ F, where the totals before B begin):
  F ≤ i < B : totals[i] = v[C] ⊕ … ⊕ v[i-1],  and done = v[C] ⊕ … ⊕ v[B-1]
  B ≤ i < E : totals[i] = v[B] ⊕ … ⊕ v[i-1]
  total = v[B] ⊕ … ⊕ v[E-1]
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
    inverse,
    put,
    same,
)

RINGS = ("totals",)
NEEDS = "exact inverse"


def new() -> State:
    return 0, 0, 0, identity(), identity()


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    (totals,) = rings
    F, E, B, done, total = state
    put(totals, E, total)
    return F, E + 1, B, done, combine(total, v)


def evict(rings: tuple[Ring, ...], state: State) -> State:
    F, E, B, done, total = state
    if F + 1 < B:
        return F + 1, E, B, done, total
    return F + 1, E, E, total, identity()


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    (totals,) = rings
    return sum_from_total(totals, state, state[0])


def query_last(rings: tuple[Ring, ...], state: State, count: int) -> Partial:
    (totals,) = rings
    return sum_from_total(totals, state, state[1] - count)


def sum_from_total(totals: Ring, state: State, start: int) -> Partial:
    """v[start] ⊕ … ⊕ v[E-1]."""
    F, E, B, done, total = state
    if start == E:
        return identity()
    if start < B:
        return combine(inverse(done, get(totals, start)), total)
    return inverse(total, get(totals, start))


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    F, E, B, done, total = state
    return 0 <= F <= B <= E  # type: ignore[no-any-return]


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    (totals,) = rings
    F, E, B, done, total = state
    assert len(window) == E - F
    assert sound(rings, state)
    for i in range(F, B):
        assert same(inverse(done, get(totals, i)), fold(window[i - F : B - F]))
    for i in range(B, E):
        assert same(get(totals, i), fold(window[B - F : i - F]))
    assert same(total, fold(window[B - F :]))

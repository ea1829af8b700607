"""Subtract-on-Evict: keep one total, take off what leaves.

order FIFO · needs an inverse, exact only for whole numbers · time 1 ⊕ per insert, 1 ⊖ per evict, 0
per query · space n + 1
paper Constant-Time Sliding Window Aggregation (2015), Figure 19

With floats the total drifts: what a huge value has rounded away does not come back when it leaves,
and a NaN stays.
So it is chosen only for an inverse that is exact; and a window that runs empty starts afresh.

Invariants (F ≤ E):
  F ≤ i < E : vals[i] = v[i]
  total = v[F] ⊕ … ⊕ v[E-1]
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

RINGS = ("vals",)
NEEDS = "inverse"


def new() -> State:
    return 0, 0, identity()


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    (vals,) = rings
    F, E, total = state
    put(vals, E, v)
    return F, E + 1, combine(total, v)


def evict(rings: tuple[Ring, ...], state: State) -> State:
    (vals,) = rings
    F, E, total = state
    if F + 1 == E:
        return E, E, identity()
    return F + 1, E, inverse(total, get(vals, F))


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    F, E, total = state
    return total


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    (vals,) = rings
    F, E, total = state
    assert len(window) == E - F
    for i in range(F, E):
        assert same(get(vals, i), window[i - F])
    assert same(total, fold(window))

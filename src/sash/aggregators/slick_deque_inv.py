"""SlickDeque for an operator with an inverse: a total for each range, kept up to date.

Each insert adds the new value to the total of each range, and takes off the one that leaves it.
The ranges are those given as `ranges=[…]`, and the whole window. Any other is summed anew from its
values: right, and as slow as recalc. As in subtract_on_evict, totals of floats drift.

Invariants (F ≤ E):
  F ≤ i < E : vals[i] = v[i]
  total = v[F] ⊕ … ⊕ v[E-1]
  totals[k] = the sum of the min(ranges[k], E - F) youngest
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
    load,
    load_int,
    put,
    same,
    store,
)
from sash.aggregators.ranges import number_of
from sash.aggregators.recalc import sum_between

RINGS = ("vals", "totals")
INDEXES = ("ranges",)
NEEDS = "inverse"


def room(capacity: int, ranges: Any = ()) -> tuple[int, ...]:
    return capacity, len(ranges), len(ranges)


def new() -> State:
    return 0, 0, identity()


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    vals, totals, ranges = rings
    F, E, total = state
    for k in range(len(ranges)):
        own = combine(load(totals, k), v)
        last = load_int(ranges, k)
        store(totals, k, inverse(own, get(vals, E - last)) if last <= E - F else own)
    put(vals, E, v)
    return F, E + 1, combine(total, v)


def evict(rings: tuple[Ring, ...], state: State) -> State:
    vals, totals, ranges = rings
    F, E, total = state
    old = get(vals, F)
    for k in range(len(ranges)):
        if load_int(ranges, k) >= E - F:
            own = load(totals, k)
            store(totals, k, identity() if F + 1 == E else inverse(own, old))
    return F + 1, E, identity() if F + 1 == E else inverse(total, old)


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    vals, totals, ranges = rings
    F, E, total = state
    return total


def query_last(rings: tuple[Ring, ...], state: State, count: int) -> Partial:
    vals, totals, ranges = rings
    F, E, total = state
    if count == E - F:
        return total
    k = number_of(ranges, count)
    return load(totals, k) if k < len(ranges) else sum_between(vals, E - count, E)


def regrow(old: tuple[Ring, ...], rings: tuple[Ring, ...], state: State) -> State:
    F, E, total = state
    for i in range(F, E):
        put(rings[0], i, get(old[0], i))
    for k in range(len(rings[2])):
        store(rings[1], k, load(old[1], k))
    return F, E, total


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    vals, totals, ranges = rings
    F, E, total = state
    assert len(window) == E - F
    for i in range(F, E):
        assert same(get(vals, i), window[i - F])
    assert same(total, fold(window))
    for k in range(len(ranges)):
        assert same(load(totals, k), fold(window[-min(load_int(ranges, k), E - F) :]))

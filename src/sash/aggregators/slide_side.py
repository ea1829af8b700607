"""SlideSide: several ranges of one window, each summed from both of its sides.

order FIFO · needs associativity · time ≤ 3 ⊕ per range and slide amortised, n at worst (with an
exact inverse: 1 ⊕ per insert, 1 ⊖ and ≤ 1 ⊕ per query of any range) · space 2n and the ranges
paper SlideSide: A Fast Incremental Stream Processing Algorithm for Multiple Queries (2020)

The ranges are given beforehand, as `ranges=[10, 100]`; the window itself is one more. All share the
values, and each is kept like Two-Stacks: a bound within it, the sums from each position up to the
bound (the front), and the sum of what came after it (the back). When the back is as long as the
range, the bound is moved to the end, and the front is summed anew from the values.

A range that reaches beyond the window's own bound is answered by the window's front, given or not.
One that does not and was not given is summed from its values: right, and as slow as recalc.

From the paper is the aim (Two-Stacks for many ranges over one stream, and different but similar
ways for operators with an inverse and without); how it is done is ours, for only its abstract was
at hand. `slide_side_inv` is for an inverse that is exact.

Invariants (F ≤ B ≤ E; for each range r = ranges[k] with its bound b = bounds[k] ≤ E < b + r):
  F ≤ i < E : vals[i] = v[i]
  F ≤ i < B : front[i] = v[i] ⊕ … ⊕ v[B-1]
  back = v[B] ⊕ … ⊕ v[E-1]
  max(F, E-r) ≤ i < b : fronts[ends[k] - (b - i)] = v[i] ⊕ … ⊕ v[b-1]
  backs[k] = v[b] ⊕ … ⊕ v[E-1] if F ≤ b
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from sash.aggregators.primitives import (
    Partial,
    Ring,
    State,
    combine,
    fold,
    get,
    identity,
    load,
    load_int,
    put,
    same,
    store,
    store_int,
)
from sash.aggregators.ranges import checked_ranges, number_of
from sash.aggregators.recalc import sum_between
from sash.aggregators.rings import Settings

RINGS = ("vals", "front", "fronts", "backs")
INDEXES = ("ranges", "ends", "bounds")


def settings(ranges: Any = ()) -> Settings:
    """ranges: those that are asked for. ends: where the front of each ends among the fronts."""
    checked = checked_ranges(ranges)
    return {"ranges": checked, "ends": list(accumulate(checked))}


def room(capacity: int, ranges: Any = ()) -> tuple[int, ...]:
    many = len(ranges)
    return capacity, capacity, sum(ranges), many, many, many, many


def new() -> State:
    return 0, 0, 0, identity()


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    vals, front, fronts, backs, ranges, ends, bounds = rings
    F, E, B, back = state
    put(vals, E, v)
    E += 1
    for k in range(len(ranges)):
        if E - load_int(bounds, k) < load_int(ranges, k):
            store(backs, k, combine(load(backs, k), v))
        else:
            total = v
            last = load_int(ends, k) - 1
            store(fronts, last, total)
            for i in range(1, min(load_int(ranges, k), E - F)):
                total = combine(get(vals, E - 1 - i), total)
                store(fronts, last - i, total)
            store_int(bounds, k, E)
            store(backs, k, identity())
    return F, E, B, combine(back, v)


def evict(rings: tuple[Ring, ...], state: State) -> State:
    vals, front, fronts, backs, ranges, ends, bounds = rings
    F, E, B, back = state
    if F == B:
        total = identity()
        for i in range(E - 1, F, -1):
            total = combine(get(vals, i), total)
            put(front, i, total)
        B, back = E, identity()
    return F + 1, E, B, back


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    vals, front, fronts, backs, ranges, ends, bounds = rings
    F, E, B, back = state
    return combine(get(front, F), back) if F < B else back


def query_last(rings: tuple[Ring, ...], state: State, count: int) -> Partial:
    vals, front, fronts, backs, ranges, ends, bounds = rings
    F, E, B, back = state
    start = E - count
    if start < B:
        return combine(get(front, start), back)
    if start == B:
        return back
    k = number_of(ranges, count)
    if k == len(ranges):
        return sum_between(vals, start, E)
    return combine(load(fronts, load_int(ends, k) + start - load_int(bounds, k)), load(backs, k))


def regrow(old: tuple[Ring, ...], rings: tuple[Ring, ...], state: State) -> State:
    vals, front, fronts, backs, ranges, ends, bounds = rings
    F, E, B, back = state
    for i in range(F, E):
        put(vals, i, get(old[0], i))
        put(front, i, get(old[1], i))
    for k in range(len(ranges)):
        for j in range(load_int(ends, k) - load_int(ranges, k), load_int(ends, k)):
            store(fronts, j, load(old[2], j))
        store(backs, k, load(old[3], k))
        store_int(bounds, k, load_int(old[6], k))
    return F, E, B, back


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    F, E, B, back = state
    return 0 <= F <= B <= E  # type: ignore[no-any-return]


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    vals, front, fronts, backs, ranges, ends, bounds = rings
    F, E, B, back = state
    assert len(window) == E - F
    assert sound(rings, state)
    for i in range(F, E):
        assert same(get(vals, i), window[i - F])
    for i in range(F, B):
        assert same(get(front, i), fold(window[i - F : B - F]))
    assert same(back, fold(window[B - F :]))
    for k in range(len(ranges)):
        r, b = load_int(ranges, k), load_int(bounds, k)
        assert b <= E < b + r
        for i in range(max(F, E - r), b):
            assert same(load(fronts, load_int(ends, k) - (b - i)), fold(window[i - F : b - F]))
        if b >= F:
            assert same(load(backs, k), fold(window[b - F :]))

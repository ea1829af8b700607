"""Two-Stacks: a queue made of two stacks, each of which knows its own sum.

order FIFO · needs associativity · time 1 ⊕ per insert, 1 per query, 1 per evict amortised, n at
worst · space 4n
paper Constant-Time Sliding Window Aggregation (2015), Figures 4 and 5

Values are pushed on the back stack and popped off the front one. When the front stack runs empty,
the back one is turned over onto it, and its sums are formed anew from the other end.

Invariants (stacks of NF and NB; v0 is the oldest value):
  0 ≤ i < NF : front_vals[i] = v[NF-1-i],  front_aggs[i] = v[NF-1-i] ⊕ … ⊕ v[NF-1]
  0 ≤ i < NB : back_vals[i] = v[NF+i],     back_aggs[i] = v[NF] ⊕ … ⊕ v[NF+i]

Trace, of max; each stack's top on the outside:
  front 2 6 | 3 5 3 back    sums 6 6 | 3 5 5
  evict 2:    6 | 3 5 3              6 | 3 5 5
  insert 1:   6 | 3 5 3 1            6 | 3 5 5 5
  evict 6:      | 3 5 3 1              | 3 5 5 5
  evict 3:  5 3 1 |                5 3 1 |          (turned over first)
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

RINGS = ("front_vals", "front_aggs", "back_vals", "back_aggs")


def new() -> State:
    return 0, 0


def size(state: State) -> int:
    NF, NB = state
    return NF + NB  # type: ignore[no-any-return]


def span(state: State) -> tuple[int, int]:
    """Both stacks start at position 0."""
    NF, NB = state
    return 0, max(NF, NB)


def top(aggs: Ring, height: int) -> Partial:
    return identity() if height == 0 else get(aggs, height - 1)


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    front_vals, front_aggs, back_vals, back_aggs = rings
    NF, NB = state
    put(back_aggs, NB, combine(top(back_aggs, NB), v))
    put(back_vals, NB, v)
    return NF, NB + 1


def flip(rings: tuple[Ring, ...], state: State) -> State:
    front_vals, front_aggs, back_vals, back_aggs = rings
    NF, NB = state
    while NB > 0:
        v = get(back_vals, NB - 1)
        put(front_aggs, NF, combine(v, top(front_aggs, NF)))
        put(front_vals, NF, v)
        NF, NB = NF + 1, NB - 1
    return NF, NB


def evict(rings: tuple[Ring, ...], state: State) -> State:
    NF, NB = flip(rings, state) if state[0] == 0 else state
    return NF - 1, NB


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    front_vals, front_aggs, back_vals, back_aggs = rings
    NF, NB = state
    return combine(top(front_aggs, NF), top(back_aggs, NB))


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    NF, NB = state
    return NF >= 0 and NB >= 0  # type: ignore[no-any-return]


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    front_vals, front_aggs, back_vals, back_aggs = rings
    NF, NB = state
    assert sound(rings, state)
    assert len(window) == NF + NB
    for i in range(NF):
        assert same(get(front_vals, i), window[NF - 1 - i])
        assert same(get(front_aggs, i), fold(window[NF - 1 - i : NF]))
    for i in range(NB):
        assert same(get(back_vals, i), window[NF + i])
        assert same(get(back_aggs, i), fold(window[NF : NF + i + 1]))

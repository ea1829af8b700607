"""AMTA, the amortised monoid tree aggregator: a forest, and the sums that evictions will need.

order FIFO · needs associativity · time 1 ⊕ per query, ≤ 5 per slide amortised (4 if the window is
long), O(log n) per insert, evict and bulk evict at worst · space 2n + O(log n)
paper Constant-Time Sliding Window Framework with Reduced Memory Footprint and Efficient Bulk
Evictions (2019), Section 4.2

Values are summed in pairs, pairs of pairs, and so on; a pair is summed when the next one of its
level begins, so no node ever changes. The nodes of the highest level that the window has, up to M,
are the leftmost tree of the forest. To the right of it each level has a pair, its tail, that is in
no sum above it. The stack has what R0 will be when the leftmost tree loses its first value, its
first pair, and so on: an eviction pops it, further if many leave at once, and fills it up
from the node it comes to. When the tree is used up, stack, R0 and R1 are formed anew.
Until then inserts go to R1 alone, however high the forest grows (the paper moves M as soon as the
leftmost tree has doubled, which eviction does not need).

Only `levels` grows with the window; the tails, the stack and R0, R1 are what must be at hand.

Invariants (F ≤ M ≤ E, T(l) = ⌊(E+1)/2^l⌋ - 1, top level H):
  F ≤ p·2^l and p < T(l) : node(l, p) = v[p·2^l] ⊕ … ⊕ v[(p+1)·2^l - 1]
  tails[2l], tails[2l+1] = the last pair of level l, as far as it is there
  R0 = v[F] ⊕ … ⊕ v[M-1],  R1 = v[M] ⊕ … ⊕ v[E-1]
  stack[0] = identity, 0 ≤ k < D : stack[D-k] = v[b(k)] ⊕ … ⊕ v[M-1], where b(0) = F + 1 and
  b(k+1) = b(k) + 2^l for the highest l ≤ H that divides b(k); b(D) = M

Trace, of sums; (a b) is a pair:
  level 0  (1 3) (2 1) (2 1) (1 0) (3 1)     R0 = 7, R1 = 4 + 4
  level 1  (4     3)   (3     1)             stack 6 3
  level 2  (7           )
  evict 1: R0 = 6, stack 3          evict 3: R0 = 3, stack 1
"""

from __future__ import annotations

from typing import Any

from sash.aggregators.levels import (
    leaving,
    level_drop,
    level_get,
    level_put,
    move_front,
    move_levels,
    nodes,
    sum_to_end,
)
from sash.aggregators.primitives import (
    Partial,
    Ring,
    State,
    combine,
    fold,
    identity,
    length_of,
    load,
    same,
    store,
)

RINGS = ("levels", "tails", "stack")
# Evictions write no node, and an insertion only such as were not there: see levels.py.
PUT_ONCE = ("levels",)
APART = ("begin",)


def room(capacity: int) -> tuple[int, int, int]:
    height = capacity.bit_length()
    return 2 * capacity, 2 * height, height + 3


def new() -> State:
    return 0, 0, 0, 0, 0, identity(), identity()


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    levels, tails, stack = rings
    F, E, M, H, D, R0, R1 = state
    level, p, node = 0, E, v
    while p & 1 == 0 and (p - 2) << level >= F:  # the pair before is whole: sum it
        above = combine(load(tails, 2 * level), load(tails, 2 * level + 1))
        level_put(levels, level, p, node)
        store(tails, 2 * level, node)
        level, p, node = level + 1, (p >> 1) - 1, above
    level_put(levels, level, p, node)
    store(tails, 2 * level + (p & 1), node)
    E += 1
    R1 = combine(R1, v)
    return F, E, M, H, D, R0, R1


def evict(rings: tuple[Ring, ...], state: State) -> State:
    levels, tails, stack = rings
    F, E, M, H, D, R0, R1 = state
    F += 1
    level_drop(levels, F)
    if F >= M:
        return begin(rings, F, E)
    level = 0
    while level < H and (F >> level) & 1 == 0:
        level += 1
    R0 = load(stack, D)
    D = descend(levels, stack, F, level, D - 1)
    return F, E, M, H, D, R0, R1


def bulk_evict(rings: tuple[Ring, ...], state: State, count: int) -> State:
    levels, tails, stack = rings
    F, E, M, H, D, R0, R1 = state
    b, level = F, 0  # a node of this level begins at b
    F += count
    level_drop(levels, F)
    if F >= M:
        return begin(rings, F, E)
    while b + (1 << level) <= F:
        b += 1 << level
        D -= 1
        while level < H and (b >> level) & 1 == 0:
            level += 1
    if count > 0:
        R0 = load(stack, D + 1)
        D = descend(levels, stack, F, level, D)
        if b < F:
            R0 = combine(level_get(levels, 0, F), load(stack, D))
    return F, E, M, H, D, R0, R1


def descend(levels: Ring, stack: Ring, F: int, level: int, D: int) -> int:
    """Push what R0 will be at each node that follows F, inside F's node of this level."""
    total = load(stack, D)
    while level > 0:
        level -= 1
        p = F >> level
        if p & 1 == 0:
            total = combine(level_get(levels, level, p + 1), total)
            D += 1
            store(stack, D, total)
    return D


def begin(rings: tuple[Ring, ...], F: int, E: int) -> State:
    """The state for the values F ≤ i < E, all of whose nodes are there."""
    levels, tails, stack = rings
    R0, R1 = identity(), identity()
    H, M, D = 0, F, 0
    if F < E:
        while nodes(H + 1, E) > -(-F >> (H + 1)):
            H += 1
        M = nodes(H, E) << H
        for p in range((M >> H) - 1, F >> H, -1):
            R0 = combine(level_get(levels, H, p), R0)
            D += 1
            store(stack, D, R0)
        D = descend(levels, stack, F, H, D)
        R0 = combine(level_get(levels, 0, F), load(stack, D))
        for k in range(2 * H):  # the tails, from the right; the second of a pair may not be there
            if k & 1 == 1 or nodes(k >> 1, E) & 1 == 0:
                R1 = combine(load(tails, k ^ 1), R1)
    return F, E, M, H, D, R0, R1


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    F, E, M, H, D, R0, R1 = state
    return combine(R0, R1)


def query_last(rings: tuple[Ring, ...], state: State, count: int) -> Partial:
    levels, tails, stack = rings
    E = state[1]
    return sum_to_end(levels, E - count, E)


def evict_while(rings: tuple[Ring, ...], state: State, policy: Any) -> State:
    """Evict the oldest values for as long as policy(sum of the window, their sum) is True."""
    levels, tails, stack = rings
    count = leaving(levels, state[0], state[1], query(rings, state), policy)
    return bulk_evict(rings, state, count)


def nth(rings: tuple[Ring, ...], state: State, i: int) -> Partial:
    """The i-th oldest value."""
    return level_get(rings[0], 0, state[0] + i)


def whole_nodes(state: State, level: int) -> tuple[int, int]:
    """Which nodes of a level are there, from one to before another."""
    return -(-state[0] >> level), nodes(level, state[1])


def regrow(old: tuple[Ring, ...], rings: tuple[Ring, ...], state: State) -> State:
    move_levels(old[0], rings[0], state[0], state[1])
    move_front(old[1], rings[1])
    move_front(old[2], rings[2])
    return state


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    """The stack has what the leftmost tree asks for, and has room for all that it can ask for."""
    levels, tails, stack = rings
    F, E, M, H, D, R0, R1 = state
    fine: bool = 0 <= F <= M <= E and 0 <= H < 62
    if fine and F < M:
        fine = M & ((1 << H) - 1) == 0 and length_of(stack) > (M >> H) - (F >> H) - 1 + H
        if fine:
            b, left = F + 1, D
            while b < M:
                level = 0
                while level < H and (b >> level) & 1 == 0:
                    level += 1
                b += 1 << level
                left -= 1
            fine = left == 0 and b == M
    return fine


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    levels, tails, stack = rings
    F, E, M, H, D, R0, R1 = state
    assert sound(rings, state)
    assert len(window) == E - F
    level = 0
    while nodes(level, E) > 0 and 1 << level <= E - F:
        last = nodes(level, E) - 1
        for p in range(-(-F >> level), last + 1):
            node = level_get(levels, level, p)
            assert same(node, fold(window[(p << level) - F : ((p + 1) << level) - F]))
            if p >> 1 == last >> 1:
                assert same(load(tails, 2 * level + (p & 1)), node)
        level += 1
    assert same(R0, fold(window[: M - F]))
    assert same(R1, fold(window[M - F :]))
    b = F + 1
    for k in range(D, -1, -1):
        assert same(load(stack, k), fold(window[b - F : M - F]))
        if k > 0:
            b += min(b & -b, 1 << H)
    assert F == M or b == M

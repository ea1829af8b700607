"""Log MTA, the monoid tree aggregator whose root is always up to date.

order FIFO · needs associativity · time ≤ log₂ n + 1 ⊕ per insert, ≤ log₂ n per evict and per bulk
evict of any number, half of that on average, 1 per query · space 2n + O(log n)
paper Constant-Time Sliding Window Framework with Reduced Memory Footprint and Efficient Bulk
Evictions (2019), Section 4.1

The tree stands over the stream and not over the window, so nothing in it moves when values leave.
Its top is the lowest level on which the window lies in two neighbouring nodes, a and c; they need
not be a pair, and so the tree is no higher than the window is long, wherever that begins. An insert
sums its way up the right edge, from the new value to c. An eviction, of one value or of many, sums
its way up the left edge, from the oldest value to a. Nodes inside are there already: each is put
when it is whole.

Only `levels` grows with the window; the tails and `left` are what must be at hand.

Invariants (for level l: a = ⌊F/2^l⌋, c = ⌊(E-1)/2^l⌋):
  l ≤ H, a < p, (p+1)·2^l ≤ E : node(l, p) = v[p·2^l] ⊕ … ⊕ v[(p+1)·2^l - 1]; and node(0, F) = v[F]
  l ≤ H : tails[2l + c mod 2] = v[c·2^l] ⊕ … ⊕ v[E-1]
  l < H, c odd : tails[2l] = node(l, c - 1)
  on level H, and on no lower one, c - a ≤ 1
  left = v[F] ⊕ … ⊕ v[c·2^H - 1], where c is that of level H

Trace, of sums, in a window that begins at value 1; (a b) is a pair:
  level 0  (· 1) (2 1) (2 ·)             insert 4:  (· 1) (2 1) (2 4)
  level 1  (1     3)   (2                           (1     3)   (6
  level 2  (4           2)                          (4           6)
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
)
from sash.aggregators.primitives import (
    Partial,
    Ring,
    State,
    combine,
    fold,
    identity,
    load,
    same,
    store,
)

RINGS = ("levels", "tails")
# Evictions write no node, and an insertion only such as were not there: see levels.py.
PUT_ONCE = ("levels",)


def room(capacity: int) -> tuple[int, int]:
    return 2 * capacity, 2 * capacity.bit_length()


def new() -> State:
    return 0, 0, 0, identity()


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    levels, tails = rings
    F, E, H, left = state
    a, c = F >> H, E >> H
    if c - a == 1 and E - F == 1:
        left = load(tails, a & 1)
    elif c - a == 2:  # one level more; what c was is a sibling of a, or of what c is now
        if a & 1 == 0:
            left = combine(left, load(tails, 2 * H + 1))
        H += 1
    level, p, node = 0, E, v
    while p & 1 == 1 and level < H:
        level_put(levels, level, p, node)
        store(tails, 2 * level + 1, node)
        node = combine(load(tails, 2 * level), node)
        level, p = level + 1, p >> 1
    level_put(levels, level, p, node)
    while level < H:
        store(tails, 2 * level + (p & 1), node)
        if p & 1 == 1:
            node = combine(load(tails, 2 * level), node)
        level, p = level + 1, p >> 1
    store(tails, 2 * level + (p & 1), node)
    return F, E + 1, H, left


def evict(rings: tuple[Ring, ...], state: State) -> State:
    return bulk_evict(rings, state, 1)


def bulk_evict(rings: tuple[Ring, ...], state: State, count: int) -> State:
    level_drop(rings[0], state[0] + count)
    return without(rings, state, count)


def without(rings: tuple[Ring, ...], state: State, count: int) -> State:
    """The state when the `count` oldest values are gone; nothing is written."""
    levels, tails = rings
    F, E, H, left = state
    F += count
    left = level_get(levels, 0, F) if E - F > 1 else identity()
    H = 0
    a, c = F, E - 1
    while c - a > 1:
        if a & 1 == 0:
            left = combine(left, level_get(levels, H, a + 1))
        H, a, c = H + 1, a >> 1, c >> 1
    return F, E, H, left


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    levels, tails = rings
    F, E, H, left = state
    return combine(left, load(tails, 2 * H + (((E - 1) >> H) & 1))) if F < E else left


def query_last(rings: tuple[Ring, ...], state: State, count: int) -> Partial:
    F, E, H, left = state
    return query(rings, without(rings, state, E - F - count))


def evict_while(rings: tuple[Ring, ...], state: State, policy: Any) -> State:
    """Evict the oldest values for as long as policy(sum of the window, their sum) is True."""
    levels, tails = rings
    count = leaving(levels, state[0], state[1], query(rings, state), policy)
    return bulk_evict(rings, state, count)


def nth(rings: tuple[Ring, ...], state: State, i: int) -> Partial:
    """The i-th oldest value."""
    return level_get(rings[0], 0, state[0] + i)


def whole_nodes(state: State, level: int) -> tuple[int, int]:
    """Which nodes of a level are there, from one to before another."""
    F, E, H, left = state
    return (F >> level) + 1, E >> level if level <= H else 0


def regrow(old: tuple[Ring, ...], rings: tuple[Ring, ...], state: State) -> State:
    move_levels(old[0], rings[0], state[0], state[1])
    move_front(old[1], rings[1])
    return state


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    """H is no higher than the window needs: the tails have no room for more."""
    F, E, H, left = state
    fine: bool = 0 <= F <= E and 0 <= H < 62
    if fine:
        level, a, c = 0, F, max(E - 1, F)
        while c - a > 1:
            level, a, c = level + 1, a >> 1, c >> 1
        fine = level == H
    return fine


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    levels, tails = rings
    F, E, H, left = state
    assert sound(rings, state)
    assert len(window) == E - F
    if F == E:
        assert H == 0
        assert same(left, identity())
        return
    assert same(level_get(levels, 0, F), window[0])
    for level in range(H + 1):
        a, c = F >> level, (E - 1) >> level
        assert (c - a <= 1) == (level == H)
        for p in range(a + 1, E >> level):
            node = level_get(levels, level, p)
            assert same(node, fold(window[(p << level) - F : ((p + 1) << level) - F]))
        assert same(load(tails, 2 * level + (c & 1)), fold(window[max((c << level) - F, 0) :]))
        if level < H and c & 1 == 1:
            assert same(load(tails, 2 * level), level_get(levels, level, c - 1))
    c = (E - 1) >> H
    assert same(left, fold(window[: max((c << H) - F, 0)]))

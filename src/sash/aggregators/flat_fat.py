"""FlatFAT, the tree of the Reactive Aggregator: sums of a complete binary tree, flat in one array.

order any: values are removed and replaced by handle · needs associativity · time log2 n ⊕ per
insert or evict, m (1 + log2(n / m)) for m of them at once, 0 per query, or 2 log2 n while the
buffer is inverted and ⊕ does not commute · space 2n to 4n
paper General Incremental Sliding-Window Aggregation (2015)

The leaves are a circular buffer: position p of the window is leaf p modulo the capacity C. A node
is the sum of its two children, an unused leaf is the identity, and so the root is the sum of all
leaves from left to right. That is the order of the window, unless the buffer is inverted: it has
wrapped around, and the youngest values stand left of the oldest. Then the answer is the suffix
from the front on, and after it the prefix up to the back.

A value removed from the middle leaves a hole. When the buffer is full and a quarter of it or more
is holes, it is compacted; else it doubles. When less than a quarter is used it shrinks by half.

    window 7 3 2 9, after 4 7 3 2, 4 leaves, 9 arrives:      9 7 3 2, front at 7, back at 9
    root = 9 ⊕ 7 ⊕ 3 ⊕ 2; suffix(7) ⊕ prefix(9) = (7 ⊕ (3 ⊕ 2)) ⊕ 9

Invariants (F ≤ E, N ≤ E - F ≤ C; H is the handle of the next value):
  1 ≤ h < C : tree[h] = tree[2h] ⊕ tree[2h + 1]
  F ≤ p < E : handles[p] = the handle of the value at p, or ~handle if that has left; these rise
  tree[C + p mod C] = the value at p, or the identity if it has left, or was never there
  F = E, or the value at F is in the window
"""

from __future__ import annotations

from typing import Any

from sash.aggregators.primitives import (
    Partial,
    Ring,
    State,
    answer,
    clock,
    combine,
    commutative,
    equal,
    fold,
    get_int,
    identity,
    length_of,
    load,
    load_int,
    put_int,
    read,
    same,
    store,
    store_int,
)

RINGS = ("tree",)
INDEXES = ("handles", "work")
APART = ("update_node", "update_arcs", "update_between", "update_round", "prefix", "suffix")


def room(capacity: int) -> tuple[int, ...]:
    return 2 * capacity, capacity, capacity


def new() -> State:
    return 0, 0, 0, 0


def emptied(state: State) -> State:
    """An empty window that goes on counting handles."""
    return 0, 0, 0, state[3]


def size(state: State) -> int:
    F, E, N, H = state
    return N  # type: ignore[no-any-return]


def used(state: State) -> int:
    """The slots in use, holes among them."""
    F, E, N, H = state
    return E - F  # type: ignore[no-any-return]


# The tree: leaf i is node C + i, and the children of node h are 2h and 2h + 1


def capacity_of(tree: Ring) -> int:
    return length_of(tree) >> 1


def leaf_of(tree: Ring, p: int) -> int:
    C = capacity_of(tree)
    return C + (p & (C - 1))


def update_node(tree: Ring, h: int) -> None:
    store(tree, h, combine(load(tree, 2 * h), load(tree, 2 * h + 1)))


def update_path(tree: Ring, h: int) -> None:
    """All that depends on node h."""
    h >>= 1
    while h > 0:
        update_node(tree, h)
        h >>= 1


def update_paths(tree: Ring, one: int, other: int) -> None:
    """All that depends on two nodes of one level: the two ways up, and then the one they share."""
    while one != other:
        one >>= 1
        other >>= 1
        update_node(tree, one)
        if one != other:
            update_node(tree, other)
    update_path(tree, one)


def update_between(tree: Ring, first: int, last: int) -> None:
    """All that depends on the nodes first … last of one level."""
    while first < last:
        first >>= 1
        last >>= 1
        for h in range(first, last + 1):
            update_node(tree, h)
    update_path(tree, first)


def update_runs(tree: Ring, first: int, last: int, more_first: int, more_last: int) -> None:
    """All that depends on two runs of nodes of one level: the same, or the second further right."""
    while last < more_first and (first < last or more_first < more_last):
        first >>= 1
        last >>= 1
        more_first >>= 1
        more_last >>= 1
        for h in range(first, last + 1):
            update_node(tree, h)
        for h in range(max(more_first, last + 1), more_last + 1):
            update_node(tree, h)
    if last < more_first:
        update_paths(tree, first, more_first)
    else:
        update_between(tree, first, more_last)


def update_round(tree: Ring, first: int, last: int, more_first: int, more_last: int) -> None:
    """As `update_arcs`, if one of them goes round the end of the ring.

    The nodes of a level are a ring too, half as long as the one below, where position p has become
    p // 2: two arcs stay two arcs, and each node above them is updated once.
    """
    many = capacity_of(tree)
    while many > 1:
        many >>= 1
        first >>= 1
        last >>= 1
        more_first >>= 1
        more_last >>= 1
        round_about = first + many - 1
        for p in range(first, min(last, round_about) + 1):
            update_node(tree, many + (p & (many - 1)))
        for p in range(max(more_first, last + 1), min(more_last, round_about) + 1):
            update_node(tree, many + (p & (many - 1)))


def update_arcs(tree: Ring, first: int, last: int, more_first: int, more_last: int) -> None:
    """All that depends on the leaves at positions first … last, and more_first … more_last.

    The second arc comes after the first, and does not go round the ring into it; or is the same.
    """
    left, right = leaf_of(tree, first), leaf_of(tree, last)
    more_left, more_right = leaf_of(tree, more_first), leaf_of(tree, more_last)
    if left > right or more_left > more_right:
        update_round(tree, first, last, more_first, more_last)
        return
    if left > more_left:
        left, right, more_left, more_right = more_left, more_right, left, right
    update_runs(tree, left, right, more_left, more_right)


def update_positions(tree: Ring, start: int, end: int) -> None:
    """All that depends on the leaves at positions start ≤ p < end."""
    if end > start:
        first, last = leaf_of(tree, start), leaf_of(tree, end - 1)
        if first <= last:
            update_between(tree, first, last)
        else:
            update_round(tree, start, end - 1, start, end - 1)


def propagate(rings: tuple[Ring, ...], count: int) -> None:
    """All that depends on the `count` leaves whose nodes stand in `work`, from left to right.

    Level by level, each node once however many below it have changed.
    """
    tree, handles, work = rings
    while count > 0 and load_int(work, 0) > 1:
        kept, last = 0, 0
        for k in range(count):
            h = load_int(work, k) >> 1
            if h != last:
                update_node(tree, h)
                store_int(work, kept, h)
                kept, last = kept + 1, h
        count = kept


def prefix(tree: Ring, i: int) -> Partial:
    """The sum of the leaves 0 … i."""
    h = capacity_of(tree) + i
    total = load(tree, h)
    while h > 1:
        if h & 1:
            total = combine(load(tree, h - 1), total)
        h >>= 1
    return total


def suffix(tree: Ring, i: int) -> Partial:
    """The sum of the leaves from i on."""
    h = capacity_of(tree) + i
    total = load(tree, h)
    while h > 1:
        if not h & 1:
            total = combine(total, load(tree, h + 1))
        h >>= 1
    return total


def between(tree: Ring, start: int, end: int) -> Partial:
    """The sum of the leaves start ≤ i < end."""
    C = capacity_of(tree)
    left, right = identity(), identity()
    first, last = start + C, end + C
    while first < last:
        if first & 1:
            left = combine(left, load(tree, first))
            first += 1
        if last & 1:
            last -= 1
            right = combine(load(tree, last), right)
        first >>= 1
        last >>= 1
    return combine(left, right)


# The window


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    tree, handles, work = rings
    F, E, N, H = state
    put_int(handles, E, H)
    h = leaf_of(tree, E)
    store(tree, h, v)
    update_path(tree, h)
    return F, E + 1, N + 1, H + 1


def front_after(handles: Ring, F: int, E: int) -> int:
    """The first position from F on whose value is still there; E if there is none."""
    while F < E and get_int(handles, F) < 0:
        F += 1
    return F


def evict_at(rings: tuple[Ring, ...], state: State, p: int) -> State:
    """Remove the value at any position."""
    tree, handles, work = rings
    F, E, N, H = state
    put_int(handles, p, ~get_int(handles, p))
    h = leaf_of(tree, p)
    store(tree, h, identity())
    update_path(tree, h)
    return front_after(handles, F, E), E, N - 1, H


def evict(rings: tuple[Ring, ...], state: State) -> State:
    return evict_at(rings, state, state[0])


def bulk_insert(rings: tuple[Ring, ...], state: State, rows: Any, count: int) -> State:
    tree, handles, work = rings
    F, E, N, H = state
    for i in range(count):
        put_int(handles, E + i, H + i)
        store(tree, leaf_of(tree, E + i), read(rows, i))
    update_positions(tree, E, E + count)
    return F, E + count, N + count, H + count


def front_without(handles: Ring, state: State, count: int) -> int:
    """The position after the oldest `count` values."""
    F, E, N, H = state
    if N == E - F:
        return F + count  # type: ignore[no-any-return]
    while count > 0:
        count -= 1 if get_int(handles, F) >= 0 else 0
        F += 1
    return F  # type: ignore[no-any-return]


def bulk_evict(rings: tuple[Ring, ...], state: State, count: int) -> State:
    tree, handles, work = rings
    F, E, N, H = state
    front = front_without(handles, state, count)
    for p in range(F, front):
        store(tree, leaf_of(tree, p), identity())
    update_positions(tree, F, front)
    return front_after(handles, front, E), E, N - count, H


def exchange(
    rings: tuple[Ring, ...], state: State, leaving: int, rows: Any, row: int, entering: int
) -> State:
    """So many of the oldest leave, so many rows enter: what depends on any is updated once."""
    tree, handles, work = rings
    F, E, N, H = state
    front, end = front_without(handles, state, leaving), E + entering
    over = end - capacity_of(tree)  # positions before it are written over
    for p in range(max(F, over), front):
        store(tree, leaf_of(tree, p), identity())
    for i in range(entering):
        put_int(handles, E + i, H + i)
        store(tree, leaf_of(tree, E + i), read(rows, row + i))
    if leaving + entering > 0:
        first, last = (F, front - 1) if leaving > 0 else (E, end - 1)
        more_first, more_last = (E, end - 1) if entering > 0 else (first, last)
        if first == last and more_first == more_last:
            update_paths(tree, leaf_of(tree, first), leaf_of(tree, more_first))
        elif over > F:  # rows enter where others leave: together they are one arc
            update_positions(tree, E, end + max(front - over, 0))
        else:
            update_arcs(tree, first, last, more_first, more_last)
    return front_after(handles, front, end), end, N - leaving + entering, H + entering


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    tree, handles, work = rings
    F, E, N, H = state
    mask = capacity_of(tree) - 1
    front, back = F & mask, (E - 1) & mask
    if commutative() or front <= back:
        return load(tree, 1)
    return combine(suffix(tree, front), prefix(tree, back))


def sum_between(rings: tuple[Ring, ...], start: int, end: int) -> Partial:
    """The sum of the positions start ≤ p < end of the window."""
    tree, handles, work = rings
    mask = capacity_of(tree) - 1
    if start == end:
        return identity()
    front, back = start & mask, (end - 1) & mask
    if front <= back:
        return between(tree, front, back + 1)
    return combine(suffix(tree, front), prefix(tree, back))


def query_last(rings: tuple[Ring, ...], state: State, count: int) -> Partial:
    tree, handles, work = rings
    F, E, N, H = state
    start = E - count
    if N < E - F:  # holes take a place in the buffer, but none among the last so many
        start, left = E, count
        while left > 0:
            start -= 1
            left -= 1 if get_int(handles, start) >= 0 else 0
    return sum_between(rings, start, E)


def slide(
    rings: tuple[Ring, ...], state: State, rows: Any, count: int, length: int, out: Any
) -> State:
    """As everywhere; but what leaves and what enters go up the tree together."""
    tree, handles, work = rings
    for i in range(count):
        while size(state) > length:
            state = evict(rings, state)
        if size(state) < length:
            state = insert(rings, state, read(rows, i))
        else:
            F, E, N, H = state
            old, young = leaf_of(tree, F), leaf_of(tree, E)
            put_int(handles, F, -1)
            put_int(handles, E, H)
            if old != young:
                store(tree, old, identity())
            store(tree, young, read(rows, i))
            update_paths(tree, old, young)
            state = front_after(handles, F + 1, E + 1), E + 1, N, H + 1
        answer(out, i, query(rings, state))
    return state


def move_to(
    rings: tuple[Ring, ...],
    state: State,
    rows: Any,
    shift: int,
    S: int,
    E: int,
    start: int,
    end: int,
) -> State:
    """From a window of the values S ≤ i < E to one of start ≤ i < end; value i is row i + shift."""
    leaving = max(min(start, E) - S, 0)
    first = max(start, E)
    return exchange(rings, state, leaving, rows, first + shift, max(end - first, 0))


def follow(
    rings: tuple[Ring, ...],
    state: State,
    rows: Any,
    first_row: int,
    S: int,
    E: int,
    starts: Any,
    ends: Any,
    first: int,
    last: int,
    S_then: int,
    E_then: int,
    out: Any,
) -> State:
    """As everywhere; but all that leave and enter between two answers go up the tree together."""
    shift = first_row - E
    for j in range(first, last + 1):
        start, end = S_then, E_then
        if j < last:
            start, end = starts[j], ends[j]
        state = move_to(rings, state, rows, shift, S, E, start, end)
        S, E = max(S, start), max(E, start, end)
        if j < last:
            answer(out, j, query(rings, state))
    return state


def slide_bounds(
    rings: tuple[Ring, ...],
    state: State,
    rows: Any,
    starts: Any,
    ends: Any,
    first: int,
    last: int,
    out: Any,
) -> State:
    S = starts[first]
    E = S
    for j in range(first, last):
        state = move_to(rings, state, rows, 0, S, E, starts[j], ends[j])
        S, E = starts[j], max(starts[j], ends[j])
        answer(out, j, query(rings, state))
    return state


def timed_bounds(
    rings: tuple[Ring, ...],
    state: State,
    rows: Any,
    starts: Any,
    ends: Any,
    count: int,
    out: Any,
    ticks: Any,
) -> State:
    S = starts[0]
    E = S
    for j in range(count):
        begun = clock()
        state = move_to(rings, state, rows, 0, S, E, starts[j], ends[j])
        S, E = starts[j], max(starts[j], ends[j])
        answer(out, j, query(rings, state))
        ticks[j] = clock() - begun
    return state


# Handles, holes and room


def position_of(rings: tuple[Ring, ...], state: State, handle: int) -> int:
    """Where the value with this handle is, or -1: handles rise along the buffer."""
    tree, handles, work = rings
    F, E, N, H = state
    low, high = F, E
    while low < high:
        middle = (low + high) >> 1
        found = get_int(handles, middle)
        if (found if found >= 0 else ~found) < handle:
            low = middle + 1
        else:
            high = middle
    return low if low < E and get_int(handles, low) == handle else -1


def compact(rings: tuple[Ring, ...], state: State) -> State:
    """Close the holes."""
    tree, handles, work = rings
    F, E, N, H = state
    end = F
    for p in range(F, E):
        if get_int(handles, p) >= 0:
            if end < p:
                put_int(handles, end, get_int(handles, p))
                store(tree, leaf_of(tree, end), load(tree, leaf_of(tree, p)))
            end += 1
    for p in range(end, E):
        store(tree, leaf_of(tree, p), identity())
    update_positions(tree, F, E)
    return F, end, N, H


def regrow(old: tuple[Ring, ...], rings: tuple[Ring, ...], state: State) -> State:
    """The values alone, without holes, in a tree of another size, whose nodes are summed anew."""
    tree, handles, work = rings
    F, E, N, H = state
    end = 0
    for p in range(F, E):
        if get_int(old[1], p) >= 0:
            put_int(handles, end, get_int(old[1], p))
            store(tree, leaf_of(tree, end), load(old[0], leaf_of(old[0], p)))
            end += 1
    C = capacity_of(tree)
    update_between(tree, C, 2 * C - 1)
    return 0, end, N, H


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    tree, handles, work = rings
    F, E, N, H = state
    fine: bool = 0 <= F <= E and capacity_of(tree) >= E - F
    if fine:
        there = 0
        for p in range(F, E):
            there += 1 if get_int(handles, p) >= 0 else 0
        fine = there == N
    return fine


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    tree, handles, work = rings
    F, E, N, H = state
    C = capacity_of(tree)
    assert sound(rings, state)
    assert len(window) == N
    for h in range(1, C):
        assert same(load(tree, h), combine(load(tree, 2 * h), load(tree, 2 * h + 1)))
    leaves = [load(tree, C + i) for i in range(C)]
    there = [p for p in range(F, E) if get_int(handles, p) >= 0]
    assert F == E or there[0] == F
    for p, v in zip(there, window, strict=True):
        assert same(leaves[p & (C - 1)], v)
    taken = {p & (C - 1) for p in there}
    assert all(equal(leaves[i], identity()) for i in range(C) if i not in taken)
    numbers = [max(n, ~n) for n in (get_int(handles, p) for p in range(F, E))]
    assert numbers == sorted(set(numbers)) and (not numbers or numbers[-1] < H)
    assert same(sum_between(rings, F, E), fold(window))

"""FiBA, the finger B-tree aggregator: entries by time, with a finger on each end of the window.

order any · needs associativity · time ≤ 5 ⊕ per slide in order amortised; O(log d) per insert
behind d younger values; O(log n) per bulk evict or range · space n to 2n, and 1/15 for the tree
paper Optimal and General Out-of-Order Sliding-Window Aggregation (2019)

A B-tree whose leaves hold the entries, ordered by time and, where times are equal, by arrival. A
node's sum covers what is below it, except on the spines, the ways from the root down to the oldest
leaf and to the youngest: there it covers what lies between the way and the middle of the tree. So
an insert at the young end and an evict at the old end change no sum above their leaf; the rest of
the tree hears of them when a leaf is full or empty. Bulk evictions cut the tree along one way
down, as in the paper of 2023 on them.

Invariants (x a node with kids k[0] … k[m]; sum(x) everything below it, in order):
  off the spines : aggs[x] = sum(x), counts[x] as many; x has HALF … WIDTH kids, or entries
  the root       : aggs[x] = sum(k[1]) ⊕ … ⊕ sum(k[m-1]); m ≥ 1
  left spine     : aggs[x] = sum(k[1]) ⊕ … ⊕ sum(k[m]) ⊕ aggs[parent], counts likewise; m ≥ 0
  right spine    : aggs[x] = aggs[parent] ⊕ sum(k[0]) ⊕ … ⊕ sum(k[m-1]), counts likewise; m ≥ 1
                   (no aggs[parent] where the parent is the root)
  lows[x] is no more than a time below x, no less than one before x; nothing is said on the left
  oldest leaf, entries from `at` on : suffix[i] = v[i] ⊕ … ⊕ v[until-1] ⊕ aggs[parent]
  youngest leaf, `fill` entries     : last = their sum, middle = all between the two
  if both are one leaf              : last = v[until] ⊕ … ⊕ v[fill-1]
  a root with two kids which have HALF kids or less together has those for its own instead

The last one keeps the tree low although evictions never refill the left spine: somewhere under the
root or one of its kids is a node off the spines, and what is off the spines is at least half full.
"""

from __future__ import annotations

from typing import Any

from sash.aggregators.fiba_checks import check_tree
from sash.aggregators.fiba_growing import extend, insert_late, shift_out
from sash.aggregators.fiba_nodes import HALF, INDEXES, NONE, RINGS, WIDTH, sum_front
from sash.aggregators.fiba_ranges import find_entry, find_last, next_leaf, rank, sum_positions
from sash.aggregators.fiba_shrinking import drop
from sash.aggregators.primitives import (
    Partial,
    Ring,
    State,
    combine,
    identity,
    load,
    load_int,
    read,
    store,
    store_int,
)

__all__ = ["INDEXES", "RINGS"]

KEEPS_ROOM = True
ENTRIES = ("insert_rows", "merge_rows")
APART = (
    *("take_node", "move", "adopt", "sum_entries", "sum_kids", "sum_up", "sum_root", "sum_left"),
    *("sum_right", "sum_front", "sum_middle", "shift_out", "extend", "find_leaf", "split_leaf"),
    *("split_node", "place_kid", "insert_late", "drop", "below_first", "rank", "find_kid"),
    *("find_last", "sum_positions", "next_leaf"),
)


def new() -> State:
    return 0, 0, 0, 0, 0, 0, 0, 0, -1, 1, identity(), identity()


def room(capacity: int) -> tuple[int, ...]:
    """Nodes for leaves that are half full, for those above them, and for the spines."""
    nodes = capacity // (HALF - 1) + capacity.bit_length() + 8
    return nodes * WIDTH, nodes, WIDTH + 1, nodes * WIDTH, nodes * WIDTH, *[nodes] * 5


def regrow(old: tuple[Ring, ...], rings: tuple[Ring, ...], state: State) -> State:
    """The same nodes in longer rings."""
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    for node in range(used):
        store(rings[1], node, load(old[1], node))
        for i in range(node * WIDTH, node * WIDTH + WIDTH):
            store(rings[0], i, load(old[0], i))
            store_int(rings[3], i, load_int(old[3], i))
            store_int(rings[4], i, load_int(old[4], i))
        store_int(rings[5], node, load_int(old[5], node))
        store_int(rings[6], node, load_int(old[6], node))
        store_int(rings[7], node, load_int(old[7], node))
        store_int(rings[8], node, load_int(old[8], node))
        store_int(rings[9], node, load_int(old[9], node))
    for i in range(WIDTH + 1):
        store(rings[2], i, load(old[2], i))
    return state


def append(rings: tuple[Ring, ...], state: State, time: int, row: int, v: Partial) -> State:
    """Insert an entry that is not older than the youngest."""
    if state[7] == WIDTH:
        if state[3] == state[4] and state[5] > HALF:
            state = shift_out(rings, state)
        else:
            state = extend(rings, state, time)
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    slot = right * WIDTH + fill
    store(rings[0], slot, v)
    store_int(rings[3], slot, time)
    store_int(rings[4], slot, row)
    last = combine(last, v)
    return F, E + 1, root, left, right, at, until, fill + 1, free, used, middle, last


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    """In order: the time and the row of a value are how many came before."""
    return append(rings, state, state[1], state[1], v)


def insert_at(rings: tuple[Ring, ...], state: State, time: int, row: int, v: Partial) -> State:
    """Insert at a time, after all that have the same."""
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    if F < E and time < load_int(rings[3], right * WIDTH + fill - 1):
        state = insert_late(rings, state, time, row, v)
    else:
        state = append(rings, state, time, row, v)
    return state


def insert_rows(
    rings: tuple[Ring, ...], state: State, rows: Any, times: Any, order: Any, first: int, count: int
) -> State:
    """Rows in the given order, by their times; row i has the number first + i."""
    for k in range(count):
        i = order[k]
        state = insert_at(rings, state, times[i], first + i, read(rows, i))
    return state


def merge_rows(
    old: tuple[Ring, ...],
    rings: tuple[Ring, ...],
    state: State,
    rows: Any,
    times: Any,
    order: Any,
    first: int,
    count: int,
) -> State:
    """The same for so many rows that the whole window is written anew, to empty rings.

    Both are in order, and so is what they make together: a constant number of ⊕ for each value.
    """
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    store_int(old[6], right, fill)
    state = F, F, 0, 0, 0, 0, 0, 0, NONE, 1, identity(), identity()
    leaf = left
    slot = left * WIDTH + at
    end = left * WIDTH + load_int(old[6], left)
    k = 0
    for _ in range(E - F + count):
        if slot == end and leaf != right:
            leaf = next_leaf(old, leaf)
            slot = leaf * WIDTH
            end = slot + load_int(old[6], leaf)
        if k == count or (slot < end and load_int(old[3], slot) <= times[order[k]]):
            time = load_int(old[3], slot)
            row = load_int(old[4], slot)
            v = load(old[0], slot)
            slot += 1
        else:
            time = times[order[k]]
            row = first + order[k]
            v = read(rows, order[k])
            k += 1
        state = append(rings, state, time, row, v)
    return state


def evict(rings: tuple[Ring, ...], state: State) -> State:
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    if at + 1 < until:
        state = F + 1, E, root, left, right, at + 1, until, fill, free, used, middle, last
    else:
        state = bulk_evict(rings, state, 1)
    return state


def bulk_evict(rings: tuple[Ring, ...], state: State, count: int) -> State:
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    if at + count < until:
        state = F + count, E, root, left, right, at + count, until, fill, free, used, middle, last
    elif count >= E - F:
        store_int(rings[9], 0, 0)
        store(rings[2], 0, identity())
        state = E, E, 0, 0, 0, 0, 0, 0, NONE, 1, identity(), identity()
    elif left == right:
        at += count
        sum_front(rings, left, at, fill, identity())
        state = F + count, E, root, left, right, at, fill, fill, free, used, middle, identity()
    else:
        state = drop(rings, state, count)
    return state


def count_up_to(rings: tuple[Ring, ...], state: State, time: int) -> int:
    """How many have this time or an earlier one."""
    return rank(rings, state, time)


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    return combine(combine(load(rings[2], at), middle), last)


def query_last(rings: tuple[Ring, ...], state: State, count: int) -> Partial:
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    store_int(rings[6], right, fill)
    total = identity()
    if count > 0:
        node, size = find_last(rings, state, count)
        total = sum_positions(rings, state, node, size - count, size)
    return total


def query_between(rings: tuple[Ring, ...], state: State, start: int, end: int) -> Partial:
    """What has a time from `start` up to, but not, `end`."""
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    store_int(rings[6], right, fill)
    i = rank(rings, state, start - 1)
    j = rank(rings, state, end - 1)
    total = identity()
    if i < j:
        total = sum_positions(rings, state, root, i, j)
    return total


def entry(rings: tuple[Ring, ...], state: State, i: int) -> tuple[int, int]:
    """The time and the row of the i-th entry."""
    store_int(rings[6], state[4], state[7])
    slot = find_entry(rings, state, i)
    return load_int(rings[3], slot), load_int(rings[4], slot)


def value(rings: tuple[Ring, ...], state: State, i: int) -> Partial:
    """That of the i-th entry."""
    store_int(rings[6], state[4], state[7])
    return load(rings[0], find_entry(rings, state, i))


def oldest_value(rings: tuple[Ring, ...], state: State) -> Partial:
    return load(rings[0], state[3] * WIDTH + state[5])


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    check_tree(rings, state, window)

"""Parts of fiba's window: how many entries are up to a time, and the sum from one to another."""

from __future__ import annotations

from sash.aggregators.fiba_nodes import WIDTH, sum_entries, sum_kids
from sash.aggregators.primitives import Partial, Ring, State, combine, load_int


def below_first(rings: tuple[Ring, ...], state: State, node: int) -> int:
    """How many entries are below the first kid of a node on the left spine, or of the root."""
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    parents, counts = rings[5], rings[8]
    parent = load_int(parents, left)
    count: int = fill - at if left == right else until - at
    if left != root and parent != root:
        count += load_int(counts, parent)
    if node != root:
        count -= load_int(counts, node)
    return count


def rank(rings: tuple[Ring, ...], state: State, time: int) -> int:
    """How many entries have this time or an earlier one; found from the left finger."""
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    vals, aggs, suffix, times, links, parents, fills, lows, counts, levels = rings
    node = left
    while node != root:
        parent = load_int(parents, node)
        if (
            load_int(fills, parent) > 1
            and load_int(lows, load_int(links, parent * WIDTH + 1)) > time
        ):
            break
        node = parent
    count = 0
    on_left = True
    while load_int(levels, node) > 0:
        n = load_int(fills, node)
        k = 0
        while k < n - 1 and load_int(lows, load_int(links, node * WIDTH + k + 1)) <= time:
            if k == 0 and on_left:
                count += below_first(rings, state, node)
            else:
                count += load_int(counts, load_int(links, node * WIDTH + k))
            k += 1
        on_left = on_left and k == 0
        node = load_int(links, node * WIDTH + k)
    i = at if node == left else 0
    count -= i
    end = fill if node == right else load_int(fills, node)
    while i < end and load_int(times, node * WIDTH + i) <= time:
        i += 1
    return count + i


def find_kid(
    rings: tuple[Ring, ...], state: State, node: int, i: int, on_left: bool
) -> tuple[int, int]:
    """Which kid of a node holds the i-th entry below it, and which of the kid's entries that is."""
    links, fills, counts = rings[4], rings[6], rings[8]
    n = load_int(fills, node)
    k = 0
    while k < n - 1:
        if k == 0 and on_left:
            count = below_first(rings, state, node)
        else:
            count = load_int(counts, load_int(links, node * WIDTH + k))
        if i < count:
            break
        i -= count
        k += 1
    return k, i


def find_entry(rings: tuple[Ring, ...], state: State, i: int) -> int:
    """The slot of the i-th entry of the window."""
    node: int = state[2]
    on_left = True
    while load_int(rings[9], node) > 0:
        k, i = find_kid(rings, state, node, i, on_left)
        on_left = on_left and k == 0
        node = load_int(rings[4], node * WIDTH + k)
    if node == state[3]:
        i += state[5]
    return node * WIDTH + i


def next_leaf(rings: tuple[Ring, ...], leaf: int) -> int:
    """The leaf after this one; there is one."""
    links, parents, fills, levels = rings[4], rings[5], rings[6], rings[9]
    node = leaf
    k = WIDTH
    while k == WIDTH:
        parent = load_int(parents, node)
        k = 0
        while load_int(links, parent * WIDTH + k) != node:
            k += 1
        k = k + 1 if k + 1 < load_int(fills, parent) else WIDTH
        node = parent
    node = load_int(links, node * WIDTH + k)
    while load_int(levels, node) > 0:
        node = load_int(links, node * WIDTH)
    return node


def find_last(rings: tuple[Ring, ...], state: State, count: int) -> tuple[int, int]:
    """The lowest node that has the `count` youngest entries below it, and how many it has."""
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    parents, counts = rings[5], rings[8]
    node = right
    parent = load_int(parents, right)
    under = fill
    if right != root and parent != root:
        under += load_int(counts, parent)
    found = E - F if right == root else fill
    while node != root and found < count:
        node = load_int(parents, node)
        found = E - F
        if node != root:
            parent = load_int(parents, node)
            found = under if parent == root else under - load_int(counts, parent)
    return node, found


def sum_positions(rings: tuple[Ring, ...], state: State, node: int, i: int, j: int) -> Partial:
    """The i-th to the (j-1)-th entry below a node of the right spine, combined; 0 ≤ i < j.

    Down from the node to where the ways to both ends part; from there on, what lies to the right
    of the one and to the left of the other, none of which is on a spine.
    """
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    links, fills, levels = rings[4], rings[6], rings[9]
    j -= 1
    on_left = node == root
    a, b = 0, 0
    while a == b and load_int(levels, node) > 0:
        a, i_in = find_kid(rings, state, node, i, on_left)
        b, j_in = find_kid(rings, state, node, j, on_left)
        i, j = i_in, j_in
        if a == b:
            on_left = on_left and a == 0
            node = load_int(links, node * WIDTH + a)
    if a == b:
        start = at if node == left else 0
        total = sum_entries(rings, node, start + i, start + j + 1)
    else:
        total = sum_kids(rings, node, a + 1, b)
        older = load_int(links, node * WIDTH + a)
        younger = load_int(links, node * WIDTH + b)
        on_left = on_left and a == 0
        while load_int(levels, older) > 0:
            k, i = find_kid(rings, state, older, i, on_left)
            on_left = on_left and k == 0
            total = combine(sum_kids(rings, older, k + 1, load_int(fills, older)), total)
            older = load_int(links, older * WIDTH + k)
        start = at if older == left else 0
        total = combine(sum_entries(rings, older, start + i, load_int(fills, older)), total)
        while load_int(levels, younger) > 0:
            k, j = find_kid(rings, state, younger, j, False)
            total = combine(total, sum_kids(rings, younger, 0, k))
            younger = load_int(links, younger * WIDTH + k)
        total = combine(total, sum_entries(rings, younger, 0, j + 1))
    return total

"""The nodes of fiba's tree: where they lie, how they are taken, and how they are summed.

A node is a number. Its slots are those from node·WIDTH on; a leaf's hold entries (`times`, `links`
for row numbers, `vals`), another's hold its kids (`links`). Nodes that were let go are a list,
linked by `parents`; one that was let go with all below it is a single link, and what hangs on it
joins the list when it is taken. So letting go of any part of the tree costs one step.
"""

from __future__ import annotations

from sash.aggregators.primitives import (
    Partial,
    Ring,
    combine,
    identity,
    load,
    load_int,
    store,
    store_int,
)

RINGS = ("vals", "aggs", "suffix")
INDEXES = ("times", "links", "parents", "fills", "lows", "counts", "levels")
WIDTH = 16
HALF = 8
NONE = -1


def take_node(rings: tuple[Ring, ...], free: int, used: int, level: int) -> tuple[int, int, int]:
    """A node of this level, with nothing in it; and what is left to take."""
    vals, aggs, suffix, times, links, parents, fills, lows, counts, levels = rings
    node = free
    if free == NONE:
        node = used
        used += 1
    else:
        free = load_int(parents, node)
        if load_int(levels, node) > 0:
            for k in range(load_int(fills, node)):
                kid = load_int(links, node * WIDTH + k)
                store_int(parents, kid, free)
                free = kid
    store_int(levels, node, level)
    store_int(fills, node, 0)
    return node, free, used


def let_go(rings: tuple[Ring, ...], node: int, free: int) -> int:
    """A node joins the list, and with it all that hangs on it."""
    store_int(rings[5], node, free)
    return node


def move(rings: tuple[Ring, ...], old: int, new: int) -> None:
    """An entry, from slot to slot."""
    vals, aggs, suffix, times, links, parents, fills, lows, counts, levels = rings
    store(vals, new, load(vals, old))
    store_int(times, new, load_int(times, old))
    store_int(links, new, load_int(links, old))


def adopt(rings: tuple[Ring, ...], node: int, k: int, kid: int) -> None:
    """Make a node the k-th kid of another."""
    store_int(rings[4], node * WIDTH + k, kid)
    store_int(rings[5], kid, node)


def sum_entries(rings: tuple[Ring, ...], leaf: int, start: int, end: int) -> Partial:
    vals = rings[0]
    total = identity()
    if start < end:
        total = load(vals, leaf * WIDTH + start)
        for i in range(leaf * WIDTH + start + 1, leaf * WIDTH + end):
            total = combine(total, load(vals, i))
    return total


def sum_kids(rings: tuple[Ring, ...], node: int, start: int, end: int) -> Partial:
    aggs, links = rings[1], rings[4]
    total = identity()
    if start < end:
        total = load(aggs, load_int(links, node * WIDTH + start))
        for k in range(node * WIDTH + start + 1, node * WIDTH + end):
            total = combine(total, load(aggs, load_int(links, k)))
    return total


def sum_up(rings: tuple[Ring, ...], node: int) -> None:
    """The sum and the count of all below a node that is on no spine."""
    vals, aggs, suffix, times, links, parents, fills, lows, counts, levels = rings
    fill = load_int(fills, node)
    if load_int(levels, node) == 0:
        store(aggs, node, sum_entries(rings, node, 0, fill))
        store_int(counts, node, fill)
    else:
        store(aggs, node, sum_kids(rings, node, 0, fill))
        count = 0
        for k in range(node * WIDTH, node * WIDTH + fill):
            count += load_int(counts, load_int(links, k))
        store_int(counts, node, count)


def sum_root(rings: tuple[Ring, ...], root: int) -> None:
    """All below the root but its first and its last kid."""
    store(rings[1], root, sum_kids(rings, root, 1, load_int(rings[6], root) - 1))


def sum_left(rings: tuple[Ring, ...], node: int, root: int) -> Partial:
    """The left spine from a node under the root down; the sum next to the leaf at its end."""
    vals, aggs, suffix, times, links, parents, fills, lows, counts, levels = rings
    total = identity()
    count = 0
    parent = load_int(parents, node)
    if parent != root:
        total = load(aggs, parent)
        count = load_int(counts, parent)
    while load_int(levels, node) > 0:
        for k in range(load_int(fills, node) - 1, 0, -1):
            kid = load_int(links, node * WIDTH + k)
            total = combine(load(aggs, kid), total)
            count += load_int(counts, kid)
        store(aggs, node, total)
        store_int(counts, node, count)
        node = load_int(links, node * WIDTH)
    return total


def sum_right(rings: tuple[Ring, ...], node: int, root: int) -> None:
    """The right spine from a node under the root down."""
    vals, aggs, suffix, times, links, parents, fills, lows, counts, levels = rings
    total = identity()
    count = 0
    parent = load_int(parents, node)
    if parent != root:
        total = load(aggs, parent)
        count = load_int(counts, parent)
    while load_int(levels, node) > 0:
        last = load_int(fills, node) - 1
        for k in range(last):
            kid = load_int(links, node * WIDTH + k)
            total = combine(total, load(aggs, kid))
            count += load_int(counts, kid)
        store(aggs, node, total)
        store_int(counts, node, count)
        node = load_int(links, node * WIDTH + last)


def sum_front(rings: tuple[Ring, ...], leaf: int, at: int, until: int, beside: Partial) -> None:
    """The sums of the oldest leaf from each of its entries on, and of what is beside it."""
    vals, suffix = rings[0], rings[2]
    total = beside
    store(suffix, until, total)
    for i in range(until - 1, at - 1, -1):
        total = combine(load(vals, leaf * WIDTH + i), total)
        store(suffix, i, total)


def sum_middle(rings: tuple[Ring, ...], root: int, right: int) -> Partial:
    """All between the root's first kid and the youngest leaf."""
    aggs, parents = rings[1], rings[5]
    total = identity()
    if right != root:
        total = load(aggs, root)
        parent = load_int(parents, right)
        if parent != root:
            total = combine(total, load(aggs, parent))
    return total

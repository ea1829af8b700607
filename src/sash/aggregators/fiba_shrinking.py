"""How fiba's tree shrinks: whole subtrees leave it at its old end."""

from __future__ import annotations

from sash.aggregators.fiba_nodes import (
    HALF,
    WIDTH,
    adopt,
    let_go,
    sum_front,
    sum_left,
    sum_middle,
    sum_right,
    sum_root,
)
from sash.aggregators.primitives import Ring, State, identity, load_int, store_int


def drop(rings: tuple[Ring, ...], state: State, count: int) -> State:
    """Let go of the `count` oldest entries: the whole oldest leaf at least, and not everything.

    Up the left spine to the first node that keeps a kid, then down along the cut. Nodes of the
    left spine may be left with a single kid; the root is seen to, so that the tree stays low. If
    all that is kept is below the root's last kid, that kid is the root from now on.
    """
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    vals, aggs, suffix, times, links, parents, fills, lows, counts, levels = rings
    store_int(fills, right, fill)
    old_root = root
    held, keep = E - F, E - F - count
    under = fill
    if load_int(parents, right) != root:
        under += load_int(counts, load_int(parents, right))
    under_last = under
    while load_int(levels, root) > 0 and under_last >= keep:
        k = load_int(fills, root) - 1
        store_int(fills, root, k)
        free = let_go(rings, root, free)
        root = load_int(links, root * WIDTH + k)
        held = under_last
        under_last = under - load_int(counts, root)

    top = root
    k = 0
    rest = held - keep
    if root == old_root:
        k = 1
        rest = count - (until - at)
        top = load_int(parents, left)
        while top != root:
            parent = load_int(parents, top)
            beside = load_int(counts, top) - (0 if parent == root else load_int(counts, parent))
            if rest < beside:
                break
            rest -= beside
            top = parent
    node = top
    while load_int(levels, node) > 0:
        n = load_int(fills, node)
        while k < n - 1 and rest >= load_int(counts, load_int(links, node * WIDTH + k)):
            rest -= load_int(counts, load_int(links, node * WIDTH + k))
            k += 1
        if k > 0:
            for i in range(k):
                free = let_go(rings, load_int(links, node * WIDTH + i), free)
            for i in range(k, n):
                store_int(links, node * WIDTH + i - k, load_int(links, node * WIDTH + i))
            store_int(fills, node, n - k)
        node = load_int(links, node * WIDTH)
        k = 0
    left = node
    at = rest

    while load_int(levels, root) > 0 and load_int(fills, root) == 1:
        store_int(fills, root, 0)
        free = let_go(rings, root, free)
        root = load_int(links, root * WIDTH)
    while load_int(levels, root) > 1 and load_int(fills, root) == 2:
        a = load_int(links, root * WIDTH)
        b = load_int(links, root * WIDTH + 1)
        kids = load_int(fills, a)
        more = load_int(fills, b)
        if kids + more > HALF:
            break
        for k in range(more):
            adopt(rings, a, kids + k, load_int(links, b * WIDTH + k))
        store_int(fills, a, kids + more)
        store_int(fills, b, 0)
        store_int(fills, root, 0)
        free = let_go(rings, b, free)
        free = let_go(rings, root, free)
        root = a

    until = load_int(fills, left)
    beside_leaf = identity()
    if left == right:
        last = identity()
    else:
        if top == old_root or root != old_root:
            sum_root(rings, root)
            top = load_int(links, root * WIDTH)
        if root != old_root:
            sum_right(rings, load_int(links, root * WIDTH + load_int(fills, root) - 1), root)
        beside_leaf = sum_left(rings, top, root)
    sum_front(rings, left, at, until, beside_leaf)
    middle = sum_middle(rings, root, right)
    return F + count, E, root, left, right, at, until, fill, free, used, middle, last

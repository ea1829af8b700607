"""How fiba's tree grows: a leaf at its young end, or an entry anywhere in it."""

from __future__ import annotations

from sash.aggregators.fiba_nodes import (
    HALF,
    NONE,
    WIDTH,
    adopt,
    move,
    sum_entries,
    sum_front,
    sum_left,
    sum_middle,
    sum_right,
    sum_root,
    sum_up,
    take_node,
)
from sash.aggregators.primitives import (
    Partial,
    Ring,
    State,
    combine,
    identity,
    load,
    load_int,
    store,
    store_int,
)


def shift_out(rings: tuple[Ring, ...], state: State) -> State:
    """In a window of one leaf: use the slots of what has left again."""
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    suffix = rings[2]
    for i in range(at, fill):
        move(rings, right * WIDTH + i, right * WIDTH + i - at)
    for i in range(at, until + 1):
        store(suffix, i - at, load(suffix, i))
    return F, E, root, left, right, 0, until - at, fill - at, free, used, middle, last


def extend(rings: tuple[Ring, ...], state: State, time: int) -> State:
    """A new youngest leaf, for an entry of this time. The one before it is full and stays so.

    A node on the way up that is full keeps all its kids but one; a new one beside it gets that one
    and the new kid. In order, nodes are thus left behind full, and none on the right spine has
    fewer than two kids.
    """
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    vals, aggs, suffix, times, links, parents, fills, lows, counts, levels = rings
    store_int(fills, right, fill)
    store(aggs, right, last)
    store_int(counts, right, fill)
    new, free, used = take_node(rings, free, used, 0)
    store_int(lows, new, time)
    a, b = right, new
    while a != root:
        parent = load_int(parents, a)
        if load_int(fills, parent) < WIDTH:
            break
        node, free, used = take_node(rings, free, used, load_int(levels, parent))
        store_int(lows, node, load_int(lows, a))
        adopt(rings, node, 0, a)
        adopt(rings, node, 1, b)
        store_int(fills, node, 2)
        store_int(fills, parent, WIDTH - 1)
        if parent != root:
            sum_up(rings, parent)
        a, b = parent, node
    if a == root:
        root, free, used = take_node(rings, free, used, load_int(levels, a) + 1)
        adopt(rings, root, 0, a)
        adopt(rings, root, 1, b)
        store_int(fills, root, 2)
        store(aggs, root, identity())
        until = load_int(fills, left)
        sum_front(rings, left, at, until, sum_left(rings, a, root))
    else:
        parent = load_int(parents, a)
        adopt(rings, parent, load_int(fills, parent), b)
        store_int(fills, parent, load_int(fills, parent) + 1)
        store(aggs, parent, combine(load(aggs, parent), load(aggs, a)))
        store_int(counts, parent, load_int(counts, parent) + load_int(counts, a))
    sum_right(rings, b, root)
    middle = sum_middle(rings, root, new)
    return F, E, root, left, new, at, until, 0, free, used, middle, identity()


def find_leaf(rings: tuple[Ring, ...], state: State, time: int) -> tuple[int, int, int]:
    """The leaf for an entry of this time, after all of the same time; found from the right finger.

    Also the lowest node above it that is on a spine, and on which: -1 the left, 1 the right, 0 the
    root.
    """
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    vals, aggs, suffix, times, links, parents, fills, lows, counts, levels = rings
    node = right
    side = 1
    while node != root and time < load_int(lows, node):
        node = load_int(parents, node)
    if node == root:
        side = 0
    top = node
    on_left = side == 0
    while load_int(levels, node) > 0:
        k = load_int(fills, node) - 1
        while k > 0 and time < load_int(lows, load_int(links, node * WIDTH + k)):
            k -= 1
        node = load_int(links, node * WIDTH + k)
        on_left = on_left and k == 0
        if on_left:
            top = node
            side = -1
    return node, top, side


def split_leaf(rings: tuple[Ring, ...], leaf: int, new: int) -> None:
    """The younger half of a full leaf goes to a new one."""
    fills, lows = rings[6], rings[7]
    for i in range(HALF, WIDTH):
        move(rings, leaf * WIDTH + i, new * WIDTH + i - HALF)
    store_int(fills, leaf, HALF)
    store_int(fills, new, WIDTH - HALF)
    store_int(lows, new, load_int(rings[3], new * WIDTH))


def split_node(rings: tuple[Ring, ...], node: int, new: int) -> None:
    """The same for kids."""
    links, fills, lows = rings[4], rings[6], rings[7]
    for k in range(HALF, WIDTH):
        adopt(rings, new, k - HALF, load_int(links, node * WIDTH + k))
    store_int(fills, node, HALF)
    store_int(fills, new, WIDTH - HALF)
    store_int(lows, new, load_int(lows, load_int(links, new * WIDTH)))


def place_kid(rings: tuple[Ring, ...], a: int, b: int) -> None:
    """b becomes the kid after a; there is room."""
    links, parents, fills = rings[4], rings[5], rings[6]
    node = load_int(parents, a)
    fill = load_int(fills, node)
    k = fill
    while load_int(links, node * WIDTH + k - 1) != a:
        adopt(rings, node, k, load_int(links, node * WIDTH + k - 1))
        k -= 1
    adopt(rings, node, k, b)
    store_int(fills, node, fill + 1)


def insert_late(rings: tuple[Ring, ...], state: State, time: int, row: int, v: Partial) -> State:
    """An entry that is older than the youngest."""
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    vals, aggs, suffix, times, links, parents, fills, lows, counts, levels = rings
    store_int(fills, right, fill)
    a, top, side = find_leaf(rings, state, time)
    b = NONE
    in_last = a == right
    oldest = at if a == left else 0
    i = load_int(fills, a)
    while i > oldest and load_int(times, a * WIDTH + i - 1) > time:
        i -= 1
    node = a
    if oldest > 0:  # the slots of what has left come before
        for j in range(at, i):
            move(rings, a * WIDTH + j, a * WIDTH + j - 1)
        at -= 1
        i -= 1
    else:
        if load_int(fills, a) == WIDTH:
            b, free, used = take_node(rings, free, used, 0)
            split_leaf(rings, a, b)
            if i > HALF:
                node, i = b, i - HALF
            if in_last:
                right = b
        for j in range(load_int(fills, node), i, -1):
            move(rings, node * WIDTH + j - 1, node * WIDTH + j)
        store_int(fills, node, load_int(fills, node) + 1)
    store(vals, node * WIDTH + i, v)
    store_int(times, node * WIDTH + i, time)
    store_int(links, node * WIDTH + i, row)

    # Up to the spine: what was split is split off the parent's kids too, and sums are formed anew.
    new_root = False
    while a != top or b != NONE:
        if a != top or (side > 0 and a != root):
            sum_up(rings, a)
        if b != NONE and (a != top or (side < 0 and a != root)):
            sum_up(rings, b)
        if a == root:
            root, free, used = take_node(rings, free, used, load_int(levels, a) + 1)
            adopt(rings, root, 0, a)
            adopt(rings, root, 1, b)
            store_int(fills, root, 2)
            new_root = True
            a, b, top = root, NONE, root
        else:
            parent = load_int(parents, a)
            new = NONE
            if b != NONE:
                if load_int(fills, parent) == WIDTH:
                    new, free, used = take_node(rings, free, used, load_int(levels, parent))
                    split_node(rings, parent, new)
                place_kid(rings, a, b)
            if a == top:
                top = parent
            a, b = parent, new

    # Down the spines, from where they have changed.
    if top == root and load_int(levels, root) > 0:
        sum_root(rings, root)
    if side < 0 or new_root or left == right:
        node = load_int(links, root * WIDTH) if top == root else top
        beside = identity()
        if left != right:
            beside = sum_left(rings, node, root)
        until = load_int(fills, left)
        sum_front(rings, left, at, until, beside)
    if side > 0 or new_root:
        sum_right(
            rings,
            load_int(links, root * WIDTH + load_int(fills, root) - 1) if top == root else top,
            root,
        )
    fill = load_int(fills, right)
    if in_last:
        last = identity() if left == right else sum_entries(rings, right, 0, fill)
    middle = sum_middle(rings, root, right)
    return F, E + 1, root, left, right, at, until, fill, free, used, middle, last

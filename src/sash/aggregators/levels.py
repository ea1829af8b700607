"""The levels of a binary tree over the stream, and how a prefix or a suffix is found in it.

Node p of level l stands for the values p·2^l ≤ i < (p+1)·2^l, whatever the window is; nodes 2p and
2p+1 are a pair, and its sum is node p of the level above. All levels share one ring, each node at
the place it has when the tree is read in order, left, root, right:

    level 2         ·   ·   ·   0   ·   ·   ·   ·   ·   ·   ·   1   ·   ·   ·
    level 1         ·   0   ·   ·   ·   1   ·   ·   ·   2   ·   ·   ·   3   ·
    level 0         0   ·   1   ·   2   ·   3   ·   4   ·   5   ·   6   ·   7
    slot            1   2   3   4   5   6   7   8   9  10  11  12  13  14  15

so that a window of n values needs 2n slots, and what has left makes room for what comes.

`level_get`, `level_put` and `level_drop` are all that an algorithm knows of how nodes are kept: the
same names may stand for a store. A node is put once and never changed. So what values from E on put
before slot 2E are nodes that a window of earlier ones does not know yet; what they put from there
on lies, around the ring, where its oldest nodes may be. That makes `levels` one of `PUT_ONCE`.
"""

from __future__ import annotations

from typing import Any

from sash.aggregators.primitives import (
    Partial,
    Ring,
    combine,
    get,
    identity,
    length_of,
    load,
    put,
    store,
)


def level_get(levels: Ring, level: int, position: int) -> Partial:
    """The node at this position of a level."""
    return get(levels, (2 * position + 1) << level)


def level_put(levels: Ring, level: int, position: int, p: Partial) -> None:
    """Keep the node at this position of a level."""
    put(levels, (2 * position + 1) << level, p)


def level_drop(levels: Ring, start: int) -> None:
    """No node that begins before the value `start` will be asked for again.

    In a ring there is nothing to do: its place is taken when its time comes.
    """


def move_levels(old: Ring, levels: Ring, start: int, end: int) -> None:
    """Copy all nodes of the values start ≤ i < end to a ring of another length."""
    for slot in range(2 * start + 1, 2 * end):
        put(levels, slot, get(old, slot))


def move_front(old: Ring, buffer: Ring) -> None:
    """Copy a buffer to one of another length, as far as both go."""
    for i in range(min(length_of(old), length_of(buffer))):
        store(buffer, i, load(old, i))


def nodes(level: int, E: int) -> int:
    """How many nodes of a level are there for sure when E values have come.

    A pair has its sum above it from when the next pair begins.
    """
    return ((E + 1) >> level) - 1


def widest(i: int, level: int, E: int) -> int:
    """The highest level with a node that begins at value i, coming from a lower or higher one."""
    while (i >> level) & 1 == 0 and (i >> (level + 1)) < nodes(level + 1, E):
        level += 1
    while level > 0 and (i >> level) >= nodes(level, E):
        level -= 1
    return level


def sum_to_end(levels: Ring, start: int, E: int) -> Partial:
    """v[start] ⊕ … ⊕ v[E-1], from the widest nodes there are."""
    total = identity()
    i, level = start, 0
    while i < E:
        level = widest(i, level, E)
        node = level_get(levels, level, i >> level)
        total = node if i == start else combine(total, node)
        i += 1 << level
    return total


def leaving(levels: Ring, F: int, E: int, total: Partial, policy: Any) -> int:
    """How many of the oldest values leave by a slide policy: the most for which it is True.

    policy(total, old) is given the sum of the window and that of its oldest values, and is True up
    to some number of them and False beyond. The first two values are tried one by one, as mostly
    just one leaves; then nodes, ever wider ones, until one is too much; the rest is found inside
    that one. So few values are found fast.
    """
    i, level, old = F, 0, identity()
    more, wider = F < E, True
    while more:
        node = level_get(levels, level, i >> level)
        longer = node if i == F else combine(old, node)
        if policy(total, longer):
            old = longer
            i += 1 << level
        else:
            wider = False
        if wider:
            more = i < E
            if more and i > F + 1:
                level = widest(i, level, E)
        else:
            level -= 1
            more = level >= 0
    return i - F

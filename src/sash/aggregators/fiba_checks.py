"""The invariants of fiba's tree, executed in tests."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from sash.aggregators.fiba_nodes import HALF, NONE, WIDTH
from sash.aggregators.primitives import Ring, State, combine, fold, identity, same


def check_tree(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    """All invariants, for a window of these partials."""
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    vals, aggs, suffix, times, links, parents, fills, lows, counts, levels = rings
    fills[right] = fill  # while it grows, the count is kept in the state
    if F == E:
        assert not window and left == right == root
        return
    slots = below(rings, state, root)
    assert len(slots) == E - F == len(window)
    for slot, p in zip(slots, window, strict=True):
        assert same(vals[slot], p)
    assert [times[s] for s in slots] == sorted(times[s] for s in slots)
    for one, other in pairwise(slots):
        assert times[one] < times[other] or links[one] < links[other]
    check_node(rings, state, root, 0, 0)
    check_fingers(rings, state)
    free_nodes = count_free(rings, free)
    assert count_nodes(rings, root) + free_nodes == used
    low = HALF ** max(levels[root] - 2, 0)
    assert low <= E - F, "the tree is too high"


def below(rings: tuple[Ring, ...], state: State, node: int) -> list[int]:
    """The slots of all entries below a node, in order."""
    left, at = state[3], state[5]
    links, fills, levels = rings[4], rings[6], rings[9]
    if levels[node] == 0:
        start = at if node == left else 0
        return list(range(node * WIDTH + start, node * WIDTH + fills[node]))
    kids = links[node * WIDTH : node * WIDTH + fills[node]]
    return [slot for kid in kids for slot in below(rings, state, kid)]


def total(rings: tuple[Ring, ...], state: State, node: int) -> Any:
    return fold([rings[0][slot] for slot in below(rings, state, node)])


def check_node(
    rings: tuple[Ring, ...], state: State, node: int, on_left: int, on_right: int
) -> None:
    """A node's own invariants and those below it; whether it is on a spine (the root: neither)."""
    root = state[2]
    vals, aggs, suffix, times, links, parents, fills, lows, counts, levels = rings
    n = fills[node]
    assert 0 < n <= WIDTH
    kids = links[node * WIDTH : node * WIDTH + n] if levels[node] else []
    sums = [total(rings, state, kid) for kid in kids]
    sizes = [len(below(rings, state, kid)) for kid in kids]
    parent = parents[node]
    beside = identity() if node == root or parent == root else aggs[parent]
    if node == root:
        if kids:
            assert n >= 2
            assert same(aggs[node], fold(sums[1:-1]))
            if n == 2 and levels[node] > 1:
                assert fills[kids[0]] + fills[kids[1]] > HALF
    elif on_left:
        if kids:
            assert same(aggs[node], combine(fold(sums[1:]), beside))
            assert counts[node] == sum(sizes[1:]) + (0 if parent == root else counts[parent])
    elif on_right:
        if kids:
            assert n >= 2
            assert same(aggs[node], combine(beside, fold(sums[:-1])))
            assert counts[node] == sum(sizes[:-1]) + (0 if parent == root else counts[parent])
    else:
        assert n >= HALF
        assert same(aggs[node], total(rings, state, node))
        assert counts[node] == len(below(rings, state, node))
    for k, kid in enumerate(kids):
        assert parents[kid] == node and levels[kid] == levels[node] - 1
        if k > 0:
            assert times[below(rings, state, kids[k - 1])[-1]] <= lows[kid]
            assert lows[kid] <= times[below(rings, state, kid)[0]]
        first = k == 0 and (on_left or node == root)
        final = k == n - 1 and (on_right or node == root)
        check_node(rings, state, kid, first, final)


def check_fingers(rings: tuple[Ring, ...], state: State) -> None:
    F, E, root, left, right, at, until, fill, free, used, middle, last = state
    vals, aggs, suffix, times, links, parents, fills, lows, counts, levels = rings
    beside = identity() if left == root or parents[left] == root else aggs[parents[left]]
    assert at <= until <= fills[left]
    for i in range(at, until + 1):
        own = fold([vals[left * WIDTH + k] for k in range(i, until)])
        assert same(suffix[i], combine(own, beside))
    if left == right:
        assert same(middle, identity())
        assert same(last, fold([vals[left * WIDTH + k] for k in range(until, fill)]))
        return
    assert until == fills[left] and at < until
    assert same(last, total(rings, state, right))
    own = identity() if parents[right] == root else aggs[parents[right]]
    assert same(middle, combine(aggs[root], own))
    node = root
    while levels[node]:
        node = links[node * WIDTH]
    assert node == left
    node = root
    while levels[node]:
        node = links[node * WIDTH + fills[node] - 1]
    assert node == right


def count_nodes(rings: tuple[Ring, ...], node: int) -> int:
    links, fills, levels = rings[4], rings[6], rings[9]
    kids = links[node * WIDTH : node * WIDTH + fills[node]] if levels[node] else []
    return 1 + sum(count_nodes(rings, kid) for kid in kids)


def count_free(rings: tuple[Ring, ...], free: int) -> int:
    count = 0
    while free != NONE:
        count += count_nodes(rings, free)
        free = rings[5][free]
    return count

"""The loops that drive any algorithm: one row after the other, fused into one when compiled."""

from __future__ import annotations

from typing import Any

from sash.aggregators.primitives import (
    Partial,
    Ring,
    State,
    answer,
    clock,
    combine,
    identity,
    load,
    policy,
    read,
    store,
)


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    """The algorithm's own."""
    raise NotImplementedError


def evict(rings: tuple[Ring, ...], state: State) -> State:
    """The algorithm's own."""
    raise NotImplementedError


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    """The algorithm's own."""
    raise NotImplementedError


def query_last(rings: tuple[Ring, ...], state: State, count: int) -> Partial:
    """The sum of the `count` youngest values; one that cannot tell is asked for all it holds."""
    return query(rings, state)


def evict_while(rings: tuple[Ring, ...], state: State, policy: Any) -> State:
    """The algorithm's own, if it can find how many leave by a slide policy."""
    raise NotImplementedError


def size(state: State) -> int:
    """How many values the window holds; an algorithm that counts otherwise has its own."""
    return state[1] - state[0]  # type: ignore[no-any-return]


def span(state: State) -> tuple[int, int]:
    """The positions of its rings that an algorithm uses: start ≤ i < end."""
    return state[0], state[1]


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    """Whether a state can be that of a window, as far as its positions tell.

    One that was read from somewhere might be none. An algorithm with more positions than where the
    window begins and ends has its own.
    """
    return 0 <= state[0] <= state[1]  # type: ignore[no-any-return]


def value(rings: tuple[Ring, ...], state: State, i: int) -> Partial:
    """The algorithm's own, if it must be rebuilt of its values: the i-th of them."""
    raise NotImplementedError


def bulk_insert(rings: tuple[Ring, ...], state: State, rows: Any, count: int) -> State:
    for i in range(count):
        state = insert(rings, state, read(rows, i))
    return state


def bulk_evict(rings: tuple[Ring, ...], state: State, count: int) -> State:
    for _ in range(count):
        state = evict(rings, state)
    return state


def slide(
    rings: tuple[Ring, ...], state: State, rows: Any, count: int, length: int, out: Any
) -> State:
    """Insert each row into a window of at most `length`, and answer it."""
    for i in range(count):
        while size(state) >= length:
            state = evict(rings, state)
        state = insert(rings, state, read(rows, i))
        answer(out, i, query(rings, state))
    return state


def slide_ranges(
    rings: tuple[Ring, ...], state: State, rows: Any, count: int, ranges: Any, out: Any
) -> State:
    """`slide` for several lengths at once, the longest first: an answer for each at every row."""
    n = len(ranges)
    for i in range(count):
        while size(state) >= ranges[0]:
            state = evict(rings, state)
        state = insert(rings, state, read(rows, i))
        for k in range(n):
            last = min(ranges[k], size(state))
            answer(out, i * n + k, query_last(rings, state, last))
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
    """Answer j in first ≤ j < last for the rows starts[j] ≤ i < ends[j]; neither ever goes back."""
    S = starts[first]
    E = S
    for j in range(first, last):
        while ends[j] > E:
            state = insert(rings, state, read(rows, E))
            E += 1
        if starts[j] > S:
            state = bulk_evict(rings, state, starts[j] - S)
            S = starts[j]
        answer(out, j, query(rings, state))
    return state


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
    """`slide_bounds` for a window that holds values S ≤ i < E, and S_then ≤ i < E_then after it.

    Values are counted from the first that ever came; value E is the first row. Rows that no answer
    is for are never inserted.
    """
    shift = first_row - E
    for j in range(first, last + 1):
        start, end = S_then, E_then
        if j < last:
            start, end = starts[j], ends[j]
        if start > S:
            if E > S:
                state = bulk_evict(rings, state, min(start, E) - S)
            S = start
            E = max(S, E)
        while end > E:
            state = insert(rings, state, read(rows, E + shift))
            E += 1
        if j < last:
            answer(out, j, query(rings, state))
    return state


def share(
    rings: tuple[Ring, ...],
    state: State,
    rows: Any,
    open_slice: Any,
    begun: bool,
    upto: Any,
    closes: Any,
    leaving: Any,
    first: Any,
    reach: Any,
    out: Any,
) -> State:
    """Rows become slices, slices go into the window, and many queries are answered from it.

    Step s takes rows up to, but not, upto[s] into the slice that is open. If closes[s], that slice
    is full and goes in. Then leaving[s] slices leave, and the answers first[s] ≤ j < first[s+1] are
    for the reach[j] youngest slices and what is in the open one. A slice that is open in the end is
    left in `open_slice`; one that is `begun` lies there at the start.
    """
    p = load(open_slice, 0)
    at = 0
    for s in range(len(upto)):
        while at < upto[s]:
            v = read(rows, at)
            p = combine(p, v) if begun else v
            begun = True
            at += 1
        if closes[s]:
            state = insert(rings, state, p)
            begun = False
        if leaving[s] > 0:
            state = bulk_evict(rings, state, leaving[s])
        for j in range(first[s], first[s + 1]):
            if reach[j] == 0:
                answer(out, j, p if begun else identity())
            elif begun:
                answer(out, j, combine(query_last(rings, state, reach[j]), p))
            else:
                answer(out, j, query_last(rings, state, reach[j]))
    store(open_slice, 0, p)
    return state


def slide_policy(
    rings: tuple[Ring, ...],
    state: State,
    rows: Any,
    at: Any,
    g: int,
    last: int,
    room: int,
    base: int,
    starts: Any,
    out: Any,
) -> State:
    """Insert each row in at[g] ≤ i < last, let the policy evict, and answer it.

    Row i is the value with the number base + i; starts[i] is that of the oldest that is left. The
    loop ends before a row for which there is no room, and at[g] tells where.
    """
    i = at[g]
    while i < last and size(state) < room:
        state = insert(rings, state, read(rows, i))
        state = evict_while(rings, state, policy)
        starts[i] = base + i + 1 - size(state)
        answer(out, i, query(rings, state))
        i += 1
    at[g] = i
    return state


def timed_slide(
    rings: tuple[Ring, ...],
    state: State,
    rows: Any,
    count: int,
    length: int,
    out: Any,
    ticks: Any,
) -> State:
    """`slide`, and how long each answer took by the clock."""
    for i in range(count):
        begun = clock()
        while size(state) >= length:
            state = evict(rings, state)
        state = insert(rings, state, read(rows, i))
        answer(out, i, query(rings, state))
        ticks[i] = clock() - begun
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
    """`slide_bounds`, and how long each answer took by the clock."""
    S = starts[0]
    E = S
    for j in range(count):
        begun = clock()
        while ends[j] > E:
            state = insert(rings, state, read(rows, E))
            E += 1
        if starts[j] > S:
            state = bulk_evict(rings, state, starts[j] - S)
            S = starts[j]
        answer(out, j, query(rings, state))
        ticks[j] = clock() - begun
    return state

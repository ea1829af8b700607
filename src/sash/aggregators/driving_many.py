"""The loops over many windows that lie in shared arrays. They run compiled only."""

from __future__ import annotations

from typing import Any

from sash.aggregators.driving import follow, insert, size, slide_policy, sound, span, value
from sash.aggregators.primitives import (
    Ring,
    load,
    load_state,
    moved,
    rebased,
    store,
    store_state,
    window_of,
)


def follow_keys(
    pools: Any,
    offsets: Any,
    lengths: Any,
    levels: Any,
    kept: Any,
    rows: Any,
    keys: Any,
    first_rows: Any,
    S: Any,
    E: Any,
    starts: Any,
    ends: Any,
    first: Any,
    last: Any,
    S_then: Any,
    E_then: Any,
    out: Any,
) -> None:
    """`follow` for one window after the other."""
    for g in range(len(keys)):
        k = keys[g]
        rings = window_of(pools, offsets, lengths, levels, k)
        own = rebased(rows, E[g] - first_rows[g])
        state = follow(
            rings,
            load_state(kept, k),
            own,
            first_rows[g],
            S[g],
            E[g],
            starts,
            ends,
            first[g],
            last[g],
            S_then[g],
            E_then[g],
            out,
        )
        store_state(kept, k, state)


def follow_policy_keys(
    pools: Any,
    offsets: Any,
    lengths: Any,
    levels: Any,
    kept: Any,
    rows: Any,
    keys: Any,
    groups: Any,
    count: int,
    at: Any,
    last: Any,
    base: Any,
    held: Any,
    starts: Any,
    out: Any,
) -> int:
    """`slide_policy` for the windows of the first `count` of these groups.

    Those whose window is full are written to `groups` again; how many they are is returned.
    """
    left = 0
    for n in range(count):
        g = groups[n]
        k = keys[g]
        rings = window_of(pools, offsets, lengths, levels, k)
        own = rebased(rows, base[g])
        room = 1 << levels[k]
        state = load_state(kept, k)
        state = slide_policy(rings, state, own, at, g, last[g], room, base[g], starts, out)
        store_state(kept, k, state)
        held[k] = size(state)
        if at[g] < last[g]:
            groups[left] = g
            left += 1
    return left


def move_keys(
    old: Any,
    pools: Any,
    lengths: Any,
    keys: Any,
    offsets: Any,
    levels: Any,
    offsets_then: Any,
    levels_then: Any,
    kept: Any,
) -> None:
    """Move the windows of these keys to where the i-th of them is to lie."""
    for i in range(len(keys)):
        k = keys[i]
        before = window_of(old, offsets, lengths, levels, k)
        after = window_of(pools, offsets_then, lengths, levels_then, i)
        store_state(kept, k, moved(before, after, load_state(kept, k)))


def find_spans(kept: Any, keys: Any, starts: Any, ends: Any) -> None:
    """The positions of its rings that the window of each of these keys uses."""
    for i in range(len(keys)):
        start, end = span(load_state(kept, keys[i]))
        starts[i] = start
        ends[i] = end


def first_unsound(
    pools: Any, offsets: Any, lengths: Any, levels: Any, kept: Any, keys: Any, held: Any
) -> int:
    """The first of these keys whose window is none, or does not hold what it should; -1."""
    found = -1
    for i in range(len(keys)):
        k = keys[i]
        if found < 0:
            rings = window_of(pools, offsets, lengths, levels, k)
            state = load_state(kept, k)
            if size(state) != held[k] or not sound(rings, state):
                found = i
    return found


def save_values(
    pools: Any, offsets: Any, lengths: Any, levels: Any, kept: Any, keys: Any, at: Any, buffer: Ring
) -> None:
    """Write all values of the windows of these keys, those of the i-th from at[i] on."""
    for i in range(len(keys)):
        rings = window_of(pools, offsets, lengths, levels, keys[i])
        state = load_state(kept, keys[i])
        for n in range(size(state)):
            store(buffer, at[i] + n, value(rings, state, n))


def load_values(
    pools: Any, offsets: Any, lengths: Any, levels: Any, kept: Any, keys: Any, at: Any, buffer: Ring
) -> None:
    """Insert the values at[i] ≤ n < at[i+1] into the window of the i-th of these keys."""
    for i in range(len(keys)):
        rings = window_of(pools, offsets, lengths, levels, keys[i])
        state = load_state(kept, keys[i])
        for n in range(at[i], at[i + 1]):
            state = insert(rings, state, load(buffer, n))
        store_state(kept, keys[i], state)

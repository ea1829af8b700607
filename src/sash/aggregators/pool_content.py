"""What a pool holds, as plain arrays, and back: only what is in use, and only if it makes sense.

    held       how many values each key's window holds
    nulls      for each leaf of the operator, whether nulls have come
    state_c    the c-th column of the states of those that hold any
    ring_r_i   the i-th field of the r-th ring: the slots that these windows use, in order
    levels     if an algorithm lays out its rings itself, how long they are

Windows of an algorithm that cannot be checked so (its numbers are links) are rebuilt of their
values: there is no state then, and the one ring holds the values.

What comes back may have been damaged or made up. Compiled loops do not look where they read, so
all that they rely on is looked at here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sash.aggregators.plan import Array, levels_for
from sash.aggregators.rings import lays_out
from sash.aggregators.segments import LEVELS, NUMBER, Segments

if TYPE_CHECKING:
    from sash.aggregators.pool import Pool

MOST = 2**62
LONGEST = 2 ** (LEVELS - 1)


def content_of(pool: Pool) -> dict[str, Any]:
    segments = pool.segments
    segments.tidy(pool.code)
    keys = np.flatnonzero(pool.held)
    found: dict[str, Any] = {"held": pool.held.copy(), "nulls": pool.had_nulls.copy()}
    if hasattr(pool.algorithm, "value"):
        return found | _values(pool, keys)
    for c, column in enumerate(segments.kept):
        found[f"state_{c}"] = column[keys]
    if lays_out(pool.algorithm):
        found["levels"] = segments.levels[keys]
    for r, slots in _slots(pool, segments, keys).items():
        for i, array in enumerate(segments.pools[r]):
            found[f"ring_{r}_{i}"] = array[slots]
    return found


def _slots(pool: Pool, segments: Segments, keys: Array) -> dict[int, Array]:
    """For each ring where it is in use, window by window."""
    found = {}
    lengths, offsets = segments.lengths[segments.levels[keys]], segments.offsets[keys]
    if lays_out(pool.algorithm):
        starts, counts = np.zeros_like(lengths), lengths
    else:
        start, end = _spans(pool, segments, keys)
        starts = np.repeat(start[:, None], len(segments.pools), axis=1)
        counts = np.repeat((end - start)[:, None], len(segments.pools), axis=1)
    for r in np.flatnonzero(~segments.shared).tolist():
        many = counts[:, r]
        ends = np.cumsum(many)
        nth = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - many, many)
        positions = nth + np.repeat(starts[:, r], many)
        wrapped = positions % np.repeat(lengths[:, r], many)
        found[r] = np.repeat(offsets[:, r], many) + wrapped
    return found


def _spans(pool: Pool, segments: Segments, keys: Array) -> tuple[Array, Array]:
    """The positions that windows use, in all of their rings."""
    starts, ends = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    pool.code.call("find_spans", segments.kept, keys, starts, ends)
    return starts, ends


def _values(pool: Pool, keys: Array) -> dict[str, Any]:
    segments = pool.segments
    held = segments.held[keys]
    at = np.cumsum(held) - held
    buffer = tuple(np.empty(int(held.sum()), dtype) for dtype in segments.types[0])
    pool.code.call("save_values", *segments.windows(), keys, at, buffer)
    return {f"ring_0_{i}": values for i, values in enumerate(buffer)}


def restored(pool: Pool, content: dict[str, Any]) -> tuple[Segments, Array]:
    """Segments with these windows, and which leaves have had nulls.

    A ValueError if there cannot be such windows.
    """
    left = dict(content)
    held = _array(left, "held", NUMBER)
    _check((held >= 0) & (held <= LONGEST), "held")
    nulls = _array(left, "nulls", np.dtype(bool), len(pool.types))
    keys = np.flatnonzero(held)
    segments = pool.no_segments()
    segments.add(len(held))
    try:
        if hasattr(pool.algorithm, "value"):
            _insert_values(pool, segments, left, held, keys)
        else:
            _fill(pool, segments, left, held, keys)
    except MemoryError:
        raise ValueError("the windows that were saved cannot be so large.") from None
    if left:
        raise ValueError(f"nothing is known of {next(iter(left))!r} among the windows saved.")
    return segments, nulls.copy()


def _fill(pool: Pool, segments: Segments, left: dict[str, Any], held: Array, keys: Array) -> None:
    states = []
    for c, column in enumerate(segments.kept):
        states.append(_array(left, f"state_{c}", column.dtype, len(keys)))
        if segments.is_position[c]:
            _check((states[c] >= 0) & (states[c] < MOST), f"state_{c}")
    if lays_out(pool.algorithm):
        levels = _array(left, "levels", np.dtype(np.int8), len(keys)).astype(np.int64)
        _check((levels >= 1) & (levels < LEVELS), "levels")
        _check(held[keys] <= 1 << levels, "levels")
        counts = segments.lengths[levels]
    else:
        levels = levels_for(held[keys])
        segments.set_states(keys, states)
        start, end = _spans(pool, segments, keys)
        _check((end >= start) & (end - start <= 1 << levels), "state_0")
        counts = np.repeat((end - start)[:, None], len(segments.pools), axis=1)
    rings = {
        (r, i): _array(left, f"ring_{r}_{i}", dtype, int(counts[:, r].sum()))
        for r, types in enumerate(segments.types)
        for i, dtype in enumerate(types)
        if not segments.shared[r]
    }
    if not len(keys):
        return
    segments.grow(pool.code, keys, levels)
    segments.held[:] = held
    segments.set_states(keys, states)
    slots = _slots(pool, segments, keys)
    for (r, i), numbers in rings.items():
        segments.pools[r][i][slots[r]] = numbers
    found = pool.code.call("first_unsound", *segments.windows(), keys, segments.held)
    if found >= 0:
        raise ValueError(f"the window of key {keys[found]} cannot have been saved so.")


def _insert_values(
    pool: Pool, segments: Segments, left: dict[str, Any], held: Array, keys: Array
) -> None:
    buffer = tuple(
        _array(left, f"ring_0_{i}", dtype, int(held.sum())).copy()
        for i, dtype in enumerate(segments.types[0])
    )
    if len(keys):
        segments.grow(pool.code, keys, levels_for(held[keys]))
        at = np.concatenate([[0], np.cumsum(held[keys])])
        pool.code.call("load_values", *segments.windows(), keys, at, buffer)
        segments.held[:] = held


def _array(left: dict[str, Any], name: str, dtype: np.dtype[Any], length: int = -1) -> Array:
    found = left.pop(name, None)
    if not isinstance(found, np.ndarray) or found.ndim != 1 or found.dtype != dtype:
        raise ValueError(f"{name} of the windows saved must be an array of {dtype}.")
    if length >= 0 and len(found) != length:
        raise ValueError(f"{name} of the windows saved has {len(found)} values, not {length}.")
    return found


def _check(fine: Array, name: str) -> None:
    if not fine.all():
        raise ValueError(f"{name} of the windows saved has values that cannot be.")

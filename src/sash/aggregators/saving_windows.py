"""What one aggregator holds, as plain values and arrays; and an aggregator that holds it again."""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.aggregators import driving
from sash.aggregators.aggregator import Aggregator
from sash.aggregators.beside import NullRows
from sash.aggregators.generating import state_layout
from sash.aggregators.keeping import SMALLEST, Kept
from sash.aggregators.rings import (
    as_arrays,
    as_lists,
    field_types,
    flatten,
    lays_out,
    lengths,
)

LARGEST = 2**40


def content_of(window: Aggregator) -> dict[str, Any]:
    """All that a window holds."""
    return {
        "in": int(window._in),
        "out": int(window._out),
        "types": [[str(kind) for kind in types] for types in window._types],
        "nulls": [np.array(list(each), np.int64) for each in window._nulls],
        "payloads": [dict(each) for each in window._payloads],
        "kept": None if window._kept is None else _kept(window._kept),
    }


def restore(window: Aggregator, content: dict[str, Any]) -> None:
    """Let an empty window hold what `content_of` told of another; a ValueError if it cannot."""
    counts = content["in"], content["out"]
    if not all(type(n) is int for n in counts) or not 0 <= counts[1] <= counts[0]:
        raise ValueError("its counts are at odds")
    window._in, window._out = counts
    window._nulls = [NullRows.fromkeys(rows.tolist()) for rows in content["nulls"]]
    window._payloads = [dict(each) for each in content["payloads"]]
    leaves = len(window.operator.leaves)
    if not len(window._nulls) == len(window._payloads) == leaves:
        raise ValueError("it is of another number of operators")
    if content["kept"] is None:
        return
    types = tuple(tuple(np.dtype(kind) for kind in given) for given in content["types"])
    if len(types) != leaves:
        raise ValueError("it is of another number of columns")
    window._types = types
    window._kept = Kept(window._module, window.operator.bind_leaves(types), window._settings)
    _restore_kept(window._kept, content["kept"])
    if window._kept.held() != len(window):
        raise ValueError("it does not hold as many values as it says")


def _kept(kept: Kept) -> dict[str, Any]:
    fixed = kept.monoid.fixed_width
    if hasattr(kept.algorithm, "value"):  # so tangled that it is built anew
        hand = kept.at_hand()
        values = [kept.run.value(*hand, i) for i in range(kept.held())]
        return {"values": _fields(values, kept) if fixed else values}
    partials = len(kept.algorithm.RINGS)
    slots = _slots(kept)
    rings: list[Any] = []
    for k, ring in enumerate(kept.rings):
        if k >= partials:
            rings.append(np.asarray(ring, np.int64))
        elif not fixed:
            rings.append([ring[i] for i in slots[k]])
        elif kept.in_arrays:
            rings.append([array[slots[k]] for array in ring])
        else:
            rings.append(_fields([ring[i] for i in slots[k]], kept))
    state = kept.state if kept.in_arrays or not fixed else flatten(kept.state)
    return {
        "capacity": kept.capacity,
        "in_arrays": kept.in_arrays,
        "state": [n.item() if isinstance(n, np.generic) else n for n in state],
        "rings": rings,
    }


def _slots(kept: Kept) -> list[Any]:
    """Of each ring of partials, the places that are in use, in the order of their values."""
    if lays_out(kept.algorithm):
        room = lengths(kept.algorithm, kept.capacity, kept.settled)
        return [np.arange(n) for n in room]
    start, end = kept.run.span(kept._as_items())
    return [np.arange(start, end) & (kept.capacity - 1)] * len(kept.rings)


def _fields(partials: list[Any], kept: Kept) -> list[Any]:
    """Partials by field; a slot without one has the identity."""
    blank = kept.monoid.identity()
    flat = [flatten(blank if p is None else p) for p in partials]
    types = field_types(kept.monoid)
    columns = zip(*flat, strict=True) if flat else ([] for _ in types)
    return [np.array(column, kind) for column, kind in zip(columns, types, strict=True)]


def _restore_kept(kept: Kept, content: dict[str, Any]) -> None:
    if hasattr(kept.algorithm, "value"):
        values = content["values"]
        if kept.monoid.fixed_width:
            each = zip(*(column.tolist() for column in values), strict=True)
            values = [kept._partial(list(fields)) for fields in each]
        for p in values:
            kept.insert(p)
        return
    _restore_rings(kept, content)
    positions = [
        item
        for item, is_partial in zip(kept._as_items(), state_layout(kept.algorithm), strict=True)
        if not is_partial
    ]
    whole = all(type(n) is int and 0 <= n < 2**62 for n in positions)
    sound = getattr(kept.run, "sound", driving.sound)
    rings, state = kept.at_hand()
    if not whole or not sound(tuple(rings), state):
        raise ValueError("its state cannot be one")


def _restore_rings(kept: Kept, content: dict[str, Any]) -> None:
    capacity = content["capacity"]
    fits = type(capacity) is int and SMALLEST <= capacity <= LARGEST
    if not fits or capacity & (capacity - 1):
        raise ValueError("its capacity is not one")
    fixed, in_arrays = kept.monoid.fixed_width, bool(content["in_arrays"])
    kept.capacity = capacity
    kept.in_arrays = in_arrays and fixed
    make = as_arrays if kept.in_arrays else as_lists
    kept.rings = make(kept.algorithm, kept.monoid, capacity, kept.settled)
    layout = state_layout(kept.algorithm)
    state = tuple(content["state"])
    if fixed:
        if len(state) != len(flatten(kept.run.new())):
            raise ValueError("its state is of another length")
        kept.state = state
        if not kept.in_arrays:
            kept.in_arrays = True
            kept.state = kept._as_items()
            kept.in_arrays = False
    else:
        if len(state) != len(layout):
            raise ValueError("its state is of another length")
        kept.state = state
    partials = len(kept.algorithm.RINGS)
    for k, (ring, slots) in enumerate(zip(content["rings"], _slots(kept), strict=True)):
        if k >= partials:
            kept.rings[k][:] = ring if kept.in_arrays else ring.tolist()
        elif kept.in_arrays:
            for array, values in zip(kept.rings[k], ring, strict=True):
                array[slots] = values
        elif fixed:
            each = zip(*(values.tolist() for values in ring), strict=True)
            for slot, fields in zip(slots.tolist(), each, strict=True):
                kept.rings[k][slot] = kept._partial(list(fields))
        else:
            for slot, p in zip(slots.tolist(), ring, strict=True):
                kept.rings[k][slot] = p

"""The rings an algorithm keeps: how many, of what, and how long for a window of so many values.

`RINGS` names those of partials and `INDEXES` those of whole numbers; an algorithm is given both, in
this order. They are as long as the power of two that the window needs, and slots are found by
position, unless the algorithm says otherwise: `room` tells the length of each, and `regrow` moves
everything from old rings to new ones. Rings laid out so begin with the identity in every slot. A
length may depend on settings: those that `room` names as parameters are given to it. `SETTLED` are
rings of numbers whose slots are not found by position, because options settle what is in them.
`PUT_ONCE` are rings where nothing that a window holds is ever changed: values that come write over
slots of values that have left, and nothing else; see `overwritten`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np

from sash.operators.base import Operator
from sash.operators.monoid import Monoid


def ring_length(count: int) -> int:
    """The power of two that a ring of `count` partials needs."""
    return 1 << max(count - 1, 1).bit_length()


def lays_out(algorithm: ModuleType) -> bool:
    """Whether an algorithm finds its slots otherwise than by the position of a value."""
    return hasattr(algorithm, "regrow")


def lengths(
    algorithm: ModuleType, capacity: int, settled: Mapping[str, list[int]]
) -> tuple[int, ...]:
    """The length of each ring for a capacity that is a power of two."""
    if hasattr(algorithm, "room"):
        asked = inspect.signature(algorithm.room).parameters
        known = {name: settled[name] for name in asked if name in settled}
        found: tuple[int, ...] = algorithm.room(capacity, **known)
        return found
    return (capacity,) * (len(algorithm.RINGS) + len(indexes(algorithm)))


def indexes(algorithm: ModuleType) -> tuple[str, ...]:
    """The names of an algorithm's rings of whole numbers."""
    found: tuple[str, ...] = getattr(algorithm, "INDEXES", ())
    return found


def put_once(algorithm: ModuleType) -> tuple[str, ...]:
    """The names of an algorithm's rings where nothing that a window holds is ever changed."""
    found: tuple[str, ...] = getattr(algorithm, "PUT_ONCE", ())
    return found


def overwritten(length: Any, capacity: Any, E: Any, count: Any) -> tuple[Any, Any]:
    """What `count` values that come from position E on can write over, in a ring of `PUT_ONCE`.

    The first slot, and how many, going around. The ring has as many slots for each value as it has
    for each of its capacity, in the order of the values. Numbers, or arrays of many windows'.
    """
    each = length // capacity
    return each * E & (length - 1), np.minimum(each * count, length)


Settings = Mapping[str, list[int]]
"""What an algorithm's options settle: the contents of those of its `INDEXES` that never change."""

NOTHING: Settings = MappingProxyType({})


def settings(algorithm: ModuleType, operator: Operator, options: dict[str, Any]) -> Settings:
    """The settings for a caller's options; one that the algorithm does not know is refused.

    An algorithm whose settings depend on the operator asks for it by the parameter `operator`.
    """
    name = algorithm.__name__.rpartition(".")[2]
    if not hasattr(algorithm, "settings"):
        if options:
            raise TypeError(f"{name} has no option {next(iter(options))!r}.")
        return {}
    known = option_names(algorithm)
    for option in options:
        if option not in known:
            raise TypeError(f"{name} has no option {option!r}; it has {', '.join(known)}.")
    asked = inspect.signature(algorithm.settings).parameters
    given = {"operator": operator} if "operator" in asked else {}
    found: Settings = algorithm.settings(**options, **given)
    return found


def option_names(algorithm: ModuleType) -> list[str]:
    """The options that an algorithm has."""
    if not hasattr(algorithm, "settings"):
        return []
    return [name for name in inspect.signature(algorithm.settings).parameters if name != "operator"]


def as_lists(
    algorithm: ModuleType, monoid: Monoid, capacity: int, settled: Settings = NOTHING
) -> list[Any]:
    """Rings for plain Python, empty."""
    blank = monoid.identity() if lays_out(algorithm) else None
    names = (*algorithm.RINGS, *indexes(algorithm))
    found = lengths(algorithm, capacity, settled)
    partials = len(algorithm.RINGS)
    return [
        list(settled[name]) if name in settled else [blank if k < partials else 0] * length
        for k, (name, length) in enumerate(zip(names, found, strict=True))
    ]


def as_arrays(
    algorithm: ModuleType, monoid: Monoid, capacity: int, settled: Settings = NOTHING
) -> list[Any]:
    """Rings for compiled code, empty: a partial's fields in an array each."""
    fields = field_types(monoid)
    blank = flatten(monoid.identity()) if lays_out(algorithm) else (0,) * len(fields)
    found: list[Any] = []
    names = (*algorithm.RINGS, *indexes(algorithm))
    each_length = lengths(algorithm, capacity, settled)
    for k, (name, length) in enumerate(zip(names, each_length, strict=True)):
        if name in settled:
            found.append(np.array(settled[name], np.int64))
        elif k >= len(algorithm.RINGS):
            found.append(np.zeros(length, np.int64))
        elif lays_out(algorithm):
            ring = tuple(apart(i, np.empty, length, dtype) for i, dtype in enumerate(fields))
            for array, value in zip(ring, blank, strict=True):
                array.fill(value)
            found.append(ring)
        else:
            found.append(tuple(apart(i, np.zeros, length, d) for i, d in enumerate(fields)))
    return found


CACHE_LINE, LINES = 64, 64


def apart(i: int, make: Any, length: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The i-th of several arrays that a loop goes through side by side.

    Large arrays all begin at the same place of a page. A processor's nearest cache holds only some
    eight lines of one place, so a loop over more of them would find none of its data there: each
    array begins one cache line later than the one before.
    """
    start = i % LINES * CACHE_LINE // dtype.itemsize
    array: np.ndarray[Any, Any] = make(length + start, dtype)[start:]
    return array


def field_types(monoid: Monoid) -> list[np.dtype[Any]]:
    """The type of each field of a whole partial, in the order in which rings hold them."""
    return [dtype for leaf in monoid.leaves() for _, dtype in leaf.fields or ()]


def flatten(state: Any) -> tuple[Any, ...]:
    """A state as a flat tuple of numbers: partials by their fields."""
    flat: list[Any] = []
    for item in state:
        flat += flatten(item) if isinstance(item, tuple) else [item]
    return tuple(flat)

"""What is to be done with many windows, one for each key, when a batch of rows has come.

Rows are grouped by key. The values of a key are counted from the first that ever came; its window
holds those from S up to, but not, E.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

NONE: Array = np.empty(0, np.int64)


def _none() -> Array:
    return NONE


@dataclass(frozen=True, eq=False)
class Plan:
    """For each group g of rows of one key: what its window holds, is asked, and holds then.

    keys              the code of its key; a key has at most one group
    rows              where its rows begin: the index of value E
    S, E              what the window holds before: values S ≤ i < E
    first, last       its answers: first ≤ j < last
    S_then, E_then    what it holds afterwards
    starts, ends      for each answer j the values starts[j] ≤ i < ends[j]; neither goes back
    count             how many rows it has; only for a slide policy, which has one answer for each
                      row and tells itself what the window holds
    """

    keys: Array
    rows: Array
    S: Array
    E: Array
    first: Array = field(default_factory=_none)
    last: Array = field(default_factory=_none)
    S_then: Array = field(default_factory=_none)
    E_then: Array = field(default_factory=_none)
    starts: Array = field(default_factory=_none)
    ends: Array = field(default_factory=_none)
    count: Array = field(default_factory=_none)

    def __post_init__(self) -> None:
        for name in NAMES:
            # Numba compiles a loop anew for an array of another kind.
            numbers = np.ascontiguousarray(getattr(self, name), np.int64)
            if not numbers.flags.writeable:
                numbers = numbers.copy()
            object.__setattr__(self, name, numbers)


NAMES = tuple(each.name for each in fields(Plan))


def levels_for(need: Array) -> Array:
    """The power of two that a ring of so many partials needs, as `ring_length` has it."""
    found: Array = np.maximum(np.searchsorted(POWERS, need), 1)
    return found


POWERS = 2 ** np.arange(62)


def find_need(  # type: ignore[no-untyped-def]
    keys, rows, S, E, first, last, S_then, E_then, starts, ends, count, known, held, levels, wanted
):
    """The level that each group's key needs, and how many of them have less.

    Or, if a group is at odds with itself or with what its window holds, -1 less its number: what
    compiled loops are told must be true, as they do not look.
    """
    growing = 0
    for g in range(keys.size):
        k, s, e = keys[g], S[g], E[g]
        if k < 0 or k >= known or s < 0 or held[k] != e - s:
            return -1 - g
        if first[g] < 0 or last[g] < first[g] or last[g] > starts.size:
            return -1 - g
        need = e - s
        for j in range(first[g], last[g] + 1):
            start, end = S_then[g], E_then[g]
            if j < last[g]:
                start, end = starts[j], ends[j]
            if start < s or end < e or end < start:
                return -1 - g
            s, e = start, end
            need = max(need, e - s)
        if rows[g] < 0 or rows[g] + e - E[g] > count:
            return -1 - g
        level = 1
        while need > (1 << level):
            level += 1
        if level > levels[k]:
            growing += 1
        wanted[g] = level
    return growing

"""Answers of a stream that may still change: which are new, are others now, or are no more.

Each has a name, some whole numbers, by which it is known again: that of the row that it is for, or
of several windows which it is of, with the key, end and begin of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.aggregators.binding import equal

Array = np.ndarray[Any, Any]
Names = list[Array]
LAST = -1


@dataclass(frozen=True)
class Provisional:
    """Answers that have been given and may change."""

    names: Names
    answers: list[Any]

    def changes(self, names: Names, answers: list[Any]) -> tuple[Array, Array]:
        """Which of these answers are new or not as they were; which of the earlier are no more."""
        before = matched(self.names, names)
        news = before < 0
        known = np.flatnonzero(~news)
        for mine, theirs in zip(self.answers, answers, strict=True):
            if len(known):
                news[known] |= _differ(_take(mine, before[known]), _take(theirs, known))
        gone = np.ones(len(self.names[0]), bool)
        gone[before[known]] = False
        return np.flatnonzero(news), np.flatnonzero(gone)


def names_of_windows(names: Names) -> Names:
    """The names of windows: what tells them, and which it is of those that share that.

    These are counted from the last one backwards, as the first of them become final first.
    """
    order = np.lexsort(names)
    count = len(order)
    ends_here = np.ones(count, bool)
    ends_here[:-1] = ~_same_as_before([each[order] for each in names])
    last = np.flatnonzero(ends_here)
    at = np.arange(count)
    place = np.empty(count, np.int64)
    place[order] = at - last[np.searchsorted(last, at)] + LAST
    return [*names, place]


def matched(before: Names, after: Names) -> Array:
    """For each of the names after, which of those before it is; -1 for none. No two are alike."""
    names = [np.concatenate(pair) for pair in zip(before, after, strict=True)]
    count = len(before[0])
    order = np.lexsort(names)  # of two that are alike, the one before comes first
    pairs = np.flatnonzero(_same_as_before([each[order] for each in names]))
    found = np.full(len(after[0]), -1, np.int64)
    found[order[pairs + 1] - count] = order[pairs]
    return found


def _same_as_before(names: Names) -> Array:
    same = np.ones(max(len(names[0]) - 1, 0), bool)
    for each in names:
        same &= each[1:] == each[:-1]
    return same


def _take(values: Any, which: Array) -> Any:
    if isinstance(values, list):
        return [values[i] for i in which.tolist()]
    return values.take(pa.array(which))


def _differ(one: Any, other: Any) -> Array:
    """Where answers are not the same; null is null, and NaN is NaN."""
    listed = isinstance(one, list) or isinstance(other, list)
    if listed or one.type != other.type or pa.types.is_nested(one.type):
        each = (some if isinstance(some, list) else some.to_pylist() for some in (one, other))
        return np.array([not equal(a, b) for a, b in zip(*each, strict=True)], bool)
    differ = _bools(pc.not_equal(one, other).fill_null(False))
    if pa.types.is_floating(one.type):
        nan = [_bools(pc.is_nan(each).fill_null(False)) for each in (one, other)]
        differ &= ~(nan[0] & nan[1])
    differ |= _bools(one.is_valid()) != _bools(other.is_valid())
    return differ


def _bools(values: pa.Array) -> Array:
    return np.array(values.to_numpy(zero_copy_only=False), bool)

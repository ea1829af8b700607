"""Where the key changes in rows that are sorted by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Array = np.ndarray[Any, Any]


def begins(keys: Sequence[pa.Array], before: Sequence[pa.Array] | None, rows: int) -> Array:
    """The rows whose key is not that of the row before; `before` has the last key of all, if any.

    Keys are the same as Spark's grouping says: null is null, NaN is NaN, and -0.0 is 0.0.
    """
    changes = np.zeros(rows, bool)
    changes[0] = before is None
    for k, key in enumerate(keys):
        key = _comparable(key)
        if before is not None and not changes[0]:
            last = _comparable(before[k])
            changes[0] = _differs(pa.concat_arrays([last, key[:1]]))[0]
        if rows > 1 and (changes[1:].any() or _differs(_ends(key))[0]):
            changes[1:] |= _differs(key)
        # Otherwise its ends are the same and, sorted as it is, so is all between.
    return np.flatnonzero(changes)


def _ends(key: pa.Array) -> pa.Array:
    return key.take(pa.array([0, len(key) - 1]))


def _comparable(key: pa.Array) -> pa.Array:
    """Moments as numbers: two that a clock shows alike, when it is set back, are not the same."""
    return key.view(pa.int64()) if pa.types.is_timestamp(key.type) else key


def _differs(key: pa.Array) -> Array:
    """Which values, from the second on, are not as the one before."""
    here, there = key[1:], key[:-1]
    if pa.types.is_nested(key.type):
        pairs = zip(here.to_pylist(), there.to_pylist(), strict=True)
        return np.array([not _alike(a, b) for a, b in pairs], bool)
    differs = _array(pc.not_equal(here, there).fill_null(False))
    if pa.types.is_floating(key.type):
        nan = [_array(pc.is_nan(each).fill_null(False)) for each in (here, there)]
        differs &= ~(nan[0] & nan[1])
    if key.null_count:
        differs |= _array(pc.is_null(here)) != _array(pc.is_null(there))
    return differs


def _alike(a: Any, b: Any) -> bool:
    """Whether nested values are the same, NaN among them too."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_alike(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_alike, a, b))
    return bool(a == b or (a != a and b != b))


def _array(values: pa.Array) -> Array:
    return np.array(values.to_numpy(zero_copy_only=False), bool)

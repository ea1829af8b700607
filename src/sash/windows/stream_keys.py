"""Keys of a stream: columns of any plain type as values that can be looked up, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.columns import column
from sash.windows.keys import Keys

Array = np.ndarray[Any, Any]


def codes_of(keys: Keys, columns: list[pa.Array], count: int) -> Array:
    """The code of each row's key; without columns, all rows are of one."""
    if not columns:
        if not len(keys):
            keys.codes([column([0])])
        return np.zeros(count, np.int64)
    if not count:
        return np.zeros(0, np.int64)
    return keys.codes([column(_plain(each)) for each in columns])


def key_columns(values: list[Any], types: tuple[pa.DataType, ...]) -> list[pa.Array]:
    """Keys as columns of these types."""
    if not types:
        return []
    several = list(zip(*values, strict=True)) if len(types) > 1 else [values]
    if not values:
        return [pa.nulls(0, kind) for kind in types]
    return [_typed(list(each), kind) for each, kind in zip(several, types, strict=True)]


def _counts(kind: pa.DataType) -> bool:
    """Whether values are numbers of microseconds, or the like, that Python may not hold."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_duration(kind))


def _plain(values: pa.Array) -> pa.Array:
    return values.view(pa.int64()) if _counts(values.type) else values


def _typed(values: list[Any], kind: pa.DataType) -> pa.Array:
    return pa.array(values, pa.int64()).view(kind) if _counts(kind) else pa.array(values, kind)

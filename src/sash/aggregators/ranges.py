"""The ranges that an algorithm is told of beforehand: `ranges=[10, 100, 1000]`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sash.aggregators.primitives import Ring, load_int


def checked_ranges(ranges: Any) -> list[int]:
    """Each once, the shortest first."""
    whole = (int, np.integer)
    if not isinstance(ranges, Iterable) or isinstance(ranges, str):
        raise TypeError(f"ranges is a list of sizes, such as [10, 100], not {ranges!r}.")
    for one in ranges:
        if isinstance(one, bool) or not isinstance(one, whole):
            raise TypeError(f"a range is a whole number of values, not {one!r}.")
        if one < 1:
            raise ValueError(f"a range holds at least 1 value, not {one}.")
    return sorted({int(one) for one in ranges})


def number_of(ranges: Ring, count: int) -> int:
    """The number of the range of so many values; that of all ranges if it is none of them."""
    low, high = 0, len(ranges)
    while low < high:
        middle = (low + high) >> 1
        if load_int(ranges, middle) < count:
            low = middle + 1
        else:
            high = middle
    if low < len(ranges) and load_int(ranges, low) != count:
        low = len(ranges)
    return low

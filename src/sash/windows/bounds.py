"""Which rows each answer is for: starts[j] ≤ i < ends[j].

Neither bound ever goes back, so that any FIFO algorithm can follow them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.columns import Column, column
from sash.aggregators.compiling import compile_plain
from sash.aggregators.duration import nanoseconds, steps

Array = np.ndarray[Any, Any]

MOST = 2**63 - 1
CLOSED = ("right", "left", "both", "neither")


def count_bounds(rows: int, length: int, every: int, closed: str) -> tuple[Array, Array]:
    """The last `length` rows at every so-many-th row.

    closed "right" counts the row itself and not the one `length` before it, "left" the other way
    round, "both" counts both and "neither" none.
    """
    at = np.arange(every - 1, rows, every, dtype=np.int64)
    length = min(length, rows + 1)
    starts = at - length + (closed in ("right", "neither"))
    ends = at + (closed in ("right", "both"))
    return np.minimum(np.maximum(starts, 0), ends), ends


def time_bounds(times: Column, width: Any, every: int, closed: str) -> tuple[Array, Array]:
    """The rows whose time is within `width` of a row's own, up to that row, at every so-many-th.

    Rows of the same time count up to the row itself if the right end is closed: they are in the
    order in which they came. If it is open, none of them counts.
    """
    numbers, in_units = _in_units(times, width)
    rows = len(numbers)
    starts, ends = np.empty(rows, np.int64), np.empty(rows, np.int64)
    unsorted = compile_plain(follow)(
        numbers, in_units, closed in ("left", "both"), closed in ("right", "both"), starts, ends
    )
    if unsorted >= 0:
        before, after = times.source[unsorted - 1], times.source[unsorted]
        raise ValueError(
            f"times must not go back, and row {unsorted} ({after}) is before row {unsorted - 1} "
            f"({before}); sort the rows by time first."
        )
    if every == 1:
        return starts, ends
    return starts[every - 1 :: every].copy(), ends[every - 1 :: every].copy()


def follow(times, width, left_closed, right_closed, starts, ends):  # type: ignore[no-untyped-def]
    """Fill starts and ends; the first row whose time goes back, or -1."""
    start = 0
    end = 0
    for i in range(times.size):
        if i > 0 and times[i] < times[i - 1]:
            return i
        while start < i and (
            times[i] - times[start] > width
            or (not left_closed and times[i] - times[start] == width)
        ):
            start += 1
        if right_closed:
            end = i + 1
        else:
            while times[end] < times[i]:
                end += 1
        starts[i] = min(start, end)
        ends[i] = end
    return -1


def extent(starts, ends):  # type: ignore[no-untyped-def]
    """The least and the greatest number of rows between two bounds; the latter is 1 at least."""
    least = 9223372036854775807
    most = 1
    for j in range(starts.size):
        held = ends[j] - starts[j]
        least = min(least, held)
        most = max(most, held)
    return least, most


def times_column(times: Any, rows: int) -> Column:
    """The times of the rows, of any datetime or integer type."""
    found = column(times)
    if found.numbers is None and found.kind == "list":
        with suppress(pa.ArrowException):  # what is no time is refused below
            found = column(pa.array(found.source))
    if found.valid is not None:
        missing = int(np.flatnonzero(~found.valid)[0])
        raise ValueError(f"every row needs a time, and row {missing} has none.")
    if found.numbers is None or (not found.is_time and found.numbers.dtype.kind not in "iu"):
        raise TypeError(f"times must be datetimes or integers, not {_type_of(found)}.")
    if len(found) != rows:
        raise ValueError(f"there are {rows} values and {len(found)} times.")
    return found


def _type_of(given: Column) -> str:
    return str(getattr(given.source, "type", getattr(given.source, "dtype", "objects")))


def _in_units(times: Column, width: Any) -> tuple[Array, int]:
    """The times as integers, and the width in the same unit."""
    assert times.numbers is not None
    if times.numbers.dtype == np.uint64 and times.numbers.max(initial=0) > MOST:
        raise ValueError("integer times must be below 2**63.")
    numbers = times.numbers.astype(np.int64, copy=False)
    if len(numbers) and not -(2**62) < int(numbers[0]) <= 2**62 > int(numbers[-1]):
        raise ValueError("times must be within 62 bits: their differences would not fit.")
    counted = steps(width)
    if not times.is_time:
        if counted is None:
            raise ValueError(
                f"integer times have no unit: write the width {width!r} in theirs, as in '3600i', "
                f"or convert the times to datetime64."
            )
        return numbers, _checked_width(counted, width)
    if counted is not None:
        raise ValueError(f"the width {width!r} is for integer times; write it as in '1h'.")
    unit = _unit_nanoseconds(times)
    wanted = _checked_width(nanoseconds(width), width)
    if wanted % unit:  # times in coarser units than the width: count both in nanoseconds
        limit = np.iinfo(np.int64).max // unit
        if len(numbers) and max(abs(int(numbers[0])), abs(int(numbers[-1]))) > limit:
            raise ValueError(f"times this far apart cannot be counted as finely as {width!r}.")
        return numbers * unit, wanted
    return numbers, wanted // unit


def _checked_width(units: int, width: Any) -> int:
    if units < 1:
        raise ValueError(f"a window's width must be more than nothing, not {width!r}.")
    return min(units, MOST)


def _unit_nanoseconds(times: Column) -> int:
    if times.kind == "numpy":
        unit, count = np.datetime_data(times.source.dtype)
        if unit in "YM":
            raise ValueError("times in months or years have no fixed length; convert them to days.")
        one = np.array(count, f"timedelta64[{unit}]")
        return int(one.astype("timedelta64[ns]").astype(np.int64))
    kind = str(times.source.type)
    if kind.startswith("date32"):
        return 86_400_000_000_000
    if kind.startswith("date64"):
        return 1_000_000
    return {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[times.source.type.unit]

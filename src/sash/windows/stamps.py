"""The times of rows and answers: numbers inside, as they came outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators import columns
from sash.aggregators.clocks import Clock
from sash.aggregators.columns import Kind
from sash.aggregators.duration import Steps, Time
from sash.windows.shapes import Shape

Array = np.ndarray[Any, Any]
EPOCH = datetime(1970, 1, 1)


class Stamps:
    """What kind of times a window's rows have, if they have any."""

    def __init__(self, shape: Shape, lengths: dict[str, Time | Steps | None]) -> None:
        """lengths: those that must fit the times, beside the window's own."""
        self.shape = shape
        self.lengths = lengths
        self.clock: Clock | None = None
        self.has_times: bool | None = None
        self.zone: Any = None
        self.unit = "ns"
        self.kind: Kind = "list"

    def timed(self, given: bool) -> bool:
        """Whether rows have times; all have, or none."""
        if self.has_times is not None and self.has_times != given:
            has, lacks = ("times", "none was") if self.has_times else ("no times", "some were")
            raise TypeError(f"the rows of this window have {has}, and {lacks} given.")
        return given

    def settle(self, clock: Clock) -> None:
        if self.clock is None:
            self.shape.check_clock(clock, self.lengths)
            self.clock = clock
            self.has_times = True

    @contextmanager
    def if_done(self) -> Iterator[None]:
        """Rows that are refused do not settle what kind of times a window has."""
        before = self.clock, self.has_times, self.zone, self.unit
        try:
            yield
        except BaseException:
            self.clock, self.has_times, self.zone, self.unit = before
            raise

    def number(self, time: Any) -> int:
        """A time as a number."""
        if self.clock is not None and self.clock.kind == "integers" and type(time) is int:
            number = time
        else:
            clock = Clock.of(time, self.clock)
            number = clock.number(time)
            self.settle(clock)
        if not -(2**62) < number < 2**62:
            raise ValueError(f"the time {time} is too far off: it must be within 62 bits.")
        return number

    def numbers(self, times: Any, rows: int) -> Array:
        """Many times as numbers."""
        given = columns.column(times)
        if len(given) != rows:
            raise ValueError(f"there are {rows} values and {len(given)} times.")
        if not rows:
            return np.zeros(0, np.int64)
        clock, numbers = Clock.of_column(given.source, self.clock)
        first = self.clock is None
        self.settle(clock)
        if first and given.kind == "numpy" and given.source.dtype.kind == "M":
            self.unit = np.datetime_data(given.source.dtype)[0]
        elif first and given.kind == "arrow" and pa.types.is_timestamp(given.source.type):
            self.unit, self.zone = given.source.type.unit, given.source.type.tz
        low, high = int(numbers.min()), int(numbers.max())
        if low <= -(2**62) or high >= 2**62:
            raise ValueError("times must be within 62 bits, or between 1824 and 2116.")
        return np.ascontiguousarray(numbers, np.int64)

    def one(self, number: int) -> Any:
        """A number as a time, for a reader."""
        return self.dressed(np.array([number], np.int64), "list")[0]

    def marks(self, times: Array, since: Array, kind: Kind) -> dict[str, Any]:
        """The times of answers, and when their windows began if they are stretches of time."""
        if self.clock is None:
            return {"times": None, "starts": None}
        starts = self.dressed(since, kind) if self.shape.sliced else None
        return {"times": self.dressed(times, kind), "starts": starts}

    def dressed(self, numbers: Array, kind: Kind) -> Any:
        """Numbers as times of a kind."""
        assert self.clock is not None
        if self.clock.kind == "integers":
            if kind == "list":
                return numbers.tolist()
            return pa.array(numbers) if kind == "arrow" else numbers
        times = numbers.view("datetime64[ns]")
        if kind == "list":
            aware = self.clock.kind == "datetimes with a time zone"
            return [_python_time(n, aware) for n in numbers.tolist()]
        if kind == "numpy":
            return _coarser(times, self.unit)
        zone = self.zone or ("UTC" if self.clock.kind == "datetimes with a time zone" else None)
        found = pa.array(times).cast(pa.timestamp("ns")).cast(pa.timestamp("ns", zone))
        try:
            unit = self.unit if self.unit in ("ms", "us", "ns") else "s"
            return found.cast(pa.timestamp(unit, zone))
        except pa.ArrowException:  # it would lose something
            return found


def _python_time(number: int, aware: bool) -> Any:
    if number % 1000:
        return np.datetime64(number, "ns")
    found = EPOCH + timedelta(microseconds=number // 1000)
    return found.replace(tzinfo=UTC) if aware else found


def _coarser(times: Array, unit: str) -> Array:
    """Times in the unit that rows have, unless that loses something."""
    if unit == "ns":
        return times
    found = times.astype(f"datetime64[{unit}]")
    return found if (found.astype("datetime64[ns]") == times).all() else times

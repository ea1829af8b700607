"""Times as a window orders them: integers as they are, datetimes as nanoseconds since 1970."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators import columns

EARLIEST, LATEST = -(2**63), 2**63
"""Before, and after, all times; the first is that of no row, as the second is."""

START, START_UTC = datetime(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
NANOSECONDS = {"D": 86_400 * 10**9, "h": 3_600 * 10**9, "m": 60 * 10**9, "s": 10**9}
NANOSECONDS |= {"ms": 10**6, "us": 10**3, "ns": 1}


@dataclass(frozen=True)
class Clock:
    """What kind of times a window has."""

    kind: str

    @classmethod
    def of(cls, time: Any, known: Clock | None) -> Clock:
        """The clock of a time; refused if it is not that of the window."""
        return cls(_kind_of(time)).checked(known)

    @classmethod
    def of_column(cls, times: Any, known: Clock | None) -> tuple[Clock, Any]:
        """The clock of many times, and all of them as numbers."""
        given = columns.column(times)
        if given.valid is not None:
            missing = int(np.flatnonzero(~given.valid)[0])
            raise ValueError(f"every row needs a time, and row {missing} has none.")
        if given.numbers is None or not given.is_time:
            return cls._of_numbers(given, known)
        if given.kind == "numpy":
            kind = "datetimes" if given.source.dtype.kind == "M" else "lengths of time"
        else:
            has_zone = getattr(given.source.type, "tz", None) is not None
            kind = "datetimes with a time zone" if has_zone else "datetimes"
        clock = cls(kind).checked(known)
        try:
            return clock, _nanoseconds(given)
        except (OverflowError, pa.ArrowException) as error:
            raise ValueError(f"times must lie between 1678 and 2261: {error}.") from error

    @classmethod
    def _of_numbers(cls, given: columns.Column, known: Clock | None) -> tuple[Clock, Any]:
        if given.numbers is not None and not given.is_bool and given.numbers.dtype.kind in "iu":
            if given.numbers.dtype == np.uint64 and given.numbers.max(initial=0) >= LATEST:
                raise ValueError("integer times must be below 2**63.")
            return cls("integers").checked(known), given.numbers.astype(np.int64, copy=False)
        clock, numbers = known, []
        for time in given.objects():
            clock = cls.of(time, clock)
            numbers.append(clock.number(time))
        return clock or cls("integers"), np.array(numbers, np.int64)

    def checked(self, known: Clock | None) -> Clock:
        if known is not None and known != self:
            raise TypeError(f"the times of this window are {known.kind}, not {self.kind}.")
        return self

    def number(self, time: Any) -> int:
        """A time of this clock as an integer."""
        if self.kind == "integers":
            number = int(time)
        elif type(time) is datetime:  # as most are, and arithmetic is faster than NumPy
            number = (time - (START if time.tzinfo is None else START_UTC)) // MICROSECOND * 1000
        else:
            if getattr(time, "tzinfo", None) is not None:
                time = time.astimezone(UTC).replace(tzinfo=None)
            exact = time.to_datetime64() if hasattr(time, "to_datetime64") else np.datetime64(time)
            if np.isnat(exact):
                raise ValueError("every row needs a time, and this is NaT.")
            number = _in_nanoseconds(exact)
        if not EARLIEST < number < LATEST:
            raise ValueError(f"the time {time} does not fit 64 bits.")
        return number


def _kind_of(time: Any) -> str:
    if isinstance(time, (int, np.integer)) and not isinstance(time, bool):
        return "integers"
    if isinstance(time, datetime) and time.tzinfo is not None:
        return "datetimes with a time zone"
    if isinstance(time, (date, np.datetime64)):
        return "datetimes"
    raise TypeError(f"times must be integers or datetimes, not {time!r}.")


def _in_nanoseconds(time: np.datetime64) -> int:
    unit, count = np.datetime_data(time.dtype)
    if unit in ("Y", "M", "W"):
        time, unit, count = time.astype("datetime64[D]"), "D", 1
    if unit not in NANOSECONDS:  # finer ones
        time, unit, count = time.astype("datetime64[ns]"), "ns", 1
    return int(time.astype(np.int64)) * count * NANOSECONDS[unit]


def _nanoseconds(given: columns.Column) -> Any:
    if given.kind == "numpy":
        if given.source.dtype.kind != "M":
            raise TypeError("times must be integers or datetimes, not lengths of time.")
        if given.source.dtype == np.dtype("datetime64[ns]"):
            return given.numbers
        found = given.source.astype("datetime64[ns]")
        if (found.astype(given.source.dtype) != given.source).any():
            raise OverflowError("one of them does not fit 64 bits of nanoseconds")
        return found.view(np.int64)
    kind = given.source.type
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        raise TypeError(f"times must be integers or datetimes, not {kind}.")
    zone = getattr(kind, "tz", None)
    return given.source.cast(pa.timestamp("ns", zone)).cast(pa.int64()).to_numpy()

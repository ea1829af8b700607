"""The order column as numbers: microseconds, days or as it is; and numbers as values of it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.duration import NANOSECONDS, Steps, Time
from sash.windows.definitions import Definition

Array = np.ndarray[Any, Any]
UNITS = {"timestamp": ("us", "microseconds"), "date": ("d", "days")}


@dataclass(frozen=True)
class OrderClock:
    """What the values of an order column are, if time can be told by them.

    Spark counts timestamps in microseconds and dates in days. Windows do so too: lengths of time
    become so many of these, and all of Spark's times fit.
    """

    column: str
    kind: str
    """timestamp, date or integer."""
    type: pa.DataType

    @classmethod
    def of(cls, column: str, kind: pa.DataType) -> OrderClock | None:
        """The clock of a column of this type; None if it tells no time."""
        if pa.types.is_timestamp(kind) and kind.unit == "us":
            return cls(column, "timestamp", kind)
        if pa.types.is_date32(kind):
            return cls(column, "date", kind)
        if pa.types.is_integer(kind):
            return cls(column, "integer", kind)
        return None

    def numbers(self, values: pa.Array) -> Array:
        """Times as numbers. There must be no null."""
        if self.kind == "timestamp":
            values = values.view(pa.int64())
        elif self.kind == "date":
            values = values.view(pa.int32())
        return np.ascontiguousarray(values.to_numpy(zero_copy_only=False), np.int64)

    def values(self, numbers: Array) -> pa.Array:
        """Numbers as times."""
        plain = pa.array(numbers, pa.int64())
        if self.kind == "timestamp":
            return plain.view(self.type)
        return plain.cast(pa.int32()).view(self.type) if self.kind == "date" else plain

    @property
    def bounds_type(self) -> pa.DataType:
        """Of the begins and ends of windows, which may lie beyond the values of the column."""
        return pa.int64() if self.kind == "integer" else self.type

    def shown(self, number: int) -> str:
        return str(self.values(np.array([number], np.int64))[0].as_py())

    def steps(self, length: Time | Steps, what: str) -> int:
        """A length of time in the units of this clock."""
        if self.kind == "integer":
            if isinstance(length, Steps):
                return length.count
            raise ValueError(
                f"the integers of the order column {self.column!r} have no unit: write {what} in "
                f"theirs, as in '3600i' instead of '{length}', or order by a timestamp."
            )
        unit, name = UNITS[self.kind]
        if isinstance(length, Steps):
            raise ValueError(
                f"{what} '{length}' is for integers, and the order column {self.column!r} is a "
                f"{self.kind}: write it as in '1h'."
            )
        count, left = divmod(length.nanoseconds, NANOSECONDS[unit])
        if left:
            raise ValueError(
                f"the {self.kind}s of the order column {self.column!r} count {name}, and {what} "
                f"'{length}' is no whole number of them."
            )
        return count

    def in_steps(self, window: Definition) -> Definition:
        """The same window, with lengths of time in the units of this clock."""
        lengths = {}
        for part in fields(window):  # type: ignore[arg-type]
            given = getattr(window, part.name)
            if part.name != "width" and isinstance(given, (Time, Steps)):
                lengths[part.name] = Steps(self.steps(given, part.name))
        return replace(window, **lengths) if lengths else window  # type: ignore[type-var]

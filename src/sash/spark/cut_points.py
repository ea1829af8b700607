"""Where a series is cut into parts: comparing the order column with given values, in Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from sash.spark.clocks import OrderClock

ACCURACY = 2_000
"""Of Spark's percentile_approx: ranks are right to one part in so many."""


@dataclass(frozen=True)
class CutPoints:
    """A column that rows are cut along, by numbers if it tells time, else by its values."""

    column: Column
    type: pa.DataType
    clock: OrderClock | None

    @property
    def cuttable(self) -> bool:
        """Whether Spark can tell the values between which the rows are spread evenly."""
        kind = self.type
        numbers = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        return self.clock is not None or numbers

    @property
    def value(self) -> Column:
        """What is compared: a number if the column tells time."""
        if self.clock is None:
            return self.column
        if self.clock.kind == "timestamp":
            naive = self.type.tz is None
            return _micros_without_zone(self.column) if naive else F.unix_micros(self.column)
        return F.unix_date(self.column) if self.clock.kind == "date" else self.column.cast("bigint")

    def same(self, value: Any) -> Column:
        """Whether a row's is this value; null is null, and NaN is NaN."""
        return self.value.eqNullSafe(F.lit(value))

    def fits(self, number: Any) -> bool:
        """Whether there is such a number."""
        return self.clock is None or -(2**63) <= number < 2**63

    def rank(self, cuts: Sequence[Any]) -> Column:
        """How many of these values, which rise, are not above that of a row; 0 for null."""

        def search(low: int, high: int) -> Column:
            if low == high:
                return F.lit(low)
            middle = (low + high) // 2
            below = self.value < F.lit(cuts[middle])
            return F.when(below, search(low, middle)).otherwise(search(middle + 1, high))

        return F.when(self.column.isNull(), F.lit(0)).otherwise(search(0, len(cuts)))


def _micros_without_zone(moment: Column) -> Column:
    """Spark makes a number of a timestamp without a zone only by way of the session's zone, in
    which there may be no such moment, or two."""
    seconds = F.date_part(F.lit("SECOND"), moment)  # with their parts, as a decimal
    minutes = F.hour(moment) * 60 + F.minute(moment)
    days = F.unix_date(moment.cast("date")).cast("bigint")
    return (days * 1440 + minutes) * 60_000_000 + (seconds * 1_000_000).cast("bigint")


def quantiles(name: str, count: int) -> Column:
    """The values of a column between `count` parts of about as many rows."""
    # As text: made of Python's numbers, it would take hundreds of calls into Java.
    shares = ", ".join(f"{k / count!r}D" for k in range(1, count))
    return F.expr(f"percentile_approx({name}, array({shares}), {ACCURACY})")

"""The times of a stream's rows, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sash.spark.clocks import OrderClock
from sash.windows.roles import RefusedRowError

Array = np.ndarray[Any, Any]


def times_of(values: pa.Array, clock: OrderClock) -> Array:
    """The times of rows, as numbers; every row needs one."""
    if values.null_count:
        raise RefusedRowError(
            f"every row needs a value of {clock.column!r}, and a row has none; filter such rows "
            f"out."
        )
    numbers = clock.numbers(values)
    if len(numbers) and not -(2**62) < int(numbers.min()) <= int(numbers.max()) < 2**62:
        raise RefusedRowError(f"the values of {clock.column!r} must be within 62 bits.")
    return numbers

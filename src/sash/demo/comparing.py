"""Are the answers of a batch and of a stream the same? Read from their files, without Spark."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset

TOLERANCE = 1e-12
"""Sums of floats may be added in another order; all else is equal to the last bit."""


def read(path: str | Path) -> pa.Table:
    return pa.dataset.dataset(str(path)).to_table()


def difference(one: pa.Table, other: pa.Table) -> str | None:
    """The first difference between two sets of answers, in words; None if they are the same."""
    if one.schema != other.schema:
        return f"columns are {one.schema.names} and {other.schema.names}, or of other types"
    if one.num_rows != other.num_rows:
        return f"there are {one.num_rows:,} answers and {other.num_rows:,}"
    # Rows are put beside each other by what is equal to the last bit.
    exact = [(f.name, "ascending") for f in one.schema if not pa.types.is_floating(f.type)]
    one, other = one.sort_by(exact), other.sort_by(exact)
    for name in one.schema.names:
        a, b = one[name].combine_chunks(), other[name].combine_chunks()
        if a.equals(b):
            continue
        if not pa.types.is_floating(a.type):
            return f"{name} differs"
        if not a.is_null().equals(b.is_null()):
            return f"{name} is null in different rows"
        x, y = a.drop_null().to_numpy(), b.drop_null().to_numpy()
        with np.errstate(invalid="ignore"):
            far = ~(np.isclose(x, y, rtol=TOLERANCE, atol=0.0, equal_nan=True))
        if far.any():
            at = int(np.flatnonzero(far)[0])
            return f"{name} is {x[at]} in one and {y[at]} in the other"
    return None

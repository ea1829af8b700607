"""Columns as they come from Spark, in the types that were promised.

Spark sends times with the session's zone. Some of its times, such as those of the years 1 and 9999,
are then beyond what Python can hold; in UTC all of them are not.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa


def in_utc(
    names: Iterable[str], columns: Iterable[pa.Array], schema: pa.Schema
) -> dict[str, pa.Array]:
    """Columns by name; those that the schema knows are as it says."""
    found = dict(zip(names, columns, strict=True))
    for name in found:
        at = schema.get_field_index(name)
        if at >= 0 and found[name].type != schema.field(at).type:
            found[name] = found[name].cast(schema.field(at).type)
    return found

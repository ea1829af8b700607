"""Rows on their way into a window: columns, times, keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.columns import Column, Kind, column

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Batch:
    """Some rows. `times` are numbers, or None if rows have none; `codes` tell the keys."""

    columns: dict[str, Column]
    rows: int
    times: Array | None
    codes: Array | None
    kind: Kind

    def take(self, which: Array) -> Batch:
        """The rows with these numbers, in this order."""
        return replace(
            self,
            columns={name: take(c, which) for name, c in self.columns.items()},
            rows=len(which),
            times=None if self.times is None else self.times[which],
            codes=None if self.codes is None else self.codes[which],
        )

    def then(self, more: Batch) -> Batch:
        """These rows, and then those of another batch of the same columns."""
        if not self.rows:
            return more
        if not more.rows:
            return replace(self, kind=more.kind)
        missing = [name for name in self.columns if name not in more.columns]
        if missing:
            raise ValueError(
                f"earlier rows have a column {missing[0]!r}, and these have {list(more.columns)}."
            )
        return Batch(
            {name: joined(c, more.columns[name]) for name, c in self.columns.items()},
            self.rows + more.rows,
            _both(self.times, more.times),
            _both(self.codes, more.codes),
            more.kind,
        )


def _both(a: Array | None, b: Array | None) -> Array | None:
    return None if a is None or b is None else np.concatenate([a, b])


def take(given: Column, which: Array) -> Column:
    """Some values of a column, of the same type as all of them."""
    source = [given.source[i] for i in which.tolist()] if given.kind == "list" else None
    if given.kind == "arrow":
        source = given.source.take(pa.array(which))
    elif given.kind == "numpy":
        source = given.source[which]
    numbers = None if given.numbers is None else given.numbers[which]
    valid = None if given.valid is None else given.valid[which]
    return Column(source, given.kind, numbers, None if valid is None or valid.all() else valid)


def joined(a: Column, b: Column) -> Column:
    """Two columns, one after the other: an array if they are of one type, else a list."""
    if a.kind == b.kind == "numpy" and a.source.dtype == b.source.dtype:
        return _typed(column(np.concatenate([a.source, b.source])), a, b)
    if a.kind == b.kind == "arrow" and a.source.type == b.source.type:
        return column(pa.concat_arrays([a.source, b.source]))
    return _typed(column([*a.objects(), *b.objects()]), a, b)


def _typed(found: Column, a: Column, b: Column) -> Column:
    """Numbers keep the wider type of the two, also if these few would fit a narrower one."""
    if found.numbers is None or a.numbers is None or b.numbers is None:
        return found
    wide = np.promote_types(a.numbers.dtype, b.numbers.dtype)
    return replace(found, numbers=found.numbers.astype(wide, copy=False))

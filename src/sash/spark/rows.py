"""Rows on their way through a worker."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class Rows:
    """Some rows on their way: the columns that are read, by name."""

    columns: dict[str, pa.Array]
    count: int

    def slice(self, first: int, last: int) -> Rows:
        if first == 0 and last == self.count:
            return self
        cut = {name: values[first:last] for name, values in self.columns.items()}
        return Rows(cut, last - first)

"""Rows as callers give them, made ready for windows: columns, times as numbers, keys as codes."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any

import numpy as np

from sash.aggregators import columns
from sash.aggregators.columns import Column, Kind
from sash.operators.base import Operator
from sash.windows.batches import Batch
from sash.windows.keys import Keys
from sash.windows.roles import measured
from sash.windows.shapes import Shape
from sash.windows.stamps import Stamps

NO_KEY: Any = object()
UNNAMED = ""
"""Stands for the column of keys that come beside the rows."""


class Reader:
    """What is read of rows: what the operator and the window ask for."""

    def __init__(
        self, op: Operator, shape: Shape, by: tuple[str, ...], stamps: Stamps, ordered: bool
    ) -> None:
        self.op = op
        self.shape = shape
        self.by = by
        self.stamps = stamps
        self.ordered = ordered
        self.keys = Keys()
        self.like: Batch | None = None
        """The columns of the last rows, without any."""

    def batch(self, values: Any, times: Any, keys: Any) -> Batch:
        """Many rows."""
        named = columns.table(values)
        rows = len(next(iter(named.values()))) if named else 0
        if any(len(c) != rows for c in named.values()):
            sizes = ", ".join(f"{name}: {len(c)}" for name, c in named.items())
            raise ValueError(f"the columns differ in length ({sizes}).")
        kind: Kind = next(iter(named.values())).kind if named else "numpy"
        moments = None if rows else np.zeros(0, np.int64)
        if rows and self.timed(times is not None):
            moments = self.stamps.numbers(times, rows)
        codes = self._codes(named, keys, rows)
        return Batch(self._without_keys(named), rows, moments, codes, kind)

    def one_row(self, value: Any, time: Any, key: Any) -> Batch:
        """A row as a batch of one."""
        if isinstance(value, Mapping):
            values: Any = {name: [v] for name, v in value.items()}
        elif isinstance(value, tuple) and self._several:
            values = {str(k): [v] for k, v in enumerate(value)}
        else:
            values = [value]
        keys: Any = None if key is NO_KEY else [key]
        if isinstance(key, tuple) and len(self.by) > 1:
            keys = tuple([part] for part in key)
        return self.batch(values, None if time is None else [time], keys)

    @property
    def _several(self) -> bool:
        """Whether a row is several values."""
        return any(leaf.column_counts()[1] != 1 for leaf in self.op.leaves)

    def nothing(self) -> Batch:
        """No row, but of the columns that the last ones had."""
        if self.like is not None:
            return self.like
        timed = self.stamps.clock is not None or self.ordered
        none = np.zeros(0, np.int64)
        return Batch({}, 0, none if timed else None, none if self.by else None, "list")

    def came(self, batch: Batch) -> None:
        """These rows are in: the next are like them."""
        self.stamps.kind = batch.kind
        if batch.rows:
            self.like = batch.take(np.zeros(0, np.int64))
            self.stamps.has_times = batch.times is not None

    def timed(self, given: bool) -> bool:
        """Whether rows have times: all of them, if the first has one."""
        if (self.shape.needs_times or self.ordered) and not given:
            why = "lateness, or idle,"
            why = repr(self.shape.definition) if self.shape.needs_times else why
            raise ValueError(f"{why} needs the rows' times: give time=…, or times=….")
        return self.stamps.timed(given)

    def taken_apart(self, value: Any) -> tuple[Any, Any, Any]:
        """What is aggregated of a row, what its width is measured along, and its mark."""
        shape = self.shape
        if shape.mark is None and shape.along is None:
            return value, None, False
        names = [name for name in (shape.mark, shape.along) if name is not None]
        if not isinstance(value, Mapping) or any(name not in value for name in names):
            wanted = ", ".join(f"{name!r}: …" for name in names)
            raise TypeError(
                f"{shape.definition!r} is given rows, as in {{{wanted}}}; not {value!r}."
            )
        mark = False if shape.mark is None else value[shape.mark]
        if not isinstance(mark, (bool, int, float, np.generic, NoneType)):
            raise TypeError(
                f"the column {shape.mark!r} marks rows: it must be of booleans or numbers."
            )
        along = None
        if shape.along is not None:
            column = columns.column([value[shape.along]])
            along = measured(column, shape.along, shape.definition)[0].item()
        if not all(leaf.columns for leaf in self.op.leaves):
            rest = [v for name, v in value.items() if name not in names]
            value = rest[0] if len(rest) == 1 else tuple(rest)
        return value, along, bool(mark) and mark == mark

    def _without_keys(self, named: dict[str, Column]) -> dict[str, Column]:
        """The columns that are read; all but the keys, if the operator names none."""
        read = {c for leaf in self.op.leaves for c in leaf.columns}
        read |= {name for name in (self.shape.mark, self.shape.along) if name}
        if all(leaf.columns for leaf in self.op.leaves):
            found = {n: c for n, c in named.items() if n in read}
            return found or named  # what is missing is told by who reads it
        return {n: c for n, c in named.items() if n not in self.by or n in read}

    def _codes(self, named: dict[str, Column], keys: Any, rows: int) -> Any:
        if not self.by:
            if keys is not None:
                raise TypeError("this window has no keys: make a sash.KeyedWindow for them.")
            return None
        if keys is not None:
            if isinstance(keys, tuple) and len(self.by) == 1:
                keys = list(keys)
            given = list(columns.table(keys).values())
            if len(given) != max(len(self.by), 1):
                raise ValueError(
                    f"keys are of {len(self.by)} columns, and {len(given)} were given."
                )
        elif self.by == (UNNAMED,):
            raise TypeError("give each row's key, as keys=…, or name a column with by=….")
        else:
            missing = [name for name in self.by if name not in named]
            if missing:
                raise ValueError(
                    f"there is no column {missing[0]!r} for the keys among {', '.join(named)}."
                )
            given = [named[name] for name in self.by]
        if any(len(c) != rows for c in given):
            raise ValueError(f"there are {rows} rows and {len(given[0])} keys.")
        return self.keys.codes(given)

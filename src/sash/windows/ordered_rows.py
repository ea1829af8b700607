"""Rows of a stream: columns, times, keys, and when each came; put in order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Array = np.ndarray[Any, Any]
NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True)
class StreamRows:
    """Some rows that have come."""

    columns: dict[str, pa.Array]
    times: Array
    codes: Array
    """Of their keys."""
    came: Array
    """Which row of all each is, as `arrivals` numbers them."""

    def __len__(self) -> int:
        return len(self.times)

    def take(self, which: Array) -> StreamRows:
        index = pa.array(which)
        columns = {name: values.take(index) for name, values in self.columns.items()}
        return StreamRows(columns, self.times[which], self.codes[which], self.came[which])

    def only(self, wanted: Array) -> StreamRows:
        """Those rows that are wanted."""
        return self if wanted.all() else self.take(np.flatnonzero(wanted))

    def then(self, more: StreamRows) -> StreamRows:
        """These, and then more of the same columns."""
        if not len(self) or not len(more):
            return more if not len(self) else self
        return StreamRows(
            {name: pa.concat_arrays([c, more.columns[name]]) for name, c in self.columns.items()},
            np.concatenate([self.times, more.times]),
            np.concatenate([self.codes, more.codes]),
            np.concatenate([self.came, more.came]),
        )

    def with_columns(self, names: tuple[str, ...]) -> StreamRows:
        """With none but these columns."""
        return replace(self, columns={name: self.columns[name] for name in names})

    def in_order(self, ties: tuple[str, ...]) -> StreamRows:
        """By time; rows of one key and time by these columns, and then as they came."""
        order = by_time(self.times, self.codes, [self.columns[name] for name in ties])
        return self if order is None else self.take(order)


def arrivals(batch: int, count: int) -> Array:
    """Numbers for the rows of a batch, in the order in which they are kept, as all others' rise."""
    return (np.int64(batch) << 32) + np.arange(count)


def by_time(times: Array, codes: Array, ties: list[pa.Array]) -> Array | None:
    """The order of rows by time, and of those of one key and time by other columns.

    None if that is how they are. Rows of different keys and the same time stay as they are.
    """
    order = None
    if (times[1:] < times[:-1]).any():
        order = np.argsort(times, kind="stable")
        times, codes = times[order], codes[order]
    tied = _tied(times, codes)
    if not len(tied) or not ties:
        return order
    given = tied if order is None else order[tied]
    columns = [column.take(pa.array(given)) for column in ties]
    sort = _sorted(times[tied], codes[tied], columns)
    if (sort[1:] > sort[:-1]).all():
        return order
    # What changes places are rows of one key and time, which stay where some of them are.
    found = np.arange(len(times)) if order is None else order.copy()
    home = np.lexsort((tied, codes[tied], times[tied]))
    found[tied[home]] = given[sort]
    return found


def _tied(times: Array, codes: Array) -> Array:
    """The rows that share key and time with others; times rise."""
    same = times[1:] == times[:-1]
    if not same.any():
        return NOTHING
    some = np.zeros(len(times), bool)
    some[1:] |= same
    some[:-1] |= same
    rows = np.flatnonzero(some)
    rows = rows[np.lexsort((rows, codes[rows], times[rows]))]
    same = (times[rows[1:]] == times[rows[:-1]]) & (codes[rows[1:]] == codes[rows[:-1]])
    some = np.zeros(len(rows), bool)
    some[1:] |= same
    some[:-1] |= same
    return np.sort(rows[some])


def _sorted(times: Array, codes: Array, columns: list[pa.Array]) -> Array:
    """The order by time, key and columns, where null comes first and NaN last, as in Spark."""
    if any(pa.types.is_nested(column.type) for column in columns):
        keys = list(zip(times.tolist(), codes.tolist(), *map(_sort_keys, columns), strict=True))
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
    named = {"time": pa.array(times), "code": pa.array(codes)}
    named |= {f"c{k}": _comparable(column) for k, column in enumerate(columns)}
    asked = [(name, "ascending", "at_start") for name in named]
    found = pc.sort_indices(pa.table(named), asked)
    return np.asarray(found.to_numpy(), np.int64)


def _comparable(column: pa.Array) -> pa.Array:
    """A column that Arrow sorts as Spark does: it would take NaN for a null."""
    if pa.types.is_floating(column.type):
        values = column.fill_null(0).cast(pa.float64()).to_numpy(zero_copy_only=False) + 0.0
        bits = values.view(np.int64)
        ranks = np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)
        ranks = np.where(np.isnan(values), np.int64(2**63 - 1), ranks)
        return pa.array(ranks, mask=~column.is_valid().to_numpy(zero_copy_only=False))
    return column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column


def _sort_keys(column: pa.Array) -> list[Any]:
    if pa.types.is_floating(column.type):
        return _sort_keys(_comparable(column))
    return [sort_key(value) for value in column.to_pylist()]


def sort_key(value: Any) -> Any:
    """Null, then what there is, then NaN; -0.0 is 0.0."""
    if value is None:
        return (0, 0)
    if isinstance(value, dict):
        return (1, [sort_key(each) for each in value.values()])
    if isinstance(value, (list, tuple)):
        return (1, [sort_key(each) for each in value])
    return (2, 0) if value != value else (1, value)

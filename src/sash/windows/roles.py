"""What columns are for: values to be aggregated, marks, or what a width is measured along."""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.aggregators.clocks import Clock
from sash.aggregators.columns import Column
from sash.aggregators.duration import Time
from sash.operators.base import Operator
from sash.windows.batches import Batch
from sash.windows.definitions import Definition, Delta
from sash.windows.shapes import Shape

Array = np.ndarray[Any, Any]
NO_MARKS = np.zeros(0, bool)


class RefusedRowError(ValueError):
    """A row that its window cannot take, whatever is aggregated."""


class Roles:
    """Which columns of a batch the operator reads, and which the window."""

    def __init__(self, operator: Operator, shape: Shape) -> None:
        self.operator = operator
        self.shape = shape

    def values(self, batch: Batch) -> dict[str, Column]:
        """What is aggregated: for an operator that names no column, all but the window's."""
        if all(leaf.columns for leaf in self.operator.leaves):
            return batch.columns
        used = (self.shape.mark, self.shape.along)
        return {n: c for n, c in batch.columns.items() if n not in used}

    def marks(self, batch: Batch, order: Array | None) -> Array:
        """Which rows are marked."""
        name = self.shape.mark
        if name is None or not batch.rows:
            return NO_MARKS
        given = self._column(batch, name)
        if given.numbers is None or given.is_time:
            raise TypeError(f"the column {name!r} marks rows: it must be of booleans or numbers.")
        return in_order(marks_in(given), order)

    def along(self, batch: Batch, order: Array | None, times: Array, kept: list[Array]) -> Array:
        """What a width is measured along: the times, or a column."""
        name = self.shape.along
        if name is None:
            return times
        if not batch.rows:
            return np.zeros(0, kept[0].dtype if kept else type(self.shape.numbers[1]))
        given = self._column(batch, name)
        return in_order(measured(given, name, self.shape.definition), order)

    def _column(self, batch: Batch, name: str) -> Column:
        if name not in batch.columns:
            known = ", ".join(repr(n) for n in batch.columns)
            raise ValueError(
                f"{self.shape.definition!r} reads the column {name!r}, and there are {known}."
            )
        return batch.columns[name]


def marks_in(given: Column) -> Array:
    """Which rows a column of numbers marks: null is no mark, and neither are 0 and NaN."""
    numbers = given.numbers
    assert numbers is not None
    marks = (numbers != 0) & (numbers == numbers)
    return np.asarray(marks if given.valid is None else marks & given.valid)


def in_order(values: Array, order: Array | None) -> Array:
    """Values in another order, if there is one."""
    return values if order is None else values[order]


def measured(given: Column, name: str, definition: Definition) -> Array:
    """A column that a width is measured along, as numbers."""
    assert isinstance(definition, Delta)
    if isinstance(definition.width, Time):
        try:
            clock, numbers = Clock.of_column(given.source, None)
        except TypeError:
            clock, numbers = Clock("integers"), np.zeros(0)
        if clock.kind == "integers":
            raise TypeError(
                f"{definition!r} has a width of time, and the column {name!r} has no times."
            )
        return _within(np.asarray(numbers), name)
    if given.numbers is None or given.is_time:
        raise TypeError(f"{definition!r} needs numbers in the column {name!r}.")
    if given.valid is not None:
        row = int(np.flatnonzero(~given.valid)[0])
        raise RefusedRowError(f"every row needs a value of {name!r}, and row {row} has none.")
    if given.numbers.dtype.kind == "f":
        numbers = given.numbers.astype(np.float64, copy=False)
        if np.isnan(numbers).any():
            row = int(np.flatnonzero(np.isnan(numbers))[0])
            raise RefusedRowError(
                f"every row needs a value of {name!r}, and that of row {row} is NaN."
            )
        return np.asarray(numbers)
    if isinstance(definition.width, float):
        return given.numbers.astype(np.float64)
    return _within(given.numbers, name).astype(np.int64)


def _within(numbers: Array, name: str) -> Array:
    """Numbers whose differences fit 64 bits."""
    if len(numbers) and not -(2**62) < int(numbers.min()) <= int(numbers.max()) < 2**62:
        raise RefusedRowError(f"the values of {name!r} must be within 62 bits.")
    return numbers

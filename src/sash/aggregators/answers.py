"""Answers as they go out: NumPy for NumPy, Arrow for Arrow, a list for a list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.answer_types import declared_type, is_value, typed_array
from sash.aggregators.columns import Column, Kind, Leaf, with_missing
from sash.operators.base import Operator
from sash.operators.monoid import NOT_GIVEN, Monoid

Array = np.ndarray[Any, Any]


class LeafAnswers:
    """What one leaf answered: numbers by field, or objects; and where there is an answer."""

    def __init__(self, leaf: Leaf, monoid: Monoid, count: int) -> None:
        self.leaf = leaf
        self.monoid = monoid
        self.count = count
        self.fields: dict[str, Array] = {}
        self.objects: list[Any] | None = None
        self.there: Array | None = None

    def take(self, which: Array | slice) -> LeafAnswers:
        """Those of the answers that have these numbers, in this order.

        Those of a slice stay where they lie: to put the answers of a thousand ranges side by side
        would take longer than to compute them.
        """
        every = range(self.count)[which] if isinstance(which, slice) else which
        found = LeafAnswers(self.leaf, self.monoid, len(every))
        found.fields = {name: values[which] for name, values in self.fields.items()}
        if self.objects is not None:
            found.objects = [self.objects[i] for i in every]
        found.there = None if self.there is None else self.there[which]
        return found

    def hide(self, hidden: Array) -> None:
        """No answer where `hidden` is True."""
        if not hidden.any():
            return
        if self.objects is not None:
            for i in np.flatnonzero(hidden).tolist():
                self.objects[i] = None
            return
        self.there = ~hidden if self.there is None else self.there & ~hidden

    def settle_empty(self, empty: Array) -> None:
        """The operator's own answer for no value, where `lower` cannot tell there was none."""
        if self.monoid.empty is NOT_GIVEN or not empty.any():
            return
        if self.monoid.empty is None:
            self.hide(empty)
        elif self.objects is not None:
            for i in np.flatnonzero(empty).tolist():
                self.objects[i] = self.monoid.empty
        else:
            for values in self.fields.values():
                values[empty] = self.monoid.empty
            if self.there is not None:
                self.there = self.there | empty

    def dressed(self, kind: Kind) -> Any:
        """As an array of the kind that came in."""
        if self.leaf.operator.takes:
            return self._taken(kind)
        if self.leaf.operator.finish is not None or self.objects is not None:
            as_type = declared_type(self.leaf, self.monoid) if kind == "arrow" else None
            numbers = tells_numbers(self.leaf.operator)
            return of_objects(self._one_by_one(), kind, as_type, numbers=numbers)
        if list(self.fields) == [""]:
            return self._one(kind, self.fields[""])
        return _of_struct(
            {name: _plain(values, self.there, kind) for name, values in self.fields.items()},
            self.there,
            kind,
        )

    def _one(self, kind: Kind, values: Array) -> Any:
        source = self.leaf.inputs[0]
        keeps = is_value(self.leaf.operator)
        if keeps and source.is_bool:
            values = values.astype(bool)
        if keeps and source.is_time:
            return _as_times(values, self.there, source)
        return _plain(values, self.there, kind)

    def _taken(self, kind: Kind) -> Any:
        if self.objects is not None:
            self.there = np.array([row is not None for row in self.objects], bool)
            rows = np.array([row or 0 for row in self.objects], np.int64)
        else:
            rows = self.fields[""]
        taken = {n: _of_kind(c.take(rows, self.there), kind) for n, c in self.leaf.payload}
        if len(taken) == 1:
            return next(iter(taken.values()))
        return _of_struct(taken, self.there, kind)

    def _one_by_one(self) -> list[Any]:
        """Each answer as a Python object, finished if the operator says how."""
        rows = self.objects
        if rows is None:
            rows = list(zip(*(values.tolist() for values in self.fields.values()), strict=True))
            if self.there is not None:
                rows = [r if t else None for r, t in zip(rows, self.there.tolist(), strict=True)]
        if isinstance(self.monoid.answer, dict):
            names = tuple(self.monoid.answer)
            rows = [None if row is None else dict(zip(names, row, strict=True)) for row in rows]
        finish = self.leaf.operator.finish
        return rows if finish is None else [None if row is None else finish(row) for row in rows]


def dress(operator: Operator, answers: list[LeafAnswers], kind: Kind) -> Any:
    """The answers of an operator, each leaf's under its name if it has several."""
    members = getattr(operator, "members", None)
    if members is None:
        return answers[0].dressed(kind)
    return in_table({name: a.dressed(kind) for name, a in zip(members, answers, strict=True)}, kind)


def in_table(named: dict[str, Any], kind: Kind) -> Any:
    """Answers by name: a table, if all of them are something that Arrow has a type for."""
    arrow = (pa.Array, pa.ChunkedArray)
    if kind == "arrow" and all(isinstance(column, arrow) for column in named.values()):
        return pa.table(named)
    return named


def _of_kind(taken: Any, kind: Kind) -> Any:
    """Values of one column as an array of another's kind."""
    if kind == "arrow":
        arrow = isinstance(taken, (pa.Array, pa.ChunkedArray))
        return taken if arrow else of_objects(list(taken), kind)
    if isinstance(taken, (pa.Array, pa.ChunkedArray)):
        return taken.to_pylist() if kind == "list" else taken.to_numpy(zero_copy_only=False)
    if kind == "list":
        return taken if isinstance(taken, list) else taken.tolist()
    return of_objects(taken, "numpy") if isinstance(taken, list) else taken


def _plain(values: Array, there: Array | None, kind: Kind) -> Any:
    if kind == "arrow":
        return pa.array(values, mask=None if there is None else ~there)
    if kind == "list":
        if there is None:
            return values.tolist()
        return [v if t else None for v, t in zip(values.tolist(), there.tolist(), strict=True)]
    return values if there is None else with_missing(values, there)


def _as_times(values: Array, there: Array | None, source: Column) -> Any:
    if source.kind == "numpy":
        times = values.view(source.source.dtype.newbyteorder("="))
        return times if there is None else with_missing(times, there)
    return _plain(values, there, "arrow").cast(source.source.type)


def tells_numbers(leaf: Operator) -> bool:
    """Whether the answers of an operator are numbers, one each, if its values are."""
    one = leaf.fields is not None and not isinstance(leaf.answer, dict)
    return one and not leaf.takes and leaf.finish is None


def of_objects(values: list[Any], kind: Kind, as_type: Any = None, numbers: bool = False) -> Any:
    """Python objects as an array of this kind, as far as it has a type for them.

    numbers: they are numbers or None, also if none of them is there to tell.
    """
    if kind == "list":
        return values
    if kind == "arrow":
        for attempt in dict.fromkeys((as_type, None)):
            try:
                return pa.array(values) if attempt is None else typed_array(values, attempt)
            except (pa.ArrowException, OverflowError):
                continue
        return values  # what Arrow has no type for: a filter, an object of the caller's
    if numbers or any(v is not None for v in values):
        kinds = {type(v) for v in values}
        if kinds <= {int, float}:
            return np.array(values)
        if kinds <= {int, float, type(None)}:
            there = np.array([v is not None for v in values], bool)
            return with_missing(np.array([0 if v is None else v for v in values]), there)
    array = np.empty(len(values), object)
    for i, value in enumerate(values):  # at once, NumPy would take lists of one length apart
        array[i] = value
    return array


def _of_struct(fields: dict[str, Any], there: Array | None, kind: Kind) -> Any:
    if kind == "arrow":
        mask = None if there is None else pa.array(~there)
        return pa.StructArray.from_arrays(list(fields.values()), list(fields), mask=mask)
    if kind == "list":
        rows = [dict(zip(fields, row, strict=True)) for row in zip(*fields.values(), strict=True)]
        return (
            rows if there is None else [r if t else None for r, t in zip(rows, there, strict=True)]
        )
    shape = [(name, values.dtype) for name, values in fields.items()]
    array = np.empty(len(next(iter(fields.values()))), shape)
    for name, values in fields.items():
        array[name] = values
    return array

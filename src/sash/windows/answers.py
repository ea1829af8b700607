"""Answers of windows: in the order in which windows were completed, each with its time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.answers import (
    Array,
    LeafAnswers,
    dress,
    in_table,
    of_objects,
    tells_numbers,
)
from sash.aggregators.columns import Kind
from sash.operators.base import Operator
from sash.operators.monoid import answers_class


class Answers(Sequence[Any]):
    """Some answers, and what each is for.

    values     the answers as an array of the kind that came in (a dict or a table of them if the
               operator gives several)
    times      when the window ended; for windows that end at a row, its time
    starts     when it began, for windows that are stretches of time
    keys       whose it is, if the window has keys
    revisions  0 for a first answer; more for one that corrects an earlier one of the same time

    What is not known is None. Answers are read like a list.
    """

    def __init__(
        self,
        values: Any,
        items: list[Any] | None = None,
        *,
        times: Any = None,
        starts: Any = None,
        keys: Any = None,
        revisions: Any = None,
        count: int | None = None,
    ) -> None:
        self.values = values
        self.times = times
        self.starts = starts
        self.keys = keys
        self.revisions = revisions
        self._items = items
        self._count = count

    def __len__(self) -> int:
        if self._count is None:
            self._count = len(self.items())
        return self._count

    def __getitem__(self, i: Any) -> Any:
        return self.items()[i]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items())

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.values, dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Answers, list, tuple)):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(self._shown(i) for i in range(min(len(self), 6)))
        more = f", … {len(self) - 6} more" if len(self) > 6 else ""
        return f"<Answers {shown}{more}>" if len(self) else "<Answers: none>"

    def _shown(self, i: int) -> str:
        marks = [str(given[i]) for given in (self.keys, self.times) if given is not None]
        if self.revisions is not None and self.revisions[i]:
            marks.append(f"revision {self.revisions[i]}")
        return (f"{' '.join(marks)}: " if marks else "") + repr(self[i])

    def items(self) -> list[Any]:
        """The answers as Python objects, None where there is none."""
        if self._items is None:
            self._items = as_list(self.values)
        return self._items

    def table(self) -> pa.Table:
        """All of it as an Arrow table."""
        marks = {
            "key": self.keys,
            "window_start": self.starts,
            "window_end" if self.starts is not None else "time": self.times,
            "revision": self.revisions,
        }
        found = {name: _arrow(v) for name, v in marks.items() if v is not None}
        values = self.values
        if isinstance(values, pa.Table):
            values = {name: values[name] for name in values.schema.names}
        elif not isinstance(values, dict):
            values = {"answer": values}
        for name, column in values.items():
            arrow = isinstance(column, (pa.Array, pa.ChunkedArray))
            found[name] = column if arrow else pa.array(_list(column), from_pandas=True)
        return pa.table(found)


def _arrow(values: Any) -> Any:
    """As an Arrow array; keys that it has no type for, as text."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    try:
        return pa.array(_list(values))
    except pa.ArrowException:
        return pa.array([str(value) for value in values])


def _list(values: Any) -> Any:
    return values if isinstance(values, np.ndarray) and values.dtype != object else list(values)


def as_list(values: Any) -> list[Any]:
    """Dressed answers one by one; those of several operators as named tuples."""
    if isinstance(values, pa.Table):
        values = {name: values[name] for name in values.schema.names}
    if isinstance(values, dict):
        made = answers_class(tuple(values))
        each = [as_list(column) for column in values.values()]
        return [made._make(row) for row in zip(*each, strict=True)]
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return list(values.to_pylist())
    return list(values) if isinstance(values, list) else list(values.tolist())


class Found:
    """What a window's keeper has computed: answers by leaf, or whole ones as objects."""

    def __init__(
        self,
        operator: Operator,
        leaves: list[LeafAnswers] | None = None,
        objects: list[Any] | None = None,
        types: list[pa.DataType | None] | None = None,
    ) -> None:
        """types: of each leaf's answers as Arrow, so far as they are known."""
        self.operator = operator
        self.leaves = leaves
        self.objects = objects
        self.types = [None for _ in operator.leaves] if types is None else types

    def __len__(self) -> int:
        return len(self.objects) if self.leaves is None else self.leaves[0].count  # type: ignore[arg-type]

    def take(self, which: Array) -> Found:
        if self.leaves is not None:
            return Found(
                self.operator, [leaf.take(which) for leaf in self.leaves], None, self.types
            )
        assert self.objects is not None
        return Found(self.operator, None, [self.objects[i] for i in which.tolist()], self.types)

    def then(self, more: Found) -> Found:
        """These answers and then others."""
        each = [as_list(found.dress("list")) for found in (self, more)]
        return Found(self.operator, None, [*each[0], *each[1]], self.types)

    def hide(self, hidden: Array) -> None:
        """No answer where `hidden` is True."""
        if self.leaves is not None:
            for leaf in self.leaves:
                leaf.hide(hidden)
            return
        assert self.objects is not None
        members = getattr(self.operator, "members", None)
        for i in np.flatnonzero(hidden).tolist():
            of_none = None if members is None else type(self.objects[i])(*[None] * len(members))
            self.objects[i] = of_none

    def dress(self, kind: Kind) -> Any:
        """As an array of a kind; several operators' by name."""
        if self.leaves is not None:
            return dress(self.operator, self.leaves, kind)
        assert self.objects is not None
        members = getattr(self.operator, "members", None)
        if members is None:
            return _of_leaf(self.objects, self.operator, kind, self.types[0])
        each = zip(*self.objects, strict=True) if self.objects else ([] for _ in members)
        named = {
            name: _of_leaf(list(answers), leaf, kind, as_type)
            for (name, leaf), answers, as_type in zip(
                members.items(), each, self.types, strict=True
            )
        }
        return in_table(named, kind)


def _of_leaf(answers: list[Any], leaf: Operator, kind: Kind, as_type: pa.DataType | None) -> Any:
    return of_objects(answers, kind, as_type, numbers=tells_numbers(leaf))

"""Rows of a key between two neighbouring ends of windows as one partial, before they are sent on.

Windows on a grid of time begin and end at multiples of one width, from an offset on. Rows of a key
that lie between two such moments are in the same windows, so ⊕ of them can go in instead: a slice.

    time    0         1         2         3       every window here begins and ends at a number
    rows    5  2  7      1  8      4  4  3
    Max          7          8          4          three slices instead of eight rows

What is told of a slice are the fields of its partial, one column each, and when it begins.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from math import gcd
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.columns import column
from sash.aggregators.sources import tree_of
from sash.operators.base import Operator
from sash.operators.partials import Merging, Telling
from sash.operators.together import Together
from sash.windows import cutting
from sash.windows.rolling import over_stretches
from sash.windows.shapes import Shape
from sash.windows.totals import has_totals

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Grid:
    """Where slices begin and end. Each has its begin and not its end, as windows on a grid do."""

    width: int
    offset: int

    @classmethod
    def of(cls, shapes: Sequence[Shape]) -> Grid | None:
        """The grid of windows, all of them; None if one has none."""
        if any(s.trigger != cutting.AT_ENDS or s.size != cutting.TIME for s in shapes):
            return None
        _, widths, steps, offsets = zip(*(shape.numbers for shape in shapes), strict=True)
        apart = (offset - offsets[0] for offset in offsets)
        width = gcd(*widths, *steps, *apart)
        return cls(width, offsets[0] % width)

    def begin(self, times: Any) -> Any:
        """When the slice of each begins."""
        return (times - self.offset) // self.width * self.width + self.offset


@dataclass(frozen=True)
class Slices:
    """How rows of some columns become slices, and slices answers."""

    operator: Operator
    grid: Grid
    schema: pa.Schema
    """Of the rows."""

    @classmethod
    def of(cls, op: Operator, shapes: Sequence[Shape], schema: pa.Schema) -> Slices | None:
        """For windows of these shapes; None if rows cannot stand as slices."""
        grid = Grid.of(shapes)
        if grid is None or not op.commutative or not has_totals(op, schema):
            return None
        found = cls(op, grid, schema)
        takes = any(leaf.takes for leaf in op.leaves)
        return found if not takes and found._of_numbers() else None

    def _of_numbers(self) -> bool:
        """Whether partials are made of numbers, given what is in the columns."""
        for leaf in self.operator.leaves:
            fields = leaf.bind(*self._types(leaf)).fields
            if fields is None or any(dtype.kind == "b" for _, dtype in fields):
                return False
        return True

    def _types(self, leaf: Operator) -> tuple[np.dtype[Any], ...]:
        names = leaf.columns[: max(leaf.inputs, 1)]
        given = [column(pa.array([], self.schema.field(name).type)) for name in names]
        return tuple(each.dtype for each in given)

    def _fields(self, k: int, leaf: Operator) -> list[tuple[str, np.dtype[Any]]]:
        """The columns of a leaf's partials."""
        fields = leaf.bind(*self._types(leaf)).fields or ()
        return [(_column(k, name), dtype) for name, dtype in fields]

    @cached_property
    def fields(self) -> pa.Schema:
        """The columns of slices: of each leaf, the fields of its partials."""
        each = (self._fields(k, leaf) for k, leaf in enumerate(self.operator.leaves))
        return pa.schema(
            pa.field(name, pa.from_numpy_dtype(dtype)) for fields in each for name, dtype in fields
        )

    def described(self) -> dict[str, Any]:
        """What slices are, and how they are made: those of another make are of no use."""
        made = blake2b(digest_size=8)
        for leaf in self.operator.leaves:
            monoid = leaf.bind(*self._types(leaf))
            for name, function in sorted(monoid.functions.items()):
                tree = tree_of(function, monoid.sources.get(name))
                made.update(f"{name} {None if tree is None else ast.dump(tree)}".encode())
        fields = {field.name: str(field.type) for field in self.fields}
        of = [repr(leaf) for leaf in self.operator.leaves]  # partials are known by their order
        made.update(repr(of).encode())
        return {"width": self.grid.width, "partials": fields, "operators": made.hexdigest()}

    @cached_property
    def merged(self) -> Operator:
        """The operator that takes slices for rows."""

        def merging(k: int, leaf: Operator) -> Operator:
            columns = tuple(name for name, _ in self._fields(k, leaf))
            return Merging(leaf, columns, self._types(leaf))

        return self._each(merging)

    @cached_property
    def _told(self) -> Operator:
        """The operator that answers with partials."""
        return self._each(lambda k, leaf: Telling(leaf, leaf.columns))

    def _each(self, made: Any) -> Operator:
        if not isinstance(self.operator, Together):
            return made(0, self.operator)  # type: ignore[no-any-return]
        members = enumerate(self.operator.members.items())
        return Together(**{name: made(k, leaf) for k, (name, leaf) in members})

    def cut(
        self, columns: Mapping[str, pa.Array], keys: list[pa.Array], times: Array
    ) -> tuple[dict[str, pa.Array], list[pa.Array], Array, Array]:
        """Rows as slices: their columns, keys and moments, and of how many rows each is."""
        moments = self.grid.begin(times)
        codes = _codes(keys, len(times))
        order = np.lexsort((moments, codes))
        moments, codes = moments[order], codes[order]
        begins = np.ones(len(order), bool)
        begins[1:] = (moments[1:] != moments[:-1]) | (codes[1:] != codes[:-1])
        starts = np.flatnonzero(begins)
        ends = np.append(starts[1:], len(order))
        index = pa.array(order)
        given = {name: values.take(index) for name, values in columns.items()}
        found: dict[str, pa.Array] = {}
        answers = over_stretches(given, self._told, starts, ends)
        for k, each in enumerate(answers):
            missing = None if each.there is None else ~each.there
            for name, values in each.fields.items():
                found[_column(k, name)] = pa.array(values, mask=missing)
        first = pa.array(order[starts])
        return found, [key.take(first) for key in keys], moments[starts], ends - starts


def _codes(keys: list[pa.Array], count: int) -> Array:
    """Numbers that tell keys apart. One key may have two: its slices are two, then."""
    found = np.zeros(count, np.int64)
    for key in keys:
        encoded = key.dictionary_encode(null_encoding="encode")
        found = found * len(encoded.dictionary) + encoded.indices.to_numpy()
        if len(keys) > 1:
            found = np.unique(found, return_inverse=True)[1]
    return found


def _column(k: int, field: str) -> str:
    return f"p{k}_{field}"

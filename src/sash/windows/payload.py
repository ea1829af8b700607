"""Answers that are taken from rows: which row it is comes from the window, its values from here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from sash.operators.base import Operator
from sash.operators.sums import Count
from sash.operators.together import Together

Array = np.ndarray[Any, Any]


def telling_rows(op: Operator) -> Operator:
    """The same operator, but that tells the number of a row instead of what stands there."""
    if isinstance(op, Together):
        return Together(**{name: telling_rows(leaf) for name, leaf in op.members.items()})
    if op.takes is None:
        return op
    found = _Telling[type(op)]
    made: Operator = found.__new__(found)
    made.__dict__.update(op.__dict__, columns=op.columns[: max(op.inputs, 1)])
    return made


class _TellingRows(dict[type[Operator], type[Operator]]):
    """Of each class of operators that take, the one that tells; one class, so compiled once."""

    def __missing__(self, given: type[Operator]) -> type[Operator]:
        body = {"takes": None, "answer": "int64", "__module__": given.__module__}
        made = type(given.__name__, (given,), body)
        self[given] = made
        return made


_Telling = _TellingRows()


def answers_numbers(leaf: Operator) -> bool:
    """Whether answers depend on the numbers of rows, and not only on what stands in them."""
    return leaf.uses_row and not leaf.takes and not isinstance(leaf, Count)


def columns_taken(op: Operator) -> tuple[str, ...]:
    """The columns that an operator's answers stand in."""
    return op.columns if op.takes == "same" else op.columns[op.inputs :]


class Payload:
    """What stands in the rows of one window, as far as they may be answers: in pieces, in order."""

    def __init__(self, op: Operator) -> None:
        taking = [leaf for leaf in op.leaves if leaf.takes]
        self.names = tuple(dict.fromkeys(name for leaf in taking for name in columns_taken(leaf)))
        self.firsts: list[int] = []
        self.pieces: list[dict[Any, pa.Array]] = []
        """By name; where a row stands for many, what it is to a leaf is there by both."""

    def keep(self, rows: Mapping[Any, pa.Array], first: int, start: int) -> None:
        """More rows of the window, from value `first` on; it holds those from `start` on."""
        self.firsts.append(first)
        self.pieces.append(
            {name: rows[name] for name in rows if name in self.names or isinstance(name, tuple)}
        )
        while len(self.firsts) > 1 and self.firsts[1] <= start:
            del self.firsts[0], self.pieces[0]

    def clear(self) -> None:
        self.firsts, self.pieces = [], []

    def take(
        self, k: int, leaf: Operator, values: Array, there: Array, rows: Any, at: Array
    ) -> pa.Array:
        """What stands in the rows that are answers of a leaf, the k-th.

        values: their numbers; there: where there is an answer; at: the row of `rows` that it is,
        or less than 0 for one that came before.
        """
        old = there & (at < 0)
        wanted = np.unique(values[old])
        index = np.where(old, len(next(iter(rows.values()))) + np.searchsorted(wanted, values), at)
        indices = pa.array(index, mask=~there)
        found = {}
        for name in columns_taken(leaf):
            column = rows[name]
            if len(wanted):
                column = pa.concat_arrays([column, *self._earlier(k, name, wanted)])
            found[name] = column.take(indices)
        if len(found) == 1:
            return next(iter(found.values()))
        return pa.StructArray.from_arrays(list(found.values()), list(found), mask=pa.array(~there))

    def _earlier(self, k: int, name: str, wanted: Array) -> list[pa.Array]:
        """What stands in some rows that came before, in order."""
        cuts = np.searchsorted(wanted, [*self.firsts[1:], np.iinfo(np.int64).max])
        found, low = [], 0
        for first, piece, high in zip(self.firsts, self.pieces, cuts.tolist(), strict=True):
            if high > low:
                values = piece[k, name] if (k, name) in piece else piece[name]
                found.append(values.take(pa.array(wanted[low:high] - first)))
            low = high
        return found

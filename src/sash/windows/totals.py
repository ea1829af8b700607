"""⊕ of many rows as one value, which can be sent elsewhere and go into a window there.

A total is plain data: for each leaf of the operator None if there is no value, the fields of its
partial, the partial itself if it is an object, or, where an answer is taken from a row, that row.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.aggregator import Aggregator
from sash.aggregators.columns import column
from sash.operators.base import Operator
from sash.operators.monoid import Monoid, Partial
from sash.windows.definitions import last
from sash.windows.grouped import algorithm_for
from sash.windows.payload import answers_numbers, columns_taken, telling_rows

Total = list[Any]


def has_totals(op: Operator, schema: pa.Schema) -> bool:
    """Whether rows of this operator can stand as one value.

    Not if answers are numbers of rows, or are taken from rows of which more than one may matter.
    """
    taken = [name for leaf in op.leaves if leaf.takes for name in columns_taken(leaf)]
    if len(set(taken)) < len(taken):
        return False
    for leaf in op.leaves:
        if (leaf.takes and not leaf.selective) or answers_numbers(leaf):
            return False
        given = [column(pa.array([], schema.field(name).type)) for name in _inputs(leaf)]
        if any(each.is_time or each.is_bool for each in given):
            return False
    return True


def _inputs(leaf: Operator) -> tuple[str, ...]:
    return leaf.columns[: max(leaf.inputs, 1)]


def total_of(op: Operator, columns: Mapping[str, pa.Array]) -> Total:
    """⊕ of some rows."""
    return [_leaf_total(leaf, columns) for leaf in op.leaves]


def _leaf_total(leaf: Operator, columns: Mapping[str, pa.Array]) -> Any:
    telling = telling_rows(leaf)
    window = Aggregator(algorithm_for(telling, last(1), "auto"), telling)
    window.bulk_insert({name: columns[name] for name in telling.columns})
    kept = window._kept
    if kept is None or len(window._nulls[0]) == len(window):
        return None
    partial = kept.query()
    if leaf.takes:
        row = int(kept.monoid.lower(partial))
        names = dict.fromkeys([*_inputs(leaf), *columns_taken(leaf)])
        return {name: columns[name][row : row + 1] for name in names}
    return _fields(partial) if kept.monoid.fixed_width else [partial]


def _fields(partial: Partial) -> list[Any]:
    return [v.item() if isinstance(v, np.generic) else v for v in partial]


def monoids(op: Operator, schema: pa.Schema) -> list[Monoid]:
    """Of each leaf, the monoid that its totals are of."""
    found = []
    for leaf in op.leaves:
        telling = telling_rows(leaf)
        given = [column(pa.array([], schema.field(name).type)) for name in _inputs(leaf)]
        found.append(telling.bind(*(each.dtype for each in given)))
    return found


def joined(op: Operator, schema: pa.Schema, totals: list[Total]) -> Total:
    """⊕ of totals, in order."""
    bound = monoids(op, schema)
    found = []
    for k, (leaf, monoid) in enumerate(zip(op.leaves, bound, strict=True)):
        given = [total[k] for total in totals if total[k] is not None]
        if leaf.takes:
            found.append(reduce(lambda a, b: _winner(leaf, monoid, a, b), given) if given else None)
        elif given:
            parts = reduce(monoid.combine, (as_partial(monoid, each) for each in given))
            found.append(_fields(parts) if monoid.fixed_width else [parts])
        else:
            found.append(None)
    return found


def as_partial(monoid: Monoid, content: Any) -> Partial:
    return monoid.partial._make(content) if monoid.fixed_width else content[0]


def lifted_row(leaf: Operator, monoid: Monoid, row: Mapping[str, pa.Array], number: int) -> Partial:
    """The partial of a row, as if it had this number."""
    values = (column(row[name]).item(0) for name in leaf.columns[: leaf.inputs])
    return monoid.lift(*values, number)


def _winner(leaf: Operator, monoid: Monoid, a: Any, b: Any) -> Any:
    """The one of two rows that the answer is taken from."""
    both = monoid.combine(lifted_row(leaf, monoid, a, 0), lifted_row(leaf, monoid, b, 1))
    return b if monoid.lower(both) else a

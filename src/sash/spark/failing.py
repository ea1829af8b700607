"""Which row it was that failed: said by the operator, the key and the order value."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sash.operators.base import Operator
from sash.operators.extremes import Range
from sash.operators.sums import Sum
from sash.windows.definitions import SlideWhile
from sash.windows.roles import RefusedRowError

if TYPE_CHECKING:
    from sash.spark.query import Query
    from sash.spark.rows import Rows
    from sash.spark.worker import Windows
    from sash.windows.grouped import Told

Array = np.ndarray[Any, Any]


class RowError(ValueError):
    """A row that an operator fails on."""


def locating(
    windows: Windows, rows: Rows, edges: Array, ask: Callable[[Rows, Array], Told]
) -> Told:
    """What `ask` tells of rows; if it fails, an error that names the row.

    A call that fails changes nothing, so the row is found by halving: the first half goes in, or
    has the row.
    """
    before = windows.grouped.came()
    try:
        return ask(rows, edges)
    except Exception as error:
        if windows.grouped.came() != before:  # the rows are in: it is their answers that fail
            raise
        first, last = 0, rows.count
        while last - first > 1:
            middle = (first + last) // 2
            try:
                ask(rows.slice(first, middle), _within(edges, first, middle))
                first = middle
            except Exception as earlier:
                if type(earlier) is not type(error):
                    raise error from None
                last = middle
        try:
            ask(rows.slice(first, last), _within(edges, first, last))
        except Exception as itself:
            raise RowError(told(windows.query, rows, first, itself)) from itself
        raise error  # of all rows together, and of none of them alone


def _within(edges: Array, first: int, last: int) -> Array:
    return edges[(edges >= first) & (edges < last)] - first


def told(
    query: Query, rows: Rows, at: int, error: Exception, where: str = "at the row with"
) -> str:
    """What is said of a row that an operator fails on."""
    order = query.order_by[0]
    keys = [f"{name} = {_shown(rows.columns[name][at])}" for name in query.by]
    of = f" of {', '.join(keys)}" if keys else ""
    what = str(error).rstrip(".") or "no reason given"
    if isinstance(error, RefusedRowError):
        who = repr(query.window)
        what = _as_written(query, what.replace("row 0", "this row"))
    else:
        who = _culprit(query, rows, at, error)
        kind = "" if isinstance(error, (TypeError, ValueError)) else f"{type(error).__name__}: "
        what = f"{kind}{what}"
    when = f"{order} = {_shown(rows.columns[order][at])}"
    end = "" if what.endswith(("?", "…")) else "."
    return f"{who} failed {where} {when}{of}: {what}{end}"


def _as_written(query: Query, what: str) -> str:
    """With the window as the user wrote it, and the column that it is measured along."""
    what = what.replace(repr(query.steps), repr(query.window))
    along = query.shape_as_written.along
    return what if along is None else what.replace(repr(query.shape.along), repr(along))


def _shown(value: pa.Scalar) -> str:
    """A value as a user would write it; times as they are said."""
    if not pa.types.is_timestamp(value.type):
        plain = value.as_py()
        return str(plain) if isinstance(plain, date) else repr(plain)
    try:
        return str(value.as_py())
    except (OverflowError, ValueError):  # in its zone it is beyond what Python can say
        return f"{value.cast(pa.timestamp('us', 'UTC')).as_py()}"


def _culprit(query: Query, rows: Rows, at: int, error: Exception) -> str:
    """The aggregate that cannot take the row; all that may fail, if it is none by itself."""
    named = {f"{name} = {op!r}": op for name, op in query.aggs.items()}
    for shown, op in named.items():
        columns = [rows.columns[name] for name in op.columns[: op.inputs] if name in rows.columns]
        values = [column[at].as_py() for column in columns]
        if len(values) < max(op.inputs, 1) or any(value is None for value in values):
            continue
        try:
            monoid = op.bind(*(_numpy_type(column) for column in columns))
            p = monoid.lift(*values, *([0] if op.uses_row else []))
            monoid.combine(monoid.identity(), p)
            monoid.lower(p)
        except Exception:
            return shown
    suspects = [shown for shown, op in named.items() if _may_fail(op, error)]
    if isinstance(query.window, SlideWhile):
        suspects.append(repr(query.window))
    return " or ".join(suspects or named)


def _may_fail(op: Operator, error: Exception) -> bool:
    """Ours take what they were promised, but for sums that do not fit."""
    ours = type(op).__module__.startswith("sash.")
    return not ours or (isinstance(op, (Sum, Range)) and isinstance(error, OverflowError))


def _numpy_type(column: Any) -> Any:
    try:
        return np.dtype(column.type.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        return np.dtype(object)

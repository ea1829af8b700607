"""Reading a call of `sliding`: a query, or an error that says in a sentence what is wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import (
    CalendarIntervalType,
    DataType,
    MapType,
    StringType,
    StructType,
    VariantType,
)

from sash.aggregators.aggregator import checked_operator, whole
from sash.aggregators.duration import Steps, Time, length
from sash.operators.base import Operator
from sash.operators.sums import Count
from sash.operators.together import Together
from sash.spark.checks import require
from sash.spark.query import END, START, VERSION, Query, with_columns
from sash.windows.definitions import Definition, Delta, Punctuated, SlideWhile, definition
from sash.windows.shapes import Shape

OURS = "__sash_"
BINARY = "UTF8_BINARY"
UNSORTED = (MapType, VariantType, CalendarIntervalType)


@dataclass(frozen=True)
class Call:
    """What `sliding` is called with, as it is."""

    window: Any
    aggs: Any
    by: Any = ()
    order_by: Any = ()
    lateness: Any = None
    idle: Any = None
    emit: Any = "every"
    columns: Any = None
    min_size: int = 1
    algorithm: str = "auto"


def read_query(df: DataFrame, call: Call) -> Query:
    """A query, or an error that says in a sentence what is wrong with the call."""
    if not isinstance(df, DataFrame) and not hasattr(df, "sparkSession"):
        raise TypeError(f"a Spark DataFrame is needed, not {type(df).__name__}.")
    session = df.sparkSession
    require(session)
    exact = str(session.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
    return query_of(df.schema, call, exact)


def query_of(rows: StructType, call: Call, exact: bool = False) -> Query:
    """The same of rows of this schema, without a session. exact: A and a are two names."""
    names = Names(rows, exact)
    ours = [name for name in names.names if name.startswith(OURS)]
    if ours:
        raise ValueError(f"rename the column {ours[0]!r}: Sash uses names that begin like that.")
    if whole("min_size", call.min_size) < 0:
        raise ValueError(f"min_size must be at least 0, not {call.min_size}.")
    late, idle = _time_length("lateness", call.lateness), _time_length("idle", call.idle)
    early = _early(call)
    named = _aggregates(call.aggs, names)
    wanted = _window(definition(call.window), names)
    keys = names.all_of(call.by, "by")
    order = names.all_of(call.order_by, "order_by")
    if not order:
        raise ValueError(
            "rows of a DataFrame have no order of their own: say order_by='ts', or whatever "
            "column they are to be ordered by."
        )
    schema = pa.schema([names.field(name) for name in dict.fromkeys(names.used)])
    kept: tuple[str, ...] = ()
    if Shape(wanted).at_rows:
        kept = names.all_of(names.names if call.columns is None else call.columns, "columns")
    asked = (named, wanted, keys, order, kept, int(call.min_size), call.algorithm, schema)
    query = Query(*asked, lateness=late, idle=idle, early=early)
    _check(query, names)
    collated = tuple(name for name in query.order_by if _collation(rows[name].dataType))
    return replace(query, ties=_ties(rows, query), collated=collated)


def _early(call: Call) -> bool:
    if call.emit not in ("every", "early"):
        raise ValueError(f"emit is 'every' or 'early', not {call.emit!r}.")
    early = bool(call.emit == "early")
    if early and call.lateness is None:
        raise ValueError("emit='early' corrects answers when late rows come: give lateness=…")
    if early and call.idle is not None:
        raise ValueError("idle does not go with emit='early'.")
    return early


def _time_length(name: str, given: Any) -> Time | Steps | None:
    if given is None:
        return None
    found = length(given)
    if isinstance(found, int):
        raise TypeError(f"{name} is a length of time, such as '10min', not {given!r}.")
    return found


class Names:
    """The columns of a DataFrame by the names that callers use."""

    def __init__(self, schema: StructType, exact: bool) -> None:
        self.schema = schema
        self.names = schema.names
        self.exact = exact
        self.used: list[str] = []

    def one(self, name: str, what: str) -> str:
        """The column of this name."""
        found = [each for each in self.names if self.same(each, name)]
        if not found:
            raise ValueError(f"{what}: there is no column {name!r} among {', '.join(self.names)}.")
        if len(found) > 1:
            raise ValueError(
                f"{what}: there are several columns {name!r}; rename all but one"
                f"{', or say which are wanted, with columns=[…]' if what == 'columns' else ''}."
            )
        self.used.append(found[0])
        return found[0]

    def same(self, one: str, other: str) -> bool:
        """Whether Spark takes two names for the same."""
        return one == other if self.exact else one.lower() == other.lower()

    def all_of(self, given: str | Sequence[str] | None, what: str) -> tuple[str, ...]:
        several = isinstance(given, Iterable) and not isinstance(given, (str, Column))
        names: tuple[Any, ...] = () if given is None else tuple(given) if several else (given,)
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"{what} takes the names of columns, as text, not {name!r}.")
        return tuple(dict.fromkeys(self.one(name, what) for name in names))

    def field(self, name: str) -> pa.Field:
        return pa.field(name, arrow_type(self.schema[name].dataType, name))


def sortable(kind: DataType) -> bool:
    if isinstance(kind, StructType):
        return all(sortable(field.dataType) for field in kind.fields)
    inner = getattr(kind, "elementType", None)
    return sortable(inner) if inner is not None else not isinstance(kind, UNSORTED)


def _collation(kind: DataType) -> str:
    """How Spark compares text, if it is not byte by byte."""
    found = str(getattr(kind, "collation", BINARY)) if isinstance(kind, StringType) else BINARY
    return "" if found == BINARY else found


def _ties(schema: StructType, query: Query) -> tuple[str, ...]:
    """What else orders rows: all that is given or read of them. The rest makes no difference."""
    wanted = dict.fromkeys([*(query.columns if query.at_rows else ()), *query.reads])
    first = {*query.by, *query.order_by}
    return tuple(name for name in wanted if name not in first and sortable(schema[name].dataType))


def arrow_type(kind: DataType, name: str) -> pa.DataType:
    try:
        return to_arrow_type(kind, timezone="UTC")
    except Exception as error:
        raise TypeError(
            f"the column {name!r} is of a type that does not travel to Python: "
            f"{kind.simpleString()}."
        ) from error


def _aggregates(aggs: Any, names: Names) -> dict[str, Operator]:
    if not isinstance(aggs, Mapping) or not aggs:
        raise TypeError(
            f"aggregates are given by name, as in {{'highest': sash.Max('len')}}; not {aggs!r}."
        )
    found = {}
    for name, op in aggs.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"an aggregate's name is text, not {name!r}.")
        if isinstance(op, Together):
            raise TypeError(
                f"{name!r} is a Together; write its members as aggregates of their own."
            )
        checked_operator(op)
        if not op.columns and not isinstance(op, Count):
            raise ValueError(
                f"{name!r}: say which column {op.name} is of, as in {op.name}({names.names[-1]!r})."
            )
        read = tuple(names.one(column, f"{name!r}, {op!r}") for column in op.columns)
        found[name] = with_columns(op, read)
    return found


def _window(window: Definition, names: Names) -> Definition:
    """The window, with its columns as they are called here."""
    found: Any = window
    if isinstance(window, (Delta, Punctuated)):
        found = replace(window, column=names.one(window.column, repr(window)))
    every = getattr(window, "every", None)
    if isinstance(every, Punctuated):
        found = replace(found, every=replace(every, column=names.one(every.column, repr(window))))
    return found  # type: ignore[no-any-return]


def _check(query: Query, names: Names) -> None:
    """What can be known to be wrong before any row is read."""
    window = query.window
    for name in query.by:
        collation = _collation(names.schema[name].dataType)
        if collation:
            raise TypeError(
                f"the key {name!r} is text that is compared by {collation}: give a column that is "
                f"the same for the same key, such as lower({name})."
            )
    for name in (*query.by, *query.order_by):
        if not sortable(names.schema[name].dataType):
            kind = names.schema[name].dataType.simpleString()
            raise TypeError(f"{name!r} is of {kind}, which Spark cannot sort by.")
    if query.idle is not None and not query.by:
        raise ValueError("idle is for keys that are forgotten: give by=… too.")
    if query.goes_by_time and query.clock is None:
        first = query.order_by[0]
        kind = query.schema.field(first).type
        raise TypeError(
            f"{window!r} goes by the order column, and {first!r} is of {kind}: order by a "
            f"timestamp, a date or an integer."
        )
    if isinstance(window, Delta):
        kind = query.schema.field(window.column).type
        times = isinstance(window.width, Time)
        if not times and not pa.types.is_integer(kind) and not pa.types.is_floating(kind):
            raise TypeError(
                f"{window!r} needs numbers in the column {window.column!r}, and it is of {kind}: "
                f"cast it to double."
            )
    mark = query.shape.mark
    if mark is not None and not _marks(query.schema.field(mark).type):
        kind = query.schema.field(mark).type
        raise TypeError(
            f"{window!r} needs booleans or numbers in the column {mark!r}, and it is of {kind}."
        )
    _check_names(query, names)
    if query.idle_steps == 0:
        raise ValueError("idle is a length of time of more than nothing, such as '1d'.")
    # Each raises an error of its own if there is anything wrong with it.
    assert query.chosen and query.answer_types and query.shipped
    if isinstance(window, SlideWhile):
        _check_policy(query, window)


def _marks(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)
    )


def _check_names(query: Query, names: Names) -> None:
    """No two columns of the output may have the same name."""
    taken = list(query.columns) if query.at_rows else [START, END]
    given = [(name, "the aggregate") for name in query.aggs]
    if not query.at_rows:
        given = [(name, "the key") for name in query.by] + given
    if query.early:
        given = [(VERSION, "the column of emit='early'"), *given]
    for name, whose in given:
        other = next((each for each in taken if names.same(name, each)), None)
        if other is not None:
            leave = query.at_rows and other in query.columns
            raise ValueError(
                f"there is a column {other!r} already; give {whose} {name!r} another name"
                f"{', or leave that one out with columns=[…]' if leave else ''}."
            )
        taken.append(name)


def _check_policy(query: Query, window: SlideWhile) -> None:
    """A policy may ask for what there is."""
    asked = [
        node.attr
        for node in ast.walk(ast.parse(window.text or ""))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    ]
    if isinstance(query.operator, Together):
        unknown = [name for name in asked if name not in query.operator.members]
        if unknown:
            known = ", ".join(query.operator.members)
            raise ValueError(f"{window!r} asks for {unknown[0]!r}, and there are {known}.")
    elif asked and not window.raw:
        raise ValueError(
            f"{window!r} asks for {asked[0]!r}, and with one aggregate its answer is total itself."
        )

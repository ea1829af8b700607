"""Several windows in one call of `sliding`: rows are shuffled, sorted and sent to workers once.

Answers at rows stand side by side, in columns named after the aggregate and the window. Windows of
their own stand below one another, and a column tells which window a row is of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import BooleanType, StringType, StructField, StructType

from sash.spark.part_rows import Plan
from sash.spark.query import END, START, Query, quoted
from sash.spark.reading import Call, read_query
from sash.spark.sorting import in_order_for_all
from sash.spark.starting import without_noise
from sash.spark.worker import HERE, answers_to_all, windows_of_all
from sash.windows.definitions import MAKERS, Definition

WINDOW = "window"
ANSWERS = "__sash_answers"


def named_windows(window: Any) -> dict[str, Any] | None:
    """Windows by name, if there are several; None if it is one, also if it is written as a dict."""
    if not isinstance(window, Mapping):
        return None
    is_one = any(name in MAKERS for name in window) and not any(
        isinstance(each, Definition) and name in MAKERS for name, each in window.items()
    )
    if is_one:
        return None
    for name in window:
        if not isinstance(name, str) or not name:
            raise TypeError(
                f"windows are given by name, as in {{'1h': sash.last('1h')}}; not {name!r}."
            )
    if not window:
        raise ValueError("no window at all: give at least one, as in {'1h': sash.last('1h')}.")
    return dict(window)


def queries_of(df: DataFrame, call: Call, windows: dict[str, Any]) -> dict[str, Query]:
    """What is asked of each window, checked; the same aggregates of all."""
    if not isinstance(call.aggs, Mapping):
        read_query(df, replace(call, window=next(iter(windows.values()))))  # which refuses it
    found: dict[str, Query] = {}
    for name, window in windows.items():
        wide = {f"{agg}_{name}": op for agg, op in call.aggs.items()}
        own = replace(call, window=window)
        query = read_query(df, own)
        found[name] = read_query(df, replace(own, aggs=wide)) if query.at_rows else query
    kinds = {query.at_rows for query in found.values()}
    if len(kinds) > 1:
        rows = next(name for name, query in found.items() if query.at_rows)
        other = next(name for name, query in found.items() if not query.at_rows)
        raise ValueError(
            f"{rows!r} is answered at rows, and {other!r} has rows of its own: ask for them in two "
            f"calls."
        )
    if kinds == {True}:
        _check_names(found)
    elif WINDOW in next(iter(found.values())).by or WINDOW in call.aggs:
        raise ValueError(f"the column {WINDOW!r} tells which window a row is of: rename the other.")
    return found


def _check_names(queries: dict[str, Query]) -> None:
    taken: dict[str, str] = {}
    for name, query in queries.items():
        for column in query.aggs:
            if column.lower() in taken:
                raise ValueError(
                    f"{taken[column.lower()]!r} and {name!r} both give a column {column!r}; rename "
                    f"one of the windows, or of the aggregates."
                )
            taken[column.lower()] = name


def answers_of_several(df: DataFrame, queries: dict[str, Query], plan: Plan) -> DataFrame:
    """The answers for all windows, of keys that are not cut into parts."""
    asked = list(queries.values())
    rows = in_order_for_all(df, asked, plan)
    return _at_rows(rows, asked) if asked[0].at_rows else _of_their_own(rows, queries)


def below_one_another(each: dict[str, DataFrame]) -> DataFrame:
    """The windows of several, and which each is."""
    named = [df.select(F.lit(name).alias(WINDOW), "*") for name, df in each.items()]
    return reduce(DataFrame.unionAll, named)


def _at_rows(rows: DataFrame, asked: list[Query]) -> DataFrame:
    types = [from_arrow_type(kind) for query in asked for kind in query.answer_types.values()]
    names = [name for query in asked for name in query.aggs]
    sent = list(dict.fromkeys(name for query in asked for name in query.sent))
    plain = all(query.shape.plain for query in asked)
    fields = [StructField(f"a{k}", kind) for k, kind in enumerate(types)]
    if not plain:
        fields.append(StructField(HERE, BooleanType()))

    def sash(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        yield from answers_to_all(asked, sent, batches)

    with without_noise():
        made: Any = F.arrow_udf(sash, StructType(fields))  # type: ignore[attr-defined]
    answers = made.asNondeterministic()(*map(quoted, sent))
    kept = [quoted(name) for name in asked[0].columns]
    found = rows.select(*kept, answers.alias(ANSWERS))
    if not plain:
        found = found.filter(F.col(f"{ANSWERS}.{HERE}"))
    each = [F.col(f"{ANSWERS}.a{k}").alias(name) for k, name in enumerate(names)]
    return found.select(*kept, *each)


def _of_their_own(rows: DataFrame, queries: dict[str, Query]) -> DataFrame:
    asked = dict(queries)
    first = next(iter(asked.values()))
    clock = first.clock
    assert clock is not None
    bounds = from_arrow_type(clock.bounds_type)
    types = [StringType(), *(rows.schema[name].dataType for name in first.by), bounds, bounds]
    types += [from_arrow_type(kind) for kind in first.answer_types.values()]
    sent = list(dict.fromkeys(name for query in asked.values() for name in query.sent))

    def sash(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from windows_of_all(asked, sent, batches)

    given = [quoted(name).alias(f"c{k}") for k, name in enumerate(sent)]
    fields = [StructField(f"c{k}", kind) for k, kind in enumerate(types)]
    with without_noise():
        found = rows.select(*given).mapInArrow(sash, StructType(fields))
    names = [WINDOW, *first.by, START, END, *first.aggs]
    return found.select(*(F.col(f"c{k}").alias(name) for k, name in enumerate(names)))

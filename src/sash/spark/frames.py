"""`sash.spark.sliding`: any aggregate over any window of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import BooleanType, DataType, StructField, StructType

from sash.operators.base import Operator
from sash.spark.part_rows import Plan
from sash.spark.parts import Split, checked_split, plan_parts
from sash.spark.query import END, OWN, PART, START, VERSION, Query, quoted
from sash.spark.reading import Call, read_query
from sash.spark.several import answers_of_several, below_one_another, named_windows, queries_of
from sash.spark.sorting import in_order
from sash.spark.starting import without_noise
from sash.spark.streams import stream_answers, stream_query, stream_query_of_several
from sash.spark.worker import HERE, answers_at_rows, windows_of

ANSWERS = "__sash_answers"


def sliding(
    df: DataFrame,
    window: Any,
    aggs: Mapping[str, Operator],
    *,
    by: str | Sequence[str] = (),
    order_by: str | Sequence[str] = (),
    lateness: Any = None,
    idle: Any = None,
    emit: str = "every",
    columns: Sequence[str] | None = None,
    min_size: int = 1,
    algorithm: str = "auto",
    split: Split = "auto",
) -> DataFrame:
    """Aggregates over windows of a DataFrame's rows, be it a batch or a stream.

    window     a definition such as `sash.last("1h", every="1min")`, or 1000 or "1h" for short; or
               several of them by name, {"1h": sash.last("1h"), "1d": sash.last("1d")}
    aggs       operators by the names of their answers: {"highest": sash.Max("len")}
    by         the column, or columns, whose values are keys: a window for each
    order_by   the column, or columns, that order rows; the first tells their time. Ties are ordered
               by all other columns, so that a run repeats exactly
    lateness   on a stream, how far behind the newest time rows may come: they wait that long, and
               what is later is dropped and counted. Without it rows must come in order, key by
               key, and are answered at once. Of no effect on a batch, whose rows are sorted
    idle       a key without rows for so long is forgotten, and begins anew
    emit       "early": on a stream with lateness answers do not wait, and are given again whenever
               they change; the column `version` tells which is the last
    columns    those of the input that are wanted in the output; by default all
    min_size   no answer for windows of fewer rows
    algorithm  a name from `sash.algorithms()`; "auto" takes what fits
    split      "auto": all rows without keys, and keys with too many rows, are computed in parts
               side by side; a number: every key in so many parts; False: none

    For windows that are answered at rows, the rows that have an answer, with it: the input's
    columns, and one for each aggregate. For others (on a grid of time, sessions, from mark to
    mark) a row for each window: its key, window_start, window_end, and the answers.

    Of several windows, answers at rows stand side by side, as highest_1h and highest_1d. Windows of
    their own stand below one another; the column `window` has the name of each.

    Answers of a batch are computed when the result is asked for; but where to split is found out
    at once, by jobs that count keys, or look at the order column. Rows must be the same both times.
    """
    call = Call(window, aggs, by, order_by, lateness, idle, emit, columns, min_size, algorithm)
    windows = named_windows(window)
    if windows is not None:
        return _several(df, call, windows, split)
    if getattr(df, "isStreaming", False):
        return stream_answers(df, stream_query(df, call))
    return _answered(df, *planned(df, call, split))


def _answered(df: DataFrame, query: Query, plan: Plan) -> DataFrame:
    return answers_of(in_order(df, query, plan), query)


def answers_of(rows: DataFrame, query: Query) -> DataFrame:
    """The answers for rows that are where they should be, and in order."""
    found = _with_answers(rows, query) if query.at_rows else _windows(rows, query)
    return found.withColumn(VERSION, F.lit(1).cast("bigint")) if query.early else found


def _several(df: DataFrame, call: Call, windows: dict[str, Any], split: Split) -> DataFrame:
    """Several windows, in one pass if no key has too many rows for it."""
    if getattr(df, "isStreaming", False):
        return stream_answers(df, stream_query_of_several(df, call, windows))
    queries = queries_of(df, call, windows)
    if call.emit == "early":  # there is one version of each answer
        found = _several(df, replace(call, emit="every"), windows, split)
        return found.withColumn(VERSION, F.lit(1).cast("bigint"))
    query, plan = plan_parts(df, next(iter(queries.values())), checked_split(split))
    if not plan.series and len({each.ties for each in queries.values()}) == 1:
        return answers_of_several(df, queries, plan)
    # Where a part ends is settled for a window: each has parts of its own. So is the order of rows
    # of the same time, if windows read other columns.
    if not query.at_rows:
        each = [
            _answered(df, *plan_parts(df, one, checked_split(split))) for one in queries.values()
        ]
        return below_one_another(dict(zip(queries, each, strict=True)))
    found = df
    for one in queries.values():
        # What it alone would give and read comes first: that orders rows of the same time.
        kept = list(dict.fromkeys([*one.columns, *one.reads, *found.columns]))
        own = replace(call, window=one.window, aggs=one.aggs, columns=kept)
        found = _answered(found, *planned(found, own, split))
    return found.select(*(quoted(name) for name in (*query.columns, *_names(queries))))


def _names(queries: dict[str, Query]) -> list[str]:
    return [name for query in queries.values() for name in query.aggs]


def planned(df: DataFrame, call: Call, split: Split) -> tuple[Query, Plan]:
    """What is asked, checked, and how it will be split."""
    query = read_query(df, call)
    return plan_parts(df, query, checked_split(split))


def _with_answers(rows: DataFrame, query: Query) -> DataFrame:
    """Rows stay where they are; what workers read of them goes there, and answers come back."""
    types = [from_arrow_type(kind) for kind in query.answer_types.values()]
    names = list(query.aggs)
    kept = [quoted(name) for name in query.columns]
    plain = query.shape.plain
    fields = [StructField(f"a{k}", kind) for k, kind in enumerate(types)]
    if not plain:
        fields.append(StructField(HERE, BooleanType()))
    answering = answering_udf(query, types[0] if query.bare else StructType(fields))
    answers = answering(*map(quoted, query.sent))
    if query.bare and not query.parts:
        return rows.select(*kept, answers.alias(names[0]))
    marks = [PART, OWN] if query.parts else []
    found = rows.select(*kept, *marks, answers.alias(ANSWERS))
    if query.parts:  # a row that was sent elsewhere too is answered in its own part
        found = found.filter(F.col(PART).eqNullSafe(F.col(OWN)))
    if query.bare:
        return found.select(*kept, F.col(ANSWERS).alias(names[0]))
    if not plain:
        found = found.filter(F.col(f"{ANSWERS}.{HERE}"))
    each = [F.col(f"{ANSWERS}.a{k}").alias(name) for k, name in enumerate(names)]
    return found.select(*kept, *each)


def answering_udf(query: Query, answer: DataType) -> Any:
    def sash(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        yield from answers_at_rows(query, batches)

    with without_noise():
        made: Any = F.arrow_udf(sash, answer)  # type: ignore[attr-defined]
    # Rows must not be filtered before they have been in windows, nor be answered twice.
    return made.asNondeterministic()


def _windows(rows: DataFrame, query: Query) -> DataFrame:
    clock = query.clock
    assert clock is not None
    bounds = from_arrow_type(clock.bounds_type)
    types = [rows.schema[name].dataType for name in query.by] + [bounds, bounds]
    types += [from_arrow_type(kind) for kind in query.answer_types.values()]

    def sash(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from windows_of(query, batches)

    # Names are given afterwards: Spark takes those of any sign only there.
    given = [quoted(name).alias(f"c{k}") for k, name in enumerate(query.sent)]
    fields = [StructField(f"c{k}", kind) for k, kind in enumerate(types)]
    with without_noise():
        found = rows.select(*given).mapInArrow(sash, StructType(fields))
    names = [*query.by, START, END, *query.aggs]
    return found.select(*(F.col(f"c{k}").alias(name) for k, name in enumerate(names)))

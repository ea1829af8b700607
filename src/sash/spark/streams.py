"""`sliding` on a stream: rows are packed, go to the shards of their keys, and answers come back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType, LongType, StringType, StructField, StructType

from sash.spark.checks import require
from sash.spark.packing import BROUGHT, PACKED, brought_along, packed, unpacked
from sash.spark.part_rows import partitions
from sash.spark.query import END, START, VERSION, Query, quoted
from sash.spark.reading import Call, arrow_type, read_query
from sash.spark.several import WINDOW, queries_of
from sash.spark.shards import shard_numbers, shard_of
from sash.spark.starting import without_noise
from sash.spark.stateful import COUNTS, OUT, ShardProcessor
from sash.spark.stream_progress import METRICS
from sash.spark.stream_query import StreamQuery

Fields = list[tuple[str, DataType]]
"""Columns by name and type."""

NAIVE = """timestamp_ntz'1970-01-01' + make_dt_interval(
    0, 0, 0, cast(max(watermark) as decimal(20, 0)) / 1000000)"""


def stream_query(df: DataFrame, call: Call) -> StreamQuery:
    """What is asked of a stream, checked."""
    (found,) = stream_queries(df, [call])
    return found


def stream_query_of_several(df: DataFrame, call: Call, windows: dict[str, Any]) -> StreamQuery:
    """The same of several windows, by name."""
    require(df.sparkSession, streaming=True)
    queries = queries_of(df, call, windows)
    first = next(iter(queries))
    for name, query in queries.items():
        if query.ties != queries[first].ties:
            raise ValueError(
                f"{first!r} and {name!r} read other columns, and so order rows of the same time "
                f"otherwise: ask for them in two calls on a stream."
            )
    (shards,) = shard_numbers(partitions(df))
    return query_of_stream(list(queries.values()), df.schema, shards, tuple(queries))


def stream_queries(df: DataFrame, calls: Sequence[Call]) -> list[StreamQuery]:
    """What is asked of a stream at once, checked; each question has shards of its own."""
    require(df.sparkSession, streaming=True)
    shards = shard_numbers(partitions(df), len(calls))
    queries = [read_query(df, call) for call in calls]
    return [
        query_of_stream([query], df.schema, own) for query, own in zip(queries, shards, strict=True)
    ]


def query_of_stream(
    queries: Sequence[Query], rows: StructType, shards: Sequence[int], names: tuple[str, ...] = ()
) -> StreamQuery:
    """A question as one to a stream of rows of this schema; names: of its windows, if several."""
    query = queries[0]
    clock = query.clock
    if clock is None:
        first = query.order_by[0]
        kind = query.schema.field(first).type
        raise TypeError(
            f"rows of a stream go by time, and {first!r} is of {kind}: order by a timestamp, a "
            f"date or an integer."
        )
    for name in query.by:
        kind = query.schema.field(name).type
        if pa.types.is_nested(kind):
            raise TypeError(
                f"the key {name!r} is of {kind}, which a stream cannot go by: give its fields as "
                f"columns of their own."
            )
    asked = StreamQuery(tuple(queries), tuple(shards), names)
    assert query.lateness is None or query.lateness_steps is not None  # or the clock has refused it
    # All columns that are given travel, as rows may have to wait.
    schema = pa.schema(
        [pa.field(name, arrow_type(rows[name].dataType, name)) for name in asked.sent]
    )
    return replace(asked, queries=tuple(replace(one, schema=schema) for one in queries))


def stream_answers(df: DataFrame, asked: StreamQuery) -> DataFrame:
    """The answers of a stream, as one."""
    return _unpacked(_stepped(df, [asked]).select("packed", "left"), answer_fields(df, asked))


def shared_answers(
    df: DataFrame, asked: Sequence[StreamQuery], aside: str | None = None
) -> DataFrame:
    """The answers to several questions from one pass over a stream's rows, packed.

    aside: a column of text, null for most rows; others are not for windows, and come out as that
    text. `answers_to` takes apart what comes out, which may be kept in between.
    """
    with without_noise():
        stepped = _stepped(df, asked, aside).select("question", "packed", "left")
        return stepped.mapInArrow(brought_along, BROUGHT)


def answers_to(shared: DataFrame, question: int, fields: Fields) -> DataFrame:
    """The answers to one of several questions: by its place among them, and `answer_fields`."""
    own = shared.filter(F.col("question") == question)
    return _unpacked(own.select("packed", F.lit(None).cast("string").alias("left")), fields)


def answer_fields(df: DataFrame, asked: StreamQuery) -> Fields:
    """The names and types of the answers to a question about a stream."""
    query = asked.query
    names = list(query.columns) if query.at_rows else [*query.by, START, END]
    fields = [(name, _type(df, query, name)) for name in names]
    if asked.names and not query.at_rows:
        fields.insert(0, (WINDOW, StringType()))
    for one in asked.queries if query.at_rows else [query]:
        fields += [(name, from_arrow_type(kind)) for name, kind in one.answer_types.items()]
    return [*fields, (VERSION, LongType())] if query.early else fields


def _stepped(df: DataFrame, asked: Sequence[StreamQuery], aside: str | None = None) -> DataFrame:
    """What shards tell of each micro-batch."""
    columns = list(dict.fromkeys(name for each in asked for name in each.sent))
    # Names are given afterwards: Spark takes those of any sign only there.
    given = [quoted(name).alias(f"c{k}") for k, name in enumerate(columns)]
    shards = [shard_of(each.query, each.shards).alias(f"shard{k}") for k, each in enumerate(asked)]
    some_aside = aside is not None
    last = [] if aside is None else [quoted(aside)]
    mode = "update" if any(each.query.early for each in asked) else "append"

    def sash_packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from packed(batches, asked, columns, some_aside)

    with without_noise():
        sent = df.select(*shards, *given, *last)
        grouped = sent.mapInArrow(sash_packed, PACKED).groupBy("shard")
        with workers_of_their_own(df):
            answers = grouped.transformWithState(ShardProcessor(asked), OUT, mode, "none")
    return observed(answers, asked)


def _unpacked(packed: DataFrame, fields: Fields) -> DataFrame:
    labels = [f"c{k}" for k in range(len(fields))]
    kinds = [kind for _, kind in fields]

    def sash_unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from unpacked(batches, labels)

    schema = StructType(list(map(StructField, labels, kinds)))
    with without_noise():
        rows = packed.mapInArrow(sash_unpacked, schema)
    return rows.select(*(F.col(c).alias(name) for c, (name, _) in zip(labels, fields, strict=True)))


@contextmanager
def workers_of_their_own(df: DataFrame) -> Iterator[None]:
    """Have Spark keep the workers of what is defined meanwhile apart from all others.

    Windows stay in workers. The fewer there are, the sooner a shard meets one that knows it.
    """
    context = getattr(df.sparkSession, "_sc", None)
    if context is None:  # Spark Connect: workers are the server's
        yield
        return
    context.environment["SASH_WORKERS"] = "windows"
    try:
        yield
    finally:
        del context.environment["SASH_WORKERS"]


def observed(answers: DataFrame, asked: Sequence[StreamQuery]) -> DataFrame:
    """Told with each micro-batch's progress, under "sash": counts of all shards together."""
    clock = asked[0].clock
    watermark = F.max("watermark")
    if clock.kind == "date":
        watermark = F.date_from_unix_date(watermark.cast("int"))
    elif clock.kind == "timestamp":
        watermark = F.timestamp_micros(watermark) if clock.type.tz else F.expr(NAIVE)
    counts = [F.sum(name).alias(name) for name in COUNTS]
    if len(asked) > 1:  # each has seen the same rows, of the same keys
        each = [F.col("question") == k for k in range(len(asked))]
        for k, name in enumerate(COUNTS):
            if name in ("rows_in", "late", "keys"):
                sums = [F.sum(F.when(mine, F.col(name))) for mine in each]
                counts[k] = F.greatest(*sums).alias(name)
    return answers.observe(METRICS, watermark.alias("watermark"), *counts)


def _type(df: DataFrame, query: Query, name: str) -> Any:
    if not query.at_rows and name in (START, END):
        clock = query.clock
        assert clock is not None
        return from_arrow_type(clock.bounds_type)
    return df.schema[name].dataType

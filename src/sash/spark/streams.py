"""`sliding` on a stream: rows are packed, go to the shards of their keys, and answers come back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import LongType, StructField, StructType

from sash.spark.clocks import OrderClock
from sash.spark.packing import PACKED, packed, unpacked
from sash.spark.part_rows import partitions
from sash.spark.query import END, START, VERSION, Query, quoted
from sash.spark.reading import Call, arrow_type, read_query
from sash.spark.shards import shard_numbers, shard_of
from sash.spark.starting import without_noise
from sash.spark.stateful import COUNTS, OUT, ShardProcessor
from sash.spark.stream_progress import METRICS
from sash.spark.stream_query import StreamQuery

NAIVE = """timestamp_ntz'1970-01-01' + make_dt_interval(
    0, 0, 0, cast(max(watermark) as decimal(20, 0)) / 1000000)"""


def stream_query(df: DataFrame, call: Call) -> StreamQuery:
    """What is asked of a stream, checked."""
    query = read_query(df, call)
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
    asked = StreamQuery(query, tuple(shard_numbers(partitions(df))))
    assert query.lateness is None or query.lateness_steps is not None  # or the clock has refused it
    # All columns that are given travel, as rows may have to wait.
    fields = [pa.field(name, arrow_type(df.schema[name].dataType, name)) for name in asked.sent]
    return replace(asked, query=replace(query, schema=pa.schema(fields)))


def stream_answers(df: DataFrame, asked: StreamQuery) -> DataFrame:
    """The answers of a stream, as one."""
    query, shards = asked.query, list(asked.shards)
    # Names are given afterwards: Spark takes those of any sign only there.
    given = [quoted(name).alias(f"c{k}") for k, name in enumerate(asked.sent)]
    names = list(query.columns) if query.at_rows else [*query.by, START, END]
    names += query.aggs
    types = [_type(df, query, name) for name in names[: -len(query.aggs)]]
    types += [from_arrow_type(kind) for kind in query.answer_types.values()]
    if query.early:
        names, types = [*names, VERSION], [*types, LongType()]
    fields = [StructField(f"c{k}", kind) for k, kind in enumerate(types)]
    labels = [field.name for field in fields]
    mode = "update" if query.early else "append"

    def sash_packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from packed(batches, asked)

    def sash_unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from unpacked(batches, labels)

    with without_noise():
        sent = df.select(shard_of(query, shards).alias("shard"), *given)
        grouped = sent.mapInArrow(sash_packed, PACKED).groupBy("shard")
        with workers_of_their_own(df):
            answers = grouped.transformWithState(ShardProcessor(asked), OUT, mode, "none")
        rows = (
            observed(answers, asked.clock)
            .select("packed", "left")
            .mapInArrow(sash_unpacked, StructType(fields))
        )
    return rows.select(*(F.col(f"c{k}").alias(name) for k, name in enumerate(names)))


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


def observed(answers: DataFrame, clock: OrderClock) -> DataFrame:
    """Told with each micro-batch's progress, under "sash": counts of all shards together."""
    counts = [F.sum(name).alias(name) for name in COUNTS]
    watermark = F.max("watermark")
    if clock.kind == "date":
        watermark = F.date_from_unix_date(watermark.cast("int"))
    elif clock.kind == "timestamp":
        watermark = F.timestamp_micros(watermark) if clock.type.tz else F.expr(NAIVE)
    return answers.observe(METRICS, watermark.alias("watermark"), *counts)


def _type(df: DataFrame, query: Query, name: str) -> Any:
    if not query.at_rows and name in (START, END):
        clock = query.clock
        assert clock is not None
        return from_arrow_type(clock.bounds_type)
    return df.schema[name].dataType

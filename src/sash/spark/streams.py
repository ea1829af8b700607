"""`sliding` on a stream: rows are packed, go to the shards of their keys, and answers come back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from sash.spark.packing import PACKED, packed, unpacked
from sash.spark.part_rows import partitions
from sash.spark.query import END, START, Query, quoted
from sash.spark.reading import Call, arrow_type, read_query
from sash.spark.shards import shard_numbers, shard_of
from sash.spark.starting import without_noise
from sash.spark.stateful import COUNTS, OUT, ShardProcessor
from sash.spark.stream_progress import METRICS
from sash.spark.stream_query import StreamQuery


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
    query, clock, shards = asked.query, asked.clock, list(asked.shards)
    at = 1 + asked.sent.index(clock.column)
    # Names are given afterwards: Spark takes those of any sign only there.
    given = [quoted(name).alias(f"c{k}") for k, name in enumerate(asked.sent)]
    names = list(query.columns) if query.at_rows else [*query.by, START, END]
    names += query.aggs
    types = [_type(df, query, name) for name in names[: -len(query.aggs)]]
    types += [from_arrow_type(kind) for kind in query.answer_types.values()]
    fields = [StructField(f"c{k}", kind) for k, kind in enumerate(types)]
    labels = [field.name for field in fields]

    def sash_packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from packed(batches, shards, clock, at)

    def sash_unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from unpacked(batches, labels)

    with without_noise():
        sent = df.select(shard_of(query, shards).alias("shard"), *given)
        grouped = sent.mapInArrow(sash_packed, PACKED).groupBy("shard")
        answers = grouped.transformWithState(ShardProcessor(asked), OUT, "append", "none")
        rows = observed(answers).select("packed").mapInArrow(sash_unpacked, StructType(fields))
    return rows.select(*(F.col(f"c{k}").alias(name) for k, name in enumerate(names)))


def observed(answers: DataFrame) -> DataFrame:
    """Told with each micro-batch's progress, under "sash": counts of all shards together."""
    counts = [F.sum(name).alias(name) for name in COUNTS]
    return answers.observe(METRICS, F.max("watermark").alias("watermark"), *counts)


def _type(df: DataFrame, query: Query, name: str) -> Any:
    if not query.at_rows and name in (START, END):
        clock = query.clock
        assert clock is not None
        return from_arrow_type(clock.bounds_type)
    return df.schema[name].dataType

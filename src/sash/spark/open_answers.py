"""What a stream has not answered yet: the windows that are open, and the rows that wait.

A stream that has stopped can be asked what its answers would be if no more rows came. That is read
from its checkpoint and changes nothing: if it goes on, these answers come again, in their time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from sash.spark.packing import BROUGHT, packed_answers
from sash.spark.starting import without_noise
from sash.spark.stateful import answers
from sash.spark.stored_state import read_log, segments_of
from sash.spark.stream_query import StreamQuery, question_of
from sash.windows.shard import Shard


def open_answers(spark: SparkSession, checkpoint: str, asked: Sequence[StreamQuery]) -> DataFrame:
    """What is open, packed as by `shared_answers`, whose `answers_to` takes it apart."""

    def sash_open(key: tuple[Any, ...], log: pa.Table) -> pa.Table:
        question = question_of(asked, key[0].as_py())
        rows = _open(asked[question], log)
        return pa.Table.from_batches([packed_answers(question, rows)])

    with without_noise():
        log = read_log(spark, checkpoint)
        return log.groupBy("shard").applyInArrow(sash_open, BROUGHT)


def _open(asked: StreamQuery, log: pa.Table) -> pa.RecordBatch:
    if asked.query.at_rows and asked.query.lateness is None:
        return pa.RecordBatch.from_pylist([])  # rows are answered as they come: none waits
    log = log.sort_by([("number", "ascending"), ("piece", "ascending")])
    segments = list(segments_of(bytes(data.as_buffer()) for data in log["data"]))
    shard = Shard.restored(asked.asked, segments)
    return answers(asked, shard.if_no_more_came(segments[-1].rows))

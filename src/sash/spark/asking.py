"""What pipelines ask of `sliding`: checked without Spark, and answered together in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, StringType, StructField, StructType

from sash.operators.errors import OperatorError
from sash.spark.explaining import explained_stream, explained_unseen
from sash.spark.frames import answers_of, sliding
from sash.spark.open_answers import open_answers
from sash.spark.packing import ASIDE
from sash.spark.parts import plan_parts
from sash.spark.query import Query
from sash.spark.reading import Call, query_of, read_query
from sash.spark.sorting import in_order_for_all
from sash.spark.streams import (
    answer_fields,
    answers_to,
    query_of_stream,
    shared_answers,
    stream_queries,
)

Arguments = Mapping[str, Any]
"""Those of `sliding`, besides the rows."""


def wrong_with(types: Mapping[str, DataType], arguments: Arguments) -> str | None:
    """What `sliding` would refuse, of rows with these columns; None if nothing."""
    rows = StructType([StructField(name, kind) for name, kind in types.items()])
    try:
        query_of(rows, Call(**arguments))
    except (TypeError, ValueError, OperatorError) as error:
        return str(error)
    return None


def told_of(
    types: Mapping[str, DataType], arguments: Arguments, stream: bool
) -> list[tuple[str, str]]:
    """How rows with these columns would be answered, by topic, as far as that is known of them."""
    rows = StructType([StructField(name, kind) for name, kind in types.items()])
    query = query_of(rows, Call(**arguments))
    if stream:
        return list(explained_stream(query_of_stream([query], rows, shards=())))
    return list(explained_unseen(query))


class Batch:
    """Several calls of `sliding` on one batch; those that sort rows alike sort them once."""

    def __init__(self, df: DataFrame, several: Sequence[Arguments]) -> None:
        self.df = df
        self.several = several
        self.queries = [read_query(df, Call(**arguments)) for arguments in several]
        self.sorted: dict[Any, DataFrame | None] = {}
        """By what they are sorted by; None where a call sorts for itself."""

    def answers_to(self, k: int) -> DataFrame:
        """The answers to one of the calls."""
        query = self.queries[k]
        like = [each for each in self.queries if _sorting(each) == _sorting(query)]
        if len(like) > 1 and _sorting(query) not in self.sorted:
            plan = plan_parts(self.df, query, "auto")[1]
            rows = None if plan.series else in_order_for_all(self.df, like, plan).persist()
            self.sorted[_sorting(query)] = rows
        rows = self.sorted.get(_sorting(query))
        if rows is None:
            return sliding(self.df, **self.several[k])
        return answers_of(rows, query)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failed: object) -> None:
        for rows in self.sorted.values():
            if rows is not None:
                rows.unpersist()


def _sorting(query: Query) -> tuple[Any, ...]:
    """What rows are sorted by; also rows of the same time, as that may make a difference."""
    return query.by, query.order_by, query.ties


class Stream:
    """Several calls of `sliding` on one stream, answered in one pass over it."""

    def __init__(self, df: DataFrame, several: Sequence[Arguments], aside: str) -> None:
        """aside: a column of text; rows that have one are not for windows, and come out so."""
        rows = df.drop(aside)
        self.asked = stream_queries(rows, [Call(**arguments) for arguments in several])
        self.fields = [answer_fields(rows, each) for each in self.asked]
        self.answers = shared_answers(df, self.asked, aside)
        """Packed, all of a micro-batch."""
        self.mode = "update" if any(each.query.early for each in self.asked) else "append"

    def questions(self) -> list[dict[str, Any]]:
        """What is asked, in a form that can be kept."""
        return [{"asked": each.fingerprint, "shards": list(each.shards)} for each in self.asked]

    def difference(self, k: int, kept: Mapping[str, Any]) -> str | None:
        """What a call asks otherwise than one that was kept, in words; None if it is the same."""
        mine, theirs = self.asked[k], len(kept["shards"])
        if mine.fingerprint != kept["asked"]:
            return mine.difference(kept["asked"])
        if list(mine.shards) == kept["shards"]:
            return None
        return (
            f"its keys were shared among {theirs} shards, and are among {len(mine.shards)} now: "
            f"set spark.sql.shuffle.partitions to {theirs}"
        )

    def answers_to(self, shared: DataFrame, k: int) -> DataFrame:
        """The answers to one of the calls."""
        return answers_to(shared, k, self.fields[k])

    def set_aside(self, shared: DataFrame) -> DataFrame:
        """The texts of rows that were set aside, in the column "aside"."""
        return answers_to(shared, ASIDE, [("aside", StringType())])

    def open_answers(self, checkpoint: str) -> DataFrame | None:
        """What would be answered if no more rows came, packed alike; None if there were none."""
        spark = self.answers.sparkSession
        try:
            return open_answers(spark, checkpoint, self.asked)
        except LookupError:
            return None

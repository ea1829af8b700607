"""Rows on their way to windows: shuffled by key, or by part, and sorted there."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sash.spark.part_rows import Plan, order_points, partition_of, partitions, with_parts
from sash.spark.query import PART, Query, quoted


def in_order(df: DataFrame, query: Query, plan: Plan, also: Sequence[str] = ()) -> DataFrame:
    """Rows of a key, or of a part of it, in one partition and in order.

    also: columns that are needed besides those of the query.
    """
    kept = query.columns if query.at_rows else ()
    needed = dict.fromkeys([*kept, *query.reads, *also, *query.order_by, *query.ties])
    df = df.select(*map(quoted, needed))
    by = [quoted(name) for name in query.by]
    order = [quoted(name) for name in (*query.order_by, *query.ties)]
    if plan.series:
        count = partitions(df)
        parts = with_parts(df, query, order_points(query), plan)
        parts = parts.repartitionById(count, partition_of(query, count))
        alone = not by and len(query.parts) <= count
        return parts.sortWithinPartitions(*by, *([] if alone else [PART]), *order)
    if by:
        return df.repartition(*by).sortWithinPartitions(*by, *order)
    return df.repartitionById(partitions(df), F.lit(0)).sortWithinPartitions(*order)


def in_order_for_all(df: DataFrame, queries: Sequence[Query], plan: Plan) -> DataFrame:
    """Rows for several questions that sort them alike."""
    kept = [query.columns if query.at_rows else () for query in queries]
    also = [name for each in (*kept, *(query.reads for query in queries)) for name in each]
    return in_order(df, queries[0], plan, also)

"""The same question asked of every engine: of arrays here, and of Spark in all the ways it runs.

Rows are an Arrow table. Answers are compared by what they are for: a row, told by its columns, or
a window, told by its key, start and end.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from keyword import iskeyword
from math import copysign, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sash
from sash.windows.answer_types import answer_types, as_arrow
from sash.windows.definitions import Delta, Punctuated, SlideWhile, definition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

START, END = "window_start", "window_end"
ONE = "one"
"""A column that is never null: `Count()` counts rows."""

HELD = "rows_held"
ANY: Any = object()
"""When a window from mark to mark begins: arrays do not tell, and DataFrames do."""

SPLITS: tuple[Any, ...] = (1, 2, 3, 7)
Found = list[dict[str, Any]]


@dataclass(frozen=True)
class Asked:
    """One call of `sash.spark.sliding`, but for what it is asked of."""

    window: Any
    aggs: Mapping[str, sash.Operator]
    by: tuple[str, ...] = ()
    order_by: tuple[str, ...] = ("t",)
    min_size: int = 1

    @property
    def definition(self) -> Any:
        return definition(self.window)

    @property
    def at_rows(self) -> bool:
        every = getattr(self.definition, "every", None)
        return isinstance(every, int | Punctuated)

    @property
    def chosen(self) -> set[str]:
        """Aggregates that choose among values: these are then the same to the bit."""
        return {name for name, op in self.aggs.items() if op.selective}

    @property
    def names(self) -> list[str]:
        """What aggregates are called where names must be Python's."""
        return [
            name if name.isidentifier() and not iskeyword(name) else f"answer_{k}"
            for k, name in enumerate(self.aggs)
        ]

    def ties(self, names: Sequence[str]) -> list[str]:
        """What orders rows of the same order value: the columns that are given, or read."""
        if self.at_rows:
            return [name for name in names if name not in self.by + self.order_by]
        read = [name for op in self.aggs.values() for name in op.columns]
        every = getattr(self.definition, "every", None)
        along = [d.column for d in (self.definition, every) if isinstance(d, Punctuated | Delta)]
        return list(dict.fromkeys([*read, *reversed(along)]))


def check(
    spark: SparkSession,
    rows: pa.Table,
    asked: Asked,
    *,
    keyed: Sequence[Any] = ("auto", 3),
    series: Sequence[Any] = SPLITS,
    one_by_one: bool = False,
) -> None:
    """Every engine gives the same answers.

    keyed, series: into how many parts Spark is to cut each key, and all rows as one series.
    one_by_one: see `locally`.
    """
    df = spread(spark, rows)
    for by, splits in ((asked.by, keyed), ((), series)):
        wanted = replace(asked, by=by)
        expected = locally(rows, wanted, one_by_one) if splits else []
        for split in splits:
            found = on_spark(df, wanted, split=split)
            why = f"{wanted.definition!r} by {by}, split={split}"
            same(found, expected, why, exact=wanted.chosen)


# Spark


def spread(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """The rows in no order, in as many partitions as there are cores."""
    from pyspark.sql.pandas.types import from_arrow_schema

    order = np.random.default_rng(11).permutation(len(rows))
    # Without the schema, times without a zone would be taken for those of the session's zone.
    schema = from_arrow_schema(rows.schema, prefer_timestamp_ntz=True)
    return spark.createDataFrame(rows.take(order), schema)


def on_spark(df: DataFrame, asked: Asked, **options: Any) -> Found:
    found = sash.spark.sliding(
        df,
        asked.window,
        asked.aggs,
        by=asked.by,
        order_by=asked.order_by,
        min_size=asked.min_size,
        **options,
    )
    return rows_of(found.toArrow())


def rows_of(table: pa.Table) -> Found:
    """Rows as dicts, times as numbers: all of Spark's times fit there, whatever the zone."""
    columns = {
        name: plain_times(column).to_pylist()
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def plain_times(values: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_timestamp(values.type):
        return values.cast(pa.timestamp("us", values.type.tz)).cast(pa.int64())
    return values.cast(pa.int32()) if pa.types.is_date32(values.type) else values


# Streams


def on_stream(
    spark: SparkSession, rows: pa.Table, asked: Asked, folder: Path, seed: int = 5, **options: Any
) -> Found:
    """Rows in disorder within `lateness`, and in micro-batches of a few.

    After them comes one long after all others, so that the time of all others is past. It is not
    answered.
    """
    late = options.get("lateness")
    reach = 0 if late is None else int(late[:-1])
    draw = np.random.default_rng(seed)
    times = rows[asked.order_by[0]].to_numpy()
    order = np.argsort(times + draw.random(len(rows)) * reach, kind="stable")
    cuts = np.sort(draw.choice(len(rows) + 1, 4))
    parts = np.split(order, cuts)
    tables = [rows.take(part) for part in parts]
    if late is not None and len(rows):
        last = rows.take([int(times.argmax())])
        at = rows.column_names.index(asked.order_by[0])
        far = pa.array([int(times.max()) + 1000], rows.schema.field(at).type)
        tables.append(last.set_column(at, rows.schema.field(at), far))
    return run_stream(spark, tables, asked, folder, **options)


def run_stream(
    spark: SparkSession, tables: Sequence[pa.Table], asked: Asked, folder: Path, **options: Any
) -> Found:
    """Each table as a micro-batch."""
    from pyspark.sql.pandas.types import from_arrow_schema

    source = folder / "source"
    source.mkdir(parents=True)
    for k, table in enumerate(tables):
        path = source / f"{k:04d}.parquet"
        pq.write_table(table, path)
        os.utime(path, (k + 1, k + 1))
    schema = from_arrow_schema(tables[0].schema, prefer_timestamp_ntz=True)
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    slid = sash.spark.sliding(
        stream.parquet(str(source)),
        asked.window,
        asked.aggs,
        by=asked.by,
        order_by=asked.order_by,
        min_size=asked.min_size,
        **options,
    )
    found: Found = []
    query = (
        slid.writeStream.foreachBatch(lambda df, _: found.extend(rows_of(df.toArrow())))
        .outputMode("update" if options.get("emit") == "early" else "append")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return found


# Arrays


def locally(rows: pa.Table, asked: Asked, one_by_one: bool = False) -> Found:
    """What `sash.rolling`, or a `sash.Window` row by row, gives of the rows of each key.

    one_by_one: by a `sash.Window`, which compiles nothing, wherever that tells of which row an
    answer is.
    """
    names = rows.column_names
    order = [*asked.by, *asked.order_by, *asked.ties(names)]
    listed = rows_of(rows)
    place = sorted(range(len(rows)), key=lambda at: [sort_key(listed[at][name]) for name in order])
    found: Found = []
    for _, group in groupby(place, key=lambda at: [sort_key(listed[at][n]) for n in asked.by]):
        at = list(group)
        own = rows.take(at).combine_chunks()
        answered = own.append_column(ONE, pa.array([1] * len(own)))
        for row, start, end, given in _answers(answered, asked, one_by_one):
            answers = dict(zip(asked.aggs, given.values(), strict=True))
            if row is None:
                key = {name: listed[at[0]][name] for name in asked.by}
                found.append({**key, START: start, END: end, **answers})
            else:
                found.append({**listed[at[row]], **answers})
    return found


def sort_key(value: Any) -> Any:
    """Spark's order: null, then what there is, then NaN; -0.0 is 0.0."""
    if value is None:
        return (0, 0)
    if isinstance(value, dict):
        return (1, [sort_key(each) for each in value.values()])
    if isinstance(value, list):
        return (1, [sort_key(each) for each in value])
    return (2, 0) if is_nan(value) else (1, value)


def _answers(
    rows: pa.Table, asked: Asked, one_by_one: bool
) -> Iterator[tuple[int | None, Any, Any, dict[str, Any]]]:
    """For each answer the row it is for, or the window's start and end."""
    window = asked.definition
    times = rows[asked.order_by[0]]
    timed = pa.types.is_integer(times.type) or pa.types.is_temporal(times.type)
    given = times.combine_chunks() if timed and not times.null_count else None
    every = getattr(window, "every", None)
    op = operator_of(asked)
    if isinstance(every, Punctuated) or (one_by_one and every == 1):
        yield from _row_by_row(rows, window, op, given, asked)
        return
    least = asked.min_size if every == 1 or not isinstance(every, int) else 0
    answers = sash.rolling(rows, window, op, times=given, min_size=least)
    if isinstance(every, int):
        for k, found in enumerate(told(answers, op, rows)):
            if every == 1 or found[HELD] >= asked.min_size:
                found.pop(HELD, None)
                yield (k + 1) * every - 1, None, None, found
        return
    ends = edges(answers.times, times.type)
    starts = [ANY if every is None else None] * len(ends)
    if answers.starts is not None:
        starts = edges(answers.starts, times.type)
    for start, end, found in zip(starts, ends, told(answers.values, op, rows), strict=True):
        found.pop(HELD, None)
        yield None, start, end, found


def edges(times: pa.Array, kind: pa.DataType) -> list[int]:
    """When windows begin or end, as numbers of the order column's type."""
    return [row["at"] for row in rows_of(pa.table({"at": times.cast(kind)}))]


def _row_by_row(
    rows: pa.Table, window: Any, op: sash.Operator, times: pa.Array | None, asked: Asked
) -> Iterator[tuple[int, None, None, dict[str, Any]]]:
    """One row after the other: then it is known which one each answer is for."""
    kept = sash.Window(op, window, min_size=asked.min_size)
    when = [None] * len(rows) if times is None else times.to_pylist()
    for at, (row, time) in enumerate(zip(rows.to_pylist(), when, strict=True)):
        answer = kept.push(row, *([] if time is None else [time]))
        if answer is not None:
            named = {name: [each] for name, each in answer._asdict().items()}
            (found,) = told(named, op, rows)
            found.pop(HELD)
            yield at, None, None, found


def operator_of(asked: Asked) -> sash.Operator:
    """All aggregates together, and how many rows a window holds.

    One by itself stays so: a slide policy would else have to call it by its name.
    """
    aggs = {
        name: sash.Count(ONE) if isinstance(op, sash.Count) and not op.columns else op
        for name, op in zip(asked.names, asked.aggs.values(), strict=True)
    }
    if isinstance(asked.definition, SlideWhile) and len(aggs) == 1:
        return next(iter(aggs.values()))
    return sash.Together(**aggs, **{HELD: sash.Count(ONE)})


def told(answers: Any, op: sash.Operator, rows: pa.Table) -> Found:
    """Answers as a table of the types that a DataFrame would have."""
    types = answer_types(op, rows.schema)
    if isinstance(types, dict):
        return rows_of(pa.table({name: as_arrow(answers[name], types[name]) for name in types}))
    return rows_of(pa.table({"answer": as_arrow(answers, types)}))


# Comparing


def same(found: Found, expected: Found, why: str, exact: Collection[str] = ()) -> None:
    """The same answers for the same rows or windows, in whatever order; `exact` ones to the bit."""
    one, other = (sorted(each, key=lambda row: sort_key(_where(row))) for each in (found, expected))
    assert len(one) == len(other), f"{why}: {len(one)} instead of {len(other)}"
    for row, wanted in zip(one, other, strict=True):
        assert row.keys() == wanted.keys(), why
        for name, value in wanted.items():
            shown = f"{why}: {name} of\n{row} instead of\n{wanted}"
            assert alike(row[name], value, exact=name in exact), shown


def _where(row: dict[str, Any]) -> dict[str, Any]:
    """What an answer is for, before the answer itself."""
    return {name: value for name, value in row.items() if name != START}


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and isnan(value)


def alike(found: Any, expected: Any, exact: bool = False) -> bool:
    """Equal, floats up to 1e-12 unless they are to be `exact`."""
    if expected is ANY:
        return True
    if isinstance(expected, float) and isinstance(found, float):
        if is_nan(expected) or is_nan(found):
            return is_nan(expected) and is_nan(found)
        if exact:
            return found == expected and copysign(1.0, found) == copysign(1.0, expected)
        return found == expected or abs(found - expected) <= 1e-12 * max(abs(expected), 1.0)
    if isinstance(expected, list) and isinstance(found, list):
        pairs = zip(found, expected, strict=False)
        return len(found) == len(expected) and all(alike(a, b, exact) for a, b in pairs)
    if isinstance(expected, dict) and isinstance(found, dict):
        same_names = found.keys() == expected.keys()
        return same_names and all(alike(found[k], expected[k], exact) for k in found)
    return type(found) is type(expected) and bool(found == expected)

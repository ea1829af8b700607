"""What Spark has of its own for windows, in batches and on streams, beside `sash.spark.sliding`.

All that needs PySpark is here, and is imported when an experiment needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import Window as Over
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

import sash
import sash.spark

Run = Callable[[], Any]

TREE = "spark.sql.window.segmentTree.enabled"
SPARKS: Mapping[str, Callable[[Any], Any]] = {
    "Max": F.max,
    "Mean": F.avg,
    "StdDev": F.stddev_samp,
}
SPARKS_SETTINGS = {
    "spark.sql.shuffle.partitions": "200",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
    ),
}
"""What Spark has on streams if it is told nothing."""
NEXT_LOOK = 0.03
"""Seconds between two looks at which micro-batch a stream is."""
STREAMED = "k string, t timestamp, v double"

# Operators that a decorator makes have no signature that mypy knows.
ops: Any = sash


def session(master: str, **settings: Any) -> SparkSession:
    return sash.spark.session(master, progress=False, **settings)


@contextmanager
def settings_of(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Other settings, for a while."""
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            spark.conf.set(name, str(old))


# Batches: rows of k, t, v


def into_noop(df: DataFrame) -> None:
    df.write.format("noop").mode("overwrite").save()


def answer_into_noop(ask: Callable[[DataFrame], DataFrame], df: DataFrame) -> None:
    """The whole call: what is asked, and the answers."""
    into_noop(ask(df))


def sorted_only(df: DataFrame) -> DataFrame:
    """What any window needs: rows of a key in one place, in order."""
    return df.repartition("k").sortWithinPartitions("k", "t", "v")


def given_back(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
    for *_, values in batches:
        yield values


def to_python_and_back(df: DataFrame) -> DataFrame:
    """The way that Sash's rows and answers go, with nothing done at its end."""
    made: Any = F
    udf = made.arrow_udf(given_back, "double").asNondeterministic()
    return sorted_only(df).withColumn("a", udf("k", "t", "v"))


def slid(df: DataFrame, window: Any, op: Any, **options: Any) -> DataFrame:
    options = {"by": "k", "order_by": "t"} | options
    return sash.spark.sliding(df, window, {"a": op}, **options)


def frame(size: int, keyed: bool = True) -> Any:
    """The rows that Spark's own window is over."""
    over = Over.partitionBy("k") if keyed else Over
    return over.orderBy("t").rowsBetween(-size + 1, 0)


def windowed(df: DataFrame, call: Callable[[Any], Any], over: Any, tree: bool) -> DataFrame:
    """Spark's own window, which must run before one with another setting is asked for."""
    df.sparkSession.conf.set(TREE, str(tree).lower())
    return df.withColumn("a", call("v").over(over))


def highest(v: pd.Series) -> float:
    return float(v.max())


def by_udf(column: Any) -> Any:
    """What Spark has for aggregates of one's own: a call of Python for each row."""
    made: Any = F
    return made.pandas_udf(highest, "double")(column)


def in_order(df: DataFrame) -> Any:
    """The answers, by key and time."""
    found: Any = df.orderBy("k", "t").select("a").toPandas()
    return found["a"].to_numpy(float)


# Streams: of files in a folder, one in each micro-batch


def source(spark: SparkSession, folder: Path) -> DataFrame:
    files = spark.readStream.schema(STREAMED).option("maxFilesPerTrigger", 1)
    return files.parquet(str(folder))


def run_stream(
    df: DataFrame,
    checkpoint: str,
    into: list[Any] | None = None,
    done: Callable[[int], None] = lambda _: None,
) -> list[Any]:
    """Let a stream run to its end; what Spark tells of each micro-batch that had rows.

    into: where the rows of its answers are kept; they are let go otherwise. done: is told soon
    after a micro-batch which one it was.
    """
    writer = df.writeStream.outputMode("append").option("checkpointLocation", checkpoint)
    if into is None:
        writer = writer.format("noop")
    else:
        answers = "k", "unix_micros(t) as t", "a"
        writer = writer.foreachBatch(
            lambda batch, _: into.append(batch.selectExpr(*answers).toPandas())
        )
    started: Any = writer.trigger(availableNow=True).start()
    seen, ended = -1, False
    while not ended:
        ended = started.awaitTermination(NEXT_LOOK)
        last = started._jsq.lastProgress()
        if last is not None and last.batchId() > seen:
            seen = last.batchId()
            done(seen)
    return [each for each in started.recentProgress if each["numInputRows"]]


def passed_through(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def untouched(df: DataFrame) -> DataFrame:
    """Rows go to Python and back."""
    return df.mapInArrow(passed_through, STREAMED)


def each_row(df: DataFrame) -> DataFrame:
    """Sash: the maximum of the last hour at each row."""
    return slid(df, "1h", ops.Max("v"))


def each_second(df: DataFrame) -> DataFrame:
    """Sash: the maximum of the last minute at each second."""
    found = slid(df, sash.last("60s", every="1s"), ops.Max("v"), lateness="0s")
    return found.selectExpr("k", "window_end as t", "a")


def by_window(df: DataFrame) -> DataFrame:
    """Spark's own windows on a grid: the same as `each_second`."""
    window = F.window("t", "60 seconds", "1 second")
    found = df.withWatermark("t", "0 seconds").groupBy("k", window).agg(F.max("v").alias("a"))
    return found.selectExpr("k", "window.end as t", "a")


def window_as_list(
    key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    """What a user would write: the rows of the last hour in a list.

    (Its state is bytes: PySpark 4.3 fails on arrays there.)
    """
    hour = 3_600_000_000
    times: list[int] = []
    values: list[float] = []
    if state.exists:
        times = np.frombuffer(state.get[0], np.int64).tolist()
        values = np.frombuffer(state.get[1], np.float64).tolist()
    for given in frames:
        given = given.sort_values("t")
        moments = given["t"].astype("datetime64[us]").astype("int64").tolist()
        answers = []
        for moment, value in zip(moments, given["v"].tolist(), strict=True):
            times.append(moment)
            values.append(value)
            while times[0] <= moment - hour:
                del times[0], values[0]
            answers.append(max(values))
        yield given.assign(a=answers)
    state.update((np.array(times, np.int64).tobytes(), np.array(values).tobytes()))


def by_lists(df: DataFrame) -> DataFrame:
    """The same as `each_row`."""
    return df.groupBy("k").applyInPandasWithState(
        window_as_list,
        STREAMED + ", a double",
        "times binary, window binary",
        "append",
        GroupStateTimeout.NoTimeout,
    )


class MaxOfKey(StatefulProcessor):
    """What a user would write: a value for each key, and no window."""

    def init(self, handle: Any) -> None:
        self.most = handle.getValueState("most", "m double")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802
        given = list(rows)
        most = max(row["v"] for row in given)
        before = self.most.get()
        most = most if before is None else max(most, before[0])
        self.most.update((most,))
        yield Row(k=key[0], t=max(row["t"] for row in given), a=most)

    def close(self) -> None:
        pass


def by_state_of_key(df: DataFrame) -> DataFrame:
    """The same as `each_row`, if a key has one row in a micro-batch and none ever leaves."""
    made = df.groupBy("k").transformWithState(
        MaxOfKey(), "k string, t timestamp, a double", "append", "none"
    )
    found: DataFrame = made
    return found

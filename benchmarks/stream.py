"""What `sash.spark.sliding` costs on a stream: against a stream that does nothing, and Spark's own.

    make bench-stream                                  half an hour
    .venv/bin/python benchmarks/stream.py --quick      small sizes: shows that it runs, no more

A stream is of files, one in each micro-batch, and goes into Spark's `noop` sink. What counts is
the median time of a micro-batch, without the first ones, in which workers start and compile. All
ratios are of one run. Each of the 1,000 keys has a row a second, so that a window of an hour holds
3,600 rows. Results go to build/bench/stream.csv.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from promises import Promised, written
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

import sash
import sash.spark

SCHEMA = "k string, t timestamp, v double"
SPARKS_OWN = {
    "spark.sql.shuffle.partitions": "200",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
    ),
}
"""What Spark has if it is told nothing."""
STARTING = 8
"""Micro-batches that do not count, if there are more: Java too gets faster for a while."""


@dataclass
class Sizes:
    """How many rows a micro-batch has, and how many micro-batches there are."""

    rows: int = 500_000
    keys: int = 1_000
    batches: int = 20
    slow_batches: int = 3
    """Of rivals that take a minute for each."""
    list_batches: int = 10
    """Until windows of an hour are full, and some more."""
    rounds: int = 3
    """Of what is close: in turn, and the best counts, as Java gets faster for a while."""
    many_keys: int = 100_000
    short: int = 2**10
    long: int = 2**20
    state_rows: int = 65_536
    state_batches: int = 40

    @classmethod
    def quick(cls) -> Sizes:
        return cls(5_000, 50, 4, 3, 4, 1, 500, 2**6, 2**12, 1_024, 12)


@dataclass
class Figure(Promised):
    what: str
    value: float
    unit: str
    least: float | None = None
    most: float | None = None

    def __str__(self) -> str:
        value = f"{self.value:13,.2f}" if self.unit == "x" else f"{self.value:13,.0f}"
        return f"  {self.what:<62} {value} {self.unit:<10}{self.verdict}"


def write(folder: Path, batches: int, rows: int, keys: int, step: int, in_turn: bool) -> Path:
    """Files of one micro-batch each; `step` microseconds lie between rows."""
    folder.mkdir(parents=True)
    draw = np.random.default_rng(2)
    for number in range(batches):
        own = np.arange(rows) % keys if in_turn else draw.integers(0, keys, rows)
        times = (np.arange(number * rows, (number + 1) * rows) * step).astype("datetime64[us]")
        table = pa.table(
            {
                "k": pa.array(np.char.add("key ", own.astype(str))),
                "t": pa.array(times, pa.timestamp("us", "UTC")),
                "v": draw.normal(size=rows),
            }
        )
        path = folder / f"{number:04d}.parquet"
        pq.write_table(table, path, row_group_size=max(rows // 4, 1))
        os.utime(path, (number + 1, number + 1))
    return folder


def source(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))


def run(df: DataFrame, folder: Path, mode: str = "append") -> list[Any]:
    """Let a stream run to its end; what Spark tells of each micro-batch that had rows."""
    checkpoint = tempfile.mkdtemp(dir=folder.parent)
    told: list[Any] = []
    started = (
        df.writeStream.format("noop")
        .outputMode(mode)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    started.awaitTermination()
    told = [each for each in started.recentProgress if each["numInputRows"]]
    return told


def rate(told: list[Any], rows: int) -> float:
    spent = [each["durationMs"]["triggerExecution"] / 1000 for each in told]
    return rows / median(spent[min(STARTING, len(spent) - 2) :])


def slid(df: DataFrame, window: Any, **options: Any) -> DataFrame:
    return sash.spark.sliding(df, window, {"m": sash.Max("v")}, by="k", order_by="t", **options)


def passed_through(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


class MaxOfKey(StatefulProcessor):
    """What a user would write: a value for each key."""

    def init(self, handle: Any) -> None:
        self.most = handle.getValueState("most", "m double")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802
        most = max(row["v"] for row in rows)
        before = self.most.get()
        most = most if before is None else max(most, before[0])
        self.most.update((most,))
        yield Row(k=key[0], m=most)

    def close(self) -> None:
        pass


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
    for frame in frames:
        frame = frame.sort_values("t")
        moments = frame["t"].astype("datetime64[us]").astype("int64").tolist()
        answers = []
        for moment, value in zip(moments, frame["v"].tolist(), strict=True):
            times.append(moment)
            values.append(value)
            while times[0] <= moment - hour:
                del times[0], values[0]
            answers.append(max(values))
        yield frame.assign(m=answers)
    state.update((np.array(times, np.int64).tobytes(), np.array(values).tobytes()))


def against_nothing(spark: SparkSession, folder: Path, sizes: Sizes) -> Iterator[Figure]:
    """Answers at each row over an hour, and over a minute each second."""
    df = source(spark, folder)
    runs: dict[str, Callable[[], DataFrame]] = {
        "mapInArrow that does nothing": lambda: df.mapInArrow(passed_through, SCHEMA),
        "sash, max over 1h at each row": lambda: slid(df, "1h"),
        "sash, max over 1h at each row, 1s late": lambda: slid(df, "1h", lateness="1s"),
        "sash, max over 60s each second": lambda: slid(
            df, sash.last("60s", every="1s"), lateness="0s"
        ),
    }
    found = dict.fromkeys(runs, 0.0)
    for turn in range(sizes.rounds):
        for name, made in runs.items():
            if turn == 0 or name in list(runs)[:2]:
                found[name] = max(rate(run(made(), folder), sizes.rows), found[name])
    for name, best in found.items():
        yield Figure(name, best, "rows/s")
    nothing, at_rows, _, each_second = found.values()
    yield Figure("sash at each row / mapInArrow", at_rows / nothing, "x", least=0.4)
    yield from against_window(spark, folder, sizes, each_second)
    yield from against_lists(spark, folder, sizes, at_rows)


def by_window(df: DataFrame) -> DataFrame:
    window = F.window("t", "60 seconds", "1 second")
    return df.withWatermark("t", "0 seconds").groupBy("k", window).agg(F.max("v").alias("m"))


def against_window(
    spark: SparkSession, folder: Path, sizes: Sizes, ours: float
) -> Iterator[Figure]:
    """Spark's windows on a grid: as Spark comes, and with the settings of `sash.spark.session`."""
    few = first_files(folder, sizes.slow_batches)
    for whose, settings, least in (("Spark's", SPARKS_OWN, 40), ("our", {}, None)):
        before = {name: spark.conf.get(name) for name in settings}
        for name, value in settings.items():
            spark.conf.set(name, value)
        spent = rate(run(by_window(source(spark, few)), few), sizes.rows)
        for name, value in before.items():
            spark.conf.set(name, value)
        yield Figure(f"Spark's window('60s', '1s'), {whose} settings", spent, "rows/s")
        what = f"sash, 60s each second / Spark's window, {whose} settings"
        yield Figure(what, ours / spent, "x", least)


def by_lists(df: DataFrame) -> DataFrame:
    return df.groupBy("k").applyInPandasWithState(
        window_as_list,
        SCHEMA + ", m double",
        "times binary, window binary",
        "append",
        GroupStateTimeout.NoTimeout,
    )


def against_lists(spark: SparkSession, folder: Path, sizes: Sizes, ours: float) -> Iterator[Figure]:
    few = first_files(folder, sizes.list_batches)
    spent = rate(run(by_lists(source(spark, few)), few), sizes.rows)
    yield Figure("applyInPandasWithState, the window as a list", spent, "rows/s")
    yield Figure("sash at each row / the window as a list", ours / spent, "x", least=5)


def against_state_for_each_key(spark: SparkSession, folder: Path, sizes: Sizes) -> Iterator[Figure]:
    df = source(spark, folder)
    ours = rate(run(slid(df, "1h"), folder), sizes.many_keys)
    yield Figure(f"sash, {sizes.many_keys:,} keys with a row each", ours, "rows/s")
    few = first_files(folder, sizes.slow_batches)
    own = (
        source(spark, few)
        .groupBy("k")
        .transformWithState(MaxOfKey(), "k string, m double", "append", "none")
    )
    spent = rate(run(own, few), sizes.many_keys)
    yield Figure("transformWithState for each key", spent, "rows/s")
    yield Figure("sash / transformWithState for each key", ours / spent, "x", least=20)


def state_written(spark: SparkSession, folder: Path, sizes: Sizes) -> Iterator[Figure]:
    """Bytes of state in a micro-batch, on average over those after the longer window is full."""
    found = {}
    full = -(-sizes.long // sizes.state_rows) + 1
    for size in (sizes.short, sizes.long):
        df = source(spark, folder)
        told = run(sash.spark.sliding(df, size, {"m": sash.Max("v")}, order_by="t"), folder)
        written = [each["observedMetrics"]["sash"]["written"] for each in told[full:]]
        found[size] = sum(written) / len(written)
        yield Figure(
            f"state written in a micro-batch, window of {size:,} rows", found[size], "bytes"
        )
    ratio = found[sizes.long] / found[sizes.short]
    yield Figure("state written, long window / short", ratio, "x", most=1.5)


def first_files(folder: Path, count: int) -> Path:
    few = folder.parent / f"{folder.name}-{count}"
    if not few.exists():
        few.mkdir()
        for path in sorted(folder.glob("*.parquet"))[:count]:
            os.link(path, few / path.name)
    return few


def check(spark: SparkSession, folder: Path) -> None:
    """Sash and its rivals answer alike."""
    few = write(folder / "few", 3, 3_000, 3, 900_000, False)
    df = source(spark, few)
    on_grid = slid(df, sash.last("60s", every="1s"), lateness="0s")
    on_grid = on_grid.selectExpr("k", "window_end as t", "m")
    pairs = {
        "the window as a list": (slid(df, "1h"), by_lists(df)),
        "Spark's window": (on_grid, by_window(df).selectExpr("k", "window.end as t", "m")),
    }
    for name, (ours, theirs) in pairs.items():
        first, second = (answers(each, few) for each in (ours, theirs))
        both = first.merge(second, on=["k", "t"], suffixes=("", "_theirs"))
        same = np.allclose(both["m"], both["m_theirs"])
        # What is over when a stream ends is told with the next micro-batch, which is never.
        if not same or len(both) < 0.9 * len(first):
            raise SystemExit(f"{name} answers otherwise than sash")


def answers(df: DataFrame, folder: Path) -> pd.DataFrame:
    found: list[pd.DataFrame] = []
    checkpoint = tempfile.mkdtemp(dir=folder.parent)
    df.writeStream.foreachBatch(lambda batch, _: found.append(batch.toPandas())).option(
        "checkpointLocation", checkpoint
    ).trigger(availableNow=True).start().awaitTermination()
    return pd.concat(found)[["k", "t", "m"]]


def figures(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    settings = {
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.streaming.numRecentProgressUpdates": 1000,
    }
    spark = sash.spark.session("local[2]", progress=False, **settings)
    second = 1_000_000 // sizes.keys
    rows = write(folder / "rows", sizes.batches, sizes.rows, sizes.keys, second, False)
    keys = write(folder / "keys", sizes.batches, sizes.many_keys, sizes.many_keys, 100, True)
    state = write(folder / "state", sizes.state_batches, sizes.state_rows, 1, 100, True)
    check(spark, folder)
    yield from state_written(spark, state, sizes)
    yield from against_nothing(spark, rows, sizes)
    yield from against_state_for_each_key(spark, keys, sizes)
    spark.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    for name in Sizes.__dataclass_fields__:
        parser.add_argument(f"--{name.replace('_', '-')}", type=int)
    parser.add_argument("--out", type=Path, default=Path("build/bench/stream.csv"))
    args = parser.parse_args()
    sizes = Sizes.quick() if args.quick else Sizes()
    for name in Sizes.__dataclass_fields__:
        if getattr(args, name) is not None:
            setattr(sizes, name, getattr(args, name))
    found: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        for figure in figures(sizes, Path(folder)):
            found.append(figure)
            print(figure, flush=True)
    written(found, args.out)


if __name__ == "__main__":
    main()

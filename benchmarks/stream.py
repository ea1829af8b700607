"""What `sash.spark.sliding` costs on a stream: against a stream that does nothing, and Spark's own.

    make bench-stream                                  half an hour
    .venv/bin/python benchmarks/stream.py --quick      small sizes: shows that it runs, no more

A stream is of files, one in each micro-batch, and goes into Spark's `noop` sink. What counts is
the median time of a micro-batch, without the first ones, in which workers start and compile. All
ratios are of one run. Results go to build/bench/stream.csv.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

import sash
import sash.spark

SCHEMA = "k string, t timestamp, v double"
STARTING = 2
"""Micro-batches that do not count."""


@dataclass
class Sizes:
    """How many rows a micro-batch has, and how many micro-batches there are."""

    rows: int = 500_000
    keys: int = 1_000
    batches: int = 8
    slow_batches: int = 3
    """Of rivals that take a minute for each."""
    many_keys: int = 100_000
    short: int = 2**10
    long: int = 2**20
    state_rows: int = 65_536
    state_batches: int = 40

    @classmethod
    def quick(cls) -> Sizes:
        return cls(5_000, 50, 4, 3, 500, 2**6, 2**12, 1_024, 12)


@dataclass
class Figure:
    """One number, and what it must be at least or at most, if anything was promised."""

    what: str
    value: float
    unit: str
    least: float | None = None
    most: float | None = None

    @property
    def met(self) -> bool | None:
        if self.least is None and self.most is None:
            return None
        return (self.least or 0.0) <= self.value <= (self.most or np.inf)

    def __str__(self) -> str:
        asked = ""
        if self.met is not None:
            bound = f"at least {self.least:g}" if self.most is None else f"at most {self.most:g}"
            asked = f"   {bound}: {'met' if self.met else 'NOT MET'}"
        value = f"{self.value:13,.2f}" if self.unit == "x" else f"{self.value:13,.0f}"
        return f"  {self.what:<62} {value} {self.unit:<10}{asked}"


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
    checkpoint = folder.parent / "checkpoint"
    shutil.rmtree(checkpoint, ignore_errors=True)
    told: list[Any] = []
    started = (
        df.writeStream.format("noop")
        .outputMode(mode)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    started.awaitTermination()
    told = [each for each in started.recentProgress if each["numInputRows"]]
    return told


def rate(told: list[Any], rows: int) -> float:
    spent = [each["durationMs"]["triggerExecution"] / 1000 for each in told]
    return rows / median(spent[min(STARTING, len(spent) - 1) :])


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
        moments = frame["t"].astype("int64").tolist()
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
    found = {}
    for name, made in runs.items():
        found[name] = rate(run(made(), folder), sizes.rows)
        yield Figure(name, found[name], "rows/s")
    nothing, at_rows, _, each_second = found.values()
    yield Figure("sash at each row / mapInArrow", at_rows / nothing, "x", least=0.4)
    yield from against_window(spark, folder, sizes, each_second)
    yield from against_lists(spark, folder, sizes, at_rows)


def against_window(
    spark: SparkSession, folder: Path, sizes: Sizes, ours: float
) -> Iterator[Figure]:
    few = first_files(folder, sizes.slow_batches)
    window = F.window("t", "60 seconds", "1 second")
    own = source(spark, few).withWatermark("t", "0 seconds").groupBy("k", window)
    spent = rate(run(own.agg(F.max("v").alias("m")), few), sizes.rows)
    yield Figure("Spark's window('60s', '1s')", spent, "rows/s")
    yield Figure("sash, 60s each second / Spark's window", ours / spent, "x", least=40)


def against_lists(spark: SparkSession, folder: Path, sizes: Sizes, ours: float) -> Iterator[Figure]:
    few = first_files(folder, sizes.slow_batches)
    own = (
        source(spark, few)
        .groupBy("k")
        .applyInPandasWithState(
            window_as_list,
            SCHEMA + ", m double",
            "times binary, window binary",
            "append",
            GroupStateTimeout.NoTimeout,
        )
    )
    spent = rate(run(own, few), sizes.rows)
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


def figures(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    settings = {
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.streaming.numRecentProgressUpdates": 1000,
    }
    spark = sash.spark.session("local[2]", progress=False, **settings)
    rows = write(folder / "rows", sizes.batches, sizes.rows, sizes.keys, 100, False)
    keys = write(folder / "keys", sizes.batches, sizes.many_keys, sizes.many_keys, 100, True)
    state = write(folder / "state", sizes.state_batches, sizes.state_rows, 1, 100, True)
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
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with args.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*asdict(found[0]), "met"])
        writer.writeheader()
        writer.writerows(asdict(figure) | {"met": figure.met} for figure in found)
    missed = sum(figure.met is False for figure in found)
    promised = sum(figure.met is not None for figure in found)
    print(f"\n{args.out} written; {missed} of {promised} promised figures not met.")


if __name__ == "__main__":
    main()

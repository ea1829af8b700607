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
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from promises import Promised, written
from pyspark.sql import DataFrame, SparkSession

import sash
from sash.figures.measures.spark_data import first_files, write_batches
from sash.figures.measures.sparks_own import (
    SPARKS_SETTINGS,
    by_lists,
    by_state_of_key,
    by_window,
    each_row,
    each_second,
    run_stream,
    session,
    settings_of,
    slid,
    source,
    untouched,
)

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


def run(df: DataFrame, folder: Path) -> list[Any]:
    return run_stream(df, tempfile.mkdtemp(dir=folder.parent))


def rate(told: list[Any], rows: int) -> float:
    spent = [each["durationMs"]["triggerExecution"] / 1000 for each in told]
    return rows / median(spent[min(STARTING, len(spent) - 2) :])


def against_nothing(spark: SparkSession, folder: Path, sizes: Sizes) -> Iterator[Figure]:
    """Answers at each row over an hour, and over a minute each second."""
    df = source(spark, folder)
    runs: dict[str, Callable[[], DataFrame]] = {
        "mapInArrow that does nothing": lambda: untouched(df),
        "sash, max over 1h at each row": lambda: each_row(df),
        "sash, max over 1h at each row, 1s late": lambda: slid(
            df, "1h", sash.Max("v"), lateness="1s"
        ),
        "sash, max over 60s each second": lambda: each_second(df),
    }
    found = dict.fromkeys(runs, 0.0)
    for turn in range(sizes.rounds):
        for name, made in runs.items():
            if turn == 0 or name in list(runs)[:2]:
                found[name] = max(rate(run(made(), folder), sizes.rows), found[name])
    for name, best in found.items():
        yield Figure(name, best, "rows/s")
    nothing, at_rows, _, at_seconds = found.values()
    yield Figure("sash at each row / mapInArrow", at_rows / nothing, "x", least=0.4)
    yield from against_window(spark, folder, sizes, at_seconds)
    yield from against_lists(spark, folder, sizes, at_rows)


def against_window(
    spark: SparkSession, folder: Path, sizes: Sizes, ours: float
) -> Iterator[Figure]:
    """Spark's windows on a grid: as Spark comes, and with the settings of `sash.spark.session`."""
    few = first_files(folder, sizes.slow_batches)
    for whose, settings, least in (("Spark's", SPARKS_SETTINGS, 40), ("our", {}, None)):
        with settings_of(spark, settings):
            spent = rate(run(by_window(source(spark, few)), few), sizes.rows)
        yield Figure(f"Spark's window('60s', '1s'), {whose} settings", spent, "rows/s")
        what = f"sash, 60s each second / Spark's window, {whose} settings"
        yield Figure(what, ours / spent, "x", least)


def against_lists(spark: SparkSession, folder: Path, sizes: Sizes, ours: float) -> Iterator[Figure]:
    few = first_files(folder, sizes.list_batches)
    spent = rate(run(by_lists(source(spark, few)), few), sizes.rows)
    yield Figure("applyInPandasWithState, the window as a list", spent, "rows/s")
    yield Figure("sash at each row / the window as a list", ours / spent, "x", least=5)


def against_state_for_each_key(spark: SparkSession, folder: Path, sizes: Sizes) -> Iterator[Figure]:
    df = source(spark, folder)
    ours = rate(run(each_row(df), folder), sizes.many_keys)
    yield Figure(f"sash, {sizes.many_keys:,} keys with a row each", ours, "rows/s")
    few = first_files(folder, sizes.slow_batches)
    spent = rate(run(by_state_of_key(source(spark, few)), few), sizes.many_keys)
    yield Figure("transformWithState for each key", spent, "rows/s")
    yield Figure("sash / transformWithState for each key", ours / spent, "x", least=20)


def state_written(spark: SparkSession, folder: Path, sizes: Sizes) -> Iterator[Figure]:
    """Bytes of state in a micro-batch, on average over those after the longer window is full."""
    found = {}
    full = -(-sizes.long // sizes.state_rows) + 1
    for size in (sizes.short, sizes.long):
        df = source(spark, folder)
        told = run(slid(df, size, sash.Max("v"), by=()), folder)
        written = [each["observedMetrics"]["sash"]["written"] for each in told[full:]]
        found[size] = sum(written) / len(written)
        yield Figure(
            f"state written in a micro-batch, window of {size:,} rows", found[size], "bytes"
        )
    ratio = found[sizes.long] / found[sizes.short]
    yield Figure("state written, long window / short", ratio, "x", most=1.5)


def check(spark: SparkSession, folder: Path) -> None:
    """Sash and its rivals answer alike."""
    few = write_batches(folder / "few", 3, 3_000, 3, 900_000, False)
    df = source(spark, few)
    pairs = {
        "the window as a list": (each_row(df), by_lists(df)),
        "Spark's window": (each_second(df), by_window(df)),
    }
    for name, (ours, theirs) in pairs.items():
        first, second = (answers(each, few) for each in (ours, theirs))
        both = first.merge(second, on=["k", "t"], suffixes=("", "_theirs"))
        same = np.allclose(both["a"], both["a_theirs"])
        # What is over when a stream ends is told with the next micro-batch, which is never.
        if not same or len(both) < 0.9 * len(first):
            raise SystemExit(f"{name} answers otherwise than sash")


def answers(df: DataFrame, folder: Path) -> pd.DataFrame:
    found: list[pd.DataFrame] = []
    run_stream(df, tempfile.mkdtemp(dir=folder.parent), found)
    return pd.concat(found)


def figures(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    settings = {
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.streaming.numRecentProgressUpdates": 1000,
    }
    spark = session("local[2]", **settings)
    second = 1_000_000 // sizes.keys
    rows = write_batches(folder / "rows", sizes.batches, sizes.rows, sizes.keys, second, False)
    keys = write_batches(
        folder / "keys", sizes.batches, sizes.many_keys, sizes.many_keys, 100, True
    )
    state = write_batches(folder / "state", sizes.state_batches, sizes.state_rows, 1, 100, True)
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

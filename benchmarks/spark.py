"""What `sash.spark.sliding` costs: against the shuffle and sort alone, and Spark's own windows.

    make bench-spark                                  2 million rows in 8 keys; half an hour
    .venv/bin/python benchmarks/spark.py --quick      small sizes: shows that it runs, no more
    .venv/bin/python benchmarks/spark.py --rows 500000

Each ratio is one of times measured in one run, in turn: the best of some rounds after one that does
not count. A time is that of the whole call, `sliding` included, from a Parquet file into Spark's
`noop` sink. What is compared answers alike; that is looked at first. Results go to
build/bench/spark.csv.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from promises import Promised, written
from pyspark.sql import Column, DataFrame

import sash
from sash.figures.measures.spark_data import write_rows
from sash.figures.measures.sparks_own import (
    SPARKS,
    TREE,
    by_udf,
    frame,
    into_noop,
    session,
    slid,
    sorted_only,
    windowed,
)
from sash.figures.own_operators import OwnMax

KEYS = 8
SIZES = (10, 100, 1_000, 10_000, 100_000)
TREE_SIZES = (1_000, 100_000)
PINNED = "local[1] on one core"
Run = Callable[[], Any]


OPERATORS = {
    "Max": sash.Max("v"),
    "Mean": sash.Mean("v"),
    "StdDev": sash.StdDev("v"),
    "own Max": OwnMax("v"),
}


@dataclass
class Sizes:
    """How many rows each part of the benchmark has, and how often it runs."""

    rows: int = 2_000_000
    default_rows: int = 200_000
    udf_rows: int = 20_000
    series_rows: int = 5_000_000
    series_size: int = 100_000
    rounds: int = 5
    turns: int = 2
    """How often a session of one core and one of two follow each other."""

    @classmethod
    def quick(cls) -> Sizes:
        return cls(40_000, 10_000, 2_000, 400_000, 1_000, rounds=1, turns=1)


@dataclass
class Figure(Promised):
    what: str
    operator: str
    size: int
    rows: int
    value: float
    unit: str
    least: float | None = None
    most: float | None = None

    def __str__(self) -> str:
        unit = f"{self.value:11,.0f} ns a row" if self.unit == "ns" else f"{self.value:11.2f} x"
        return f"  {self.what:<50} {self.operator:<8} w={self.size:<8,} {unit:<21}{self.verdict}"


# Measuring


def seconds(run: Run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def best(runs: dict[str, Run], rounds: int) -> dict[str, float]:
    """The shortest time of each, all of them in turn, after one that does not count."""
    found = dict.fromkeys(runs, float("inf"))
    for turn in range(rounds + 1):
        for name, run in runs.items():
            took = seconds(run)
            if turn:
                found[name] = min(found[name], took)
    return found


def told(what: str, operator: str, size: int, rows: int, took: float) -> Figure:
    return Figure(what, operator, size, rows, took / rows * 1e9, "ns")


# What is run


def floor(df: DataFrame) -> Run:
    return lambda: into_noop(sorted_only(df))


def by_sash(df: DataFrame, op: sash.Operator, size: int, **options: Any) -> Run:
    return lambda: into_noop(slid(df, size, op, **options))


def by_spark(df: DataFrame, call: Callable[[Any], Column], over: Any, tree: bool = False) -> Run:
    return lambda: into_noop(windowed(df, call, over, tree))


def check(df: DataFrame) -> None:
    """Sash and Spark, with and without its tree, answer alike."""
    few, size = df.limit(5_000), 100
    for name, call in SPARKS.items():
        for tree in ("false", "true"):
            df.sparkSession.conf.set(TREE, tree)
            own = few.withColumn("a", call("v").over(frame(size)))
            ours = slid(few, size, OPERATORS[name])
            first, second = (each.orderBy("t").toPandas()["a"] for each in (own, ours))
            if not np.allclose(first, second, rtol=1e-9, atol=1e-9, equal_nan=True):
                raise SystemExit(f"{name}: Sash answers otherwise than Spark, tree: {tree}")


# The parts


def against_floor(df: DataFrame, sizes: Sizes) -> Iterator[Figure]:
    """Every window, from the shortest to the longest, for little more than the sort."""
    for size in SIZES:
        runs = {name: by_sash(df, op, size) for name, op in OPERATORS.items()}
        took = best({"floor": floor(df)} | runs, sizes.rounds)
        yield told("shuffle and sort alone", "–", size, sizes.rows, took["floor"])
        for name in OPERATORS:
            yield told("sash", name, size, sizes.rows, took[name])
            ratio = took[name] / took["floor"]
            yield Figure("sash / shuffle and sort", name, size, sizes.rows, ratio, "x", most=2.0)
        ratio = took["own Max"] / took["Max"]
        what = "an operator of one's own / built in"
        yield Figure(what, "Max", size, sizes.rows, ratio, "x", most=1.1)


def against_default(df: DataFrame, few: DataFrame, sizes: Sizes) -> Iterator[Figure]:
    """Spark's windows as they are by default: each frame is computed from its rows again."""
    for size, rows, given in ((1_000, sizes.rows, df), (5_000, sizes.default_rows, few)):
        least = 40.0 if size == 5_000 else None
        for name in ("Max", "Mean"):
            runs = {
                "spark": by_spark(given, SPARKS[name], frame(size)),
                "sash": by_sash(given, OPERATORS[name], size),
                "sash, all rows": by_sash(df, OPERATORS[name], size),
            }
            if rows == sizes.rows:
                del runs["sash, all rows"]
            took = best(runs, sizes.rounds)
            on = "" if rows == sizes.rows else f", {rows:,} rows"
            yield told(f"Spark's default{on}", name, size, rows, took["spark"])
            yield told(f"sash{on}", name, size, rows, took["sash"])
            ratio = took["spark"] / took["sash"]
            if rows == sizes.rows:
                yield Figure("Spark's default / sash", name, size, rows, ratio, "x", least)
                continue
            # A start of Spark's jobs costs as much as so few rows. Spark's time for a row is the
            # same for more of them, and so is not measured on all: that would take an hour.
            yield Figure(f"Spark's default / sash{on}", name, size, rows, ratio, "x")
            yield told("sash, all rows", name, size, sizes.rows, took["sash, all rows"])
            ratio = (took["spark"] / rows) / (took["sash, all rows"] / sizes.rows)
            what = f"Spark's default, {rows:,} rows / sash, all, a row"
            yield Figure(what, name, size, sizes.rows, ratio, "x", least)


def against_tree(df: DataFrame, sizes: Sizes) -> Iterator[Figure]:
    """Spark's windows with a segment tree for each partition, which must be asked for."""
    for size in TREE_SIZES:
        for name, least in (("Max", 1.5), ("StdDev", 2.5)):
            runs = {
                "spark": by_spark(df, SPARKS[name], frame(size), tree=True),
                "sash": by_sash(df, OPERATORS[name], size),
            }
            took = best(runs, sizes.rounds)
            yield told("Spark's segment tree", name, size, sizes.rows, took["spark"])
            yield told("sash", name, size, sizes.rows, took["sash"])
            ratio = took["spark"] / took["sash"]
            yield Figure("Spark's segment tree / sash", name, size, sizes.rows, ratio, "x", least)


def against_pandas_udf(few: DataFrame, sizes: Sizes) -> Iterator[Figure]:
    """What Spark has for aggregates of one's own: a call of Python for each row."""
    size, rows = 1_000, sizes.udf_rows
    runs = {
        "spark": by_spark(few, by_udf, frame(size)),
        "sash": by_sash(few, OPERATORS["own Max"], size),
    }
    took = best(runs, sizes.rounds)
    on = f", {rows:,} rows"
    yield told(f"pandas_udf over a frame{on}", "own Max", size, rows, took["spark"])
    yield told(f"sash{on}", "own Max", size, rows, took["sash"])
    ratio = took["spark"] / took["sash"]
    yield Figure(f"pandas_udf / sash{on}", "own Max", size, rows, ratio, "x")


# One series without key


def series_here(master: str, path: str, sizes: Sizes) -> dict[str, float]:
    """Times of one session, in a process of its own."""
    if master == PINNED:  # before Java starts, so that it sees one core too
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    df = session("local[1]" if master == PINNED else master).read.parquet(path).drop("k")
    op, size = OPERATORS["Max"], sizes.series_size
    runs = {"sash": by_sash(df, op, size, by=())}
    if master != "local[2]":
        runs["sash, not cut"] = by_sash(df, op, size, by=(), split=False)
    else:
        runs["spark"] = by_spark(df, SPARKS["Max"], frame(size, keyed=False), tree=True)
    return best(runs, sizes.rounds)


def one_series(path: Path, sizes: Sizes) -> Iterator[Figure]:
    """All rows are one window's: cores share it, where Spark moves it to one of them.

    With one task at a time, Java and Python still run side by side on two cores; so one core alone
    is timed too.
    """
    took: dict[str, float] = {}
    pinned = [PINNED] if hasattr(os, "sched_setaffinity") else []
    for master in ["local[1]", "local[2]", *pinned] * sizes.turns:
        command = [sys.executable, __file__, "--series", master, "--data", str(path)]
        command += ["--sizes", json.dumps(asdict(sizes))]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        for name, spent in json.loads(done.stdout.splitlines()[-1]).items():
            key = f"{name}, {master}"
            took[key] = min(took.get(key, np.inf), spent)
    size, rows = sizes.series_size, sizes.series_rows
    for name, spent in took.items():
        yield told(f"one series: {name}", "Max", size, rows, spent)

    def ratio(what: str, slow: str, least: float | None = None) -> Figure:
        value = took[slow] / took["sash, local[2]"]
        return Figure(f"one series: {what}", "Max", size, rows, value, "x", least)

    yield ratio("one task at a time / two", "sash, local[1]", 1.6)
    if pinned:
        yield ratio("one core / two", f"sash, {PINNED}", 1.6)
    yield ratio("one task at a time, not cut / two", "sash, not cut, local[1]")
    yield ratio("Spark's segment tree / sash, two cores", "spark, local[2]", 2.0)


# All of them


def figures(sizes: Sizes, folder: Path) -> Iterator[Figure]:
    paths = {
        rows: folder / f"{rows}.parquet"
        for rows in (sizes.rows, sizes.default_rows, sizes.udf_rows, sizes.series_rows)
    }
    for rows, path in paths.items():
        write_rows(path, rows, KEYS)
    # First, so that no other session runs then.
    yield from one_series(paths[sizes.series_rows], sizes)
    spark = session("local[2]")
    df, few, fewest = (
        spark.read.parquet(str(paths[rows]))
        for rows in (sizes.rows, sizes.default_rows, sizes.udf_rows)
    )
    check(few)
    yield from against_floor(df, sizes)
    yield from against_tree(df, sizes)
    yield from against_default(df, few, sizes)
    yield from against_pandas_udf(fewest, sizes)
    spark.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, once each")
    for name in Sizes.__dataclass_fields__:
        parser.add_argument(f"--{name.replace('_', '-')}", type=int)
    parser.add_argument("--out", type=Path, default=Path("build/bench/spark.csv"))
    for name in ("--series", "--data", "--sizes"):  # for a process of its own
        parser.add_argument(name, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.series:
        print(json.dumps(series_here(args.series, args.data, Sizes(**json.loads(args.sizes)))))
        return
    sizes = Sizes.quick() if args.quick else Sizes()
    for name in Sizes.__dataclass_fields__:
        if getattr(args, name) is not None:
            setattr(sizes, name, getattr(args, name))
    print(f"{sizes.rows:,} rows in {KEYS} keys, best of {sizes.rounds}", flush=True)
    found: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        for figure in figures(sizes, Path(folder)):
            found.append(figure)
            print(figure, flush=True)
    written(found, args.out)
    if args.quick:
        print("At these sizes starting Spark's jobs is all that is timed: the ratios mean nothing.")


if __name__ == "__main__":
    main()

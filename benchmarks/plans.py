"""Many queries together against each alone: slides a second, and seconds for the same rows.

    make bench-plans                                    two minutes
    .venv/bin/python benchmarks/plans.py --rows 200000
    .venv/bin/python benchmarks/plans.py --without-spark

Each figure is a ratio measured in one run: the best of interleaved rounds, everything compiled
before. Answers are compared before anything is timed. Results go to build/bench/plans.csv.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from promises import Promised, written

import sash
from sash.testing import Counting

RANGES = list(range(1, 1025))
QUERIES = 100
TIMES = pa.timestamp("us", "UTC")
OPERATORS = [sash.Max(), sash.Min(), sash.Sum(), sash.Count(), sash.Mean(), sash.StdDev()]


@dataclass
class Figure(Promised):
    what: str
    value: float
    unit: str
    least: float | None = None
    most: float | None = None


def best(runs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The shortest time of each, all of them in turn, after one that does not count."""
    found = {name: float("inf") for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            took = time.perf_counter() - start
            if turn:
                found[name] = min(found[name], took)
    return found


def all_ranges(rows: int, rounds: int) -> list[Figure]:
    """Max over every range from 1 to 1,024, answered at every row: the papers' max-multi-query."""
    values = np.random.default_rng(1).normal(size=rows)

    def run(name: str) -> Callable[[], Any]:
        return lambda: sash.aggregator(name, sash.Max()).slide(values, RANGES)

    runs = {name: run(name) for name in ("flat_fit", "flat_fat", "slick_deque")}
    wanted = runs["flat_fat"]()
    for name in ("flat_fit", "slick_deque"):
        for one, other in zip(runs[name](), wanted, strict=True):
            assert np.array_equal(one, other), name
    took = best(runs, rounds)
    found = [
        Figure(f"{name}, all ranges up to 1,024", rows / took[name], "slides/s") for name in took
    ]
    for name, least in (("flat_fit", 8.0), ("slick_deque", None)):
        ratio = took["flat_fat"] / took[name]
        found.append(Figure(f"{name} against flat_fat, all ranges", ratio, "x", least=least))
    return found


def random_queries(count: int, seed: int = 3) -> dict[str, sash.Query]:
    """Operators and windows at random: up to 20,000 rows or seconds, slides up to 2,000."""
    draw = random.Random(seed)
    found = {}
    for k in range(count):
        size, every = draw.randint(100, 20_000), draw.randint(10, 2_000)
        window = draw.choice(
            [sash.last(size, every=every), sash.last(f"{size}s", every=f"{every}s")]
        )
        found[f"q{k}"] = sash.query(draw.choice(OPERATORS), window)
    return found


def shared(rows: int, rounds: int) -> list[Figure]:
    rng = np.random.default_rng(2)
    values = rng.normal(size=rows)
    times = np.cumsum(rng.exponential(1e9, rows).astype(np.int64)).view("datetime64[ns]")
    found = []
    for count in (1, 10, QUERIES):
        queries = random_queries(count)

        def together(queries: dict[str, sash.Query] = queries) -> dict[str, Any]:
            return sash.share(queries).push_many(values, times)

        def apart(queries: dict[str, sash.Query] = queries) -> dict[str, Any]:
            return {
                name: sash.Window(query.operator, query.window).push_many(values, times)
                for name, query in queries.items()
            }

        one, other = together(), apart()
        for name in queries:
            assert np.allclose(one[name], other[name], rtol=1e-9, equal_nan=True), queries[name]
        took = best({"together": together, "apart": apart}, rounds)
        least = 10.0 if count == QUERIES else None
        what = f"{count} random queries" if count > 1 else "1 random query"
        found.append(Figure(f"{what}, together", took["together"] / rows * 1e9, "ns a row"))
        ratio = took["apart"] / took["together"]
        found.append(Figure(f"{what}, apart against together", ratio, "x", least=least))
    return found


def at_rows(rows: int, rounds: int) -> list[Figure]:
    """Three windows of time, answered at every row."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=rows)
    times = np.cumsum(rng.exponential(1e9, rows).astype(np.int64)).view("datetime64[ns]")
    found = []
    for op in (sash.Max(), sash.Mean()):
        queries = {each: sash.query(op, each) for each in ("1h", "12h", "24h")}

        def together(queries: dict[str, sash.Query] = queries) -> Any:
            return sash.share(queries).push_many(values, times)

        def apart(queries: dict[str, sash.Query] = queries) -> Any:
            return [
                sash.Window(q.operator, q.window).push_many(values, times) for q in queries.values()
            ]

        took = best({"together": together, "apart": apart}, rounds)
        what = f"{op.name} over 1h, 12h and 24h at every row, apart against together"
        found.append(Figure(what, took["apart"] / took["together"], "x"))
    return found


def chained(rows: int) -> list[Figure]:
    """Windows nested in one another: what leaves a young one goes on to an old one.

    The longer range is the old one's answer and the young one's. Each has an algorithm of its own.
    """
    found = []
    for ranges in ((6, 8), (10, 20), (10, 100), (100, 1_000), (10, 100, 1_000)):
        one = _calls_of_one(ranges, rows)
        shown = " and ".join(map(str, ranges))
        found.append(Figure(f"⊕ a row for ranges of {shown}, by flat_fit", one, "⊕"))
        for link in ("flat_fit", "two_stacks"):
            ratio = _calls_of_chain(link, ranges, rows) / one
            what = f"⊕ for ranges of {shown}, a chain of {link} against flat_fit"
            found.append(Figure(what, ratio, "x"))
    return found


def _calls_of_one(ranges: tuple[int, ...], rows: int) -> float:
    calls = Counting()
    window = sash.aggregator("flat_fit", calls.of(sash.Sum()))
    for value in range(2 * rows):
        if value == rows:
            calls.taken()
        if len(window) == ranges[-1]:
            window.evict()
        window.insert(value)
        for one in reversed(ranges):
            window.query(min(one, len(window)))
    return calls.taken() / rows


def _calls_of_chain(link: str, ranges: tuple[int, ...], rows: int) -> float:
    calls = Counting()
    links = [sash.aggregator(link, calls.of(sash.Sum())) for _ in ranges]
    sizes = np.diff(ranges, prepend=0).tolist()
    held: list[deque[int]] = [deque() for _ in ranges]
    joins = 0
    for value in range(2 * rows):
        if value == rows:
            calls.taken()
            joins = 0
        moving = value
        for window, values, size in zip(links, held, sizes, strict=True):
            window.insert(moving)
            values.append(moving)
            if len(values) <= size:
                break
            window.evict()
            moving = values.popleft()
        for window in links:
            window.query()
        joins += sum(len(window) > 0 for window in links[1:])
    return (calls.taken() + joins) / rows


def on_spark(rows: int, rounds: int) -> list[Figure]:
    """Three windows of three operators in one call, against one window of the same."""
    import sash.spark

    draw = np.random.default_rng(6)
    table = pa.table(
        {
            "k": draw.integers(0, 8, rows),
            "ts": pa.array(np.sort(draw.integers(0, 30 * 86_400_000_000, rows)), TIMES),
            "v": draw.normal(size=rows),
        }
    )
    aggs = {"most": sash.Max("v"), "mean": sash.Mean("v"), "spread": sash.StdDev("v")}
    windows = {each: sash.last(each) for each in ("1h", "12h", "24h")}
    spark = sash.spark.session(progress=False)
    with TemporaryDirectory() as folder:
        pq.write_table(table, f"{folder}/rows.parquet")
        df = spark.read.parquet(f"{folder}/rows.parquet")

        def run(window: Any) -> Callable[[], Any]:
            def call() -> None:
                found = sash.spark.sliding(df, window, aggs, by="k", order_by="ts")
                found.write.format("noop").mode("overwrite").save()

            return call

        _same_on_spark(df, windows, aggs)
        runs = {"three": run(windows)} | {name: run(each) for name, each in windows.items()}
        took = best(runs, rounds)
    spark.stop()
    found = [Figure("Spark: 1h, three operators", took["1h"] / rows * 1e9, "ns a row")]
    ratio = took["three"] / took["1h"]
    what = "Spark: 1h, 12h and 24h in one call against 1h alone"
    found.append(Figure(what, ratio, "x", most=1.3))
    apart = sum(took[name] for name in windows)
    what = "Spark: 1h, 12h and 24h, three calls against one"
    found.append(Figure(what, apart / took["three"], "x"))
    return found


def _same_on_spark(df: Any, windows: dict[str, Any], aggs: dict[str, Any]) -> None:
    some = df.limit(20_000).cache()
    options: Any = {"by": "k", "order_by": "ts"}
    three = sash.spark.sliding(some, windows, aggs, **options).toPandas().sort_values(["k", "ts"])
    for name, window in windows.items():
        one = sash.spark.sliding(some, window, aggs, **options).toPandas().sort_values(["k", "ts"])
        for agg in aggs:
            assert np.allclose(one[agg], three[f"{agg}_{name}"], equal_nan=True), (agg, name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without-spark", action="store_true")
    given = parser.parse_args()
    found: list[Figure] = []
    for part in (
        lambda: all_ranges(max(given.rows // 100, 2_000), given.rounds),
        lambda: shared(given.rows, given.rounds),
        lambda: at_rows(given.rows, given.rounds),
        lambda: chained(max(given.rows // 200, 2_000)),
        lambda: [] if given.without_spark else on_spark(2 * given.rows, given.rounds),
    ):
        for figure in part():
            found.append(figure)
            print(
                f"{figure.what:68} {figure.value:12.4g} {figure.unit}{figure.verdict}", flush=True
            )
    written(found, Path("build/bench/plans.csv"))


if __name__ == "__main__":
    main()

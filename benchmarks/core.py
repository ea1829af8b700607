"""What an answer costs, in multiples of `np.maximum.accumulate` on the same array in the same run.

    make bench-core                             20 million rows, some minutes
    .venv/bin/python benchmarks/core.py --rows 2000000

Each round times the floor and every candidate in turn, and a candidate's figure is the best of its
rounds over the floor's best: what a noisy machine adds, it adds to some of them only. The answers
of all candidates are compared before they are timed. Results go to build/bench/core.csv.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # one thread for everyone

import bottleneck
import duckdb
import numbagg
import numpy as np
import pandas as pd
import polars as pl

import sash

SIZES = (16, 1_024, 65_536, 1_048_576)
Run = Callable[[], Any]


@sash.operator(partial={"hi": "float64"}, commutative=True, empty=None)
class OwnMax:
    """The maximum as a user would write it."""

    def identity():
        return -np.inf

    def lift(v):
        return v

    def combine(a, b):
        return max(a.hi, b.hi)

    def lower(p):
        return p.hi


@dataclass
class Candidate:
    """Something to time: `most` is what its ratio may be at most, if anything was promised."""

    group: str
    name: str
    run: Run
    most: float | None = None
    share: int = 1
    """Run on one row in so many: for rivals that would take minutes."""
    again: int = 1
    """How often in each round: a second core takes a moment to be there."""


def candidates(values: np.ndarray, size: int) -> list[Candidate]:
    few = values[: len(values) // 10]
    series, frame = pd.Series(values), pl.Series("x", values)
    table = {"x": few, "i": np.arange(len(few))}
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    rows = pd.DataFrame(table)
    over = f"over (order by i rows between {size - 1} preceding and current row)"

    def by_duckdb(call: str) -> Any:
        assert rows is not None  # DuckDB finds it by its name
        return connection.sql(f"select {call}(x) {over} as a from rows").fetchnumpy()["a"]

    def fused(algorithm: str) -> Run:
        return lambda: sash.aggregator(algorithm, sash.Max()).slide(values, size)

    return [
        Candidate("max", "sash", lambda: sash.rolling(values, size, sash.Max()), 1.0),
        Candidate("max", "sash, own operator", lambda: sash.rolling(values, size, OwnMax())),
        Candidate("max", "bottleneck", lambda: bottleneck.move_max(values, size, 1)),
        Candidate("max", "polars", lambda: frame.rolling_max(size, min_samples=1).to_numpy()),
        Candidate("max", "pandas", lambda: series.rolling(size, min_periods=1).max().to_numpy()),
        Candidate("max", "duckdb", lambda: by_duckdb("max"), share=10),
        Candidate("sum", "sash", lambda: sash.rolling(values, size, sash.Sum()), 1.0),
        Candidate("mean", "sash", lambda: sash.rolling(values, size, sash.Mean()), 1.5),
        Candidate("stddev", "sash", lambda: sash.rolling(values, size, sash.StdDev()), 2.5),
        Candidate("stddev", "bottleneck", lambda: bottleneck.move_std(values, size, 1, ddof=1)),
        Candidate("stddev", "numbagg", lambda: numbagg.move_std(values, window=size, min_count=1)),
        Candidate("stddev", "polars", lambda: frame.rolling_std(size, min_samples=1).to_numpy()),
        Candidate("stddev", "pandas", lambda: series.rolling(size, min_periods=1).std().to_numpy()),
        Candidate("stddev", "duckdb", lambda: by_duckdb("stddev_samp"), share=10),
        Candidate("slide max", "aba", fused("aba"), 1.8),
        Candidate("slide max", "two_stacks_lite", fused("two_stacks_lite"), 2.0),
        Candidate("slide max", "daba_lite", fused("daba_lite"), 2.2),
        Candidate("slide max", "daba_cached", fused("daba_cached"), 2.2),
        Candidate("slide max", "daba", fused("daba"), 2.8),
        Candidate("slide max", "two_stacks", fused("two_stacks"), 3.5),
        Candidate("slide max", "sba", fused("sba")),
        Candidate(
            "threads=2", "max", lambda: sash.rolling(values, size, sash.Max(), threads=2), again=3
        ),
        Candidate(
            "threads=2",
            "stddev",
            lambda: sash.rolling(values, size, sash.StdDev(), threads=2),
            again=3,
        ),
    ]


def seconds(run: Run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def check(found: list[Candidate]) -> None:
    """Everyone in a group does the same work."""
    for group in {c.group for c in found}:
        answers = [(c, c.run()) for c in found if c.group == group and not group.startswith("thr")]
        for c, answer in answers:
            first = answers[0][1][: len(answer)]
            # bottleneck and numbagg add and subtract, which loses digits; that is shown apart.
            loose = 1e-3 if group == "stddev" else 1e-9
            if not np.allclose(answer[1:], first[1:], rtol=loose, atol=loose, equal_nan=True):
                raise SystemExit(f"{group}: {c.name} answers otherwise than {answers[0][0].name}")


def measure(values: np.ndarray, size: int, rounds: int) -> Iterator[dict[str, Any]]:
    found = candidates(values, size)
    check(found)
    floors: list[float] = []
    times: dict[int, list[float]] = {i: [] for i in range(len(found))}
    for _ in range(rounds):
        floors += [seconds(lambda: np.maximum.accumulate(values)) for _ in range(2)]
        for i, c in enumerate(found):
            slow = len(times[i]) >= 2 and times[i][-1] > 20 * min(floors)
            if not slow:
                times[i] += [seconds(c.run) * c.share for _ in range(c.again)]
    for i, c in enumerate(found):
        yield {
            "group": c.group,
            "name": c.name,
            "size": size,
            "ratio": min(times[i]) / min(floors),
            "most": c.most,
        }


def drift() -> Iterator[tuple[str, float]]:
    """The worst relative error of a standard deviation after a large value has left the window."""
    values = np.random.default_rng(1).random(100_000)
    values[1_000] = 1e9
    size = 1_000
    after = slice(3_000, None)
    windows = np.lib.stride_tricks.sliding_window_view(values, size)[after]
    exact = windows.std(axis=1, ddof=1)
    for name, answers in (
        ("sash", sash.rolling(values, size, sash.StdDev())),
        ("bottleneck", bottleneck.move_std(values, size, 1, ddof=1)),
        ("numbagg", numbagg.move_std(values, window=size, min_count=1)),
    ):
        found = answers[size - 1 :][after]
        yield name, float(np.max(np.abs(found - exact) / exact))


COLD = """
import time, numpy as np, sash
start = time.perf_counter()
sash.rolling(np.arange(1000.0), 10, sash.Max())
print(time.perf_counter() - start)
"""


def cold_start() -> float:
    """The first answer of a process that finds its code compiled by an earlier one."""
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", COLD], capture_output=True, text=True, check=True
        )
    return float(done.stdout)


def verdict(row: dict[str, Any], all_rows: list[dict[str, Any]]) -> str:
    """What was promised of this figure, and whether it holds here."""
    ours = {
        r["group"]: r["ratio"] for r in all_rows if (r["name"], r["size"]) == ("sash", row["size"])
    }
    group, name, ratio = row["group"], row["name"], row["ratio"]
    if row["most"] is not None:
        return _held(ratio <= row["most"], f"at most {row['most']}")
    if group == "threads=2":
        gain = ours[name] / ratio
        return _held(gain >= 1.6, f"{gain:.2f} x one thread, at least 1.6")
    if name == "sash, own operator":
        share = ratio / ours[group]
        return _held(share <= 1.1, f"{share:.2f} x built in, at most 1.1")
    if (group, name) == ("stddev", "bottleneck"):
        return "(adds and subtracts: see its error below)"
    if group in ours:
        return _held(ratio > ours[group], f"sash is {ratio / ours[group]:.2f} x faster")
    return ""


def _held(holds: bool, promise: str) -> str:
    return f"{promise}: {'holds' if holds else 'MISSED'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("build/bench/core.csv"))
    args = parser.parse_args()
    values = np.random.default_rng(0).random(args.rows)
    floor = min(seconds(lambda: np.maximum.accumulate(values)) for _ in range(3))
    per_row = floor / args.rows * 1e9
    print(f"{args.rows:,} rows; np.maximum.accumulate takes {per_row:.2f} ns a row = 1.00")
    rows: list[dict[str, Any]] = []
    for size in [size for size in SIZES if size <= args.rows // 10]:  # some run on a tenth
        print(f"\nwindow of {size:,} …", file=sys.stderr, flush=True)
        found = list(measure(values, size, args.rounds))
        rows += found
        print(f"\nwindow of {size:,} rows")
        for row in found:
            said = verdict(row, rows)
            print(
                f"  {row['group']:<10} {row['name']:<20} {row['ratio']:9.2f}   {said}", flush=True
            )
    print("\nworst relative error of StdDev after a value of 1e9 has left a window of 1,000")
    for name, error in drift():
        print(f"  {name:<20} {error:.1e}")
    start = cold_start()
    print(
        f"\nsecond process, first answer {start:.2f} s after import, under 1: "
        f"{'holds' if start < 1 else 'MISSED'}"
    )
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with args.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["group", "name", "size", "ratio", "most"])
        writer.writeheader()
        writer.writerows(rows)
    missed = sum("MISSED" in verdict(row, rows) for row in rows)
    print(f"\n{args.out} written; {missed} of the promised figures missed.")


if __name__ == "__main__":
    main()

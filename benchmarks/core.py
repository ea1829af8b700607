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
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sash
from sash.figures.measures.drift import errors
from sash.figures.measures.rivals_on_arrays import LIBRARIES
from sash.figures.own_operators import OwnMax

SIZES = (16, 1_024, 65_536, 1_048_576)
SHARE = {"duckdb": 10}
"""Rivals that would take minutes run on one row in so many."""
Run = Callable[[], Any]


@dataclass
class Candidate:
    """Something to time: `most` is what its ratio may be at most, if anything was promised."""

    group: str
    name: str
    run: Run
    most: float | None = None
    share: int = 1
    """It runs on one row in so many."""
    again: int = 1
    """How often in each round: a second core takes a moment to be there."""


def candidates(values: np.ndarray, size: int) -> list[Candidate]:
    def by(name: str, what: str) -> Run:
        return LIBRARIES[name](what, values[: len(values) // SHARE.get(name, 1)], size)

    def rivals(group: str, what: str, *names: str) -> list[Candidate]:
        return [Candidate(group, name, by(name, what), share=SHARE.get(name, 1)) for name in names]

    def fused(algorithm: str) -> Run:
        return lambda: sash.aggregator(algorithm, sash.Max()).slide(values, size)

    return [
        Candidate("max", "sash", by("sash", "Max"), 1.0),
        Candidate("max", "sash, own operator", lambda: sash.rolling(values, size, OwnMax())),
        *rivals("max", "Max", "bottleneck", "polars", "pandas", "duckdb"),
        Candidate("sum", "sash", lambda: sash.rolling(values, size, sash.Sum()), 1.0),
        Candidate("mean", "sash", by("sash", "Mean"), 1.5),
        Candidate("stddev", "sash", by("sash", "StdDev"), 2.5),
        *rivals("stddev", "StdDev", "bottleneck", "numbagg", "polars", "pandas", "duckdb"),
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
    for name, error in errors("StdDev", size=1_000, rows=100_000, huge=1e9).items():
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

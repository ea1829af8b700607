"""What a second thread gains, and how long the longest slide takes: PBA against SBA, in one run.

    .venv/bin/python benchmarks/pba.py            some minutes
    .venv/bin/python benchmarks/pba.py --rounds 3 --slides 200000

Throughput is that of the compiled loop, `sash.aggregator(name, op).slide(values, size)` without
what makes Python objects of its answers: best of interleaved rounds, in multiples of
`np.maximum.accumulate` on as many rows. Latency is read off the processor's clock around each
slide, with all memory touched beforehand; the round with the shortest longest slide counts, since
what the machine does besides can only add to it. Two threads need two cores to themselves, so each
round waits for a moment when the machine is idle, if one comes. Results go to build/bench/pba.csv.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

import sash
from sash.aggregators import second_thread
from sash.aggregators.chunk_sizes import optimal_chunk
from sash.aggregators.columns import leaves
from sash.aggregators.compiling import clock
from sash.aggregators.registry import named
from sash.aggregators.running import Job

SIZE = 65_536
THROUGHPUT = 1.4
WORST = 20
FIELDS = ["what", "operator", "algorithm", "size", "figure", "value"]


class Slider:
    """One algorithm over the same rows, again and again, in memory that is there already."""

    def __init__(self, algorithm: str, op: sash.Operator, values: np.ndarray, size: int) -> None:
        self.algorithm, self.size, self.count = algorithm, size, len(values)
        self.job = Job(named(algorithm), op, leaves(values, op)[0])
        self.out, _ = self.job.outputs(self.count)
        self.rings = self.job.rings(size)
        self.ticks = np.zeros(self.count, np.int64)

    def slide(self) -> None:
        self.job.slide(self.rings, self.job.new_state(), self.count, self.size, self.out)

    def timed(self) -> np.ndarray:
        """The ticks of each slide."""
        args = (self.rings, self.job.new_state(), self.job.rows, self.count, self.size)
        if self.algorithm != "pba":
            self.job.call("timed_slide", *args, self.out, self.ticks)
            return self.ticks
        chunk, desk = optimal_chunk(self.size), second_thread.new_desk()
        with second_thread.Second(self.job.call, self.rings, self.job.rows, 0, desk):
            self.job.call("timed_lead", *args, chunk, desk, self.out, self.ticks)
        return self.ticks


def seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def wait_for_calm(most: float) -> None:
    """Until nothing else runs, as far as the system tells; at most so many seconds."""
    stat = Path("/proc/stat")
    until = time.monotonic() + most
    while stat.exists() and time.monotonic() < until:
        before = [int(n) for n in stat.read_text().splitlines()[0].split()[1:9]]
        time.sleep(0.1)
        after = [int(n) for n in stat.read_text().splitlines()[0].split()[1:9]]
        spent = [b - a for a, b in zip(before, after, strict=True)]
        if spent[3] >= 0.9 * sum(spent):  # the fourth figure is that of idle time
            return


def tick_length() -> float:
    """Nanoseconds of one tick of the processor's clock."""
    read = numba.njit(lambda: clock())
    read()
    start, ticks = time.perf_counter_ns(), read()
    time.sleep(0.5)
    return (time.perf_counter_ns() - start) / (read() - ticks)


def check(found: list[Slider]) -> None:
    """All of them answer alike."""
    for slider in found:
        for mine, other in zip(slider.out, found[0].out, strict=True):
            if not np.allclose(mine[1:], other[1:], rtol=1e-9):
                raise SystemExit(f"{slider.algorithm} answers otherwise than {found[0].algorithm}")


def throughput(
    op: sash.Operator, values: np.ndarray, size: int, rounds: int, patience: float
) -> dict[str, float]:
    """Nanoseconds a slide of each algorithm; and of the floor."""
    found = [Slider(name, op, values, size) for name in ("sba", "pba")]
    for slider in found:
        slider.slide()
    check(found)
    best = dict.fromkeys(("floor", "sba", "pba"), np.inf)
    for _ in range(rounds):
        wait_for_calm(patience)
        best["floor"] = min(best["floor"], seconds(lambda: np.maximum.accumulate(values)))
        for slider in found:
            for _ in range(3):  # a second core takes a moment to be there
                best[slider.algorithm] = min(best[slider.algorithm], seconds(slider.slide))
    return {name: spent / len(values) * 1e9 for name, spent in best.items()}


def latency(
    op: sash.Operator, values: np.ndarray, size: int, rounds: int, patience: float
) -> dict[str, Any]:
    """For each algorithm the ticks of its slides once the window is full, of its calmest round."""
    found = {name: Slider(name, op, values, size) for name in ("sba", "pba")}
    for slider in found.values():
        slider.timed()
    check(list(found.values()))
    calmest: dict[str, Any] = {}
    for _ in range(rounds):
        wait_for_calm(patience)
        for name, slider in found.items():
            ticks = slider.timed()[size:].copy()
            if name not in calmest or ticks.max() < calmest[name].max():
                calmest[name] = ticks
    return calmest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slides", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--patience", type=float, default=5.0, help="seconds a round may wait")
    parser.add_argument("--out", type=Path, default=Path("build/bench/pba.csv"))
    args = parser.parse_args()
    values = np.random.default_rng(0).random(args.slides + SIZE)
    rows: list[dict[str, Any]] = []

    def note(what: str, op: sash.Operator, algorithm: str, figure: str, value: float) -> None:
        rows.append(dict(zip(FIELDS, (what, op.name, algorithm, SIZE, figure, value), strict=True)))

    print(f"window of {SIZE:,} rows, {args.slides:,} slides\n\nthroughput, ns a slide (x floor)")
    missed = 0
    sketch = sash.MomentSketch()
    for op in (sash.Max(), sash.Sum(), sash.StdDev(), sketch):
        best = throughput(op, values, SIZE, args.rounds, args.patience)
        for name in ("sba", "pba"):
            note(
                "throughput", op, name, "ratio to np.maximum.accumulate", best[name] / best["floor"]
            )
        gain = best["sba"] / best["pba"]
        promise = ""
        if op is sketch:
            missed += gain < THROUGHPUT
            promise = f", at least {THROUGHPUT}: {'holds' if gain >= THROUGHPUT else 'MISSED'}"
        each = "   ".join(
            f"{n} {best[n]:6.2f} ({best[n] / best['floor']:5.2f})" for n in ("sba", "pba")
        )
        print(f"  {op.name:<14} {each}   gain {gain:.2f}{promise}", flush=True)
    ns = tick_length()
    print("\nlatency, ns a slide")
    for op in (sash.Max(), sketch):
        calmest = latency(op, values, SIZE, args.rounds, args.patience)
        for name, ticks in calmest.items():
            figures = {
                "max": ticks.max() * ns,
                "p99.99": np.quantile(ticks, 0.9999) * ns,
                "median": np.median(ticks) * ns,
                "mean": ticks.mean() * ns,
                "std": ticks.std() * ns,
            }
            for figure, value in figures.items():
                note("latency", op, name, f"{figure} ns", value)
            said = "   ".join(f"{figure} {value:,.0f}" for figure, value in figures.items())
            print(f"  {op.name:<14} {name}  {said}", flush=True)
        share = calmest["sba"].max() / calmest["pba"].max()
        promise = ""
        if op is sketch:
            missed += share < WORST
            promise = f", at least {WORST}: {'holds' if share >= WORST else 'MISSED'}"
        print(f"  {op.name:<14} the longest slide of sba is {share:.0f} x that of pba{promise}")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with args.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    print(f"\n{args.out} written; {missed} of the promised figures missed.")


if __name__ == "__main__":
    main()

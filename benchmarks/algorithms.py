"""What each algorithm costs: a slide, the longest slide, a bulk eviction, many ranges, one call.

    make bench-algorithms                       20 million rows, some minutes
    .venv/bin/python benchmarks/algorithms.py --rows 2000000 --only amta,fiba

Slides are in multiples of `np.maximum.accumulate` on the same array in the same run, the best of
interleaved rounds over the floor's best. Waits are read from a clock inside the compiled loop; a
machine that is interrupted adds to one slide or another, so the same slides are run several times
and each is given its shortest time. Results go to build/bench/algorithms.csv; with --record, those
that `sash.explain` quotes also to the package.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sash
from sash.aggregators import columns
from sash.aggregators.registry import for_operator, named
from sash.aggregators.running import Job

SLIDE_MOST = {
    **{"aba": 1.8, "two_stacks_lite": 2.0, "daba_lite": 2.2, "daba_cached": 2.2, "daba": 2.8},
    **{"two_stacks": 3.5, "slick_deque": 3.0, "flat_fit": 3.5, "amta": 8.0, "fiba": 12.0},
    **{"flat_fat": 40.0, "log_mta": 40.0},
}
LONG, LATENT, HUGE = 65_536, 16_384, 1 << 20
RANGES = [2**k for k in range(1, 11)] + [3, 10, 100, 300, 600, 1000]
RECORDED = Path("src/sash/aggregators/measured.csv")


@dataclass
class Figure:
    """One number: `most` is what it may be at most, if anything was promised."""

    figure: str
    algorithm: str
    value: float
    most: float | None = None
    note: str = ""


def operator_for(name: str) -> sash.Operator:
    """Max; a sum where an algorithm needs to take values back."""
    try:
        for_operator(name, sash.Max())
    except TypeError:
        return sash.Sum()
    return sash.Max()


def seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def slides(names: list[str], values: np.ndarray, rounds: int) -> Iterator[Figure]:
    """One fused slide of a long window, in multiples of the floor."""
    few = values[:100_000]
    for name in names:
        expected = sash.rolling(few, 1000, operator_for(name))
        found = sash.aggregator(name, operator_for(name)).slide(few, 1000)
        if not np.allclose(found, expected):
            raise SystemExit(f"{name} answers otherwise than rolling")
    floors: list[float] = []
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        floors += [seconds(lambda: np.maximum.accumulate(values)) for _ in range(2)]
        for name in names:
            window = sash.aggregator(name, operator_for(name))
            times[name].append(seconds(lambda window=window: window.slide(values, LONG)))
    for name in names:
        yield Figure("slide", name, min(times[name]) / min(floors), SLIDE_MOST.get(name))


class Timed:
    """A compiled loop that tells how long each answer took, in nanoseconds."""

    def __init__(self, name: str, values: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> None:
        operator = operator_for(name)
        leaves, _ = columns.leaves(columns.table(values), operator)
        self.job = Job(named(name), operator, leaves)
        self.starts, self.ends = starts.astype(np.int64), ends.astype(np.int64)
        self.room = int((ends - np.concatenate([starts[:1], starts[:-1]])).max())
        self.out, _ = self.job.outputs(len(starts))

    def run(self) -> np.ndarray:
        ticks = np.zeros(len(self.starts), np.int64)
        rings, state = self.job.rings(self.room), self.job.new_state()
        bounds = (self.starts, self.ends, len(self.starts))
        begun = time.perf_counter()
        self.job.call("timed_bounds", rings, state, self.job.rows, *bounds, self.out, ticks)
        took = time.perf_counter() - begun
        return ticks * (took * 1e9 / ticks.sum())

    def shortest(self, rounds: int) -> np.ndarray:
        """The time of each answer, the shortest of several runs of the same."""
        self.run()
        return np.min([self.run() for _ in range(rounds)], axis=0)


def waits(names: list[str], chance: np.random.Generator, rounds: int) -> Iterator[Figure]:
    """The longest of a million slides of a window that has been slid through once."""
    values = chance.random(2 * LATENT + 1_000_000)
    ends = np.arange(LATENT, len(values)) + 1
    starts = ends - LATENT
    for name in names:
        times = Timed(name, values, starts, ends).shortest(4 * rounds)[LATENT:]
        note = f"p99.99 {np.quantile(times, 0.9999):.0f} ns, deviation {times.std():.0f} ns"
        yield Figure("worst", name, times.max() / 1e3, note=note)


def evictions(names: list[str], chance: np.random.Generator, rounds: int) -> Iterator[Figure]:
    """All but one of 2^20 values at once, in single slides; and half of them, in microseconds."""
    values = chance.random(2 * HUGE)
    slid = np.arange(HUGE, 2 * HUGE)
    ends = np.concatenate([[HUGE], slid + 1, [slid[-1] + 1]])
    for name in names:
        for figure, left in (("bulk evict", 1), ("evict half", HUGE // 2)):
            starts = np.concatenate([[0], slid - HUGE + 1, [slid[-1] + 1 - left]])
            times = Timed(name, values, starts, ends).shortest(rounds)
            single = times[1:-1].mean()
            note = f"one slide {single:.1f} ns"
            if figure == "bulk evict":
                most = 50.0 if name in ("amta", "fiba") else None
                yield Figure(figure, name, times[-1] / single, most, note)
            else:
                yield Figure(figure, name, times[-1] / 1e3, None, note)


def ranges(names: list[str], values: np.ndarray, rounds: int) -> Iterator[Figure]:
    """A slide answered for many ranges at once, in multiples of the floor."""
    floor = min(seconds(lambda: np.maximum.accumulate(values)) for _ in range(5))
    for name in [n for n in names if hasattr(named(n), "query_last") and n != "recalc"]:
        options = {"ranges": RANGES} if name == "slide_side" else {}

        def run(name: str = name, options: Any = options) -> None:
            sash.aggregator(name, operator_for(name), **options).slide(values, RANGES)

        run()
        yield Figure("ranges", name, min(seconds(run) for _ in range(rounds)) / floor)


def singles(names: list[str], rounds: int) -> Iterator[Figure]:
    """One slide called from Python."""
    rows = [float(v % 37) for v in range(1000)]
    windows = {name: sash.aggregator(name, operator_for(name)) for name in names}
    times: dict[str, list[float]] = {name: [] for name in names}
    for window in windows.values():
        for v in rows[:100]:
            window.insert(v)

    def run(window: sash.Aggregator) -> None:
        for v in rows:
            window.evict()
            window.insert(v)
            window.query()

    for _ in range(5 * rounds):
        for name, window in windows.items():
            times[name].append(seconds(lambda window=window: run(window)))
    for name in names:
        yield Figure("single", name, min(times[name]) / len(rows) * 1e6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="names, with commas")
    parser.add_argument("--record", action="store_true", help="write what sash.explain quotes")
    args = parser.parse_args()
    chance = np.random.default_rng(0)
    values = chance.random(args.rows)
    names = (
        args.only.split(",") if args.only else [c.name for c in sash.algorithms() if not c.composed]
    )
    names = [n for n in names if n != "recalc"]
    found: list[Figure] = []

    def show(figures: Iterator[Figure]) -> None:
        for f in figures:
            found.append(f)
            most = "" if f.most is None else f"  (at most {f.most:g})"
            broken = "  BROKEN" if f.most is not None and f.value > f.most else ""
            print(f"{f.figure:10}  {f.algorithm:18} {f.value:10.3f}{most}{broken}  {f.note}")

    show(slides(names, values, args.rounds))
    show(waits(names, chance, args.rounds))
    show(evictions(names, chance, args.rounds))
    show(ranges(names, values[: args.rows // 20], args.rounds))
    show(singles(names, args.rounds))
    worst = {f.algorithm: f.value for f in found if f.figure == "worst"}
    if {"daba", "two_stacks"} <= worst.keys():
        ratio = worst["daba"] / worst["two_stacks"]
        show(iter([Figure("daba's longest slide over two_stacks'", "daba", ratio, 1 / 20)]))
    write(Path("build/bench/algorithms.csv"), found)
    if args.record:
        write(RECORDED, [f for f in found if f.figure in MEANING])
    broken = [f for f in found if f.most is not None and f.value > f.most]
    if broken:
        raise SystemExit(f"{len(broken)} promises broken")


def write(path: Path, figures: list[Figure]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(asdict(figures[0])))
        writer.writeheader()
        for f in figures:
            writer.writerow({**asdict(f), "value": f"{f.value:.4g}"})
    print(f"written to {path}")


if __name__ == "__main__":
    from sash.aggregators.choose import MEANING

    main()

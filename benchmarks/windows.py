"""What windows cost: time against rows, many keys against one, a burst against single slides.

    make bench-windows                          a minute or two
    .venv/bin/python benchmarks/windows.py --rows 300000

Each figure is a ratio measured in one run: the best of interleaved rounds, everything compiled
before. Times come as a Poisson stream, so that a window of time has never the same length twice.
Results go to build/bench/windows.csv.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import sash

SIZE = 1_000
BURST = 1_000_000


@dataclass
class Figure:
    """One number: `most` is what it may be at most, if anything was promised."""

    what: str
    operator: str
    value: float
    unit: str
    most: float | None = None


def seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def best(runs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The shortest time of each, all of them in turn, after one that does not count."""
    found = {name: float("inf") for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            took = seconds(run)
            if turn:
                found[name] = min(found[name], took)
    return found


def in_bulk(rows: int, rounds: int) -> list[Figure]:
    """push_many: rows, time, ends on a grid, sessions; and the floor, a copy of the values."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=rows)
    times = np.cumsum(rng.exponential(1e9, rows).astype(np.int64)).view("datetime64[ns]")
    copied = np.empty_like(values)
    found = []
    for op in (sash.Max(), sash.Sum(), sash.Mean()):

        def run(window: Any, timed: bool, op: sash.Operator = op) -> Callable[[], Any]:
            given = times if timed else None
            return lambda: sash.Window(op, window).push_many(values, given)

        took = best(
            {
                "copy": lambda: np.copyto(copied, values),
                "rows": run(sash.last(SIZE), False),
                "time": run(sash.last(f"{SIZE}s"), True),
                "time, every 100th row": run(sash.last(f"{SIZE}s", every=100), True),
                "time, every minute": run(sash.last(f"{SIZE}s", every="1min"), True),
                "tumbling": run(sash.tumbling(f"{SIZE}s"), True),
                "session": run(sash.session("3s"), True),
            },
            rounds,
        )
        each = took["rows"] / rows * 1e9
        found.append(Figure("push_many, rows", op.name, each, "ns a row"))
        found.append(
            Figure("push_many, rows against np.copyto", op.name, took["rows"] / took["copy"], "x")
        )
        for name in list(took)[2:]:
            most = 2.5 if name == "time" else None
            ratio = took[name] / took["rows"]
            found.append(Figure(f"push_many, {name} against rows", op.name, ratio, "x", most))
    return found


def with_keys(rows: int, rounds: int) -> list[Figure]:
    """One push_many over many keys, against the same rows of one key."""
    rng = np.random.default_rng(2)
    values = rng.normal(size=rows)
    times = np.cumsum(rng.integers(0, 3, rows))
    many, one = rng.integers(0, max(rows // 10, 1), rows), np.zeros(rows, np.int64)
    found = []
    windows = {"rows": sash.last(8), "time": sash.last(f"{rows}i")}
    for op in (sash.Max(), sash.Sum()):
        for name, window in windows.items():

            def run(
                keys: Any, again: bool, op: sash.Operator = op, window: Any = window
            ) -> Callable[[], Any]:
                given = None if isinstance(window.size, int) else times
                if not again:
                    return lambda: sash.KeyedWindow(op, window).push_many(values, given, keys=keys)
                kept = sash.KeyedWindow(op, window)
                kept.push_many(values, given, keys=keys)
                later = None if given is None else given + int(given[-1])

                def go() -> Any:
                    nonlocal later
                    answers = kept.push_many(values, later, keys=keys)
                    later = None if later is None else later + int(times[-1])
                    return answers

                return go

            took = best(
                {
                    "one": run(one, False),
                    "many": run(many, False),
                    "one again": run(one, True),
                    "many again": run(many, True),
                },
                rounds,
            )
            keys = f"{rows // 10:,} keys against one, {name}"
            found.append(Figure(f"{keys}, all new", op.name, took["many"] / took["one"], "x", 5.0))
            ratio = took["many again"] / took["one again"]
            found.append(Figure(f"{keys}, known", op.name, ratio, "x", 5.0))
            each = took["many"] / rows * 1e9
            found.append(Figure(f"{rows // 10:,} keys, {name}", op.name, each, "ns a row"))
    return found


def bursts(rounds: int) -> list[Figure]:
    """A row at which a slide policy lets a million leave, against single slides of that window."""
    single, burst = [], []
    for _ in range(rounds):
        window = sash.Window(sash.Sum(), sash.slide_while(f"total - old >= {BURST}"))
        window.push_many(np.ones(BURST))
        push = window.push
        for _ in range(200):
            single.append(seconds(partial(push, 1.0)))
        held = len(window)
        burst.append(seconds(partial(push, float(BURST))))
        assert held - len(window) == BURST - 1, "the burst did not evict what it should"
    slide = float(np.median(single))
    return [
        Figure("a single slide of a policy's window", "Sum", slide * 1e6, "µs"),
        Figure(f"a burst that evicts {BURST:,}", "Sum", min(burst) / slide, "slides", 100.0),
    ]


def one_by_one(rows: int) -> list[Figure]:
    """push, a row at a time."""
    found = []
    windows = {
        "rows": sash.last(100),
        "time": sash.last("100i"),
        "time, every 10th": sash.last("100i", every="10i"),
        "session": sash.session("1i"),
    }
    for name, definition in windows.items():
        window = sash.Window(sash.Max(), definition)
        timed = name != "rows"

        def run(window: sash.Window = window, timed: bool = timed) -> None:
            for i in range(rows):
                window.push(float(i % 7), i) if timed else window.push(float(i % 7))

        found.append(Figure(f"push, {name}", "Max", seconds(run) / rows * 1e6, "µs a row"))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    found: list[Figure] = []
    parts: list[Callable[[], list[Figure]]] = [
        lambda: in_bulk(given.rows, given.rounds),
        lambda: with_keys(given.rows, given.rounds),
        lambda: bursts(given.rounds),
        lambda: one_by_one(min(given.rows, 20_000)),
    ]
    for part in parts:
        for figure in part():
            found.append(figure)
            asked = ""
            if figure.most is not None:
                kept = "ok" if figure.value <= figure.most else "MISSED"
                asked = f"   at most {figure.most:g}: {kept}"
            print(f"{figure.what:55} {figure.operator:5} {figure.value:9.3g} {figure.unit}{asked}")
    out = Path("build/bench/windows.csv")
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(asdict(found[0])))
        writer.writeheader()
        writer.writerows(map(asdict, found))
    print(f"written to {out}")


if __name__ == "__main__":
    main()

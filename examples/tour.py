"""A short tour: answers over sliding windows of arrays, and what they cost.

Run it with `make tour`; with --quick the timings are of few rows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import sash


@sash.operator(partial={"hi": "float64", "lo": "float64"}, commutative=True, empty=None)
class Spread:
    """An operator of our own: compiled, like the built-in ones."""

    def identity():
        return -np.inf, np.inf

    def lift(v):
        return v, v

    def combine(a, b):
        return max(a.hi, b.hi), min(a.lo, b.lo)

    def lower(p):
        return p.hi - p.lo


def answers() -> None:
    """Calls of one day: the longest of the last three, who made it, and the spread."""
    calls = {
        "len": np.array([3.0, 9.0, 2.0, 4.0, 4.0, 1.0, 7.0]),
        "caller": np.array(["ann", "bob", "cid", "dot", "eve", "fay", "gus"]),
    }
    operator = sash.Together(
        longest=sash.Max("len"),
        who=sash.ArgMax("len", "caller"),
        spread=Spread("len"),
        rise=sash.LongestRise("len"),
    )
    found = sash.rolling(calls, 3, operator)
    print("The last three calls, answered at each:\n")
    print(f"  {'len':>5} {'caller':<7} {'longest':>7} {'who':<5} {'spread':>6}  longest rise")
    for i, (length, caller) in enumerate(zip(*calls.values(), strict=True)):
        rise = found["rise"][i]
        print(
            f"  {length:5.1f} {caller:<7} {found['longest'][i]:7.1f} {found['who'][i]:<5} "
            f"{found['spread'][i]:6.1f}  rows {rise['start']} to {rise['end']}"
        )


def one_by_one() -> None:
    """One window, kept by DABA, as values come and go."""
    print("\nOne window, kept by DABA; max of what it holds:\n")
    window = sash.aggregator("daba", sash.Max())
    for value in (2, 6, 3, 5, 3):
        window.insert(value)
    shown = [f"  2 6 3 5 3 -> {window.query()}"]
    window.evict()
    shown.append(f"evict -> {window.query()}")
    window.insert(1)
    window.evict()
    shown.append(f"insert 1, evict -> {window.query()}")
    print("   ".join(shown))


def nanoseconds(run: Callable[[], object], rows: int) -> float:
    run()  # compiles, or loads what was compiled before
    best = min(_timed(run) for _ in range(3))
    return best / rows * 1e9


def _timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def timings(rows: int) -> None:
    """What an answer costs, whatever the window: in multiples of NumPy's running maximum."""
    values = np.random.default_rng(0).random(rows)
    floor = nanoseconds(lambda: np.maximum.accumulate(values), rows)
    print(
        f"\n{rows:,} rows; np.maximum.accumulate takes {floor:.1f} ns a row. Multiples of that:\n"
    )
    sizes = (16, 1_024, 65_536, 1_048_576)
    print(f"  {'window':<14}" + "".join(f"{size:>11,}" for size in sizes))
    for operator in (sash.Max(), sash.Sum(), sash.Mean(), sash.StdDev(), Spread()):
        costs = [
            nanoseconds(lambda size=size, op=operator: sash.rolling(values, size, op), rows) / floor
            for size in sizes
        ]
        print(f"  {operator.name:<14}" + "".join(f"{cost:11.2f}" for cost in costs))


if __name__ == "__main__":
    answers()
    one_by_one()
    timings(50_000 if "--quick" in sys.argv[1:] else 5_000_000)

"""Windows in a store against windows in memory: slides, memory, evictions.

    make bench-stores                                   10 minutes; redis-server for Redis' figures
    .venv/bin/python benchmarks/stores.py --bits 16     windows of 2^16 values instead of 2^20

Values come one by one, as in the paper (Constant-Time Sliding Window Framework …, 2019), so what is
in memory runs in plain Python too. Each figure is a ratio measured in one run: the median of
interleaved rounds. What each window answers is compared. Results go to build/bench/stores.csv. The
paper's own experiments, and pictures of them, are those of `sash figures`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from promises import Promised, written

import sash
from sash.stores import Place, Redis, RocksDB, Store

BUILD = Path("build/bench")
MEMORY = "in memory"
MOST_IN_MEMORY = 512 << 20
"""Bytes; a window in memory that takes more grows no further."""


@dataclass
class Figure(Promised):
    what: str
    value: float
    unit: str
    least: float | None = None
    most: float | None = None


def show(found: list[Figure], *figures: Figure) -> None:
    for figure in figures:
        found.append(figure)
        print(f"{figure.what:68} {figure.value:12.4g} {figure.unit}{figure.verdict}", flush=True)


@contextmanager
def a_redis_server(folder: Path) -> Iterator[str | None]:
    """The address of a server of our own, with an append-only file; None if there is none."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        print("redis-server is not installed: no figures of Redis.")
        yield None
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = ["--save", "", "--appendonly", "yes", "--dir", str(folder), "--bind", "127.0.0.1"]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([program, "--port", str(port), *settings], stdout=log)
    try:
        for _ in range(500):
            with socket.socket() as attempt:
                if attempt.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait()


def opened(name: str, algorithm: str, store: Store | None) -> Any:
    place = None if store is None else Place(store, f"{algorithm} {name}")
    return sash.aggregator(algorithm, sash.Sum(), store=place)


# Slides


def slides(stores: dict[str, Store | None], size: int, count: int, rounds: int) -> list[Figure]:
    """Evict, insert, query at a window of a constant size."""
    windows = {name: opened("slides", "amta", store) for name, store in stores.items()}
    values = np.random.default_rng(1).integers(0, 1000, size).astype(float).tolist()
    for window in windows.values():
        for value in values:
            window.insert(value)
    took: dict[str, list[float]] = {name: [] for name in windows}
    answers = []
    for turn in range(rounds + 1):
        for name, window in windows.items():
            start = time.perf_counter()
            for value in values[:count]:
                window.evict()
                window.insert(value)
                answer = window.query()
            if turn:
                took[name].append((time.perf_counter() - start) / count)
            answers.append(answer)
        assert len({round(each, 6) for each in answers}) == 1, answers
        answers.clear()
    found = [Figure(f"a slide, {MEMORY}", median(took[MEMORY]) * 1e6, "µs")]
    for name, most in (("RocksDB", 3.0), ("Redis", 6.0)):
        if name in took:
            found.append(Figure(f"a slide, {name}", median(took[name]) * 1e6, "µs"))
            ratios = [a / b for a, b in zip(took[name], took[MEMORY], strict=True)]
            what = f"a slide, {name} against memory"
            found.append(Figure(what, median(ratios), "x", most=most))
    for name, window in windows.items():
        if name != MEMORY:
            window.close()
    return found


# Memory


def resident() -> int:
    """What this process holds in memory now, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) << 10
    raise RuntimeError("this system does not tell what a process holds in memory.")


def growing(
    algorithm: str, folder: str | None, address: str | None, sizes: list[int], told: Any
) -> None:
    """Tell what a process holds in memory when its window has these sizes."""
    store: Store | None = None
    if folder is not None:
        store = RocksDB(folder)
    elif address is not None:
        store = Redis(address)
    window = opened("growing", algorithm, store)
    base = resident()
    for size in sizes:
        while len(window) < size:
            window.insert(float(len(window) % 1000))
        expected = sum(range(1000)) * (size // 1000) + sum(range(size % 1000))
        assert window.query() == expected
        told.send((size, resident() - base))
        if resident() - base > MOST_IN_MEMORY and store is None and size < sizes[-1]:
            break
    told.send(None)
    if store is not None:
        window.abandon()


def grown(algorithm: str, sizes: list[int], **where: Any) -> dict[int, int]:
    """By size of the window, how many bytes more than for an empty one; in a new process."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    given = where.get("folder"), where.get("address"), sizes, there
    process = context.Process(target=growing, args=(algorithm, *given))
    process.start()
    there.close()
    found: dict[int, int] = {}
    while (pair := here.recv()) is not None:
        found[pair[0]] = pair[1]
    process.join()
    return found


def memory(bits: int, folder: Path) -> list[Figure]:
    """How much a window of 2^bits values takes more than one of 2^16."""
    sizes = [1 << 16, 1 << bits]
    stored = grown("amta", sizes, folder=str(folder / "memory"))
    alone = grown("amta", sizes)
    what = f"memory, window from 2^16 to 2^{bits} values"
    reached = max(alone)
    return [
        Figure(f"{what}, RocksDB", (stored[sizes[1]] - stored[sizes[0]]) / 2**20, "MB", most=64),
        Figure(
            f"memory, window from 2^16 to {reached:,} values, {MEMORY}",
            (alone[reached] - alone[sizes[0]]) / 2**20,
            "MB",
        ),
    ]


# Bulk evictions


def evictions(stores: dict[str, Store | None], bits: int, rounds: int) -> list[Figure]:
    """How long an eviction of k values takes, for many k."""
    size = 1 << bits
    counts = [1 << k for k in range(bits)] + [size - 1]
    times: dict[str, list[tuple[int, float]]] = {}
    series = [(f"{a}, {n}", a, n) for a in ("amta", "log_mta") for n in stores]
    for name, algorithm, where in [*series, (f"daba, {MEMORY}", "daba", MEMORY)]:
        window = opened("evictions", algorithm, stores[where])
        took: dict[int, list[float]] = {count: [] for count in counts}
        fed = 0
        for _ in range(rounds):
            for count in counts:
                while len(window) < size:
                    window.insert(float(fed % 1000))
                    fed += 1
                if where != MEMORY:
                    window.sync()
                start = time.perf_counter()
                window.bulk_evict(count)
                answer = window.query()
                took[count].append(time.perf_counter() - start)
                first = fed - size + count
                assert abs(answer - _sum_between(first, fed)) < 1e-3
        times[name] = [(count, median(each)) for count, each in took.items()]
        if where != MEMORY:
            window.close()
    found = []
    for name, points in times.items():
        by = dict(points)
        worst, at = max((seconds, count) for count, seconds in points)
        found.append(Figure(f"evicting {at:,} of {size:,}, {name} (worst)", worst * 1e3, "ms"))
        if not name.endswith(MEMORY):
            # From 2^10 on something must be read, a block more for each level more: the log factor.
            least = 10
            later = max(seconds for count, seconds in points if count >= 1 << least)
            what = f"worst of k ≥ 2^{least} against k = 2^{least}, {name}"
            found.append(Figure(what, later / by[1 << least], "x", most=max(bits - least, 2)))
            found.append(Figure(f"worst of all k against k = 1, {name}", worst / by[1], "x"))
    return found


def _sum_between(first: int, last: int) -> int:
    def upto(n: int) -> int:
        return n // 1000 * 499_500 + sum(range(n % 1000))

    return upto(last) - upto(first)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bits", type=int, default=20, help="windows of 2^bits values")
    parser.add_argument("--most-bits", type=int, default=24, help="of the one that grows")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    found: list[Figure] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        (folder / "redis").mkdir()
        address = stack.enter_context(a_redis_server(folder / "redis"))
        stores: dict[str, Store | None] = {MEMORY: None, "RocksDB": RocksDB(folder / "rocks")}
        if address is not None:
            stores["Redis"] = Redis(address)
        size = 1 << given.bits
        show(found, *slides(stores, size, min(size, 100_000), given.rounds))
        show(found, *memory(given.most_bits, folder))
        show(found, *evictions(stores, given.bits, min(given.rounds, 3)))
        for store in stores.values():
            if store is not None:
                store.close()
    written(found, BUILD / "stores.csv")


if __name__ == "__main__":
    main()

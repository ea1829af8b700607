"""How much memory a Python worker takes while one huge group passes through `sash.spark.sliding`.

    make bench-spark-memory                                  20 million rows of one key
    .venv/bin/python benchmarks/spark_memory.py --rows 500000

A window holds 1,000 rows, so that is about what a worker may hold, however long the group is. Each
pass has a worker of its own, which finds everything compiled by the first: one that takes a single
batch tells what is held after it, and one that takes the whole group what is held at most.
"""

from __future__ import annotations

import argparse
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from os import getpid
from pathlib import Path

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

import sash
import sash.spark

SIZE = 1_000
ALLOWED = 200.0
AGGREGATES = {
    "highest": sash.Max("v"),
    "mean": sash.Mean("v"),
    "when": sash.ArgMax("v", "t"),
}


class Memory:
    """What Spark's Python workers hold, from time to time, in MB by process."""

    def __init__(self, interval: float = 0.02) -> None:
        self.interval = interval
        self.held: dict[int, list[float]] = defaultdict(list)

    @contextmanager
    def watched(self) -> Iterator[None]:
        over = threading.Event()

        def look() -> None:
            while not over.wait(self.interval):
                self.look()

        watch = threading.Thread(target=look)
        watch.start()
        try:
            yield
        finally:
            over.set()
            watch.join()

    def look(self) -> None:
        for worker in workers():
            held = resident(worker)
            if held is not None:
                self.held[worker].append(held)


def workers() -> list[int]:
    """The children of the daemon that this process' Spark starts Python workers with."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            parent = parent_of(folder)
            if parent is not None:
                parents[int(folder.name)] = parent
    mine = {getpid()}
    while True:
        more = {child for child, parent in parents.items() if parent in mine} - mine
        if not more:
            break
        mine |= more
    daemons = {each for each in mine if is_daemon(each) and not is_daemon(parents.get(each))}
    return sorted(child for child in mine if parents.get(child) in daemons)


def parent_of(folder: Path) -> int | None:
    try:
        return int(folder.joinpath("stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it is over
        return None


def is_daemon(process: int | None) -> bool:
    try:
        return b"pyspark.daemon" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def resident(process: int) -> float | None:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return None
    kilobytes = [int(line.split()[1]) for line in lines if line.startswith("VmRSS:")]
    return kilobytes[0] * 1024 / 1e6 if kilobytes else None


def group(spark: SparkSession, rows: int) -> DataFrame:
    """Rows of one key."""
    numbers = spark.range(rows)
    return numbers.select(
        F.lit(1).cast("bigint").alias("k"),
        F.timestamp_micros("id").alias("t"),
        F.rand(7).alias("v"),
    )


def session() -> SparkSession:
    """A new worker for each task: one that waits for long would be replaced by a new one anyway."""
    reuse = {"spark.python.worker.reuse": False}
    return sash.spark.session("local[1]", progress=False, **reuse)


def run(spark: SparkSession, rows: int) -> int:
    """All of them through the windows; how many came out."""
    seen = Observation()
    found = sash.spark.sliding(
        group(spark, rows), SIZE, AGGREGATES, by="k", order_by="t", split=False
    )
    counted = found.observe(seen, F.count("highest").alias("rows"))
    counted.write.format("noop").mode("overwrite").save()
    return int(seen.get["rows"])


def held_during(spark: SparkSession, rows: int) -> list[list[float]]:
    """What each worker held, look by look, while so many rows passed."""
    memory = Memory()
    with memory.watched():
        came = run(spark, rows)
    if came != rows:
        raise SystemExit(f"{rows:,} rows went in, and {came:,} came out")
    if not memory.held:
        raise SystemExit("no Python worker was seen: this needs the /proc of Linux")
    return list(memory.held.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    args = parser.parse_args()
    spark = session()
    batch = int(spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") or 10_000)
    run(spark, batch)
    first = max(held[-1] for held in held_during(spark, batch))
    passes = held_during(spark, args.rows)
    spark.stop()
    peak, looks = max(map(max, passes)), sum(map(len, passes))
    grown = peak - first
    print(f"{args.rows:,} rows of one key, windows of {SIZE:,}: {', '.join(AGGREGATES)}")
    print(f"  after a batch of {batch:,}, a worker holds {first:,.0f} MB")
    print(f"  during the whole pass, at most {peak:,.0f} MB ({looks:,} looks)")
    verdict = "met" if grown <= ALLOWED else "NOT MET"
    print(f"  {grown:,.0f} MB more, at most {ALLOWED:,.0f}: {verdict}")


if __name__ == "__main__":
    main()

"""A stream whose keys come and go, 10 million in all: what workers and the state hold meanwhile.

    make soak-stream                                         about ten minutes
    .venv/bin/python benchmarks/stream_soak.py --keys 500000

Every key has two rows, in two micro-batches one after the other, and is idle from then on. So as
many keys are held at any time as three micro-batches bring, and neither the memory of workers nor
the state may grow once that many have come.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from spark_memory import resident, workers

import sash
import sash.spark

ROWS = 200_000
"""Of a micro-batch. Half of them are of new keys."""
STEP = 10
"""Microseconds between two rows."""
GROWN = 1.2
"""More than this, and memory is not flat."""


def coming_and_going(spark: SparkSession) -> DataFrame:
    """Even numbers are new keys, odd ones the keys of the micro-batch before."""
    numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", ROWS).load()
    value = F.col("value")
    before = F.greatest(value - (ROWS + 1), F.lit(0))
    return numbers.select(
        F.when(value % 2 == 0, value).otherwise(before).alias("k"),
        F.timestamp_micros(value * STEP).alias("t"),
        F.rand(3).alias("v"),
    )


class Held:
    """The memory of all workers together, after each micro-batch."""

    def __init__(self) -> None:
        self.seen: dict[int, tuple[float, dict[str, Any]]] = {}

    def look(self, progress: Any) -> None:
        counts = progress["observedMetrics"].get("sash")
        if counts is not None and progress["batchId"] not in self.seen:
            held = sum(filter(None, map(resident, workers())))
            self.seen[progress["batchId"]] = held, counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=10_000_000)
    args = parser.parse_args()
    batches = max(-(-args.keys // (ROWS // 2)), 20)
    settings = {"spark.sql.shuffle.partitions": 2}
    spark = sash.spark.session("local[2]", progress=False, **settings)
    slid = sash.spark.sliding(
        coming_and_going(spark),
        "1s",
        {"highest": sash.Max("v"), "mean": sash.Mean("v")},
        by="k",
        order_by="t",
        idle=f"{2 * ROWS * STEP}us",
    )
    held = Held()
    with tempfile.TemporaryDirectory() as folder:
        query = (
            slid.writeStream.format("noop")
            .option("checkpointLocation", str(Path(folder) / "checkpoint"))
            .start()
        )
        while query.isActive and len(held.seen) < batches:
            time.sleep(0.05)
            if query.lastProgress is not None:
                held.look(query.lastProgress)
                if sys.stderr.isatty():
                    print(f"\r{len(held.seen)} of {batches} micro-batches", end="", file=sys.stderr)
        if query.exception() is not None:
            raise SystemExit(str(query.exception()))
        threading.Thread(target=query.stop).start()
        query.awaitTermination()
    spark.stop()
    tell(held, args.keys)


def tell(held: Held, keys: int) -> None:
    looks = [held.seen[number] for number in sorted(held.seen)]
    fifth = len(looks) // 5
    early, late = looks[fifth : 2 * fifth], looks[-fifth:]
    print(f"{keys:,} keys that come and go, in {len(looks)} micro-batches of {ROWS:,} rows")
    print(f"  {'':<24}{'second fifth':>14}{'last fifth':>14}")
    told = {
        "keys held": [max(counts["keys"] for _, counts in part) for part in (early, late)],
        "state, MB": [max(counts["state_bytes"] for _, counts in p) / 1e6 for p in (early, late)],
        "workers, MB": [max(memory for memory, _ in part) for part in (early, late)],
    }
    for name, (first, last) in told.items():
        verdict = "met" if last <= GROWN * first else "NOT MET"
        print(f"  {name:<24}{first:14,.0f}{last:14,.0f}   at most {GROWN:g} x: {verdict}")


if __name__ == "__main__":
    main()

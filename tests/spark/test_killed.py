"""A query that is killed, mid-batch or not, and started again: no row is lost or doubled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spark.engines import Asked, locally, rows_of, same

import sash

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 400
"""In a micro-batch."""
LATENESS = 40
ASKED = Asked(50, {"s": sash.Sum("x"), "hi": sash.Max("x"), "said": sash.Concat("y")}, by=("k",))
PROGRAM = """
    import sys

    import sash

    folder, lateness = sys.argv[1:]
    settings = {"spark.sql.shuffle.partitions": 2, "spark.driver.memory": "1g"}
    spark = sash.spark.session("local[2]", progress=False, **settings)
    schema = "k string, t bigint, x bigint, y string, id bigint"
    rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    slid = sash.spark.sliding(
        rows.parquet(f"{folder}/source"),
        50,
        {"s": sash.Sum("x"), "hi": sash.Max("x"), "said": sash.Concat("y")},
        by="k",
        order_by="t",
        lateness=lateness,
    )
    query = (
        slid.writeStream.format("parquet")
        .option("path", f"{folder}/answers")
        .option("checkpointLocation", f"{folder}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
"""


def some_rows(batches: int) -> pa.Table:
    draw = np.random.default_rng(8)
    count = batches * ROWS
    return pa.table(
        {
            "k": draw.choice(["a", "b", "c", "d"], count),
            "t": np.cumsum(draw.choice([0, 1, 2], count)),
            "x": pa.array(draw.integers(-9, 9, count), mask=draw.random(count) < 0.1),
            "y": draw.choice(["p", "q"], count),
            "id": np.arange(count),
        }
    )


def write_source(rows: pa.Table, folder: Path) -> None:
    """In disorder within the lateness; at the end a row that lets all others go."""
    folder.mkdir()
    moved = rows["t"].to_numpy() + np.random.default_rng(9).random(len(rows)) * LATENESS
    rows = rows.take(np.argsort(moved, kind="stable"))
    parts = [rows.slice(at, ROWS) for at in range(0, len(rows), ROWS)]
    last = pa.table(
        {"k": ["a"], "t": [10**6], "x": [0], "y": ["z"], "id": [-1]}, schema=rows.schema
    )
    for number, part in enumerate([*parts, last]):
        path = folder / f"{number:04d}.parquet"
        pq.write_table(part, path)
        os.utime(path, (number + 1, number + 1))


def run(folder: Path, until: float | None = None) -> bool:
    """Run the query, to its end, or until it is killed when it has come that far and a bit."""
    program = folder / "program.py"
    program.write_text(dedent(PROGRAM), encoding="utf-8")
    command = [sys.executable, str(program), str(folder), f"{LATENESS}i"]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            command, start_new_session=True, stdout=log, stderr=log, cwd=folder, env=environment
        )
    began = time.monotonic()
    try:
        while process.poll() is None:
            if until is not None and committed(folder) >= until:
                time.sleep(until % 1)  # into the next batch
                return False
            assert time.monotonic() - began < 400, (folder / "log").read_text()[-3000:]
            time.sleep(0.01)
        assert process.returncode == 0, (folder / "log").read_text()[-3000:]
        return True
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # Java and the workers too
        process.wait()


def committed(folder: Path) -> int:
    commits = folder / "checkpoint" / "commits"
    return sum(1 for path in commits.glob("*") if path.name.isdigit()) if commits.exists() else 0


def check_killed(spark: SparkSession, folder: Path, kills: int, batches: int) -> None:
    rows = some_rows(batches)
    write_source(rows, folder / "source")
    # Far from the end, which a busy machine may come to before it is looked at again.
    moments = np.sort(np.random.default_rng(kills).uniform(1, 0.7 * batches, kills))
    killed = sum(not run(folder, until=float(moment)) for moment in moments)
    assert killed == kills
    assert run(folder)
    found = rows_of(spark.read.parquet(str(folder / "answers")).toArrow())
    same(found, locally(rows, ASKED), f"killed {kills} times")


def test_killed(spark: SparkSession, tmp_path: Path) -> None:
    check_killed(spark, tmp_path, kills=1, batches=6)


@pytest.mark.full
def test_killed_often(spark: SparkSession, tmp_path: Path) -> None:
    check_killed(spark, tmp_path, kills=20, batches=24)

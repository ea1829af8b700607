"""`sash run --stream`, killed and started again by the same command: each answer once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from spark.test_pipelines import CSV, QUERIES, SINK, batch, lines, pipeline, same, write_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES, ROWS = 12, 60
SASH = str(Path(sys.executable).with_name("sash"))

__all__ = ["pipeline"]  # the fixture


def command(file: Path, *more: str) -> list[str]:
    conf = ["spark.sql.shuffle.partitions=2", "spark.driver.memory=1g"]
    settings = [part for each in conf for part in ("--conf", each)]
    return [SASH, "run", str(file), "--stream", "--until-idle", "--json", *settings, *more]


def run(file: Path, kill_after: int | None = None) -> dict[str, Any] | None:
    """To its end, or until it is killed a bit after so many micro-batches have been committed."""
    commits = file.parent / "stream" / "_checkpoint" / "commits"
    started = subprocess.Popen(
        command(file, "--master", "local[2]"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    if kill_after is None:
        out, err = started.communicate(timeout=300)
        assert started.returncode == 0, err
        assert "Traceback" not in err
        return dict(json.loads(out))
    until = time.monotonic() + 240
    while started.poll() is None and time.monotonic() < until:
        if commits.is_dir() and sum(p.name.isdigit() for p in commits.iterdir()) >= kill_after:
            break
        time.sleep(0.05)
    time.sleep(0.3 * (kill_after % 3))
    assert started.poll() is None, started.communicate()
    os.killpg(started.pid, signal.SIGKILL)
    started.communicate()
    return None


@pytest.mark.parametrize("kills", [[3], pytest.param([1, 2, 4, 5, 8], marks=pytest.mark.full)])
def test_killed(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any], kills: list[int]
) -> None:
    for number in range(FILES):
        write_lines(tmp_path / "data", number, lines(ROWS * number, ROWS))
    as_batch, as_stream = (
        pipeline(CSV, QUERIES, SINK, path=path, name=path) for path in ("batch", "stream")
    )
    for after in kills:
        run(as_stream.file, after)
    told = run(as_stream.file)
    assert told is not None and told["micro_batches"] <= FILES - kills[-1]
    batch(spark, as_batch)
    same(as_batch, as_stream)


@pytest.mark.full
def test_by_spark_connect(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]
) -> None:
    """Batch, and streams side by side; nothing is still open, as a row comes long after."""
    write_lines(tmp_path / "data", 0, lines(0, 100))
    late = "\n".join(f"{1000 + k},2030-01-01T00:00:00Z,1.0,p{k}" for k in range(3))
    write_lines(tmp_path / "data", 1, [late])
    made = {
        path: pipeline(CSV, QUERIES, SINK, path=path, name=path)
        for path in ("here", "batch", "stream")
    }
    batch(spark, made["here"])
    environment = {**os.environ, "SPARK_TESTING": "1"}
    for name in ("batch", "stream"):
        done = subprocess.run(
            [
                each
                for each in command(made[name].file, "--remote", "local[2]")
                if name == "stream" or each not in ("--stream", "--until-idle")
            ],
            capture_output=True,
            text=True,
            env=environment,
            timeout=400,
        )
        assert done.returncode == 0, done.stderr
    same(made["here"], made["batch"])
    told = json.loads(done.stdout)
    assert told["quarantined"] and told["rows"] == 98 + 3
    answers = spark.read.parquet(made["stream"].sink.path_of("recent"))
    assert answers.count() == 98

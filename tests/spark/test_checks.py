"""What `check` says of a session."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

import sash
from sash.spark.checks import require, version_findings, worker_findings
from sash.spark.settings import BATCH_ROWS, CHANGELOG, PARTITIONS
from sash.spark.workers import Workers, _look_at, _refused, ask_workers, look_at_workers

Settings = Callable[..., None]


def test_nothing_to_say(spark: SparkSession) -> None:
    assert sash.spark.check(spark) == []
    require(spark, streaming=True)


@pytest.mark.parametrize(
    ("conf", "sentence"),
    [
        ({BATCH_ROWS: 10}, f"{BATCH_ROWS} is 10, and Arrow batches of 1,000 to 1,000,000 rows"),
        ({BATCH_ROWS: 0}, f"{BATCH_ROWS} is no bound at all, and"),
        ({PARTITIONS: 200}, f"{PARTITIONS} is 200 on 2 cores, and every micro-batch"),
        ({CHANGELOG: False}, f"{CHANGELOG} is off, so that every micro-batch"),
    ],
)
def test_unwise(
    conf: dict[str, Any], sentence: str, spark: SparkSession, settings: Settings
) -> None:
    settings(**conf)
    (said,) = sash.spark.check(spark)
    assert said.startswith(sentence)
    # The sentence ends with what to write: that done, there is nothing to say.
    fix = said[said.index("spark.conf.set(") :].removesuffix(".")
    exec(fix, {"spark": spark})
    assert sash.spark.check(spark) == []


def test_workers_answer_the_same_by_either_way(spark: SparkSession) -> None:
    """Those that are here are looked at; those of a cluster are asked by a job."""
    seen, asked = look_at_workers(spark), ask_workers(spark)
    assert seen == asked
    assert asked.executable == sys.executable
    assert list(worker_findings(asked)) == []


def test_old_spark() -> None:
    old: Any = SimpleNamespace(version="4.0.1")
    (finding,) = version_findings(old)
    assert finding.stops == "everything"
    assert finding.sentence.startswith("the session runs Spark 4.0.1, and Sash needs 4.1 or newer")
    assert not list(version_findings(SimpleNamespace(version="4.2.0-SNAPSHOT")))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("workers", "sentence", "stops"),
    [
        (
            Workers(python="3.9", executable="/usr/bin/python3", wanted="3.11"),
            r"the workers run Python 3\.9 \(/usr/bin/python3\) and this program 3\.11, which Spark",
            "everything",
        ),
        (
            Workers(problem="boom"),
            r"Python does not run on Spark's workers \(boom\): set PYSPARK",
            "everything",
        ),
        (
            Workers(python="3.11", wanted="3.11", sash="0.1", sash_wanted="0.2", protobuf="7.0"),
            r"the workers have sash 0\.1 and this program 0\.2: install the same",
            "nothing",
        ),
        (
            Workers(python="3.11", wanted="3.11", protobuf="6.33.4"),
            r"streams need protobuf 6\.33\.5 or newer on the workers, which have 6\.33\.4: pip",
            "streams",
        ),
        (
            Workers(python="3.11", wanted="3.11"),
            r"streams need protobuf 6\.33\.5 or newer on the workers, which have none: pip install",
            "streams",
        ),
    ],
)
def test_workers(workers: Workers, sentence: str, stops: str) -> None:
    (finding,) = worker_findings(workers)
    assert re.match(sentence, finding.sentence)
    assert finding.stops == stops


def test_a_python_that_is_not_there(tmp_path: Path) -> None:
    (finding,) = worker_findings(_look_at(str(tmp_path / "python9")))
    assert "python9" in finding.sentence and finding.stops == "everything"
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho nothing here >&2; exit 1\n")
    broken.chmod(0o755)
    assert _look_at(os.fspath(broken)).problem == f"{broken}: nothing here"


def test_a_worker_that_refuses() -> None:
    """As Spark words it, in the middle of a Java stack trace."""
    said = """Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times
    pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker \
has different version: 3.9 than that in driver: 3.11, PySpark cannot run with different"""
    assert _refused(said).python == "3.9"
    assert "boom" in _refused("[X] it failed\nValueError: boom\n\tat java.lang").problem


def test_not_a_session() -> None:
    for call in (sash.spark.check, require):
        with pytest.raises(TypeError, match=r"spark is a SparkSession.*not None"):
            call(None)  # type: ignore[arg-type]

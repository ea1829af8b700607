"""One Spark session for all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

import sash

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Lower than what Sash would choose: other tests run beside. As the environment has it, a session
# that docs/spark.md has started is as good.
os.environ.setdefault("SPARK_DRIVER_MEMORY", "2g")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """With two cores. Whoever changes its settings puts them back (`settings`)."""
    spark = sash.spark.session("local[2]", "tests", progress=False)
    yield spark
    spark.stop()


@pytest.fixture
def settings(spark: SparkSession) -> Iterator[Callable[..., None]]:
    """Change settings of the session, `settings(**{"spark.x.y": value})`, for one test."""
    before = spark.conf.getAll

    def change(**wanted: object) -> None:
        for name, value in wanted.items():
            spark.conf.set(name, value)

    yield change
    for name in spark.conf.getAll.keys() - before.keys():
        spark.conf.unset(name)
    for name, value in before.items():
        if spark.conf.get(name, None) != value:
            spark.conf.set(name, value)


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a program in a Python of its own: for what only a first session shows."""

    def run(program: str, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        path = tmp_path / "program.py"
        path.write_text(dedent(program), encoding="utf-8")
        return subprocess.run(
            [*(command or [sys.executable]), str(path)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=300,
            env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"} | environment,
        )

    return run

"""What Python the workers run, and what is installed there.

Workers on this machine run a command that is known: it is run here, once, which takes far less
than a Spark job. Others are asked by a job of one row.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from typing import Any

from pyspark.sql import SparkSession

from sash.spark.kind import is_connect
from sash.spark.settings import local_threads

OLDEST_PROTOBUF = (6, 33, 5)
"""What transformWithState's workers import; pyspark does not ask for it."""

NEEDED = ("sash", "numpy", "numba", "pyarrow")

LOOK = f"""
import json, sys
from importlib import metadata, util

def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None

found = json.dumps({{
    "python": "%d.%d" % sys.version_info[:2],
    "executable": sys.executable,
    "missing": [name for name in {NEEDED!r} if util.find_spec(name) is None],
    "sash": version("sash"),
    "protobuf": version("protobuf"),
}})
"""
"""Run by the workers' Python, which may be an old one and have nothing of ours."""


@dataclass(frozen=True)
class Workers:
    """The workers' Python, beside this program's; or the problem why it did not answer."""

    python: str = ""
    executable: str = ""
    missing: tuple[str, ...] = ()
    sash: str | None = None
    protobuf: str | None = None
    problem: str = ""
    wanted: str = f"{sys.version_info[0]}.{sys.version_info[1]}"
    sash_wanted: str | None = None


def look_at_workers(spark: SparkSession) -> Workers | None:
    """What workers on this machine run; None if they are elsewhere, or cannot be told."""
    if is_connect(spark) or local_threads(spark.conf.get("spark.master", None)) is None:
        return None
    return _look_at(spark.sparkContext.pythonExec)


@cache
def _look_at(python: str) -> Workers:
    command = [python, "-c", f"{LOOK}\nprint(found)"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return Workers(problem=str(problem))
    if done.returncode:
        return Workers(problem=f"{python}: {_last_line(done.stderr)}")
    return _read(done.stdout)


def ask_workers(spark: SparkSession) -> Workers:
    """The same, of one of the workers of any session."""
    try:
        rows = spark.range(1).mapInArrow(_looking(LOOK), "found string").collect()
    except Exception as problem:
        return _refused(str(problem))
    return _read(rows[0].found)


def _looking(code: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    # A function within a function travels as code: a worker without sash can run it, too.
    def look(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for _ in batches:
            names: dict[str, Any] = {}
            exec(code, names)
            yield pyarrow.RecordBatch.from_pydict({"found": [names["found"]]})

    return look


def _refused(said: str) -> Workers:
    other = re.search(r"Python in worker has different version: (\d+\.\d+)", said)
    if other:
        return Workers(python=other[1], executable="python")
    lines = said.strip().splitlines()
    telling = [line for line in lines if re.search(r"(Error|Exception|IMPORT\w*)\b.*: ", line)]
    return Workers(problem=(telling or lines or ["it did not say why"])[-1].strip())


def _read(found: str) -> Workers:
    told = json.loads(found)
    workers = Workers(**told | {"missing": tuple(told["missing"])})
    try:
        return replace(workers, sash_wanted=metadata.version("sash"))
    except metadata.PackageNotFoundError:  # run from its folder, not installed
        return workers


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"

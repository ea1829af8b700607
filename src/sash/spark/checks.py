"""What a session lacks for Sash, each in a sentence with what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import SparkSession

from sash.spark.installed import OLDEST, version_of
from sash.spark.kind import require_session
from sash.spark.settings import (
    BATCH_ROWS,
    CHANGELOG,
    PARTITIONS,
    PARTITIONS_PER_CORE,
    ROCKSDB,
    STATE_STORE,
    local_threads,
)
from sash.spark.workers import OLDEST_PROTOBUF, Workers, ask_workers, look_at_workers

FEWEST_ROWS, MOST_ROWS = 1_000, 1_000_000
"""Of an Arrow batch. Each costs some hundred microseconds, and is held in memory whole."""

TOO_MANY = 8
"""Partitions per core."""


@dataclass(frozen=True)
class Finding:
    """Something that is not as Sash would have it."""

    sentence: str
    stops: Literal["everything", "streams", "nothing"] = "nothing"


def check(spark: SparkSession) -> list[str]:
    """What is missing or unwise for Sash in a session, one sentence each, with what to do.

    An empty list: nothing is. Works for any session, of Spark Connect too. If the workers are not
    on this machine, it asks one of them, by a job of one row.
    """
    require_session(spark)
    found = [*version_findings(spark), *settings_findings(spark)]
    found += worker_findings(look_at_workers(spark) or ask_workers(spark))
    return [finding.sentence for finding in found]


def require(spark: SparkSession, *, streaming: bool = False) -> None:
    """Raise, in a sentence, if Sash cannot work with this session. Runs no job."""
    require_session(spark)
    stopping = {"everything", "streams"} if streaming else {"everything"}
    for finding in _known_at_once(spark):
        if finding.stops in stopping:
            raise RuntimeError(finding.sentence)


def _known_at_once(spark: SparkSession) -> Iterator[Finding]:
    yield from version_findings(spark)
    yield from settings_findings(spark)
    workers = look_at_workers(spark)
    if workers is not None:
        yield from worker_findings(workers)


def version_findings(spark: SparkSession) -> Iterator[Finding]:
    if version_of(spark.version) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        yield Finding(
            f"the session runs Spark {spark.version}, and Sash needs {oldest} or newer: upgrade "
            "Spark where it runs.",
            stops="everything",
        )


def settings_findings(spark: SparkSession) -> Iterator[Finding]:
    rows = _number(spark, BATCH_ROWS)
    if not FEWEST_ROWS <= rows <= MOST_ROWS:
        much = "no bound at all" if rows <= 0 else f"{rows:,}"
        yield Finding(
            f"{BATCH_ROWS} is {much}, and Arrow batches of {FEWEST_ROWS:,} to {MOST_ROWS:,} rows "
            f"serve Sash best: spark.conf.set({BATCH_ROWS!r}, 10000)."
        )
    threads = local_threads(spark.conf.get("spark.master", None))
    partitions = _number(spark, PARTITIONS)
    if threads and partitions > threads * TOO_MANY:
        fewer = threads * PARTITIONS_PER_CORE
        yield Finding(
            f"{PARTITIONS} is {partitions} on {threads} core{'s' * (threads > 1)}, and every "
            f"micro-batch of a stream runs so many tasks: spark.conf.set({PARTITIONS!r}, {fewer})."
        )
    store = spark.conf.get(STATE_STORE) or ""
    if store != ROCKSDB:
        yield Finding(
            f"{STATE_STORE} is {store.rpartition('.')[2]}, and streams need RocksDB: "
            f"spark.conf.set({STATE_STORE!r}, {ROCKSDB!r}).",
            stops="streams",
        )
    elif spark.conf.get(CHANGELOG, "false") != "true":
        yield Finding(
            f"{CHANGELOG} is off, so that every micro-batch of a stream writes a snapshot of its "
            f"state: spark.conf.set({CHANGELOG!r}, True)."
        )


def worker_findings(workers: Workers) -> Iterator[Finding]:
    point = "set PYSPARK_PYTHON to that of this program before the session starts"
    if workers.problem:
        yield Finding(
            f"Python does not run on Spark's workers ({workers.problem}): set PYSPARK_PYTHON to a "
            "Python that is there, before the session starts.",
            stops="everything",
        )
        return
    if workers.python != workers.wanted:
        yield Finding(
            f"the workers run Python {workers.python} ({workers.executable}) and this program "
            f"{workers.wanted}, which Spark refuses: {point}.",
            stops="everything",
        )
        return
    if workers.missing:
        yield Finding(
            f"the workers' Python ({workers.executable}) has no {', '.join(workers.missing)}: "
            f"install sash there, or {point}.",
            stops="everything",
        )
    if workers.sash != workers.sash_wanted and workers.sash and workers.sash_wanted:
        yield Finding(
            f"the workers have sash {workers.sash} and this program {workers.sash_wanted}: install "
            "the same there."
        )
    if version_of(workers.protobuf or "") < OLDEST_PROTOBUF:
        oldest = ".".join(map(str, OLDEST_PROTOBUF))
        yield Finding(
            f"streams need protobuf {oldest} or newer on the workers, which have "
            f"{workers.protobuf or 'none'}: pip install 'sash[spark]'.",
            stops="streams",
        )


def _number(spark: SparkSession, name: str) -> int:
    return int(spark.conf.get(name) or 0)

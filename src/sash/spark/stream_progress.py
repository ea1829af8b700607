"""How far streams have come: what the live line says of each micro-batch.

batch 12: 500k rows at 212k rows/s, 12 late, final up to 09:50:00, 1000 keys, 48.1 MB of state
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

from sash.spark.live_line import short

METRICS = "sash"
"""The name under which a micro-batch's counts are told."""


class Streams(StreamingQueryListener):
    """The streams of a session that slide windows, by what their last micro-batch told."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._said: dict[str, str] = {}
        self._lock = threading.Lock()

    def listen(self) -> None:
        # A failure to show progress never reaches a job.
        with suppress(Exception):
            self._spark.streams.addListener(self)

    def leave(self) -> None:
        with suppress(Exception):
            self._spark.streams.removeListener(self)

    def line(self) -> str | None:
        """What is to be said now; None if no such stream runs."""
        with self._lock:
            return "; ".join(self._said.values()) or None

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        pass

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        progress = event.progress
        counts = counts_of(progress)
        if counts is None or not progress.numInputRows:
            return
        said = line_of(
            progress.batchId,
            progress.numInputRows,
            progress.durationMs.get("triggerExecution", 0) / 1000,
            counts,
        )
        with self._lock:
            self._said[str(progress.runId)] = f"{progress.name}: {said}" if progress.name else said

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        pass

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        with self._lock:
            self._said.pop(str(event.runId), None)


def counts_of(progress: Any) -> dict[str, Any] | None:
    """What shards have told of a micro-batch; None if it is not of `sliding`."""
    found = (progress["observedMetrics"] or {}).get(METRICS)
    if found is None:
        return None
    told: dict[str, Any] = found.asDict()
    if set(told) == {"values", "schema"}:  # so Spark Connect has it
        names = [field["name"] for field in told["schema"]["fields"]]
        return dict(zip(names, told["values"], strict=True))
    return told


def line_of(batch: int, rows: int, seconds: float, counts: Mapping[str, Any]) -> str:
    """What is said of a micro-batch.

    >>> counts = {"late": 12, "keys": 1000, "state_bytes": 48_100_000, "rebuilt": 0}
    >>> line_of(12, 500_000, 2.36, counts | {"watermark": None})
    'batch 12: 500k rows at 212k rows/s, 12 late, 1000 keys, 48.1 MB of state'
    >>> line_of(13, 20, 0.5, counts | {"late": 0, "watermark": 1500})
    'batch 13: 20 rows at 40 rows/s, final up to 1500, 1000 keys, 48.1 MB of state'
    """
    parts = [f"{short(rows)} rows"]
    if seconds:
        parts[0] += f" at {short(rows / seconds)} rows/s"
    if counts["late"]:
        parts.append(f"{short(counts['late'])} late")
    if counts["watermark"] is not None:
        parts.append(f"final up to {counts['watermark']}")
    parts.append(f"{short(counts['keys'])} keys")
    parts.append(f"{counts['state_bytes'] / 1e6:.1f} MB of state")
    if counts["rebuilt"]:
        parts.append(f"{counts['rebuilt']} shards made anew")
    return f"batch {batch}: {', '.join(parts)}"

"""What lies in the checkpoint of a stream: read by Spark, while it runs or after."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from sash.aggregators.saving import SavedError
from sash.spark.clocks import OrderClock
from sash.spark.session import session
from sash.spark.state_log import COUNT, Head
from sash.windows.segments import Segment

HEAD, LOG = "head", "log"


@dataclass(frozen=True)
class ShardState:
    """What is told of a shard without reading its log."""

    number: int
    question: int
    """Which of the stream's, if it was asked several at once."""
    keys: int
    held: int
    """Rows, or slices of them, that windows hold, or that wait."""
    bytes: int
    steps: int
    """Micro-batches since the stream began."""
    late: int


@dataclass(frozen=True)
class StoredState:
    """The state of a stream that slides windows, as it was after a micro-batch."""

    checkpoint: str
    batch: int
    questions: list[dict[str, Any]]
    """What was asked, as the checkpoint remembers it."""
    shards: list[ShardState]
    watermark: int | None
    """What is before it is final, in the units of the order column; None without lateness."""
    clock: OrderClock
    _log: DataFrame

    @property
    def asked(self) -> dict[str, Any]:
        """The question; the first one, if there are several."""
        return self.questions[0]

    @property
    def watermark_shown(self) -> str | None:
        return None if self.watermark is None else self.clock.shown(self.watermark)

    @property
    def holds(self) -> str:
        """What is counted: "rows", or "slices" of them."""
        kinds = {"slices" if asked.get("slices") else "rows" for asked in self.questions}
        return " or ".join(sorted(kinds))

    def longest(self, count: int) -> list[tuple[Any, int]]:
        """The keys with the longest windows, and how many rows, or slices, these hold.

        Reads the log.
        """
        found: list[tuple[Any, int]] = []
        for shard in self.shards:
            log = self._log.filter(f"shard = {shard.number}").orderBy("number", "piece")
            sizes = _sizes(segments_of(bytes(row["data"]) for row in log.toLocalIterator()))
            found += sorted(sizes.items(), key=lambda each: -each[1])[:count]
        return sorted(found, key=lambda each: -each[1])[:count]


def state(checkpoint: str | PathLike[str], spark: SparkSession | None = None) -> StoredState:
    """What the checkpoint of a stream holds: keys, rows, bytes, watermark.

    spark: a session to read it with; by default a local one is started, or the one that runs.
    """
    path = str(checkpoint)
    elsewhere = re.match(r"[A-Za-z][\w+.-]+:", path)
    if not elsewhere and not (Path(path) / "state").is_dir():
        raise LookupError(
            f"{path} is not the checkpoint of a stream with state: there is no folder 'state' in "
            f"it. Give the folder that checkpointLocation named, after a first micro-batch."
        )
    spark = spark or SparkSession.getActiveSession() or session(progress=False)
    try:
        return _state(spark, path)
    except PySparkException as error:
        why = str(error).strip().partition("\n")[0]
        raise LookupError(f"the state in {path} cannot be read: {why}") from error


def _state(spark: SparkSession, path: str) -> StoredState:
    operator, batch = _operator(spark, path)
    read = spark.read.format("statestore").option("operatorId", operator)
    read = read.option("batchId", batch)
    heads = {
        int(row["number"]): Head.unpacked(bytes(row["head"]))
        for row in read.option("stateVarName", HEAD)
        .load(path)
        .selectExpr("key.shard as number", "value.head as head")
        .collect()
    }
    if not heads:
        raise LookupError(f"the state in {path} is empty: no micro-batch has had rows yet.")
    first = next(iter(heads.values()))
    # The shards of the first question have the lowest numbers.
    asked = list(dict.fromkeys(head.asked for _, head in sorted(heads.items())))
    shards = [
        ShardState(
            *(number, asked.index(head.asked)),
            *(head.keys, head.held, head.length, head.newest, head.late),
        )
        for number, head in sorted(heads.items())
    ]
    marks = [head.watermark for head in heads.values() if head.watermark is not None]
    return StoredState(
        path,
        batch,
        list(map(_question, asked)),
        shards,
        max(marks, default=None),
        _clock(first),
        _pieces(read.option("stateVarName", LOG).load(path)),
    )


def _operator(spark: SparkSession, path: str) -> tuple[int, int]:
    """Which of the stateful operators is ours, and the last micro-batch that it has committed."""
    found = spark.read.format("state-metadata").load(path).collect()
    for row in found:
        properties = row["operatorProperties"] or ""
        if f'"{HEAD}"' in properties and f'"{LOG}"' in properties:
            return int(row["operatorId"]), int(row["maxBatchId"])
    raise LookupError(f"the state in {path} is not that of sash.spark.sliding(…).")


def _question(asked: str) -> dict[str, Any]:
    """As it was written: operators as they are called."""
    told = json.loads(asked)
    told["aggregates"] = {name: _called(op) for name, op in told["aggregates"].items()}
    return dict(told)


def _called(operator: dict[str, Any]) -> str:
    options = [f"{name}={value!r}" for name, value in operator["options"].items()]
    return f"{operator['name']}({', '.join([*map(repr, operator['columns']), *options])})"


def _clock(head: Head) -> OrderClock:
    types = {"timestamp": pa.timestamp("us", "UTC"), "date": pa.date32()}
    return OrderClock("", head.clock, types.get(head.clock, pa.int64()))


def read_log(spark: SparkSession, path: str) -> DataFrame:
    """The logs of all shards: shard, number and piece, data."""
    operator, batch = _operator(spark, path)
    read = spark.read.format("statestore").option("operatorId", operator)
    return _pieces(read.option("batchId", batch).option("stateVarName", LOG).load(path))


def _pieces(log: DataFrame) -> DataFrame:
    return log.selectExpr(
        "key.shard as shard",
        "user_map_key.number as number",
        "user_map_key.piece as piece",
        "user_map_value.data as data",
    )


def segments_of(pieces: Iterable[bytes]) -> Iterator[Segment]:
    """The segments of a shard, one after the other, from their pieces."""
    some: list[bytes] = []
    for piece in pieces:
        some.append(piece)
        (count,) = COUNT.unpack_from(some[0])
        if len(some) == count:
            yield Segment.unpacked(b"".join([some[0][COUNT.size :], *some[1:]]))
            some = []
    if some:
        raise SavedError("the last segment of this state is not whole.")


def _sizes(segments: Iterator[Segment]) -> dict[Any, int]:
    """How many rows each key's window holds."""
    found: dict[Any, int] = {}
    for segment in segments:
        held = segment.held.tolist()
        gone = segment.gone.tolist()
        keys = list(zip(*(key.to_pylist() for key in segment.keys), strict=True))
        for key, rows, is_gone in zip(keys or [()] * len(held), held, gone, strict=True):
            if is_gone:
                found.pop(key, None)
            else:
                found[key] = rows
    return found

"""Shards whose tasks fail, are tried again, or run where the windows are stale: answers are exact.

Spark's state is played by two dicts, of which only a task that ends well leaves its changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark import cloudpickle
from spark.some_rows import some_rows

import sash
from sash.aggregators.saving import SavedError
from sash.spark import handing_over, warm
from sash.spark.packing import unpacked
from sash.spark.query import Query
from sash.spark.state_log import StateLog
from sash.spark.stateful import Turn
from sash.spark.stream_query import StreamQuery
from sash.windows.definitions import definition
from sash.windows.shard import Shard


class Value:
    def __init__(self) -> None:
        self.value: Any = None

    def get(self) -> Any:
        return self.value

    def update(self, value: Any) -> None:
        self.value = value


class Map:
    def __init__(self) -> None:
        self.values: dict[Any, Any] = {}

    def getValue(self, key: Any) -> Any:  # noqa: N802
        return self.values.get(key)

    def updateValue(self, key: Any, value: Any) -> None:  # noqa: N802
        self.values[key] = value

    def removeKey(self, key: Any) -> None:  # noqa: N802
        del self.values[key]


class Spark:
    """A shard's task: state, and workers of which each keeps windows of its own."""

    def __init__(self, asked: StreamQuery, workers: int = 2) -> None:
        self.asked = asked
        self.state = Value(), Map()
        self.workers: list[Any] = [type(warm._shards)() for _ in range(workers)]
        self.rebuilt = 0
        self.answers: list[dict[str, Any]] = []

    def batch(self, rows: pa.Table, worker: int, fails: bool = False) -> None:
        """fails: Spark loses what the task did, after it has done all of it."""
        state = deepcopy(self.state)
        warm._shards = self.workers[worker]
        newest = int(rows["t"].to_numpy().max(initial=-(2**62)))
        batches = rows.select(self.asked.sent).combine_chunks().to_batches()
        (row,) = Turn(self.asked, StateLog(*state), 0).run(batches, newest, len(rows))
        if fails:
            return
        self.state = state
        self.rebuilt += row["rebuilt"]
        arrays = [pa.array([row["packed"]], pa.binary()), pa.array([row["left"]], pa.string())]
        given = pa.RecordBatch.from_arrays(arrays, names=["packed", "left"])
        for found in unpacked(iter([given]), ["k", "t", "id", "s", "hi"]):
            self.answers += found.to_pylist()


def asked(window: Any = 20, **options: Any) -> StreamQuery:
    rows = some_rows(1)
    given: dict[str, Any] = {"lateness": sash.last("12i").size, **options}
    query = Query(
        {"s": sash.Sum("x"), "hi": sash.Max("g")},
        definition(window),
        ("k",),
        ("t",),
        ("k", "t", "id"),
        1,
        "auto",
        rows.schema,
        ties=("id",),
        **given,
    )
    return StreamQuery((query,), (0,))


@pytest.fixture(autouse=True, params=["by Spark", "by files"])
def own_windows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """By files: workers leave each other what they have, on a disk that they share."""
    monkeypatch.setattr(warm, "_shards", type(warm._shards)())
    monkeypatch.setattr(handing_over, "WORTH", 0)
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path) if request.param == "by files" else "")


def batches(count: int = 12) -> Iterator[pa.Table]:
    rows = some_rows(count * 15, seed=7)
    for at in range(0, len(rows), 15):
        yield rows.slice(at, 15)


def expected() -> list[dict[str, Any]]:
    spark = Spark(asked())
    for rows in batches():
        spark.batch(rows, 0)
    assert spark.rebuilt == 0
    return spark.answers


def test_a_task_that_is_tried_again() -> None:
    """Elsewhere, and then where its own windows have seen the rows already."""
    spark = Spark(asked())
    for rows in batches():
        spark.batch(rows, 0, fails=True)
        spark.batch(rows, 1, fails=True)
        spark.batch(rows, 0)
    assert spark.answers == expected()
    assert spark.rebuilt == 11  # all but the first, which had nothing to lose


def test_a_worker_that_dies_between_batches() -> None:
    spark = Spark(asked())
    for rows in batches():
        spark.workers[0].clear()
        spark.batch(rows, 0)
    assert spark.answers == expected()
    assert spark.rebuilt == 11


def test_a_worker_that_is_behind_catches_up() -> None:
    spark = Spark(asked(), workers=3)
    turns = np.random.default_rng(2).integers(0, 3, 12).tolist()
    for rows, worker in zip(batches(), turns, strict=True):
        spark.batch(rows, worker)
    assert spark.answers == expected()
    assert spark.rebuilt == 2  # each of the others, once


def test_a_worker_that_saw_another_past() -> None:
    """It made a step that Spark lost, and others were made since."""
    spark = Spark(asked())
    for number, rows in enumerate(batches()):
        if number % 3 == 1:
            spark.batch(rows, 1, fails=True)
        spark.batch(rows, 0 if number % 3 else 1)
    assert spark.answers == expected()


def test_too_far_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it missed has been let go."""
    monkeypatch.setattr("sash.spark.stateful.SLACK", 10)
    spark = Spark(asked(window=2))
    alone = Spark(asked(window=2))
    for number, rows in enumerate(batches(40)):
        spark.batch(rows, int(number in (5, 35)))
        alone.batch(rows, 0)
    assert spark.answers == alone.answers


def test_another_question_is_refused() -> None:
    spark = Spark(asked())
    for rows in batches(2):
        spark.batch(rows, 0)
    spark.asked = asked(window=21)
    with pytest.raises(SavedError, match=r"window was last\(20\), and is last\(21\) now"):
        spark.batch(next(batches()), 0)


def test_another_number_of_shards_is_refused() -> None:
    spark = Spark(asked())
    for rows in batches(2):
        spark.batch(rows, 0)
    spark.asked = StreamQuery(asked().queries, (0, 1, 2))
    with pytest.raises(SavedError, match=r"among 1 shards.*set spark.sql.shuffle.partitions to 1"):
        spark.batch(next(batches()), 0)


def test_a_version_that_is_not_known_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    spark = Spark(asked())
    spark.batch(next(batches()), 0)
    monkeypatch.setattr("sash.spark.state_log.LAYOUT", 3)
    with pytest.raises(SavedError, match="another version of sash"):
        spark.batch(next(batches()), 0)


def test_windows_are_not_shared_between_streams() -> None:
    one, other = Spark(asked()), Spark(asked())
    other.workers = one.workers
    for rows in batches():
        one.batch(rows, 0)
        other.batch(rows, 0)
    assert one.answers == other.answers == expected()
    assert all(isinstance(shard, Shard) for shard in one.workers[0].values())


def test_files_do_not_pile_up(tmp_path: Path) -> None:
    spark = Spark(asked())
    for rows in batches(40):
        spark.batch(rows, 0)
        spark.batch(rows.slice(0, 0), 1)
    left = [path.name for path in tmp_path.iterdir()]
    assert len(left) <= handing_over.KEPT
    assert not any("answers" in name for name in left)


def test_a_file_that_is_damaged_is_not_believed(tmp_path: Path) -> None:
    spark = Spark(asked())
    for number, rows in enumerate(batches()):
        spark.batch(rows, number % 2)
        for path in tmp_path.iterdir():
            path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert spark.answers == expected()
    assert spark.rebuilt == 1


def test_workers_are_sent_what_was_asked_and_no_more() -> None:
    """What is found out of a query on the way, operators among it, stays where it is."""
    query = asked(window=sash.tumbling("5i"))
    plain = cloudpickle.dumps(query)
    assert query.slices is not None and query.sent and query.asked
    assert cloudpickle.dumps(query) == plain

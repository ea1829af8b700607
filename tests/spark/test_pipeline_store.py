"""Pipelines with [state]: windows in a store, with the answers that Spark's state gives."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sash
from sash.demo.comparing import difference, read
from sash.pipeline import PipelineError, read_pipeline
from sash.pipeline.running import Ran, run_batch
from sash.pipeline.states import place_of
from sash.pipeline.streaming import StreamRun
from sash.pipeline.streaming_apart import StreamsApart
from sash.pipeline.streaming_stored import StoredStreamRun, stream_run
from sash.stores import Memory, Place, RocksDB

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST = 1_700_000_000

SOURCE = """
    [source]
    format   = "csv"
    path     = "data"
    schema   = { id = "bigint", ts = "timestamp", load = "double", plug = "string" }
    time     = "ts"
    lateness = "1min"
    options  = { header = true, maxFilesPerTrigger = 1 }
"""
MINUTES = """
    [queries.minutes]
    window = { last = "5min", every = "1min" }
    most   = { op = "Max", of = "load" }
    rows   = { op = "Count" }
"""
RECENT = """
    [queries.recent]
    window   = { last = "90s" }
    when     = { op = "ArgMax", of = ["load", "ts"] }
    newest   = { op = "Last", of = "plug" }
    mean     = { op = "Mean", of = "load" }
    min_size = 3
"""
SOME = """
    [queries.some]
    window  = { last = 7, every = 4 }
    total   = { op = "Sum", of = "id" }
    columns = ["ts", "plug"]
"""
RESTS = """
    [queries.rests]
    window = { session = "20s" }
    first  = { op = "First", of = "id" }
"""
ONE = '[queries.all]\nwindow = { last = 9 }\ntotal = { op = "Sum", of = "id" }\n'
SINK = """
    [sink]
    format = "parquet"
    path   = "NAME"
"""
STATE = '[state]\nstore = "rocksdb:store"\n'


def lines(begin: int, count: int, late: bool) -> list[str]:
    """Readings, three of each moment, with a pause here and there; every 50th line is malformed."""
    draw = np.random.default_rng(begin)
    found = []
    for at in range(begin, begin + count):
        seconds = at // 3 * 3 + at // 40 * 30
        if late and at % 9 == 0:
            seconds -= int(draw.integers(0, 120))
        when = np.datetime64(FIRST + seconds, "s")
        load = "" if at % 11 == 0 else draw.integers(0, 1000) / 10
        line = f"{at},{when}Z,{load},p{at % 3}"
        found.append(line if at % 50 != 49 else f"{at},{when}Z,high,p1")
    draw.shuffle(found)
    return found


def write_files(folder: Path, numbers: range, late: bool = True, each: int = 100) -> None:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        path = folder / f"{number}.csv"
        some = ["id,ts,load,plug", *lines(each * number, each, late)]
        path.write_text("\n".join(some) + "\n", encoding="utf-8")
        os.utime(path, (number + 1, number + 1))


@pytest.fixture
def pipeline(tmp_path: Path, settings: Callable[..., None]) -> Callable[..., Any]:
    """Write a pipeline file, called by where its answers go, and read it."""
    settings(**{"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"})  # as `sash run` does
    settings(**{"spark.sql.shuffle.partitions": 1})  # there are no keys to share among more

    def made(name: str, *parts: str) -> Any:
        file = tmp_path / f"{name}.toml"
        text = "\n".join(map(dedent, parts)).replace("NAME", name)
        file.write_text(text, encoding="utf-8")
        return read_pipeline(file)

    return made


def streamed(spark: SparkSession, pipeline: Any, **options: Any) -> Ran:
    return stream_run(pipeline, spark, until_idle=True, **options).run()


def same(one: Any, other: Any) -> None:
    for question in one.questions:
        a, b = (read(each.sink.path_of(question.name)) for each in (one, other))
        assert a.num_rows, question.name
        assert difference(a, b) is None, question.name


def forget_last_commit(pipeline: Any) -> None:
    """Spark runs its micro-batch again, then."""
    folder = Path(pipeline.checkpoint) / "commits"
    last = max(int(path.name) for path in folder.iterdir() if path.name.isdigit())
    for name in (f"{last}", f".{last}.crc"):
        (folder / name).unlink()


def test_the_same_answers_as_of_sparks_state(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]
) -> None:
    """With late rows, some too late; after an end with windows open, and a batch run again."""
    write_files(tmp_path / "data", range(1), each=150)
    plain = pipeline("plain", SOURCE, MINUTES, RECENT, SINK)
    stored = pipeline("stored", SOURCE, MINUTES, RECENT, SINK, STATE)
    first = streamed(spark, stored)
    assert first.batches == 1
    assert first.open_answers["minutes"] and first.open_answers["recent"]

    write_files(tmp_path / "data", range(1, 2), each=150)
    second = streamed(spark, stored)
    assert second.batches == 1
    told = streamed(spark, plain)
    same(plain, stored)
    assert told.rows == first.rows + second.rows == 294
    assert told.late == first.late + second.late > 0
    assert told.set_aside == {"load is not double": 6}
    assert told.open_answers == second.open_answers
    assert told.watermark == second.watermark

    forget_last_commit(stored)
    again = streamed(spark, stored)
    assert (again.batches, again.answers, again.late) == (1, {}, 0)
    same(plain, stored)


def test_in_order_and_killed_before_the_store_has_it(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]
) -> None:
    """Answers are written, some windows are not stored: rows go in again, and count once."""
    write_files(tmp_path / "data", range(3), late=False)
    source = SOURCE.replace('lateness = "1min"', "")
    queries = MINUTES, RECENT, SOME, RESTS
    batch = pipeline("batch", source, *queries, SINK)
    stored = pipeline("stored", source, *queries, SINK, STATE)

    class Killed(StoredStreamRun):
        def _answer(self, shared: Any, batch: int) -> None:
            if batch == 1:
                self.stored.windows[2].sync = fails  # type: ignore[method-assign]
            super()._answer(shared, batch)

    def fails(*given: Any) -> None:
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        Killed(stored, spark, until_idle=True).run()
    assert read(stored.sink.path_of("some")).num_rows == 49  # those of both micro-batches
    rest = streamed(spark, stored)
    assert rest.batches == 2
    assert rest.open_answers == {"minutes": 5, "recent": 0, "some": 0, "rests": 1}
    run_batch(batch, spark)
    same(batch, stored)


def test_stopped_and_with_another_checkpoint(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]
) -> None:
    """A window outlives the checkpoint; a checkpoint without its windows is refused."""
    source = SOURCE.replace('lateness = "1min"', "")
    write_files(tmp_path / "data", range(3), late=False)
    stored = pipeline("stored", source, ONE, SINK, STATE)
    begun = threading.Event()

    class Noting(StoredStreamRun):
        def _micro_batch(self, shared: Any, number: int) -> None:
            super()._micro_batch(shared, number)
            begun.set()

    running = Noting(stored, spark)
    thread = threading.Thread(target=lambda: begun.wait(120) and running.stop())
    thread.start()
    ran = running.run()
    thread.join()
    assert ran.stopped
    rest = streamed(spark, stored)
    assert (ran.batches or 0) + (rest.batches or 0) == 3

    other = '[stream]\ncheckpoint = "another"\n'
    for number in range(3):
        (tmp_path / "data" / f"{number}.csv").unlink()
    write_files(tmp_path / "data", range(3, 4), late=False)
    append = 'mode = "append"\n'
    told: list[str] = []
    moved = pipeline("stored", source, ONE, SINK, append, STATE, other)
    assert streamed(spark, moved, tell=told.append).batches == 1
    assert told[0] == "all goes on with its window of 294 rows in the store"
    found = read(stored.sink.path_of("all")).sort_by([("ts", "ascending"), ("id", "ascending")])
    ids = [at for at in range(400) if at % 50 != 49]
    assert found["id"].to_pylist() == ids
    assert found["total"].to_pylist() == [sum(ids[max(0, k - 8) : k + 1]) for k in range(len(ids))]

    elsewhere = STATE.replace('store"', 'lost"')
    for changed, why in (
        (
            pipeline("stored", source, ONE, SINK, append, elsewhere, other),
            "is at micro-batch 0 of its stream, and the store has none of them; name the store",
        ),
        (
            pipeline("stored", source, ONE, SINK, append, STATE),
            "is at micro-batch 2 of its stream, and the store has none",
        ),
        (
            pipeline("stored", source, ONE, SINK, append, other),
            "is of windows in a store, and they are to be in Spark's state",
        ),
    ):
        with pytest.raises(PipelineError, match=why):
            streamed(spark, changed)
    changed = pipeline("stored", source, ONE.replace("9", "8"), SINK, append, STATE, other)
    with pytest.raises(PipelineError, match=r"another question, queries.all: window was last\(9"):
        streamed(spark, changed)
    changed = pipeline(
        "stored", source, ONE.replace("9", "8"), SINK, append, STATE, "[stream]\ncheckpoint = 'x'\n"
    )
    with pytest.raises(PipelineError, match="cannot go on: the window in the store is another"):
        streamed(spark, changed)


def test_rows_that_go_back(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]
) -> None:
    """Without lateness they end the stream, with a sentence, and the store is as it was."""
    data = tmp_path / "data"
    data.mkdir()
    for number, seconds in enumerate(("10", "20", "15")):
        path = data / f"{number}.csv"
        path.write_text(f"id,ts,load,plug\n{number},2026-01-01T00:00:{seconds}Z,1,a\n")
        os.utime(path, (number + 1, number + 1))
    source = SOURCE.replace('lateness = "1min"', "")
    stored = pipeline("stored", source, ONE, SINK, STATE)
    with pytest.raises(ValueError, match=r"at the row with ts = 2026-01-01 00:00:15.*must not go"):
        streamed(spark, stored)
    (data / "2.csv").write_text("id,ts,load,plug\n2,2026-01-01T00:00:25Z,1,a\n")
    assert streamed(spark, stored).answers == {"all": 1}
    assert sorted(read(stored.sink.path_of("all"))["total"].to_pylist()) == [0, 1, 3]


def test_a_note_and_nothing_in_between() -> None:
    """What is pushed is stored with the note of the one who pushes, and only when it is synced."""
    store = Memory()

    def opened() -> Any:
        window = sash.Window(sash.Sum(), 3000, store=Place(store, block=2))
        assert window._store is not None
        window._store.only_synced = True
        return window

    window = opened()
    window.push_many(np.arange(5))
    window._store.note = {"batch": 7}
    window.sync()
    window._store.note = {"batch": 8}
    window.push_many(np.arange(1000))
    window._store.let_go()
    window = opened()
    assert (window.pushed, window._store.note, window.query()) == (5, {"batch": 7}, 10)
    window.close()


def test_in_use_in_batch_and_by_connect(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]
) -> None:
    write_files(tmp_path / "data", range(1), each=20)
    stored = pipeline("stored", SOURCE, ONE, SINK, STATE)
    assert place_of(stored, stored.questions[0]) == "stored.all"
    store = RocksDB(tmp_path / "store")
    with pytest.raises(PipelineError, match=r"state: store: .* is open already"):
        streamed(spark, stored)
    store.close()
    with pytest.raises(PipelineError, match="by Spark Connect a stream cannot keep its windows"):
        StreamsApart(stored, spark).run()
    told: list[str] = []
    assert run_batch(stored, spark, tell=told.append).answers == {"all": 20}
    assert told[0] == "[state] is for --stream: all rows at once need no store"
    assert isinstance(stream_run(stored, spark), StoredStreamRun)
    assert type(stream_run(pipeline("plain", SOURCE, ONE, SINK), spark)) is StreamRun

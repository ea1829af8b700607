"""Pipeline files, run in batch and as streams: the same answers, and nothing lost."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JJavaError

from sash.demo.comparing import difference, read
from sash.pipeline import PipelineError, read_pipeline
from sash.pipeline.causes import root_cause
from sash.pipeline.running import Ran, run_batch
from sash.pipeline.streaming import StreamRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST = 1_700_000_000

OPERATORS = """
    import sash

    @sash.operator(partial={"hi": "float64", "lo": "float64"}, commutative=True, empty=None)
    class Spread:
        def identity():    return float("-inf"), float("inf")
        def lift(v):       return v, v
        def combine(a, b): return max(a.hi, b.hi), min(a.lo, b.lo)
        def lower(p):      return p.hi - p.lo
"""

QUERIES = """
    [queries.minutes]
    window = { last = "5min", every = "1min" }
    most   = { op = "Max", of = "load" }
    rows   = { op = "Count" }

    [queries.recent]
    window = { last = 7 }
    spread = { op = "pipeline_operators:Spread", of = "load" }
    when   = { op = "ArgMax", of = ["load", "ts"] }
"""

CSV = """
    [source]
    format   = "csv"
    path     = "data"
    schema   = { id = "bigint", ts = "timestamp", load = "double", plug = "string" }
    time     = "ts"
    key      = "plug"
    lateness = "1min"
    options  = { header = true, maxFilesPerTrigger = 1 }
"""

SINK = """
    [sink]
    format = "parquet"
    path   = "PATH"
"""


def lines(begin: int, count: int) -> list[str]:
    """Readings of three plugs, some late; every 50th line is malformed, in one of four ways."""
    draw = np.random.default_rng(begin)
    found = []
    for at in range(begin, begin + count):
        late = int(draw.integers(0, 50)) if at % 9 == 0 else 0
        ts = np.datetime64(FIRST + 2 * at - late, "s")
        line = f"{at},{ts}Z,{draw.integers(0, 1000) / 10},p{at % 3}"
        if at % 50 == 49:
            bad = ("garbage", f"{at},,1.5,p0", f"{at},{ts}Z,high,p1", f"{at},{ts}Z,1.5,p1,more")
            line = bad[at // 50 % 4]
        found.append(line)
    return found


def write_lines(folder: Path, number: int, some: list[str]) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}.csv"
    path.write_text("\n".join(["id,ts,load,plug", *some]) + "\n", encoding="utf-8")
    os.utime(path, (number + 1, number + 1))


@pytest.fixture
def pipeline(tmp_path: Path, settings: Callable[..., None]) -> Callable[..., Any]:
    """Write a pipeline file and read it; `path` is where answers go."""
    settings(**{"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"})  # as `sash run` does
    module = tmp_path / "pipeline_operators.py"
    module.write_text(dedent(OPERATORS), encoding="utf-8")

    def made(*parts: str, path: str = "out", name: str = "pipeline") -> Any:
        file = tmp_path / f"{name}.toml"
        text = "\n".join(map(dedent, parts)).replace("PATH", path)
        file.write_text(text, encoding="utf-8")
        return read_pipeline(file)

    return made


def streamed(spark: SparkSession, pipeline: Any, **options: Any) -> Ran:
    return StreamRun(pipeline, spark, until_idle=True, **options).run()


def batch(spark: SparkSession, pipeline: Any) -> Ran:
    return run_batch(pipeline, spark)


def same(one: Any, other: Any) -> None:
    for question in one.questions:
        a, b = (read(each.sink.path_of(question.name)) for each in (one, other))
        assert difference(a, b) is None


def quarantined(pipeline: Any) -> list[dict[str, str]]:
    found = []
    for path in sorted(Path(pipeline.quarantine).glob("*.json")):
        found += [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return found


def test_batch_and_stream_agree_and_the_stream_goes_on(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]
) -> None:
    """Two queries in one pass, one by an operator of the user's; malformed rows; late rows.

    The stream ends twice, with windows open: what it told of them is told anew by the next run.
    """
    data = tmp_path / "data"
    for number in range(3):
        write_lines(data, number, lines(300 * number, 300))
    as_batch, as_stream = (
        pipeline(CSV, QUERIES, SINK, path=path, name=path) for path in ("batch", "stream")
    )
    first = streamed(spark, as_stream)
    assert (first.batches, first.late) == (3, 0)
    assert first.open_answers["minutes"] and first.open_answers["recent"]

    write_lines(data, 3, lines(900, 300))
    second = streamed(spark, as_stream)
    assert second.batches == 1
    found = batch(spark, as_batch)
    same(as_batch, as_stream)

    assert found.rows == first.rows + second.rows == 1200 - 24
    assert found.set_aside == {"not 4 fields": 12, "load is not double": 6, "no ts": 6}
    both = {k: first.set_aside.get(k, 0) + second.set_aside.get(k, 0) for k in found.set_aside}
    assert both == found.set_aside

    def as_told(each: Any) -> list[tuple[str, str]]:
        return sorted((row["reason"], row["row"]) for row in quarantined(each))

    assert as_told(as_batch) == as_told(as_stream)
    reasons = {row["reason"] for row in quarantined(as_batch)}
    assert reasons == {"not 4 fields", "no ts", "load is not double: high"}
    assert any(row["row"] == "garbage" for row in quarantined(as_stream))
    assert all(row["file"].endswith(".csv") for row in quarantined(as_stream))

    # Nothing new: the same answers stay.
    third = streamed(spark, as_stream)
    assert third.rows == 0
    same(as_batch, as_stream)


SLOW_ONCE = """
    #!/bin/sh
    case "$*" in *_driver_worker*) [ -e SLEPT ] || { touch SLEPT; sleep 11; } ;; esac
    exec PYTHON "$@"
"""


@pytest.mark.full  # for Spark waits ten seconds
def test_a_python_that_is_slow_to_start(
    spark: SparkSession,
    tmp_path: Path,
    pipeline: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Spark gives up on it, and the stream is started again."""
    slept, python = tmp_path / "slept", tmp_path / "python"
    script = dedent(SLOW_ONCE).lstrip().replace("SLEPT", str(slept))
    python.write_text(script.replace("PYTHON", sys.executable), encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))
    write_lines(tmp_path / "data", 0, lines(0, 100))
    as_batch, as_stream = (
        pipeline(CSV, QUERIES, SINK, path=path, name=path) for path in ("batch", "stream")
    )
    said: list[str] = []
    assert streamed(spark, as_stream, tell=said.append).batches == 1
    assert slept.exists()
    assert said[0] == "Spark gave up on a Python that was slow to start; starting again"
    batch(spark, as_batch)
    same(as_batch, as_stream)


@pytest.mark.full  # so does tests/kafka, by SIGINT
def test_a_stream_ends_at_a_boundary(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]
) -> None:
    """Asked to stop it ends the micro-batch that runs; the next run goes on from there."""
    for number in range(6):
        write_lines(tmp_path / "data", number, lines(100 * number, 100))
    as_batch, as_stream = (
        pipeline(CSV, QUERIES, SINK, path=path, name=path) for path in ("batch", "stream")
    )
    begun = threading.Event()

    class Noting(StreamRun):
        def _micro_batch(self, shared: Any, number: int) -> None:
            super()._micro_batch(shared, number)
            begun.set()

    running = Noting(as_stream, spark)
    thread = threading.Thread(target=lambda: begun.wait(120) and running.stop())
    thread.start()
    ran = running.run()
    thread.join()
    assert ran.stopped
    assert ran.batches is not None and 1 <= ran.batches < 6
    commits = [p for p in (Path(as_stream.checkpoint) / "commits").iterdir() if p.name.isdigit()]
    assert len(commits) == ran.batches
    rest = streamed(spark, as_stream)
    assert ran.batches + (rest.batches or 0) == 6
    batch(spark, as_batch)
    same(as_batch, as_stream)


def test_answers_that_are_there_already(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]
) -> None:
    """They are refused, replaced or joined, as the file says."""
    write_lines(tmp_path / "data", 0, lines(0, 40))
    query = '[queries.all]\nwindow = 3\nmost = { op = "Max", of = "load" }\n'
    made = pipeline(CSV, query, SINK)
    assert batch(spark, made).answers == {"all": 40}
    with pytest.raises(PipelineError, match=r"there are answers in .* already: remove them, or"):
        batch(spark, made)
    with pytest.raises(PipelineError, match=r"there are answers in .* already"):
        streamed(spark, made)
    assert read(made.sink.path_of("all")).num_rows == 40
    batch(spark, pipeline(CSV, query, SINK, 'mode = "append"'))
    assert read(made.sink.path_of("all")).num_rows == 80
    batch(spark, pipeline(CSV, query, SINK, 'mode = "overwrite"'))
    assert read(made.sink.path_of("all")).num_rows == 40


def test_json_lines(spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]) -> None:
    """Values of another type, lines that are no JSON, missing times and values."""
    source = """
        [source]
        format   = "json"
        path     = "data.json"
        schema   = { ts = "timestamp", load = "double", plug = "string", on = "boolean" }
        time     = "ts"
        key      = "plug"
        required = ["load"]
        where    = "on"
        earliest = 2000-01-01
        latest   = 2030-01-01
        columns  = { kw = "load / 1000" }
    """
    rows = [
        {"ts": "2026-01-01T00:00:00Z", "load": 3000, "plug": "a", "on": True},
        {"ts": "2026-01-01T00:00:01Z", "load": "1000.5", "plug": "a", "on": True},
        {"ts": "2026-01-01T00:00:02Z", "load": [1], "plug": "a", "on": True},
        {"load": 7.5, "plug": "a", "on": True},
        {"ts": "2026-01-01T00:00:03Z", "plug": "a", "on": True},
        {"ts": "2026-01-01T00:00:04Z", "load": 5000, "plug": "a", "on": False},
        {"ts": "2099-01-01T00:00:00Z", "load": 1, "plug": "a", "on": True},
        {"ts": "soon", "load": 1, "plug": "a", "on": "maybe"},
        {"ts": "2026-01-01T00:00:05Z", "load": "", "plug": "a", "on": True},
        {"ts": "+20260-01-01T00:00:05Z", "load": 1, "plug": "a", "on": True},
    ]
    text = [json.dumps(row) for row in rows] + ["{", '"text"']
    (tmp_path / "data.json").write_text("\n".join(text), encoding="utf-8")
    query = '[queries.all]\nwindow = 10\nmost = { op = "Max", of = "kw" }\ncolumns = ["ts"]\n'
    made = pipeline(source, query, SINK)
    ran = batch(spark, made)
    assert read(made.sink.path_of("all")).sort_by("ts")["most"].to_pylist() == [3.0, 3.0]
    assert ran.set_aside == {
        "not JSON": 2,
        "load is not double": 1,
        "no load": 2,
        "no ts": 1,
        "ts is not before 2030-01-01": 1,
        "ts is not within the years 1 to 9999; ts is not before 2030-01-01": 1,
        "ts is not timestamp": 1,
    }
    assert any(
        row["reason"] == "ts is not timestamp: soon; on is not boolean: maybe"
        for row in quarantined(made)
    )


def test_parquet_and_rows_without_a_time(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]
) -> None:
    times = pa.array([1, 2, None, 4], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"ts": times, "x": [1.0, 2.0, 3.0, 4.0]}), tmp_path / "d.parquet")
    source = '[source]\nformat = "parquet"\npath = "d.parquet"\ntime = "ts"\n'
    query = '[queries.all]\nwindow = 2\nsum = { op = "Sum", of = "x" }\n'
    made = pipeline(source, query, SINK)
    ran = batch(spark, made)
    assert ran.set_aside == {"no ts": 1}
    assert read(made.sink.path_of("all")).sort_by("ts")["sum"].to_pylist() == [1.0, 3.0, 6.0]
    assert json.loads(quarantined(made)[0]["row"])["x"] == 3.0


def test_what_a_window_is_measured_by(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]
) -> None:
    """A row whose value is missing, or is no number, has no place in a window of values."""
    times = pa.array(range(5), pa.timestamp("us", "UTC"))
    values = [1.0, None, float("nan"), 2.0, 5.0]
    pq.write_table(pa.table({"ts": times, "x": values}), tmp_path / "d.parquet")
    source = '[source]\nformat = "parquet"\npath = "d.parquet"\ntime = "ts"\n'
    query = '[queries.all]\nwindow = { delta = "X", width = 2 }\nrows = { op = "Count" }\n'
    made = pipeline(source, query, SINK)
    assert batch(spark, made).set_aside == {"X is NaN": 1, "no X": 1}
    assert read(made.sink.path_of("all")).sort_by("ts")["rows"].to_pylist() == [1, 2, 1]


def test_a_file_with_other_columns(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]
) -> None:
    """A stream that meets one ends, with its name; when it is mended, the stream goes on."""
    data = tmp_path / "data"
    write_lines(data, 0, lines(0, 20))
    query = '[queries.all]\nwindow = 3\nmost = { op = "Max", of = "load" }\n'
    made = pipeline(CSV, query, SINK)
    other = data / "1.csv"
    other.write_text("id,load,ts,plug\n20,1.5,2023-11-14T22:14:00Z,p0\n", encoding="utf-8")
    with pytest.raises(Py4JJavaError) as failed:
        streamed(spark, made)
    said = f"{other} has other columns than other files, or in another order"
    assert said in (root_cause(failed.value) or "")
    with pytest.raises(PipelineError, match="has the columns id, load, ts, plug, and other files"):
        pipeline(CSV, query, SINK)
    write_lines(data, 1, lines(20, 20))
    assert streamed(spark, made).set_aside == {}
    assert read(made.sink.path_of("all")).num_rows == 40


@pytest.mark.parametrize(
    "form", ["csv", *(pytest.param(form, marks=pytest.mark.full) for form in ("json", "orc"))]
)
def test_other_files(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any], form: str
) -> None:
    """Lists and bytes become text where lines of CSV are written."""
    write_lines(tmp_path / "data", 0, lines(0, 10))
    query = '[queries.all]\nwindow = 3\nlast = { op = "LastN", of = "load", n = 2 }\n'
    sink = f'[sink]\nformat = "{form}"\npath = "out"\n'
    made = pipeline(CSV, query, sink)
    batch(spark, made)
    found = spark.read.format(form).option("header", True).load(made.sink.path_of("all"))
    assert found.count() == 10
    some = found.orderBy("ts").select("last").first()
    assert some is not None and len(json.loads(some[0]) if form == "csv" else some[0]) == 1


def test_console(
    spark: SparkSession,
    tmp_path: Path,
    pipeline: Callable[..., Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_lines(tmp_path / "data", 0, lines(0, 10))
    query = '[queries.all]\nwindow = 3\nmost = { op = "Max", of = "load" }\n'
    batch(spark, pipeline(CSV, query, '[sink]\nformat = "console"\n'))
    assert "|most" in capsys.readouterr().out.replace(" ", "")


def test_debs_2012(spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]) -> None:
    """Lines as the machine wrote them: tabs, times of 100 ns, numbers with leading zeros."""
    rest = "\t".join(["0071"] * 6 + ["0"] + ["1"] * 44)
    some = [
        f"2012-02-22T16:46:28.9670320+00:00\t2556001\t{14001 + at}\t9005\t10640\t{rest}"
        for at in range(3)
    ]
    (tmp_path / "data.txt").write_text("\n".join(some), encoding="utf-8")
    source = '[source]\nformat = "debs2012"\npath = "data.txt"\n'
    query = '[queries.all]\nwindow = "1s"\nmost = { op = "Max", of = "mf01" }\ncolumns = ["ts"]\n'
    made = pipeline(source, query, SINK)
    assert batch(spark, made).set_aside == {}
    assert read(made.sink.path_of("all")).sort_by("most")["most"].to_pylist() == [
        14001,
        14002,
        14003,
    ]


def test_without_lateness_and_then_otherwise(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]
) -> None:
    """Rows are answered as they come, and only windows on a grid are still open at the end.

    The checkpoint is of these questions, and of no others.
    """
    some = [line for line in lines(1, 48) if line.count(",") == 3]
    write_lines(tmp_path / "data", 0, sorted(some, key=lambda line: line.split(",")[1]))
    source = CSV.replace('lateness = "1min"', "")
    as_batch, as_stream = (
        pipeline(source, QUERIES, SINK, path=path, name=path) for path in ("batch", "stream")
    )
    ran = streamed(spark, as_stream)
    assert ran.open_answers["minutes"] > 0 == ran.open_answers["recent"]
    batch(spark, as_batch)
    same(as_batch, as_stream)
    for changed, why in (
        (QUERIES.replace("5min", "6min"), r"another question, queries.minutes: window was last"),
        (QUERIES.replace("queries.recent", "queries.rec"), "is of the queries minutes, recent, in"),
        (
            QUERIES + "[queries.more]\nwindow = 3\nn = { op = 'Count' }",
            "has minutes, recent, more",
        ),
    ):
        with pytest.raises(PipelineError, match=why):
            streamed(spark, pipeline(source, changed, SINK, path="stream", name="stream"))
    overwriting = pipeline(source, QUERIES, SINK, 'mode = "overwrite"', path="stream")
    with pytest.raises(PipelineError, match="a stream has written answers to"):
        batch(spark, overwriting)
    same(as_batch, as_stream)


@pytest.mark.full
def test_early_answers_beside_others(
    spark: SparkSession, tmp_path: Path, pipeline: Callable[..., Any]
) -> None:
    """A query that answers early, and two that do not, in one pass."""
    write_lines(tmp_path / "data", 0, lines(0, 200))
    early = """
        [queries.early]
        window = { tumbling = "1min" }
        emit   = "early"
        rows   = { op = "Count" }
    """
    made = pipeline(CSV, early, QUERIES, SINK)
    ran = streamed(spark, made)
    assert "version" in read(made.sink.path_of("early")).column_names
    assert ran.answers["early"] and "early" not in ran.open_answers

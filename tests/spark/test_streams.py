"""The same question asked of a stream: the same answers as of a batch, as far as they are final."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql.pandas.types import from_arrow_schema
from spark.engines import (
    END,
    START,
    Asked,
    Found,
    locally,
    on_stream,
    rows_of,
    run_stream,
    same,
)
from spark.some_rows import AGGS, NUMBERS, some_rows, with_column
from spark.test_same_everywhere import WINDOWS
from typer.testing import CliRunner

import sash
from sash.cli import app
from sash.spark.reading import Call
from sash.spark.streams import stream_query
from sash.windows import cutting
from sash.windows.definitions import Punctuated
from sash.windows.shapes import Shape

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


FULL = pytest.mark.full


@pytest.fixture(autouse=True)
def few_shards(settings: Callable[..., None]) -> None:
    settings(**{"spark.sql.shuffle.partitions": 2})


def final(expected: Found, found: Found, asked: Asked) -> tuple[Found, Found]:
    """What is comparable: a batch ends windows at its last row, and a stream goes on."""
    shape = Shape(asked.definition)
    if shape.size == cutting.MARKED:  # what no mark has ended is not over
        expected = _ended_by_marks(expected, asked)
    if shape.trigger == cutting.AT_ENDS and shape.size != cutting.TIME:
        last: dict[Any, Any] = {}
        for row in expected:
            key = tuple(row[name] for name in asked.by)
            last[key] = max(last.get(key, row[END]), row[END])
        found = [row for row in found if row[END] <= last[tuple(row[n] for n in asked.by)]]
    return expected, found


def _ended_by_marks(expected: Found, asked: Asked) -> Found:
    """Without the last window of each key, if it is the next mark that ends one."""
    window = asked.definition
    assert isinstance(window, Punctuated)
    last: dict[Any, Any] = {}
    for row in expected:  # which come in order
        last[tuple(row[name] for name in asked.by)] = row
    still = list(last.values()) if window.marks == "start" else []
    return [row for row in expected if not any(row is each for each in still)]


def check_stream(spark: SparkSession, asked: Asked, folder: Path, **options: Any) -> None:
    rows = some_rows(70)
    found = on_stream(spark, rows, asked, folder, **options)
    expected, found = final(locally(rows, asked), found, asked)
    assert expected and found
    same(found, expected, f"{asked.definition!r} by {asked.by}, {options}", exact=asked.chosen)


SOME = (
    "rows",
    "rows, closed left",
    "each third row",
    "rows at marks",
    "rows on a grid",
    "time",
    "time, closed neither",
    "a grid",
    "delta",
    "up to a mark",
    "session",
    "policy",
)


@pytest.mark.parametrize("kind", SOME[::3])
def test_windows(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    aggs = AGGS if kind in ("rows", "session") else NUMBERS
    check_stream(spark, Asked(WINDOWS[kind], aggs, by=("k",)), tmp_path, lateness="12i")


@pytest.mark.full
@pytest.mark.parametrize("kind", WINDOWS)
def test_windows_all_ways(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    for k, aggs in enumerate((AGGS, NUMBERS)):
        for by in (("k",), ()):
            asked = Asked(WINDOWS[kind], aggs, by=by)
            check_stream(spark, asked, tmp_path / f"{k}{len(by)}", lateness="12i")


SLICED = {
    "n": sash.Count(),
    "seen": sash.Count("x"),
    "total": sash.Sum("g"),
    "hi": sash.Max("f"),
    "dev": sash.StdDev("g"),
}


@pytest.mark.parametrize(
    "window", [sash.last("9i", every="6i"), pytest.param(sash.tumbling("7i"), marks=FULL)]
)
def test_slices(spark: SparkSession, tmp_path: Path, window: Any) -> None:
    """They go to the shards instead of rows."""
    asked = Asked(window, SLICED, by=("k",))
    rows = some_rows(70)
    found = on_stream(spark, rows, asked, tmp_path, lateness="12i")
    same(found, locally(rows, asked), f"{window!r}")  # 0.0 is -0.0: the order of rows is lost
    stream = spark.readStream.schema("k string, t bigint, x bigint, f double, g double")
    query = stream_query(
        stream.parquet(str(tmp_path / "source")), Call(window, SLICED, "k", "t", lateness="12i")
    )
    assert query.slices is not None
    assert "x" not in query.packed_schema.names


@pytest.mark.parametrize("kind", ["rows", "a grid", pytest.param("session", marks=FULL)])
def test_early(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    """The last version of each answer is that of a batch."""
    asked = Asked(WINDOWS[kind], SLICED, by=("k",))
    rows = some_rows(70)
    given = on_stream(spark, rows, asked, tmp_path, lateness="12i", emit="early")
    names = ("id", "t") if asked.at_rows else ("k", START, END)
    versions: dict[Any, Any] = {}
    for row in sorted(given, key=lambda row: row["version"]):
        versions[tuple(row[name] for name in names)] = row
    assert len(versions) < len(given)
    far = rows["t"].to_numpy().max() + 500
    found = [
        {name: value for name, value in row.items() if name != "version"}
        for row in versions.values()
        if row["n"] is not None and row.get("t", row.get(END)) < far
    ]
    same(found, locally(rows, asked), kind)


def test_a_row_out_of_order(spark: SparkSession, tmp_path: Path) -> None:
    """Without lateness a row that comes before an earlier one of its key is named."""
    rows = some_rows(40)
    asked = Asked(3, {"n": sash.Count()}, by=("k",), order_by=("t",))
    with pytest.raises(
        StreamingQueryException, match=rf"last\(3\) failed at the row with t = {rows['t'][0]} of"
    ):
        run_stream(spark, [rows.slice(20), rows.slice(0, 1)], asked, tmp_path)


@pytest.mark.parametrize("sliced", [False, True])
def test_a_row_that_fails(spark: SparkSession, tmp_path: Path, sliced: bool) -> None:
    """It is named, or the slice that it is in."""
    rows = some_rows(40)
    rows = with_column(rows, "x", pa.array([2**62 if i in (7, 8, 9) else 1 for i in range(40)]))
    rows = with_column(rows, "k", pa.array(["a"] * 40))
    window = sash.tumbling("1000i") if sliced else sash.last(3)
    where = "in the slice from t = -1000" if sliced else f"at the row with t = {rows['t'][8]}"
    said = rf"s = Sum\('x'\) failed {where} of k = 'a': OverflowError"
    with pytest.raises(StreamingQueryException, match=said):
        run_stream(
            *(spark, [rows], Asked(window, {"s": sash.Sum("x")}, by=("k",)), tmp_path),
            **{"lateness": "0i", "emit": "early"},
        )


@pytest.mark.parametrize(
    "kind",
    ["timestamp_ntz", *(pytest.param(k, marks=FULL) for k in ("timestamp", "date", "bigint"))],
)
def test_watermark_in_progress(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    """It is told as the order column tells time."""
    moment = "5" if kind == "bigint" else "2026-01-05"
    rows = spark.sql(f"select cast('{moment}' as {kind}) as t, 1 as x")
    rows.write.parquet(str(tmp_path / "source"))
    stream = spark.readStream.schema(rows.schema).parquet(str(tmp_path / "source"))
    late = "2i" if kind == "bigint" else "2d"
    slid = sash.spark.sliding(stream, 3, {"hi": sash.Max("x")}, order_by="t", lateness=late)
    query = slid.writeStream.format("noop").trigger(availableNow=True)
    query = query.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    query.awaitTermination()
    told = query.lastProgress["observedMetrics"]["sash"]["watermark"]
    expected = spark.sql(f"select cast('{moment.replace('5', '3')}' as {kind}) as t").first()
    assert expected is not None and str(told) == str(expected["t"])


def test_state(spark: SparkSession, tmp_path: Path) -> None:
    """What a checkpoint holds, from Python and from the command line."""
    rows = some_rows(60)
    asked = Asked(5, {"hi": sash.Max("f")}, by=("k",))
    run_stream(spark, [rows.slice(0, 30), rows.slice(30)], asked, tmp_path, lateness="3i")
    found = sash.spark.state(tmp_path / "checkpoint")
    counts = Counter(rows["k"].to_pylist())
    assert found.asked["aggregates"] == {"hi": "Max('f')"}
    assert found.watermark == rows["t"].to_numpy().max() - 3
    assert sum(shard.keys for shard in found.shards) == len(counts)
    assert {shard.steps for shard in found.shards} == {2}
    assert all(shard.bytes > 0 and shard.late == 0 for shard in found.shards)
    longest = dict(found.longest(10))
    assert set(longest) == {(key,) for key in counts}
    assert max(longest.values()) == 5
    told = CliRunner().invoke(app, ["state", str(tmp_path / "checkpoint"), "--top", "2"])
    assert told.exit_code == 0, told.output
    assert "last(5)" in told.output and "watermark" in told.output
    told = CliRunner().invoke(app, ["state", str(tmp_path / "checkpoint"), "--json"])
    assert json.loads(told.stdout)["asked"]["window"] == "last(5)"


@pytest.mark.parametrize("kind", ["rows", "time"])
def test_in_order(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    """Without lateness answers come at once."""
    asked = Asked(WINDOWS[kind], NUMBERS, by=("k",), order_by=("t", "id"))
    check_stream(spark, asked, tmp_path)


CONNECT = """
    import json

    import sash

    spark = sash.spark.session(remote="local[2]", progress=False)
    rows = [("a", 1, 5), ("b", 2, 7), ("a", 3, 6), ("a", 9, 1)]
    spark.createDataFrame(rows, "k string, t bigint, x bigint").write.parquet("rows")
    stream = spark.readStream.schema("k string, t bigint, x bigint").parquet("rows")
    found = []
    for name, window, options in (
        ("at rows", "5i", {}),
        ("on a grid", sash.tumbling("4i"), {"lateness": "0i"}),
    ):
        slid = sash.spark.sliding(
            stream, window, {"hi": sash.Max("x")}, by="k", order_by="t", **options
        )
        query = (
            slid.writeStream.format("parquet")
            .option("path", f"answers {name}")
            .option("checkpointLocation", f"checkpoint {name}")
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        answers = spark.read.parquet(f"answers {name}").orderBy("k", slid.columns[1])
        found.append([list(row) for row in answers.collect()])
    spark.stop()
    print(json.dumps(found))
"""


@pytest.mark.full
def test_a_stream_that_pauses(spark: SparkSession, tmp_path: Path) -> None:
    """For longer than Spark keeps idle workers, and with them the windows."""
    rows, asked = some_rows(60), Asked(7, SLICED, by=("k",), order_by=("t", "id"))
    source, found = tmp_path / "source", []
    source.mkdir()
    schema = from_arrow_schema(rows.schema, prefer_timestamp_ntz=True)
    stream = spark.readStream.schema(schema).parquet(str(source))
    slid = sash.spark.sliding(stream, 7, SLICED, by="k", order_by=["t", "id"])
    query = (
        slid.writeStream.foreachBatch(lambda df, _: found.extend(rows_of(df.toArrow())))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    rebuilt = 0
    for number in range(2):
        pq.write_table(rows.slice(30 * number, 30), source / f"{number}.parquet")
        until = time.monotonic() + 60
        while len(found) < 30 * (number + 1) and time.monotonic() < until:
            time.sleep(0.2)
        query.processAllAvailable()
        rebuilt = query.lastProgress["observedMetrics"]["sash"]["rebuilt"] or rebuilt
        time.sleep(75 * (number == 0))
    query.stop()
    same(found, locally(rows, asked), "after a pause", exact=asked.chosen)
    assert rebuilt > 0


@pytest.mark.full
def test_connect(run: Any) -> None:
    done = run(CONNECT, SPARK_TESTING="1")
    assert done.returncode == 0, done.stderr
    at_rows, on_grid = json.loads(done.stdout.splitlines()[-1])
    assert at_rows == [["a", 1, 5, 5], ["a", 3, 6, 6], ["a", 9, 1, 1], ["b", 2, 7, 7]]
    assert on_grid == [["a", 0, 4, 6], ["b", 0, 4, 7]]

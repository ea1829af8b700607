"""`sash explain`: words and drawings, without Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sash
from sash.cli import app
from sash.pipeline import read_pipeline
from sash.pipeline.drawing import timeline
from sash.windows.definitions import Definition

FILE = """
[source]
format   = "kafka"
servers  = "localhost:9092"
topic    = "plugs"
schema   = { ts = "timestamp", load = "double", plug = "string" }
time     = "ts"
key      = "plug"
lateness = "2min"

[queries.hour]
window = { last = "1h", every = "1min" }
most   = { op = "Max", of = "load" }

[queries.recent]
window = 1000
mean   = { op = "Mean", of = "load" }

[sink]
format  = "kafka"
servers = "localhost:9092"
topic   = "answers-{query}"
options = { "kafka.sasl.jaas.config" = "password=hunter2" }
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "plugs.toml"
    path.write_text(FILE, encoding="utf-8")
    return str(path)


def test_a_stream_in_words(file: str) -> None:
    told = CliRunner().invoke(app, ["explain", file, "--stream"])
    assert told.exit_code == 0, told.output
    for said in (
        "plugs (kafka)",
        "├── hour      ──▶ topic answers-hour",
        "└── malformed ──▶",
        "one pass for all queries",
        "up to 2min behind the newest time",
        "before the shuffle, of 60000000 microseconds",
        "two_stacks_lite",
    ):
        assert said in " ".join(told.output.split()) or said in told.output, said
    assert "hunter2" not in told.output


def test_windows_in_a_store(file: str, tmp_path: Path) -> None:
    text = FILE.replace('key      = "plug"', "") + "[state]\nstore = 'ADDRESS'\n"
    for address, shown in (
        ("rocksdb:state/plugs", f"rocksdb:{tmp_path.resolve()}/state/plugs"),
        ("rediss://me:hunter2@host:7000/1", "rediss://host:7000/1"),
    ):
        Path(file).write_text(text.replace("ADDRESS", address), encoding="utf-8")
        told = CliRunner().invoke(app, ["explain", file, "--stream", "--json"])
        assert told.exit_code == 0, told.output
        found = json.loads(told.stdout)
        assert f"are kept in {shown}" in found["shared"]
        for query in ("hour", "recent"):
            said = found["queries"][query]
            assert said["algorithm"] == "amta, which can keep its partials in a store"
            assert f"in {shown}: the window, the rows that wait" in said["state"]
            assert "come to the driver" in said["rows"] and "keys" not in said
        assert "hunter2" not in told.output + repr(read_pipeline(file).state)
    assert not (tmp_path / "state").exists()
    as_batch = CliRunner().invoke(app, ["explain", file, "--json"])
    assert "read and checked once" in json.loads(as_batch.stdout)["shared"]


def test_a_batch_for_scripts(file: str) -> None:
    told = CliRunner().invoke(app, ["explain", file, "--json"])
    found = json.loads(told.stdout)
    assert found["queries"]["recent"]["window"].startswith("last(1000), for each plug")
    assert "read and checked once" in found["shared"]


@pytest.mark.parametrize(
    ("window", "drawn"),
    [
        (sash.last("2min", every="1min"), "├───────────┤  2min"),
        (sash.last("7min", every="2min"), "of 1min, 7 a window"),
        (sash.last("1h", every="1min"), "of 1min, 60 a window, 8 of them drawn"),
        (sash.last("60i", every="10i"), "of 10i, 6 a window"),
        (sash.last(5), "the last 5 rows"),
        (sash.last("1h"), "the rows of the last 1h"),
        (sash.last(5, every=3), "answered each time so many rows have come: 3"),
        (sash.last(5, every="1min"), "the last 5 rows, at each end on a grid of 1min"),
        (sash.delta("km", 3), "rows whose km is within 3"),
        (sash.punctuated("lap"), "a row where lap is true"),
        (sash.session("30s"), "more than 30s without a row"),
        (sash.slide_while("total > 3"), "the policy has not let go"),
    ],
)
def test_drawings(window: Definition, drawn: str) -> None:
    lines = timeline(window)
    assert any(drawn in line for line in lines), lines
    assert all(len(line) < 110 for line in lines)

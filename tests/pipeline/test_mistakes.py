"""Mistakes in pipeline files: each has its sentence, with its line, before Spark starts."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pytest
from pipeline.mistakes import (
    GOOD,
    JSON,
    KAFKA,
    LAST_TIME,
    MISTAKES,
    NO_KEY,
    PARQUET,
    RATE,
    Mistake,
    changed,
    write_world,
)
from typer.testing import CliRunner, Result

from sash.cli import app
from sash.pipeline import PipelineError, read_pipeline
from sash.pipeline.expressions import columns_in
from sash.pipeline.wording import in_toml, key_in_toml

PYTHONS_WORDS = re.compile(r"\b(?:dict|tuple|None|True|False)\b|\bby=|<class|\{'|=…")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("mistakes")
    write_world(found)
    return found


@pytest.fixture(autouse=True)
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*args: Any, **options: Any) -> Any:
        raise AssertionError("Spark was started")

    # The command has the name of its module.
    monkeypatch.setattr(sys.modules["sash.cli.run"], "started", started)
    monkeypatch.setattr("sash.cli.starting.started", started)
    monkeypatch.setattr("sash.spark.session", started)


def written(folder: Path, text: str) -> Path:
    file = folder / "pipeline.toml"
    file.write_text(text, encoding="utf-8")
    return file


def asked(*words: str | Path) -> Result:
    """What a command says; it must not end in a traceback."""
    told = CliRunner().invoke(app, list(map(str, words)))
    assert told.exception is None or isinstance(told.exception, SystemExit), told.exception
    assert "Traceback" not in told.output
    return told


def told_of(folder: Path, text: str) -> list[tuple[int | None, str]]:
    """All that is wrong with a text: lines and sentences."""
    try:
        read_pipeline(written(folder, text))
    except PipelineError as error:
        return [(each.line, each.sentence) for each in error.problems]
    return []


def test_there_are_enough() -> None:
    assert len(MISTAKES) >= 45
    assert [int(n) for n in re.findall(r"# (\d+)$", GOOD, re.MULTILINE)] == list(range(1, 40))


@pytest.mark.parametrize("source", [{}, PARQUET, JSON, KAFKA, RATE, NO_KEY, LAST_TIME], ids=str)
def test_good_files(folder: Path, source: dict[int, str]) -> None:
    file = written(folder, changed(source))
    told = asked("check", file)
    assert (told.exit_code, told.output) == (0, f"{file}: 2 queries, nothing wrong\n")


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_mistake(folder: Path, mistake: Mistake) -> None:
    """One sentence, which tells the file, the line, what is wrong and what to write."""
    file = written(folder, mistake.text)
    told = asked("check", file)
    assert told.exit_code == 2
    assert told.stdout == ""
    lines = told.stderr.splitlines()
    assert len(lines) == 1, told.stderr
    assert lines[0].startswith(f"{file}:{mistake.at}: "), told.stderr
    assert mistake.says.replace("{folder}", str(folder)) in lines[0]
    assert lines[0].endswith((".", "?"))
    assert "hunter2" not in told.stderr
    assert set(PYTHONS_WORDS.findall(lines[0])) <= set(PYTHONS_WORDS.findall(mistake.text))


def test_each_mistake_has_a_sentence_of_its_own(folder: Path) -> None:
    said = [told_of(folder, mistake.text)[0][1] for mistake in MISTAKES]
    assert len(said) == len(set(said))


@pytest.mark.parametrize("mistake", MISTAKES[::12], ids=str)
@pytest.mark.parametrize("command", [("run",), ("run", "--stream"), ("explain",)], ids=" ".join)
def test_other_commands_say_the_same(
    folder: Path, mistake: Mistake, command: tuple[str, ...]
) -> None:
    file = written(folder, mistake.text)
    told, checked = asked(*command, file), asked("check", file)
    assert (told.exit_code, told.stderr) == (2, checked.stderr)


def test_all_mistakes_of_a_file_in_the_order_of_lines(folder: Path) -> None:
    """Also those that can be known only where others are not in the way."""
    text = changed(
        {
            36: "sauce = 3",
            6: 'key = ["hose"]',
            21: 'highest = { op = "Maxx", of = "load" }',
            22: 'spread = { op = "StdDev", of = "laod" }',
            26: 'mean = { op = "Mean", of = "house" }',
            27: 'columns = ["laod"]',
            39: "trigger = 10",
        }
    )
    assert [line for line, _ in told_of(folder, text)] == [6, 21, 22, 27, 36, 39]
    text = text.replace("hose", "house")
    assert [line for line, _ in told_of(folder, text)] == [21, 22, 26, 27, 36, 39]


def test_two_aggregates_of_the_wrong_type(folder: Path) -> None:
    text = changed(
        {21: 'a = { op = "Mean", of = "house" }', 22: 'b = { op = "Sum", of = "house" }'}
    )
    (first, one), (second, other) = told_of(folder, text)
    assert (first, second) == (21, 22)
    assert "Mean of house" in one and "Sum of house" in other


def test_as_json(folder: Path) -> None:
    file = written(folder, changed({5: 'tiem = "ts"', 36: "sauce = 3"}))
    told = asked("check", file, "--json")
    assert told.exit_code == 2
    problems = json.loads(told.stdout)["problems"]
    assert [(each["file"], each["line"]) for each in problems] == [(str(file), 5), (str(file), 36)]
    assert problems[0]["problem"] == "source does not know 'tiem'; did you mean 'time'?"
    told = asked("check", written(folder, GOOD), "--json")
    assert json.loads(told.stdout) == {"problems": [], "queries": ["by_time", "by_rows"]}
    assert told.exit_code == 0


# Files that are none


def test_there_is_no_file(folder: Path) -> None:
    written(folder, GOOD)
    told = asked("check", folder / "pipelin.toml")
    assert told.exit_code == 2
    near = folder / "pipeline.toml"
    assert told.stderr == (
        f"{folder}/pipelin.toml: there is no such file; did you mean '{near}'?\n"
    )
    told = asked("check", folder / "x.toml")
    assert told.stderr == (
        f"{folder}/x.toml: there is no such file; there is pipeline.toml in {folder}.\n"
    )
    assert asked("check", folder / "far/x.toml").stderr.endswith(": there is no such file.\n")


def test_a_folder(folder: Path) -> None:
    written(folder, GOOD)
    told = asked("check", folder)
    assert told.exit_code == 2
    assert (
        f"this is a folder, and no pipeline file; there is {folder}/pipeline.toml." in told.stderr
    )


@pytest.mark.parametrize(
    ("data", "line"),
    [(GOOD.encode("utf-16"), 1), (changed({18: "# ä"}).encode("latin-1"), 18)],
    ids=["utf-16", "latin-1"],
)
def test_not_utf_8(folder: Path, data: bytes, line: int) -> None:
    file = folder / "pipeline.toml"
    file.write_bytes(data)
    told = asked("check", file)
    assert told.exit_code == 2
    assert told.stderr == f"{file}:{line}: this is not UTF-8: save the file as UTF-8.\n"


@pytest.mark.parametrize("text", ["", "\n", "# nothing yet\n"])
def test_a_file_that_says_nothing(folder: Path, text: str) -> None:
    ((line, said),) = told_of(folder, text)
    assert line == 1
    assert said.startswith('the file says nothing: write [source] with format = "parquet", path')
    assert "[queries.load_1h] with window = " in said and "[sink] with format = " in said


def test_what_the_parser_gives_up_on(folder: Path) -> None:
    assert told_of(folder, "a = " + "[" * 5000) == [
        (1, "this cannot be read: lists are nested too far.")
    ]
    assert told_of(folder, f"a = {'1' * 5000}") == [
        (1, "this cannot be read: a number goes on too far.")
    ]


# Lines, however the file is laid out

WRONG = {5: 'time = "tss"', 26: 'mean = { op = "Meann", of = "load" }', 36: "sauce = 3"}


@pytest.mark.parametrize(
    "data",
    [
        changed(WRONG).replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + changed(WRONG).encode(),
        changed({**WRONG, 4: "options = { header = true } # '''", 18: '# """ [x]'}).encode(),
        changed({**WRONG, 18: "# \u2028 \u2029 \x85"}).encode(),
        changed(WRONG).replace("\n", " \t\n ").encode(),
    ],
    ids=["crlf", "bom", "signs in comments", "other ends in comments", "spaces"],
)
def test_lines_of_other_ends(folder: Path, data: bytes) -> None:
    (folder / "pipeline.toml").write_bytes(data)
    with pytest.raises(PipelineError) as error:
        read_pipeline(folder / "pipeline.toml")
    assert [each.line for each in error.value.problems] == [5, 26, 36]


def test_lines_of_other_layouts(folder: Path) -> None:
    """Dotted and quoted keys, tables in tables, lists and texts over several lines."""
    text = '''\
spark."spark.app.name" = """
path = 3 \\"""
"""
"source".format = "csv" # [sink]
source . path = 'readings'
source.'options'.header = true
source.time = "ts"
source.where = """
load >= 0
and laod < 3
"""
source.required = [ # ["x"]
  "load", # ]
  "ladd",
]
source.schema = { id = "bigint", ts = "timestamp", house = "string", load = "doubel" }
[queries."by time".window]
last = "1h"
every = "1 minn"
[queries."by time"]
"high\\u0065st" = { op = "Max", of = [
  "load",
  ["x"],
] }
'more' = 3
[queries.along.window]
delta = "load"
width = "wide"
[queries.along]
n = { op = "Count" }
[sink]
format = "parquet"
path = "answers"
mode = """never"""
'''
    assert [line for line, _ in told_of(folder, text)] == [16, 17, 19, 21, 25, 28, 34]
    text = text.replace("doubel", "double")
    assert [line for line, _ in told_of(folder, text)] == [8, 12, 17, 19, 21, 25, 28, 34]


def test_a_setting_in_a_line_of_its_own(folder: Path) -> None:
    """Of a window, an operator, options: the line of the key, not of the table."""
    text = changed({20: "", 21: "", 25: "", 26: "", 36: "[spark]\nspark.x.y = []\nmemory = '4g'"})
    text += """
[queries.by_time.window]
last = "1h"
evry = "1min"
[queries.by_time.highest]
op = "StdDev"
of = "load"
ddof = 7
[queries.by_rows.window]
punctuated = "lpa"
[queries.by_rows.mean]
op = "Mean"
of = "laod"
"""
    lines = [text.splitlines()[(line or 0) - 1] for line, _ in told_of(folder, text)]
    expected = ["spark.x.y = []", "memory = '4g'", 'evry = "1min"', "ddof = 7"]
    assert lines == [*expected, 'punctuated = "lpa"', 'of = "laod"']


# Sources


def test_patterns_and_packed_files(folder: Path) -> None:
    packed = folder / "packed"
    packed.mkdir()
    with gzip.open(packed / "a.csv.gz", "wt") as file:
        file.write((folder / "readings/a.csv").read_text())
    for path in ("readings/*.csv", "readin*", "packed/", "readings/a.csv", ["readings", "packed"]):
        good = {3: f"path = {in_toml(path)}"}
        assert told_of(folder, changed(good)) == []
        ((line, said),) = told_of(folder, changed({**good, 16: 'schema.laod = "double"'}))
        assert (line, "did you mean 'load'?" in said) == (16, True)
    # What Python does not match as Spark does, and what is elsewhere, is left to Spark.
    for path in ("readings/{a,b}.csv", "hdfs://host/readings", "s3a://bucket/x/*.csv"):
        assert told_of(folder, changed({3: f'path = "{path}"'})) == []


def test_orc_tells_its_columns(folder: Path) -> None:
    (folder / "orc").mkdir()
    orc.write_table(pa.table({"ts": [1], "load": [1.5]}), folder / "orc/a.orc")
    good = {**PARQUET, 2: 'format = "orc"', 3: 'path = "orc"', 6: "", 7: "", 9: "", 27: ""}
    good |= {20: 'window = { last = "60i" }', 37: "", 38: "", 39: "", 10: ""}
    assert told_of(folder, changed(good)) == []
    assert [line for line, _ in told_of(folder, changed({**good, 5: 'time = "tss"'}))] == [5]


def test_types_that_are_not_known_are_not_guessed(folder: Path) -> None:
    """Of kw, SQL tells the type, and Spark reads that; its name is known all the same."""
    for good in (
        {26: 'mean = { op = "Concat", of = "kw" }'},
        {5: 'time = "kw"'},
        {20: 'window = { delta = "kw", width = 3 }'},
    ):
        assert told_of(folder, changed(good)) == []
    kw = {26: 'kw = { op = "Mean", of = "kw" }', 27: ""}
    ((line, said),) = told_of(folder, changed(kw))
    assert line == 26 and "there is a column 'kw' already" in said


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("load > 3 and `house` <> 'no load'", ["load", "house"]),
        ("CASE WHEN a IS NULL THEN -1.5e3 ELSE greatest(b, 2L) END", ["a", "b"]),
        ("try_cast(a AS decimal(10, 2)) BETWEEN 1 AND b", ["a", "b"]),
        ("ts >= timestamp '2013-01-01'", None),
        ("ts > current_date", None),
        ("ts > now() - interval 1 day", None),
        ("timestampdiff(MINUTE, a, b) > 3", None),
        ("exists(loads, x -> x > 3)", None),
        ("kafka.partition = 0", None),
        ("load > 'open", None),
    ],
)
def test_columns_in_sql(sql: str, columns: list[str] | None) -> None:
    assert columns_in(sql) == columns


# Runs


def test_sources_that_never_end(folder: Path) -> None:
    file = written(folder, changed(RATE))
    told = asked("run", file)
    assert told.exit_code == 2
    assert f"{file}" in told.stderr
    assert "source: rate is a stream: run it with --stream." in told.stderr
    told = asked("run", file, "--stream", "--until-idle")
    assert told.exit_code == 2
    assert "source: rate always has new rows: leave --until-idle out." in told.stderr


@pytest.mark.parametrize("option", ["--until-idle", "--leave-open"])
def test_options_of_streams(folder: Path, option: str) -> None:
    told = asked("run", written(folder, GOOD), option)
    assert told.exit_code == 2
    assert "go with --stream" in told.output.replace("│", "")


def test_a_good_file_would_have_started_spark(folder: Path) -> None:
    """So that the tests above would notice."""
    told = CliRunner().invoke(app, ["run", str(written(folder, GOOD))])
    assert isinstance(told.exception, AssertionError)


CHECK = """
import atexit, os, sys
from sash.cli import main
atexit.register(lambda: open(os.environ["LOADED"], "w").write("\\n".join(sys.modules)))
main()
"""


def test_at_once(folder: Path) -> None:
    """A mistake is told by a process of its own that starts no Java, and loads little."""
    file, loaded = written(folder, changed({5: 'tiem = "ts"'})), folder / "loaded"
    told = subprocess.run(
        [sys.executable, "-c", CHECK, "check", file],
        capture_output=True,
        text=True,
        env={**os.environ, "JAVA_HOME": "/nowhere", "PYTHONWARNINGS": "", "LOADED": str(loaded)},
    )
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == f"{file}:5: source does not know 'tiem'; did you mean 'time'?\n"
    modules = set(loaded.read_text().split("\n"))
    assert "sash.pipeline" in modules
    assert modules.isdisjoint({"pandas", "matplotlib", "datasketches", "redis", "rocksdict"})


# Whatever is written

VALUES: list[Any] = [-1, "x", [1], {}, True]
MORE: list[Any] = [0, 10**30, 1.5, float("nan"), [], ["x"], [["x"]], [{}], {"a": 1}, {"last": 3}]
MORE += [{"op": "Max"}, "", " ", "1h", "60i", "9999999999w", "2013-01-01", "Mean", "os:system"]
MORE += ["*", "{query}", "s3a://b/x", "/", "..", "~nobody/x", "a" * 300, "a\0b", "kafka", "rate"]


def paths_of(table: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in table.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from paths_of(value, (*above, key))


def with_value(path: tuple[str, ...], value: Any) -> str:
    """The good file, with another value in one place."""
    content = deepcopy(tomllib.loads(GOOD))
    inner = content
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return "".join(f"{key_in_toml(key)} = {in_toml(each)}\n" for key, each in content.items())


@pytest.mark.parametrize("path", list(paths_of(tomllib.loads(GOOD))), ids=".".join)
def test_any_value(folder: Path, path: tuple[str, ...]) -> None:
    """It is right, or there is a sentence, and none of Python's words in it."""
    for value in VALUES:
        for line, said in told_of(folder, with_value(path, value)):
            assert line is not None
            assert said.endswith((".", "?"))
            assert not PYTHONS_WORDS.search(said), said


@pytest.mark.full
@pytest.mark.parametrize("path", list(paths_of(tomllib.loads(GOOD))), ids=".".join)
def test_any_other_value(folder: Path, path: tuple[str, ...]) -> None:
    for value in MORE:
        text = with_value(path, value)
        for line, said in told_of(folder, text.replace("'a\\x00b'", '"a\\u0000b"')):
            assert line is not None
            assert said.endswith((".", "?"))

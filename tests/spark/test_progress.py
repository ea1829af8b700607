"""The line that shows progress: what it says, when it is gone, and that no job fails by it."""

from __future__ import annotations

import io
import re
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

import sash
from sash.spark.jobs import Running
from sash.spark.live_line import LiveLine, Rate
from sash.spark.progress import Handler, Watcher


class Terminal(io.StringIO):
    """A terminal that keeps all that was written; `seen` is called with each line drawn."""

    def __init__(self, seen: Any = None) -> None:
        super().__init__()
        self.seen = seen

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self.seen is not None:
            self.seen(text)
        return super().write(text)

    def screen(self) -> str:
        """What is to be seen in the end."""
        lines: list[list[str]] = [[]]
        at = 0
        for letter in self.getvalue():
            if letter == "\n":
                lines.append([])
            if letter in "\r\n":
                at = 0
            else:
                lines[-1][at : at + 1] = letter
                at += 1
        return "\n".join("".join(line).rstrip() for line in lines)


class Broken(Terminal):
    def write(self, text: str) -> int:
        raise OSError("closed")


ROWS = 200_000
"""More than a worker writes at once: what it keeps back, Spark cannot count."""


def slow(spark: SparkSession, go: Path) -> Any:
    """A query whose Python operator, with its rows given, waits for a file."""

    def wait(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches
        until = time.monotonic() + 120
        while not go.exists() and time.monotonic() < until:
            time.sleep(0.05)

    return spark.range(ROWS).repartition(2).mapInArrow(wait, "id long")


@pytest.fixture
def go(tmp_path: Path) -> Path:
    return tmp_path / "go"


def test_a_job(spark: SparkSession, go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def seen(line: str) -> None:
        if re.search(r": 0 of 2 tasks, 200k rows in, [1-9].* rows out", line):
            go.touch()

    terminal = Terminal(seen)
    monkeypatch.setattr(sys, "stderr", terminal)
    with sash.spark.progress(spark):
        spark.sparkContext.setJobDescription("waiting for a file to come")
        assert slow(spark, go).toArrow().num_rows == ROWS
        spark.sparkContext.setJobDescription(None)
    drawn = terminal.getvalue()
    assert re.search(r"\(waiting for.*\): 0 of 2 tasks, 200k rows in, [1-9].* rows out", drawn)
    assert terminal.screen() == ""


def test_only_on_terminals(spark: SparkSession, go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written where stderr is no terminal, unless it is asked for."""
    quiet = io.StringIO()
    monkeypatch.setattr(sys, "stderr", quiet)
    go.touch()
    with sash.spark.progress(spark):
        slow(spark, go).toArrow()
    assert quiet.getvalue() == ""
    go.unlink()
    asked = Terminal(lambda line: go.touch() if "tasks" in line else None)
    monkeypatch.setattr(asked, "isatty", lambda: False)
    monkeypatch.setattr(sys, "stderr", asked)
    with sash.spark.progress(spark, show=True):
        slow(spark, go).toArrow()
    assert "of 2 tasks" in asked.getvalue()
    assert asked.screen() == ""


def test_quiet_within(spark: SparkSession, go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An inner one replaces the outer, which goes on afterwards; never two at once."""
    outer, inner = Terminal(), Terminal(lambda line: go.touch() if "tasks" in line else None)
    monkeypatch.setattr(sys, "stderr", outer)
    with sash.spark.progress(spark):
        monkeypatch.setattr(sys, "stderr", inner)
        with sash.spark.progress(spark):
            slow(spark, go).toArrow()
        with sash.spark.progress(spark, show=False):
            slow(spark, go).toArrow()
        assert outer.getvalue() == ""
        go.unlink()
        outer.seen = inner.seen
        written = inner.getvalue()
        slow(spark, go).toArrow()
    assert "tasks" in outer.getvalue()
    assert inner.getvalue() == written


def test_sessions_show_theirs(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, as it was last said; without a word, on terminals."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    sash.spark.session(progress=True)
    first = watchers()
    sash.spark.session()
    assert len(first) == 1
    assert watchers() == first
    sash.spark.session(progress=False)
    sash.spark.session()
    assert watchers() == []


def watchers() -> list[int | None]:
    return [each.ident for each in threading.enumerate() if each.name == "sash progress"]


def test_a_broken_terminal_breaks_no_job(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watching ends at the first line; the job, which waits for that, does not."""
    go = tmp_path / "go"

    def broken(line: str) -> None:
        go.touch()
        raise OSError("closed")

    monkeypatch.setattr(sys, "stderr", Terminal(broken))
    with sash.spark.progress(spark):
        assert len(slow(spark, go).toArrow()) == ROWS
        assert watchers() == []


def test_ends_with_the_session() -> None:
    told = [Running([(1, "a")], 0, 2), None]
    terminal = Terminal()
    watcher = Watcher(SimpleNamespace(running=lambda: told.pop(0)), LiveLine(terminal))  # type: ignore[arg-type]
    watcher.start()
    assert watcher.thread is not None
    watcher.thread.join(timeout=60)
    assert not watcher.thread.is_alive()
    assert "stage 1 (a): 0 of 2 tasks" in terminal.getvalue()
    assert terminal.screen() == ""
    watcher.stop()


class Connected:
    """What a session of Spark Connect has of progress."""

    def __init__(self) -> None:
        self.handlers: list[Any] = []

    def registerProgressHandler(self, handler: Any) -> None:  # noqa: N802
        self.handlers.append(handler)

    def removeProgressHandler(self, handler: Any) -> None:  # noqa: N802
        self.handlers.remove(handler)


def stage(number: int, done: int, tasks: int) -> Any:
    return SimpleNamespace(
        stage_id=number, num_tasks=tasks, num_completed_tasks=done, done=done == tasks
    )


def test_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 100.2, 100.6, 100.7, 101.0, 101.1])
    time = SimpleNamespace(monotonic=lambda: next(clock))
    monkeypatch.setattr(sys.modules[Handler.__module__], "time", time)
    terminal, spark = Terminal(), Connected()
    handler = Handler(spark, LiveLine(terminal))  # type: ignore[arg-type]
    handler.start()
    (told,) = spark.handlers
    drawn = []
    for done in (0, 1, 2, 3, 4):
        stages = [stage(6, 2, 2), stage(7, done, 8)]
        told(stages=stages, inflight_tasks=2, operation_id="x", done=False)
        drawn.append(terminal.screen())
    # Not before half a second, and not again within a quarter of one.
    second, fourth = "stage 7: 2 of 8 tasks", "stage 7: 4 of 8 tasks"
    assert drawn == ["", "", second, second, fourth]
    told(stages=None, inflight_tasks=0, operation_id="x", done=True)
    assert terminal.screen() == ""
    handler.stop()
    assert spark.handlers == []


def test_connect_breaks_no_job() -> None:
    handler = Handler(Connected(), LiveLine(Broken()))  # type: ignore[arg-type]
    handler.begun["x"] = 0.0
    handler(stages=[stage(1, 0, 2)], inflight_tasks=1, operation_id="x", done=False)
    handler(stages=[SimpleNamespace()], inflight_tasks=1, operation_id="x", done=False)
    handler(stages=None, inflight_tasks=0, operation_id="unheard of", done=True)


def test_rate() -> None:
    rate = Rate()
    assert rate.at(10.0, Running([(1, "")], rows_in=0)) is None
    assert rate.at(12.0, Running([(1, "")], rows_in=500)) == 250
    assert rate.at(14.0, Running([(1, "")], rows_in=500, rows_out=800)) == 200
    # From 12.0 on, no longer from 10.0.
    assert rate.at(17.0, Running([(1, "")], rows_in=500, rows_out=1000)) == 200


def test_lines_are_cut_to_the_width() -> None:
    terminal = Terminal()
    line = LiveLine(terminal)
    line.draw("x" * 200)
    assert terminal.screen() == "x" * 79
    line.draw("short")
    assert terminal.screen() == "short"
    line.erase()
    assert terminal.screen() == ""


def test_who_prints_erases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even before the end of a job has been seen; then the streams are as they were."""
    terminal, piped = Terminal(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    line = LiveLine(sys.stderr)
    line.draw("one of two tasks")
    line.draw("two of two tasks")
    kept = sys.stdout
    print("the", "answer")
    assert terminal.screen() == "the answer\n"
    assert sys.stdout is terminal and sys.stderr is terminal
    print("and more", file=kept)
    assert kept.isatty() and terminal.screen() == "the answer\nand more\n"
    del kept
    line.draw("one of two tasks")
    print("with nothing that holds", "the stream")  # which once crashed
    line.draw("one of two tasks")
    print(file=sys.stderr)
    terminal.truncate(terminal.seek(0))
    # What goes elsewhere leaves the line alone.
    monkeypatch.setattr(sys, "stdout", piped)
    line.draw("one of two tasks")
    print("the answer")
    assert terminal.screen() == "one of two tasks"
    inner = LiveLine(sys.stderr)
    assert inner.stream is terminal
    line.erase()
    assert sys.stdout is piped and sys.stderr is terminal


def test_not_a_session() -> None:
    with pytest.raises(TypeError, match=r"spark is a SparkSession.*not 'spark'"):
        sash.spark.progress("spark")  # type: ignore[arg-type]

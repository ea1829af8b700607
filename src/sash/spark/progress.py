"""How far Spark's jobs have come, on one live line.

    stage 4 (save): 1 of 2 tasks, 2.00M rows in, 1.42M rows out, 260k rows/s

While a stream slides windows, it is its last micro-batch that is told of.

It is drawn on stderr a few times a second while jobs run, and erased when they end. A failure to
show it never reaches a job.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, Protocol, cast
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from sash.spark.jobs import Jobs, Running
from sash.spark.kind import is_connect, require_session
from sash.spark.live_line import LiveLine, Rate, line_for
from sash.spark.stream_progress import Streams

IDLE_SECONDS = 0.5
"""Between looks while nothing runs; so a job shorter than that is rarely shown."""

BUSY_SECONDS = 0.1
"""Between looks while something does: after that long at most, the line of a job is erased."""

DRAW_SECONDS = 0.25


class Shown(Protocol):
    """Something that shows progress from `start` until `stop`; each may be called twice."""

    def start(self) -> None: ...
    def stop(self) -> None: ...


def progress(spark: SparkSession, show: bool | None = None) -> Progress:
    """Show a live line on stderr while jobs of a session run:

        with sash.spark.progress(spark):
            answers.write.parquet("answers")

    show   True or False; None: if stderr is a terminal

    Sessions of `sash.spark.session` do so by themselves; `show=False` is quiet for a while.
    """
    require_session(spark)
    return Progress(spark, show)


class Progress:
    """While it is entered, a session's progress is shown as it says, and afterwards as before."""

    def __init__(self, spark: SparkSession, show: bool | None = None) -> None:
        self.spark = spark
        self.mine = shown_for(show, spark)
        self.before: Shown | None = None

    def __enter__(self) -> Progress:
        self.before = _switch(self.spark, self.mine)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _switch(self.spark, self.before)


def show_for(spark: SparkSession, show: bool | None) -> None:
    """Show a session's progress for as long as it lives; None: if stderr is a terminal, and
    unless it has been said for this session before."""
    if show is not None or _key(spark) not in _now:
        _switch(spark, shown_for(show, spark))


def shown_for(show: bool | None, spark: SparkSession) -> Shown:
    stream = sys.stderr
    if stream is None or not (stream.isatty() if show is None else show):
        return Nothing()
    line = LiveLine(stream)
    if is_connect(spark):
        return Handler(spark, line)
    return Watcher(Jobs(spark), line, Streams(spark))


_now: WeakKeyDictionary[Any, Shown] = WeakKeyDictionary()
"""By session: what shows its progress, so that no two write on one line."""


def _key(spark: SparkSession) -> Any:
    """Classic sessions of one context run their jobs side by side, and share a line."""
    return spark if is_connect(spark) else spark.sparkContext


def _switch(spark: SparkSession, shown: Shown | None) -> Shown | None:
    key = _key(spark)
    before = _now.pop(key, None)
    if before is not None:
        before.stop()
    if shown is not None:
        _now[key] = shown
        shown.start()
    return before


class Nothing:
    """Shows nothing."""

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass


class Watcher:
    """For classic sessions: a thread that looks at Spark's own counts.

    While streams slide windows, it is these that it tells of, and not their jobs.
    """

    def __init__(self, jobs: Jobs, line: LiveLine, streams: Streams | None = None) -> None:
        self.jobs = jobs
        self.line = line
        self.streams = streams
        self.over = threading.Event()
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        self.stop()
        self.over = threading.Event()
        self.thread = threading.Thread(
            target=self._watch, args=(self.over,), name="sash progress", daemon=True
        )
        self.thread.start()
        if self.streams is not None:
            self.streams.listen()

    def stop(self) -> None:
        self.over.set()
        if self.streams is not None and self.thread is not None:
            self.streams.leave()
        if self.thread is not None:
            self.thread.join(timeout=5)
            self.thread = None

    def _watch(self, over: threading.Event) -> None:
        # Whatever goes wrong (the session stops, Java is gone, stderr is closed) ends the showing.
        with suppress(Exception):
            rate, drawn = Rate(), 0.0
            while not over.wait(BUSY_SECONDS if self.line.drawn else IDLE_SECONDS):
                running = self.jobs.running()
                now = time.monotonic()
                if running is None:
                    break  # the session has stopped
                said = None if self.streams is None else self.streams.line()
                if said is not None:
                    self.line.draw(said)
                elif not running.stages:
                    self.line.erase()
                    rate = Rate()
                elif now - drawn >= DRAW_SECONDS:
                    self.line.draw(line_for(running, rate.at(now, running), self.line.width()))
                    drawn = now
        with suppress(Exception):
            self.line.erase()


class Handler:
    """For Spark Connect: the server tells, with each answer, of tasks, but not of rows."""

    def __init__(self, spark: SparkSession, line: LiveLine) -> None:
        self.spark = spark
        self.line = line
        self.begun: dict[str | None, float] = {}
        self.drawn = 0.0

    def start(self) -> None:
        self.spark.registerProgressHandler(cast(Any, self))

    def stop(self) -> None:
        with suppress(Exception):
            self.spark.removeProgressHandler(cast(Any, self))
        with suppress(Exception):
            self.line.erase()

    def __call__(
        self,
        stages: Iterable[Any] | None,
        inflight_tasks: int,
        operation_id: str | None,
        done: bool,
    ) -> None:
        with suppress(Exception):
            self._told(list(stages or ()), operation_id, done)

    def _told(self, stages: list[Any], operation_id: str | None, done: bool) -> None:
        now = time.monotonic()
        begun = self.begun.setdefault(operation_id, now)
        if done:
            self.begun.pop(operation_id)
            self.line.erase()
        elif now - begun >= IDLE_SECONDS and now - self.drawn >= DRAW_SECONDS:
            open_stages = [stage for stage in stages if not stage.done]
            running = Running(
                stages=[(stage.stage_id, "") for stage in open_stages],
                done=sum(stage.num_completed_tasks for stage in open_stages),
                tasks=sum(stage.num_tasks for stage in open_stages),
            )
            if running.stages:
                self.line.draw(line_for(running, None, self.line.width()))
                self.drawn = now

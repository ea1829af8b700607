"""Running a pipeline as a stream: one pass over the rows of each micro-batch, for all queries."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Any

from sash.aggregators.duration import Time, length
from sash.pipeline.causes import python_came_late
from sash.pipeline.definition import Pipeline, Question
from sash.pipeline.rows import ASIDE, Frame, by_reason, rows_of, set_aside
from sash.pipeline.running import Ran, check_columns, old_answers, quietly, refused
from sash.pipeline.sinks import OPEN, Writer
from sash.spark.asking import Stream
from sash.spark.files import Files
from sash.spark.stream_progress import counts_of

QUARANTINE = "json"
QUESTIONS = "sash-questions.json"
LOOK_SECONDS = 0.2
STARTS = 3
"""How often a stream is started if a busy machine is too slow for it, before it fails."""


class StopRequestedError(Exception):
    """The stream is to end before the micro-batch that has just begun."""


class StreamRun:
    """A pipeline that runs as a stream until it is idle, or is asked to stop."""

    def __init__(
        self,
        pipeline: Pipeline,
        spark: Any,
        *,
        quiet: bool = False,
        until_idle: bool = False,
        leave_open: bool = False,
        tell: Callable[[str], None] = quietly,
    ) -> None:
        self.pipeline = pipeline
        self.spark = spark
        self.until_idle = until_idle
        self.leave_open = leave_open
        self.tell = tell
        self.writer = Writer(pipeline, spark, quiet)
        self.ran = Ran(pipeline, batches=0)
        self.stopping = threading.Event()
        self.named = threading.Event()
        """Set when it is known what files of this stream are called."""
        self.open_forgotten = False
        self.failure: Exception | None = None
        """What has gone wrong in a micro-batch, before Spark wraps it in a page of its own."""

    def stop(self) -> None:
        """End at the next boundary of micro-batches."""
        self.stopping.set()

    def run(self) -> Ran:
        began = time.monotonic()
        pipeline = self.pipeline
        if not self._has_begun():
            self._make_way()
        rows = rows_of(self.spark, pipeline.source, stream=True)
        check_columns(pipeline, rows, stream=True)
        self._ask(rows, [pipeline.arguments(question) for question in pipeline.questions])
        self._same_questions()
        with self._windows():
            self._stream()
        self.ran.seconds = time.monotonic() - began
        return self.ran

    def _ask(self, rows: Frame, several: list[dict[str, Any]]) -> None:
        assert self.pipeline.state is None  # or it is for StoredStreamRun
        self.stream: Any = Stream(rows, several, ASIDE)

    def _windows(self) -> AbstractContextManager[None]:
        """What is open while the stream runs; Spark's state needs nothing."""
        return nullcontext()

    def _stream(self) -> None:
        pipeline = self.pipeline
        writer = self.stream.answers.writeStream.foreachBatch(self._micro_batch)
        writer = writer.queryName(pipeline.name).outputMode(self.stream.mode)
        writer = writer.option("checkpointLocation", pipeline.checkpoint)
        writer = triggered(writer, pipeline, self.until_idle)
        for starts_left in reversed(range(STARTS)):
            try:
                self._until_ended(writer.start())
                break
            except Exception as error:
                if self.failure or not starts_left or not python_came_late(error):
                    raise
                self.tell("Spark gave up on a Python that was slow to start; starting again")
        if self.until_idle and not self.ran.stopped and not self.leave_open:
            self._write_open()

    def _until_ended(self, query: Any) -> None:
        self.id = str(query.id)
        self.writer = replace(self.writer, stream=self.id[:8])
        self.named.set()
        try:
            with _without_word_of_stops():
                self._wait(query)
        finally:
            with suppress(Exception):
                query.stop()

    def _has_begun(self) -> bool:
        """Whether the checkpoint has micro-batches."""
        return bool(Files(self.spark, self.pipeline.checkpoint).names("offsets"))

    def _make_way(self) -> None:
        """Of answers that are there before a stream begins: refuse, keep or remove them."""
        pipeline, sink = self.pipeline, self.pipeline.sink
        if not sink.is_files or sink.mode == "append":
            return
        for question in pipeline.questions:
            folder = Files(self.spark, sink.path_of(question.name))
            if sink.mode == "error" and folder.names():
                raise old_answers(pipeline, folder.folder)
            self.writer.clear(folder.folder)
        self.writer.clear(pipeline.quarantine)

    def _same_questions(self) -> None:
        """A checkpoint belongs to its questions: what was asked is kept there, and compared."""
        folder = Files(self.spark, self.pipeline.checkpoint)
        names = [question.name for question in self.pipeline.questions]
        asked = dict(zip(names, self.stream.questions(), strict=True))
        kept = folder.read(QUESTIONS) if self._has_begun() else None
        if kept is None:
            folder.write(QUESTIONS, json.dumps(asked))
            return
        before = json.loads(kept)
        new = "ask the same again, or begin with a new checkpoint"
        if list(before) != names:
            raise refused(
                self.pipeline,
                ("queries",),
                f"the checkpoint in {folder.folder} is of the queries {', '.join(before)}, in this "
                f"order, and the file has {', '.join(names)}: {new}.",
            )
        in_store, was = (not next(iter(each.values()))["shards"] for each in (asked, before))
        if in_store != was:
            kept_in, now = ("a store", "Spark's state") if was else ("Spark's state", "a store")
            raise refused(
                self.pipeline,
                ("state",) if in_store else ("queries",),
                f"the checkpoint in {folder.folder} is of windows in {kept_in}, and they are to be "
                f"in {now}: begin with a new checkpoint, or {'leave' if in_store else 'write'} "
                f"[state]{' out' if in_store else ''}.",
            )
        for k, name in enumerate(names):
            found = self.stream.difference(k, before[name])
            if found is not None:
                raise refused(
                    self.pipeline,
                    ("queries", name),
                    f"the checkpoint in {folder.folder} is of another question, queries.{name}: "
                    f"{found}; {new}.",
                )

    def _micro_batch(self, shared: Frame, batch: int) -> None:
        if self.stopping.is_set():
            raise StopRequestedError
        self.named.wait()
        shared = shared.persist()
        try:
            self._forget_open()
            self._answer(shared, batch)
            self._quarantine(set_aside(self.stream.set_aside(shared), "aside"), batch)
        except Exception as error:
            self.failure = error
            raise
        finally:
            shared.unpersist()

    def _answer(self, shared: Frame, batch: int) -> None:
        for k, question in enumerate(self.pipeline.questions):
            self._write(question, self.stream.answers_to(shared, k), batch)

    def _write(self, question: Question, answers: Frame, batch: int) -> int:
        count = self.writer.micro_batch(question, answers, batch)
        self.ran.answers[question.name] = self.ran.answers.get(question.name, 0) + count
        return count

    def _quarantine(self, told: Frame, batch: int) -> None:
        reasons = by_reason(told)
        for reason, count in reasons.items():
            self.ran.set_aside[reason] = self.ran.set_aside.get(reason, 0) + count
        if reasons:
            path = self.pipeline.quarantine
            self.writer.files(told.coalesce(1), path, QUARANTINE, {}, batch)

    def _wait(self, query: Any) -> None:
        seen = -1
        while query.isActive:
            seen = note(self.ran, query, seen)
            if self.stopping.is_set() and not query.status["isTriggerActive"]:
                query.stop()  # between micro-batches
            with suppress(Exception):  # told below
                query.awaitTermination(LOOK_SECONDS)
        note(self.ran, query, seen)
        error = query.exception()
        self.ran.stopped = self.stopping.is_set()
        if error is not None and StopRequestedError.__name__ not in str(error):
            raise self.failure or error

    def _forget_open(self) -> None:
        """If the stream goes on, what was open when it ended is answered in its time."""
        if self.pipeline.sink.is_files and not self.open_forgotten:
            for question in self.pipeline.questions:
                self.writer.remove(self.pipeline.sink.path_of(question.name), OPEN)
        self.open_forgotten = True

    def _write_open(self) -> None:
        """Answers of windows that are open, as if no more rows came."""
        if self.pipeline.sink.format == "kafka" or (not self.ran.batches and not self._has_begun()):
            return  # what was sent cannot be taken back
        self.tell("answering what is open")
        self._answer_open()

    def _answer_open(self) -> None:
        shared = self.stream.open_answers(self.pipeline.checkpoint)
        if shared is None:
            return
        shared = shared.persist()
        for k, question in enumerate(self.pipeline.questions):
            if question.emit == "early":
                continue  # has been answered
            answers = self.stream.answers_to(shared, k)
            self.ran.open_answers[question.name] = self.writer.micro_batch(question, answers, OPEN)
        shared.unpersist()


@contextmanager
def _without_word_of_stops() -> Iterator[None]:
    """Py4J logs every error of a function that Java calls; ours is how the function says no."""

    def is_other(record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error, StopRequestedError)

    log = logging.getLogger("py4j.clientserver")
    log.addFilter(is_other)
    try:
        yield
    finally:
        log.removeFilter(is_other)


def note(ran: Ran, query: Any, seen: int) -> int:
    """Count what micro-batches have told that have ended since; the last of them."""
    for progress in query.recentProgress:
        batch = progress["batchId"]
        counts = counts_of(progress)
        if batch <= seen or counts is None:
            continue
        seen = batch
        ran.batches = (ran.batches or 0) + 1
        ran.rows += counts["rows_in"] or 0
        ran.given += counts["rows_out"] or 0
        ran.late += counts["late"] or 0
        if counts["watermark"] is not None:
            ran.watermark = str(counts["watermark"])
    return seen


def triggered(writer: Any, pipeline: Pipeline, until_idle: bool) -> Any:
    """With micro-batches that begin when they should."""
    if until_idle:
        return writer.trigger(availableNow=True)
    if pipeline.trigger is None:
        return writer
    span = length(pipeline.trigger)
    assert isinstance(span, Time)  # or the file was refused
    return writer.trigger(processingTime=f"{span.nanoseconds // 1_000_000} milliseconds")

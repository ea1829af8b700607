"""Running a pipeline by Spark Connect: as streams side by side, one for each query.

No code of ours runs between the micro-batches there, which could take answers apart. So each query
is a stream of its own, reads the source by itself, and ends in Spark's own sink. Windows that are
open at the end are not answered.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from sash.pipeline.definition import Pipeline, Question
from sash.pipeline.rows import ASIDE, Frame, by_reason, good, rows_of, set_aside
from sash.pipeline.running import Ran, check_columns, quietly, refused
from sash.pipeline.sinks import Writer, messages
from sash.pipeline.streaming import LOOK_SECONDS, QUARANTINE, note, triggered
from sash.spark.frames import sliding

MALFORMED = "quarantine"


class StreamsApart:
    """A pipeline that runs as several streams until they are idle, or are asked to stop."""

    def __init__(
        self,
        pipeline: Pipeline,
        spark: Any,
        *,
        until_idle: bool = False,
        tell: Callable[[str], None] = quietly,
    ) -> None:
        self.tell = tell
        self.pipeline = pipeline
        self.spark = spark
        self.until_idle = until_idle
        self.ran = Ran(pipeline, batches=0)
        self.stopping = threading.Event()

    def stop(self) -> None:
        """End each stream at the next boundary of its micro-batches."""
        self.stopping.set()

    def run(self) -> Ran:
        began = time.monotonic()
        pipeline = self.pipeline
        if pipeline.sink.mode == "overwrite" and pipeline.sink.is_files:
            raise refused(
                pipeline,
                ("sink", "mode"),
                'sink: mode = "overwrite" cannot be had from a stream by Spark Connect: remove the '
                'old answers yourself, and write mode = "append".',
            )
        if pipeline.state is not None:
            raise refused(
                pipeline,
                ("state",),
                "state: by Spark Connect a stream cannot keep its windows in a store: leave "
                "[state] out, or run without Connect.",
            )
        self.tell("each query is a stream of its own; windows still open are not answered")
        rows = rows_of(self.spark, pipeline.source, stream=True)
        check_columns(pipeline, rows)
        streams: dict[str, Any] = {}
        try:
            for question in pipeline.questions:
                answers = sliding(good(rows), **pipeline.arguments(question))
                streams[question.name] = self._answering(question, answers)
            bad = set_aside(rows.filter(f"{ASIDE} IS NOT NULL"), ASIDE)
            streams[MALFORMED] = self._started(
                bad, MALFORMED, QUARANTINE, {"path": pipeline.quarantine}
            )
            self._wait(streams)
        finally:
            for stream in streams.values():
                with suppress(Exception):
                    stream.stop()
        with suppress(Exception):  # none is there yet
            self.ran.set_aside = by_reason(self.spark.read.json(pipeline.quarantine))
        self.ran.seconds = time.monotonic() - began
        return self.ran

    def _answering(self, question: Question, answers: Frame) -> Any:
        sink, writer = self.pipeline.sink, Writer(self.pipeline, self.spark)
        options = dict(writer.options)
        if sink.is_files:
            answers = writer.prepared(answers)
            options["path"] = sink.path_of(question.name)
        if sink.format == "kafka":
            answers = messages(answers, self.pipeline, question)
            options = {"kafka.bootstrap.servers": sink.servers or "", **options}
        mode = "update" if question.emit == "early" else "append"
        return self._started(answers, question.name, sink.format, options, mode)

    def _started(
        self, rows: Frame, name: str, form: str, options: Mapping[str, str], mode: str = "append"
    ) -> Any:
        writer = rows.writeStream.format(form).options(**options).outputMode(mode)
        writer = writer.option("checkpointLocation", f"{self.pipeline.checkpoint}/{name}")
        return triggered(writer.queryName(name), self.pipeline, self.until_idle).start()

    def _wait(self, streams: Mapping[str, Any]) -> None:
        each = {name: Ran(self.pipeline, batches=0) for name in streams}
        seen = dict.fromkeys(streams, -1)
        while any(stream.isActive for stream in streams.values()) and not any(
            stream.exception() for stream in streams.values()
        ):
            for name, stream in streams.items():
                seen[name] = note(each[name], stream, seen[name])
                if self.stopping.is_set() and not stream.status["isTriggerActive"]:
                    stream.stop()
            time.sleep(LOOK_SECONDS)
        self.ran.stopped = self.stopping.is_set()
        for name, stream in streams.items():
            note(each[name], stream, seen[name])
            error = stream.exception()
            if error is not None:
                raise error
        for question in self.pipeline.questions:
            own = each[question.name]
            self.ran.answers[question.name] = own.given
            # Each has read all rows.
            self.ran.rows = max(self.ran.rows, own.rows)
            self.ran.late = max(self.ran.late, own.late)
            self.ran.batches = max(self.ran.batches or 0, own.batches or 0)
            self.ran.watermark = own.watermark or self.ran.watermark

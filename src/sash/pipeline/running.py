"""Running a pipeline over all its rows at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sash.pipeline.definition import Pipeline, is_local, local
from sash.pipeline.formats import READ
from sash.pipeline.lines import Path, line_of
from sash.pipeline.problems import PipelineError, Problem
from sash.pipeline.rows import ASIDE, Frame, by_reason, good, rows_of, set_aside
from sash.pipeline.sinks import Writer
from sash.pipeline.wording import reworded
from sash.spark.asking import Batch, wrong_with
from sash.spark.connectors import JARS, kafka_connector
from sash.spark.files import Files
from sash.spark.kind import is_connect
from sash.spark.stored_stream import wrong_in_store

JAVA_OPTIONS = ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions")
HUGE = "DontCompileHugeMethods"
"""Java does not compile methods of more than 8,000 bytes unless it is told to. What Spark writes
for the checks of a source with many columns is longer, and would be interpreted."""


def quietly(said: str) -> None:
    """What is told of a run's steps, to nobody."""


@dataclass
class Ran:
    """What a run has done."""

    pipeline: Pipeline
    rows: int = 0
    """Rows that went into windows."""
    set_aside: dict[str, int] = field(default_factory=dict)
    """How many rows were malformed, by what was wrong with them."""
    late: int = 0
    answers: dict[str, int] = field(default_factory=dict)
    given: int = 0
    """On a stream, answers as Spark has counted them, of all queries."""
    open_answers: dict[str, int] = field(default_factory=dict)
    """Of these, answers of windows that are still open."""
    batches: int | None = None
    """On a stream, how many micro-batches."""
    watermark: str | None = None
    seconds: float = 0.0
    stopped: bool = False
    """Whether it was asked to stop."""

    def told(self) -> dict[str, Any]:
        """For scripts."""
        pipeline = self.pipeline
        found: dict[str, Any] = {
            "file": str(pipeline.file),
            "rows": self.rows,
            "quarantined": self.set_aside,
            "answers": self.answers,
            "seconds": round(self.seconds, 3),
        }
        if pipeline.sink.is_files:
            found["paths"] = {q.name: pipeline.sink.path_of(q.name) for q in pipeline.questions}
        if self.set_aside:
            found["quarantine"] = pipeline.quarantine
        if self.batches is not None:
            found |= {
                "late": self.late,
                "micro_batches": self.batches,
                "open_answers": self.open_answers,
                "watermark": self.watermark,
                "checkpoint": pipeline.checkpoint,
                "stopped": self.stopped,
            }
            if pipeline.state is not None:
                found["state"] = str(pipeline.state)
        return found


def settings(
    pipeline: Pipeline, conf: Mapping[str, str], remote: str | None = None
) -> dict[str, str]:
    """The settings of Spark that a pipeline needs, below those that are asked for.

    remote: the server that it runs on by Spark Connect, which has its connectors already.
    """
    # Spark's default for times is a type of its own that other readers of Parquet give up on.
    ours = {
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        # A division by zero in a computed column is null, and does not end the run.
        "spark.sql.ansi.enabled": "false",
    }
    found = {**ours, **pipeline.spark, **conf}
    elsewhere = remote is not None and remote.startswith("sc://")
    for name in () if elsewhere else JAVA_OPTIONS:
        given = found.get(name, "")
        if HUGE not in given:
            found[name] = f"{given} -XX:-{HUGE}".strip()
    if pipeline.needs_kafka and not elsewhere and not any(name in found for name in JARS):
        connector = kafka_connector()
        if connector is not None:
            found["spark.jars.packages"] = connector
    return found


def run_batch(
    pipeline: Pipeline, spark: Any, quiet: bool = False, tell: Callable[[str], None] = quietly
) -> Ran:
    """Answer all queries of a pipeline over all rows that its source has now."""
    began = time.monotonic()
    ran = Ran(pipeline)
    refuse_old_answers(pipeline)
    writer = Writer(pipeline, spark, quiet)
    if pipeline.state is not None:
        tell("[state] is for --stream: all rows at once need no store")
    if pipeline.sink.mode == "overwrite" and not is_connect(spark):
        _refuse_a_streams_answers(pipeline, spark)
        writer.clear(pipeline.quarantine)
    rows = rows_of(spark, pipeline.source, stream=False)
    check_columns(pipeline, rows)
    rows = rows.persist()  # read and checked once, for all queries
    try:
        tell("reading rows")
        counts = rows.selectExpr("count(*) AS every", f"count({ASIDE}) AS aside").collect()[0]
        ran.rows = counts["every"] - counts["aside"]
        if counts["aside"]:
            told = set_aside(rows.filter(f"{ASIDE} IS NOT NULL"), ASIDE)
            ran.set_aside = by_reason(told)
            told.write.mode("append").json(pipeline.quarantine)
        several = [pipeline.arguments(question) for question in pipeline.questions]
        with Batch(good(rows), several) as batch:
            for k, question in enumerate(pipeline.questions):
                tell(f"answering {question.name}")
                ran.answers[question.name] = writer.whole(question, batch.answers_to(k))
    finally:
        rows.unpersist()
    ran.seconds = time.monotonic() - began
    return ran


def refuse_old_answers(pipeline: Pipeline) -> None:
    """Answers that are there already are neither mixed with new ones nor lost, unless asked for."""
    if pipeline.sink.mode != "error" or not pipeline.sink.is_files:
        return
    for question in pipeline.questions:
        path = pipeline.sink.path_of(question.name)
        if is_local(path) and local(path).is_dir() and any(local(path).iterdir()):
            raise old_answers(pipeline, path)


def _refuse_a_streams_answers(pipeline: Pipeline, spark: Any) -> None:
    """The stream would go on from its checkpoint, and add to answers that are complete."""
    if pipeline.sink.is_files and Files(spark, pipeline.checkpoint).names("offsets"):
        raise refused(
            pipeline,
            ("sink", "path"),
            f"sink: a stream has written answers to {pipeline.sink.path}, and would go on from "
            f"{pipeline.checkpoint}: remove that folder first, or write another path.",
        )


def old_answers(pipeline: Pipeline, path: str) -> PipelineError:
    return refused(
        pipeline,
        ("sink", "mode"),
        f'sink: there are answers in {path} already: remove them, or write mode = "overwrite" or '
        f'mode = "append" in [sink].',
    )


def refused(pipeline: Pipeline, where: Path, sentence: str) -> PipelineError:
    line = line_of(pipeline.lines, where)
    return PipelineError([Problem(str(pipeline.file), line, sentence)])


def check_columns(pipeline: Pipeline, rows: Frame, stream: bool = False) -> None:
    """What could not be checked before Spark had seen the source."""
    types = {f.name: f.dataType for f in rows.schema.fields if f.name != ASIDE}
    for question in pipeline.questions:
        sentence = wrong_with(types, pipeline.arguments(question))
        if sentence is None and stream and pipeline.state is not None:
            sentence = wrong_in_store(types, pipeline.arguments(question))
        if sentence is not None:
            said = reworded(sentence, question.window)
            where = ("queries", question.name)
            raise refused(pipeline, where, f"{'.'.join(where)}: {said}")


def refuse_endless(pipeline: Pipeline, stream: bool, until_idle: bool) -> None:
    """A source that never ends is no batch, and never idle."""
    known = READ.get(pipeline.source.format)
    if known is None:
        return
    if not stream and not known.batch:
        raise refused(
            pipeline,
            ("source", "format"),
            f"source: {pipeline.source.format} is a stream: run it with --stream.",
        )
    if until_idle and not known.ends:
        raise refused(
            pipeline,
            ("source", "format"),
            f"source: {pipeline.source.format} always has new rows: leave --until-idle out.",
        )

"""Writing answers: whole, or micro-batch by micro-batch, each of which is written once.

A stream's files are named after it and the micro-batch that they are of. If one is run again after
a stop, its files take the place of what the first try had left. Kafka has no such place: what was
sent before a stop is sent again.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from typing import Any

from sash.pipeline.definition import Pipeline, Question
from sash.pipeline.rows import WITH_MICROSECONDS, Frame, as_map, literal, quoted
from sash.spark.counting import counted
from sash.spark.files import Files

OPEN = "open"
"""In the place of a micro-batch's number: answers of windows that are still open."""
DATA = "part-"
HIDDEN = ".writing-"


@dataclass(frozen=True)
class Writer:
    """Where a pipeline's answers go."""

    pipeline: Pipeline
    spark: Any
    quiet: bool = False
    """Tables go to stderr, as something else is told on stdout."""
    stream: str = ""
    """The name of the stream, in the names of its files."""

    def whole(self, question: Question, answers: Frame) -> int:
        """All answers of a batch; tells how many."""
        sink = self.pipeline.sink
        if not sink.is_files:
            return self._sent(question, answers, question.name)
        answers, count = counted(answers)
        writer = self.prepared(answers).write.format(sink.format).mode(sink.mode)
        writer.options(**self.options).save(sink.path_of(question.name))
        return count()

    def micro_batch(self, question: Question, answers: Frame, batch: int | str) -> int:
        """The answers of a micro-batch; tells how many."""
        sink = self.pipeline.sink
        if not sink.is_files:
            return self._sent(question, answers, f"{question.name}, micro-batch {batch}")
        path = sink.path_of(question.name)
        return self.files(self.prepared(answers), path, sink.format, self.options, batch)

    def files(
        self, rows: Frame, path: str, form: str, options: Mapping[str, str], batch: int | str
    ) -> int:
        """Rows as files of a micro-batch, in the place of those that it may have left before."""
        folder = Files(self.spark, path)
        prefix = self._prefix(batch)
        hidden = f"{HIDDEN}{prefix}"
        rows, count = counted(rows)
        rows.write.format(form).mode("overwrite").options(**options).save(f"{path}/{hidden}")
        self.remove(path, batch)
        for number, written in enumerate(folder.names(DATA, within=hidden)):
            suffix = written[written.index(".") :]
            folder.move(f"{hidden}/{written}", f"{prefix}{number:05}{suffix}")
        folder.remove(hidden)
        return count()

    def clear(self, path: str) -> None:
        """Remove all files of answers, or of malformed rows, from a folder, and nothing else."""
        folder = Files(self.spark, path)
        for name in [*folder.names(DATA), *folder.names(HIDDEN), *folder.names("_SUCCESS")]:
            folder.remove(name)

    def remove(self, path: str, batch: int | str) -> None:
        """Remove the files of a micro-batch."""
        folder = Files(self.spark, path)
        for written in folder.names(self._prefix(batch)):
            folder.remove(written)

    def _prefix(self, batch: int | str) -> str:
        """What the names of its files begin with."""
        assert self.stream
        return (
            f"{DATA}{self.stream}-{batch:09}-" if batch != OPEN else f"{DATA}{self.stream}-{OPEN}-"
        )

    @property
    def options(self) -> dict[str, str]:
        """Those of the sink, and ours where it has none."""
        sink = self.pipeline.sink
        ours = {"header": "true"} if sink.format == "csv" else {}
        if sink.format in ("csv", "json"):
            ours |= WITH_MICROSECONDS
        return ours | dict(sink.options)

    def prepared(self, answers: Frame) -> Frame:
        """As the format can hold it: lines of CSV have neither lists nor bytes."""
        if self.pipeline.sink.format != "csv":
            return answers
        return answers.selectExpr(*(_flat(field) for field in answers.schema.fields))

    def _sent(self, question: Question, answers: Frame, title: str) -> int:
        sink = self.pipeline.sink
        if sink.format not in ("kafka", "console"):
            answers, count = counted(answers)
            answers.write.format(sink.format).mode("append").options(**sink.options).save()
            return count()
        # Rows on their way to Kafka cannot be observed, and of a table only the first are made.
        answers = answers.persist()
        try:
            many = int(answers.count())
            if sink.format == "console":
                with redirect_stdout(sys.stderr) if self.quiet else nullcontext():
                    print(title)
                    answers.show(int(sink.options.get("numRows", 20)), truncate=False)
            elif many:
                messages(answers, self.pipeline, question).write.format("kafka").options(
                    **{"kafka.bootstrap.servers": sink.servers, **sink.options}
                ).save()
        finally:
            answers.unpersist()
        return many


def messages(answers: Frame, pipeline: Pipeline, question: Question) -> Frame:
    """Answers as messages: the key's columns as its key, all columns as JSON."""
    sink = pipeline.sink
    columns = ", ".join(map(quoted, answers.columns))
    shared = len(pipeline.questions) > 1 and "{query}" not in (sink.topic or "")
    if shared:  # in one topic, each tells what it answers
        columns = f"{literal(question.name)} AS query, {columns}"
    keys = [quoted(name) for name in question.key]
    if len(keys) == 1:
        key = f"cast({keys[0]} AS string)"
    else:
        key = f"to_json(struct({', '.join(keys)}))" if keys else "cast(null AS string)"
    options = {"ignoreNullFields": "false", **WITH_MICROSECONDS}
    return answers.selectExpr(
        f"{literal(sink.topic_of(question.name))} AS topic",
        f"{key} AS key",
        f"to_json(struct({columns}), {as_map(options)}) AS value",
    )


def _flat(field: Any) -> str:
    name, kind = quoted(field.name), field.dataType.simpleString()
    if kind.startswith(("array", "struct", "map")):
        return f"to_json({name}, {as_map(WITH_MICROSECONDS)}) AS {name}"
    return f"base64({name}) AS {name}" if kind == "binary" else name

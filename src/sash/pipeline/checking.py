"""What a pipeline asks of its rows: do the columns exist, and does what is asked make sense?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sash.pipeline.columns import found_in, known_columns
from sash.pipeline.definition import Pipeline, Question, Source
from sash.pipeline.expressions import columns_in
from sash.pipeline.faults import as_type, faults
from sash.pipeline.lines import Path
from sash.pipeline.places import check_sink_places, check_source_places
from sash.pipeline.problems import nearest
from sash.pipeline.schema import check_schema
from sash.pipeline.tables import File
from sash.windows import cutting
from sash.windows.definitions import Delta, Punctuated
from sash.windows.shapes import Shape

OF_READING = ("format", "path", "options", "schema", "columns")
"""Settings that must be right for columns to be known."""
OF_QUERIES = ("time", "key", "order_by", "lateness", "idle")
"""Settings that all queries share."""
CLOCKS = ("timestamp", "timestamp_ntz", "date", "tinyint", "smallint", "int", "bigint")
BESIDE = {"kafka": ("kafka",)}
"""What SQL may name besides the columns of a format."""


def check_rows(pipeline: Pipeline, file: File) -> None:
    """Note what is wrong, as far as it can be known before Spark runs."""
    source = pipeline.source
    check_source_places(source, file)
    check_sink_places(pipeline, file)
    if _is_readable(file):
        check_schema(source, _likely_columns(pipeline), file)
    types = known_columns(source) if _is_readable(file) else None
    if types is None:
        return
    for where, names in named_columns(pipeline):
        _check_names(where, names, types, file)
    for where, sql in _expressions(source):
        _check_names(where, columns_in(sql) or (), [*types, *BESIDE.get(source.format, ())], file)
    for question in pipeline.questions:
        _check_clock(pipeline, question, types, file)
    if all(file.is_right("source", each) for each in OF_QUERIES):
        for question in pipeline.questions:
            _check_question(pipeline, question, types, file)


def _is_readable(file: File) -> bool:
    return all(file.is_right("source", each) for each in OF_READING)


def _check_names(
    where: Path, names: Iterable[str], known: Mapping[str, Any] | list[str], file: File
) -> None:
    for name in names:
        if found_in(known, name) is None:
            file.problem(
                where,
                f"{'.'.join(where[:-1])}: {where[-1]}: the source has no column {name!r}"
                f"{nearest(name, known)}",
            )


def named_columns(pipeline: Pipeline) -> Iterable[tuple[Path, tuple[str, ...]]]:
    """Where columns are named, and which."""
    source = pipeline.source
    yield ("source", "time"), (source.time,) if source.time else ()
    yield ("source", "key"), source.key
    yield ("source", "order_by"), source.order_by
    yield ("source", "required"), source.required
    for question in pipeline.questions:
        at = ("queries", question.name)
        if question.key != source.key:
            yield (*at, "key"), question.key
        yield (*at, "columns"), question.columns or ()
        for name, op in question.aggregates.items():
            yield (*at, name, "of"), op.columns
        for path, column in _window_columns(question.window):
            yield (*at, "window", *path), (column,)


def _window_columns(window: Any) -> Iterable[tuple[Path, str]]:
    if isinstance(window, (Delta, Punctuated)):
        yield (type(window).__name__.lower(),), window.column
    every = getattr(window, "every", None)
    if isinstance(every, Punctuated):
        yield ("every", "punctuated"), every.column


def _expressions(source: Source) -> Iterable[tuple[Path, str]]:
    if source.where is not None:
        yield ("source", "where"), source.where
    for name, sql in source.columns.items():
        yield ("source", "columns", name), sql


def _likely_columns(pipeline: Pipeline) -> dict[str, str]:
    """The columns that are named, and what they might be: for a topic that nobody has looked at."""
    computed = pipeline.source.columns
    found: dict[str, str] = {}
    for where, names in named_columns(pipeline):
        kind = "timestamp" if where[-1] == "time" else "double" if where[-1] == "of" else "string"
        for name in names:
            if name not in computed and found.get(name, "string") == "string":
                found[name] = kind
    return found


def _check_clock(
    pipeline: Pipeline, question: Question, types: Mapping[str, Any], file: File
) -> None:
    """Windows of time need a column that tells it, and so do streams."""
    source = pipeline.source
    name = found_in(types, source.time)
    kind = None if name is None else types[name]
    if kind is None or kind.simpleString() in CLOCKS or not file.is_right("source", "time"):
        return
    if _is_stream(pipeline, file):
        whose = "a stream goes"
    elif _goes_by_time(question) or source.idle is not None:
        whose = f"queries.{question.name} goes"
    else:
        return
    file.problem(
        ("source", "time"),
        f"source: time: {whose} by time, and the column {name!r} is of {kind.simpleString()}: "
        f"{as_type(source, str(name), 'timestamp')}, or name another column.",
    )


def _goes_by_time(question: Question) -> bool:
    shape = Shape(question.window)
    return shape.needs_times or shape.trigger == cutting.WHEN_OVER


def _is_stream(pipeline: Pipeline, file: File) -> bool:
    """Whether the file is meant for a stream, if not only for one."""
    return "stream" in file.content or pipeline.source.lateness is not None


def _check_question(
    pipeline: Pipeline, question: Question, types: dict[str, Any], file: File
) -> None:
    """The checks of `sash.spark.sliding`, on a schema instead of a DataFrame."""
    at = ("queries", question.name)
    right = {n: op for n, op in question.aggregates.items() if file.is_right(*at, n)}
    whole, stream = file.is_right(*at), _is_stream(pipeline, file)
    known = replace(question, aggregates=right)
    for where, sentence in faults(pipeline, known, types, stream, whole):
        named = "" if sentence.startswith(f"{where[-1]} ") else f"{where[-1]}: "
        file.problem(where, f"{'.'.join(where[:-1])}: {named}{sentence}")

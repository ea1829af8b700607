"""Reading a pipeline file: a pipeline, or all that is wrong with it, each in a sentence.

Spark is not started. Columns and types are checked as far as they are known before: from the
schema in the file, or from files on this machine.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from sash.aggregators.duration import Steps, Time, length
from sash.pipeline.checking import check_rows
from sash.pipeline.definition import Pipeline, Sink, Source, absolute
from sash.pipeline.formats import LOADERS, READ, WRITTEN
from sash.pipeline.problems import closest, nearest
from sash.pipeline.questions import questions_of
from sash.pipeline.states import check_state, state_of
from sash.pipeline.tables import EXAMPLES, SETTINGS, File, Table
from sash.pipeline.wording import key_in_toml, shown
from sash.spark.settings import SECRET
from sash.windows.bounds import MOST
from sash.windows.definitions import Delta

MODES = ("error", "append", "overwrite")
KAFKA = ("servers", "topic")
SERVERS = re.compile(r"[^\s:,]+:\d+(,[^\s:,]+:\d+)*")
SPARK = re.compile(r"spark(\.[^\s.=]+)+")


def read_pipeline(path: str | Path) -> Pipeline:
    """The pipeline that a file tells of; a PipelineError tells all that is wrong with it."""
    file = File(Path(path))
    top = Table(file, file.content, known=tuple(EXAMPLES))
    source = _source(top)
    questions = questions_of(top, source)
    sink, quarantine = _sink(top)
    checkpoint, trigger = _stream(top)
    state = state_of(top)
    spark = _spark(top)
    top.no_more()
    if source is None:
        file.done()
    assert source is not None
    pipeline = Pipeline(
        file.path,
        source,
        tuple(questions),
        sink,
        quarantine=_place(file, sink, quarantine, "quarantine", "quarantine"),
        checkpoint=_place(file, sink, checkpoint, "_checkpoint", "checkpoint"),
        trigger=trigger,
        state=state,
        spark=spark,
        lines=file.lines,
    )
    check_state(pipeline, file)
    check_rows(pipeline, file)
    _check_messages(pipeline, file)
    file.done()
    along = {each.window.column: None for each in questions if isinstance(each.window, Delta)}
    return replace(pipeline, source=replace(source, measured=tuple(along)))


def _check_messages(pipeline: Pipeline, file: File) -> None:
    """Messages in Kafka are keyed, so that answers must have the key."""
    if pipeline.sink.format != "kafka" or file.problems:
        return
    for question in pipeline.questions:
        given = [name.lower() for name in question.columns or question.key]
        left_out = [name for name in question.key if name.lower() not in given]
        if left_out:
            file.problem(
                ("queries", question.name, "columns"),
                f"queries.{question.name}: columns: messages in Kafka have the key "
                f"{left_out[0]!r}: name it among the columns, too.",
            )


def _source(top: Table) -> Source | None:
    table = top.table("source", example=EXAMPLES["source"], needed=True, known=SETTINGS["source"])
    if table is None:
        return None
    form = _format(table)
    loader = LOADERS.get(form or "")
    servers, topic = _kafka(table, form)
    found = Source(
        format=form or "",
        time=table.text("time", example='time = "ts"', needed=loader is None) or "",
        paths=_paths(table, form),
        key=table.texts("key", example='key = ["house_id", "plug_id"]') or (),
        order_by=table.texts("order_by", example='order_by = ["id"]') or (),
        lateness=_span(table, "lateness", "2min", least=0),
        idle=_span(table, "idle", "1d"),
        schema=_schema(table, form),
        columns=_texts_by_name(table, "columns", "kw", "load / 1000"),
        where=table.text("where", example='where = "load >= 0"'),
        required=table.texts("required", example='required = ["load"]') or (),
        earliest=_moment(table, "earliest"),
        latest=_moment(table, "latest"),
        servers=servers,
        topic=topic,
        options=table.options("options", "options = { header = true }"),
    )
    _check_moments(table, found)
    table.no_more()
    return loader(found) if loader else found


def _format(table: Table) -> str | None:
    """Formats that are not ours are left to Spark, unless they are nearly ours."""
    form = table.text("format", example='format = "parquet"', needed=True)
    if form is None or form in READ:
        return form
    near = closest(form, READ)
    if near is not None:
        table.problem("format", f"source: format cannot be {form!r}; did you mean {near!r}?")
    elif not re.fullmatch(r"[\w.-]+", form):
        table.problem(
            "format", f'source: format is a name, not {form!r}: write format = "parquet".'
        )
    return form


def _paths(table: Table, form: str | None) -> tuple[str, ...]:
    known = READ.get(form or "")
    if known is not None and not known.paths:
        if table.has("path"):
            table.problem("path", f"source: {form} has no path: leave it out.")
        return ()
    needed = known is not None
    given = table.texts("path", example='path = "data/plugs"', needed=needed)
    return tuple(absolute(table.file.path, each) for each in given or ())


def _span(table: Table, key: str, example: str, least: int = 1, steps: bool = True) -> str | None:
    """A length of time. steps: it may also be one of integer times, as "60i"."""
    if not table.has(key):
        return None
    given = table.given[key]
    found: Any = None
    with suppress(TypeError, ValueError):
        found = length(given) if isinstance(given, str) else None
    write = f'write {key} = "{example}"'
    if not isinstance(found, (Time, Steps) if steps else Time):
        table.problem(
            key, f"{table.named(key)} is a length of time, and {shown(given)} is none: {write}."
        )
        return None
    amount = found.nanoseconds if isinstance(found, Time) else found.count
    if not least <= amount <= MOST:
        wanted = "too long" if amount > MOST else "more than 0s" if least else "0s or more"
        said = f"is {wanted}" if amount > MOST else f"must be {wanted}, not {shown(given)}"
        table.problem(key, f"{table.named(key)} {said}: {write}.")
        return None
    return str(given)


def _moment(table: Table, key: str) -> str | None:
    if not table.has(key):
        return None
    given = table.given[key]
    if isinstance(given, date):
        return given.isoformat()
    if isinstance(given, str):
        with suppress(ValueError):
            datetime.fromisoformat(given)
            return given
    table.problem(
        key,
        f"{table.named(key)} is a time, and {shown(given)} is none: write "
        f"{key} = 2013-09-01T00:00:00Z.",
    )
    return None


def _check_moments(table: Table, source: Source) -> None:
    if source.earliest is None or source.latest is None:
        return
    first, end = map(datetime.fromisoformat, (source.earliest, source.latest))
    alike = (first.tzinfo is None) == (end.tzinfo is None)
    if alike and end <= first:
        table.problem(
            "latest",
            f"source: no row is from earliest = {source.earliest} on and before latest = "
            f"{source.latest}: write a latest after the earliest.",
        )


def _schema(table: Table, form: str | None) -> dict[str, str] | None:
    if not table.has("schema"):
        return None
    known = READ.get(form or "")
    if known is not None and known.typed:
        table.problem(
            "schema",
            f"source: {form} has types of its own: leave schema out; a column of another type is "
            f'written as columns = {{ load = "try_cast(load AS double)" }}.',
        )
        return None
    found = _texts_by_name(table, "schema", "load", "double")
    if table.given["schema"] == {}:
        table.problem(
            "schema",
            'source: schema is empty: write schema = { ts = "timestamp", load = "double" }.',
        )
    return found


def _texts_by_name(table: Table, key: str, name: str, text: str) -> dict[str, str]:
    inner = table.table(key, example=f'{key} = {{ {name} = "{text}" }}')
    if inner is None:
        return {}
    found = {
        each: inner.text(each, example=f'{key_in_toml(each)} = "{text}"') for each in inner.given
    }
    return {name: text for name, text in found.items() if text is not None}


def _kafka(table: Table, form: str | None) -> tuple[str | None, str | None]:
    """The servers and the topic, which only Kafka has."""
    if form != "kafka":
        for key in KAFKA:
            if form is not None and table.has(key):
                whose = table.path[0]
                table.problem(
                    key,
                    f"{whose}: {key} is for kafka, and the format is {form!r}: leave it out, or "
                    f'write format = "kafka".',
                )
        return None, None
    servers = table.texts("servers", example='servers = "localhost:9092"', needed=True)
    for each in servers or ():
        if not SERVERS.fullmatch(each):
            host = re.match(r"[\w.-]*", each)
            example = f"{(host and host[0]) or 'localhost'}:9092"
            table.problem(
                "servers",
                f"{table.named('servers')} are hosts with their ports, and {each!r} is none: write "
                f'servers = "{example}".',
            )
    topic = table.text("topic", example='topic = "plugs"', needed=True)
    return ",".join(servers) if servers else None, topic


def _sink(top: Table) -> tuple[Sink, str | None]:
    """The sink, and where malformed rows go, if that is said."""
    table = top.table("sink", example=EXAMPLES["sink"], needed=True, known=SETTINGS["sink"])
    if table is None:
        return Sink(""), None
    form = table.text("format", example='format = "parquet"', needed=True)
    if form is not None and form not in WRITTEN:
        table.problem(
            "format", f"sink: answers cannot be written as {form!r}{nearest(form, WRITTEN)}"
        )
    files = form is not None and WRITTEN.get(form, False)
    path = table.text("path", example='path = "out/plugs"', needed=files)
    if path is not None and form in WRITTEN and not files:
        table.problem("path", f"sink: {form} has no path: leave it out.")
    servers, topic = _kafka(table, form)
    found = Sink(
        format=form or "",
        path=absolute(table.file.path, path) if path else None,
        mode=table.one_of("mode", MODES, "error"),
        servers=servers,
        topic=topic,
        options=table.options("options", 'options = { compression = "zstd" }'),
    )
    quarantine = table.text("quarantine", example='quarantine = "out/quarantine"')
    table.no_more()
    return found, quarantine


def _stream(top: Table) -> tuple[str | None, str | None]:
    table = top.table("stream", example=EXAMPLES["stream"], known=SETTINGS["stream"])
    if table is None:
        return None, None
    checkpoint = table.text("checkpoint", example='checkpoint = "out/checkpoint"')
    trigger = _span(table, "trigger", "10s", steps=False)
    table.no_more()
    return checkpoint, trigger


def _spark(top: Table) -> dict[str, str]:
    found = top.options("spark", EXAMPLES["spark"])
    for name, value in found.items():
        if not SPARK.fullmatch(name):
            meant = re.sub(r"[\s_=.]+", ".", name).strip(".").removeprefix("spark.")
            top.file.problem(
                ("spark", *name.split(".")),
                f'spark: {name!r} is no setting of Spark: write "spark.{meant}" = '
                f"{'…' if SECRET.search(name) else shown(value)}.",
            )
    return found


def _place(file: File, sink: Sink, given: str | None, inside: str, beside: str) -> str:
    """As it is said; or in the folder of the answers, if there is one; or beside the file."""
    if given is not None:
        return absolute(file.path, given)
    if sink.path is not None and "{query}" not in sink.path:
        return f"{sink.path.rstrip('/')}/{inside}"
    return str(file.path.absolute().with_suffix(f".{beside}"))

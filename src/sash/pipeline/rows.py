"""From a source to rows that windows can take; what cannot be taken is set aside, with the reason.

Formats of text are read as text. Each value is then made what it should be, so that one which
cannot is known, and named, instead of becoming a null or ending the run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sash.pipeline.columns import header_of, option
from sash.pipeline.definition import Source

ASIDE = "__sash_aside"
"""The column that tells why a row is set aside: JSON text; null for good rows."""
CORRUPT = "__sash_corrupt"
KAFKA = "kafka"
"""What a message is besides its value, for columns that are computed of it."""
MESSAGE = "__sash_message"
PLACE = "__sash_place"
MOST_SHOWN = 200
WITH_MICROSECONDS = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""Spark's own formats end at milliseconds."""
CARRIED = ("__sash_text", "__sash_raw", "__sash_file")
"""A row as it came: as text, or by its columns; and the file that it was in."""

Frame = Any  # a DataFrame; sash.spark alone knows PySpark


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def as_map(options: Mapping[str, str]) -> str:
    return f"map({', '.join(literal(each) for pair in options.items() for each in pair)})"


def rows_of(spark: Any, source: Source, stream: bool) -> Frame:
    """A source's rows: the columns that it has, and ASIDE."""
    reader = spark.readStream if stream else spark.read
    if source.format == "kafka":
        return _of_texts(_kafka(reader, source), source, MESSAGE, PLACE)
    if source.format in ("csv", "json"):
        raw = _text_files(reader, source)
        return _of_texts(raw, source, quoted(CORRUPT), "_metadata.file_path")
    return _of_typed(_typed(spark, reader, source, stream), source)


def _kafka(reader: Any, source: Source) -> Frame:
    options = {
        "kafka.bootstrap.servers": source.servers,
        "subscribe": source.topic,
        "startingOffsets": "earliest",
        "failOnDataLoss": "true",
        **source.options,
    }
    names = ", ".join(f"{quoted(name)} string" for name in source.schema or {})
    schema = literal(f"{names}, {CORRUPT} string")
    found = reader.format("kafka").options(**options).load()
    read = found.selectExpr(
        f"from_json(cast(value AS string), {schema}, "
        f"map('mode', 'PERMISSIVE', 'columnNameOfCorruptRecord', '{CORRUPT}')) AS parsed",
        "struct(cast(key AS string) AS key, topic, partition, offset, timestamp) AS message",
        f"cast(value AS string) AS {MESSAGE}",
        f"concat(topic, ' [', partition, '] @ ', offset) AS {PLACE}",
    )
    message = [f"message AS {KAFKA}"] if _tells_of_messages(source) else []
    return read.selectExpr("parsed.*", *message, MESSAGE, PLACE)


def _tells_of_messages(source: Source) -> bool:
    named = any(re.search(rf"\b{KAFKA}\b", sql) for sql in source.columns.values())
    return named and KAFKA not in {name.lower() for name in source.schema or {}}


def _text_files(reader: Any, source: Source) -> Frame:
    # A header tells the order in which columns stand; without one, the schema does.
    names = header_of(source) or list(source.schema or {})
    schema = ", ".join(f"{quoted(name)} string" for name in [*names, CORRUPT])
    ours = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
    if source.format == "csv":  # all columns are looked at, to know lines with too few or too many
        ours |= {"columnPruning": "false", "enforceSchema": "false"}
    options = {**source.options, **ours}
    paths = source.paths if len(source.paths) > 1 else source.paths[0]
    return reader.format(source.format).schema(schema).options(**options).load(paths)


def _of_texts(raw: Frame, source: Source, whole: str, file: str) -> Frame:
    """Values as what they should be; and what is wrong with rows of which one is not."""
    schema = source.schema or {}
    typed = [_typed_value(name, kind, source) for name, kind in schema.items()]
    kept = [f"{made} AS {quoted(name)}" for name, made in zip(schema, typed, strict=True)]
    told = [_unless_so(name, made, schema[name]) for name, made in zip(schema, typed, strict=True)]
    corrupt = f"not {len(header_of(source) or schema)} fields"
    if source.format in ("json", "kafka"):
        corrupt = "not JSON"
    fields_as_read = f"struct({', '.join(map(quoted, schema))})"
    if source.format == "kafka":
        # A message without a value has nothing that could be wrong with its fields; a blank one
        # is not corrupt to Spark, but null.
        unparsed = (
            f"CASE WHEN {MESSAGE} IS NULL THEN 'no value' "
            f"WHEN {CORRUPT} IS NOT NULL OR instr({MESSAGE}, '{{') = 0 THEN '{corrupt}' END"
        )
        fields_as_read = f"CASE WHEN {MESSAGE} IS NOT NULL THEN {fields_as_read} END"
    else:
        unparsed = f"CASE WHEN {CORRUPT} IS NOT NULL THEN '{corrupt}' END"
    extra = [KAFKA] if source.format == "kafka" and _tells_of_messages(source) else []
    wrong = [each for each in told if each]
    fields = f"concat_ws('; ', {', '.join(wrong)})" if wrong else "''"
    read = raw.selectExpr(
        *kept,
        *extra,
        f"coalesce({unparsed}, nullif({fields}, '')) AS __sash_wrong",
        f"{whole} AS __sash_text",
        f"{fields_as_read} AS __sash_raw",
        f"{file} AS __sash_file",
    )
    return _finished(read, source, list(schema))


def _typed_value(name: str, kind: str, source: Source) -> str:
    plain, text = kind.strip().lower(), _text(name)
    pattern = option(source, f"{plain.removesuffix('_ntz')}format")
    if plain == "string":
        return quoted(name)
    if plain in ("timestamp", "date") and pattern:
        return f"cast(try_to_timestamp({text}, {literal(pattern)}) AS {plain})"
    if plain.startswith("array"):
        return f"from_json({text}, {literal(plain)})"
    if plain == "binary":
        return f"try_to_binary({text}, 'base64')"
    if plain in ("double", "float") and source.format in ("json", "kafka"):
        # As text, a NaN that is written without quotes, as Python does, has them.
        return f"try_cast(trim(BOTH '\"' FROM {text}) AS {plain})"
    return f"try_cast({text} AS {plain})"


def _text(name: str) -> str:
    """A value that is not meant to be text: empty quotes are nothing, too."""
    return f"nullif({quoted(name)}, '')"


def _unless_so(name: str, made: str, kind: str) -> str | None:
    """What is said of a value that is there and is not of its type."""
    if made == quoted(name):
        return None
    value = f"substring({quoted(name)}, 1, {MOST_SHOWN})"
    said = f"concat({literal(f'{name} is not {kind}: ')}, {value})"
    return f"CASE WHEN {_text(name)} IS NOT NULL AND {made} IS NULL THEN {said} END"


def _typed(spark: Any, reader: Any, source: Source, stream: bool) -> Frame:
    paths: Any = source.paths if len(source.paths) > 1 else next(iter(source.paths), None)
    reader = reader.format(source.format).options(**source.options)
    if stream and source.paths:  # a stream is told its schema: what the files have now
        seen = spark.read.format(source.format).options(**source.options).load(paths)
        reader = reader.schema(seen.schema)
    return reader.load() if paths is None else reader.load(paths)


def _of_typed(raw: Frame, source: Source) -> Frame:
    nothing = "cast(null AS string)"
    read = raw.selectExpr(
        "*",
        f"{nothing} AS __sash_wrong",
        f"{nothing} AS __sash_text",
        "struct(*) AS __sash_raw",
        f"{nothing} AS __sash_file",
    )
    return _finished(read, source, raw.columns)


def _finished(read: Frame, source: Source, columns: list[str]) -> Frame:
    """Computed columns are added, and rows set aside that lack what they need."""
    computed = {name.lower() for name in source.columns}
    kept = [quoted(name) for name in columns if name.lower() not in computed]
    added = [f"{sql} AS {quoted(name)}" for name, sql in source.columns.items()]
    given = read.selectExpr(*kept, *added, "__sash_wrong", *CARRIED)
    lacking = [
        f"CASE WHEN {quoted(name)} IS NULL THEN {literal(f'no {name}')} END"
        for name in dict.fromkeys([source.time, *source.required, *source.measured])
    ]
    types = {name.lower(): kind for name, kind in given.dtypes}
    lacking += [
        f"CASE WHEN isnan({quoted(name)}) THEN {literal(f'{name} is NaN')} END"
        for name in source.measured
        if types.get(name.lower()) in ("double", "float")
    ]
    time = quoted(source.time)
    if types.get(source.time.lower(), "").startswith("timestamp"):
        # Such as milliseconds that were taken for seconds: Python has no such times.
        said = literal(f"{source.time} is not within the years 1 to 9999")
        lacking.append(f"CASE WHEN year({time}) NOT BETWEEN 1 AND 9999 THEN {said} END")
    if source.earliest is not None:
        said = literal(f"{source.time} is before {source.earliest}: ")
        early = f"{time} < {literal(source.earliest)}"
        lacking.append(f"CASE WHEN {early} THEN concat({said}, {time}) END")
    if source.latest is not None:
        said = literal(f"{source.time} is not before {source.latest}: ")
        late = f"{time} >= {literal(source.latest)}"
        lacking.append(f"CASE WHEN {late} THEN concat({said}, {time}) END")
    # What could not be read at all lacks everything; that is not worth saying.
    why = f"coalesce(__sash_wrong, nullif(concat_ws('; ', {', '.join(lacking)}), ''))"
    names = [name for name in given.columns if not name.startswith("__sash_")]
    told = given.selectExpr(*map(quoted, names), f"{why} AS __sash_why", *CARRIED)
    # A row is written out only if it is set aside: that costs more than all else.
    row = f"coalesce(__sash_text, to_json(__sash_raw, {as_map(WITH_MICROSECONDS)}))"
    aside = f"to_json(named_struct('reason', __sash_why, 'row', {row}, 'file', __sash_file))"
    if source.where is not None:
        told = told.filter(f"({source.where}) OR __sash_why IS NOT NULL")
    return told.selectExpr(
        *map(quoted, names), f"CASE WHEN __sash_why IS NOT NULL THEN {aside} END AS {ASIDE}"
    )


def good(rows: Frame) -> Frame:
    return rows.filter(f"{ASIDE} IS NULL").drop(ASIDE)


def set_aside(texts: Frame, column: str) -> Frame:
    """Why rows were set aside, as columns: reason, row, file."""
    schema = "'reason string, row string, file string'"
    return texts.selectExpr(f"from_json({quoted(column)}, {schema}) AS told").selectExpr("told.*")


def by_reason(told: Frame) -> dict[str, int]:
    """How many rows were set aside for what."""
    kinds = told.selectExpr("substring_index(reason, ':', 1) AS reason").groupBy("reason").count()
    found = {row["reason"]: row["count"] for row in kinds.collect()}
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))

"""Does the schema of a source fit its files? What does not would make every row malformed."""

from __future__ import annotations

from sash.pipeline.causes import MEND_FILE
from sash.pipeline.columns import (
    first_records,
    first_rows,
    found_in,
    has_header,
    header_of,
    headers_of,
    option,
    plain_lines,
)
from sash.pipeline.definition import Source
from sash.pipeline.guessing import likely_types, suggested_schema
from sash.pipeline.problems import nearest
from sash.pipeline.tables import File
from sash.spark.schemas import type_named

FEW_LINES = 20
MOST_FILES = 1000
"""Whose headers are compared; Spark compares those of the others, when it reads them."""


def check_schema(source: Source, likely: dict[str, str], file: File) -> None:
    """likely: columns that the file names, and what they might be; for what has no files."""
    if source.is_text and source.schema is None:
        file.problem(
            ("source", "schema"),
            f"source: {source.format} does not tell the types of its columns: write "
            f"{suggested_schema(source, likely)}.",
        )
        return
    for name, kind in (source.schema or {}).items():
        try:
            type_named(kind)
        except ValueError as error:
            file.problem(("source", "schema", name), f"source.schema: {name}: {error}")
    if has_header(source):
        _check_header(source, file)
    elif source.format == "csv":
        _check_fields(source, file)
    elif source.format == "json":
        _check_records(source, file)


def _check_header(source: Source, file: File) -> None:
    header, schema = header_of(source), source.schema or {}
    if header is None:
        return
    missing = [name for name in schema if found_in(header, name) is None]
    if schema and len(missing) == len(schema):
        file.problem(
            ("source", "options"),
            f"source: options: the first line of the files names no column of the schema, but "
            f"{', '.join(header)}: leave header out if it is a row.",
        )
        return
    for name in missing:
        file.problem(
            ("source", "schema", name),
            f"source.schema: the files have no column {name!r}{nearest(name, header)}",
        )
    if plain_lines(source):
        _check_other_headers(source, header, file)


def _check_other_headers(source: Source, header: list[str], file: File) -> None:
    wanted = ", ".join(header)
    for path, names in headers_of(source, MOST_FILES):
        found = ", ".join(names)
        if found.lower() != wanted.lower():
            file.problem(
                ("source", "path"),
                f"source: {path} has the columns {found}, and other files {wanted}, in this order: "
                f"{MEND_FILE}.",
            )
            return


def _check_fields(source: Source, file: File) -> None:
    """Lines without names are read in the order of the schema: there must be as many fields."""
    schema = source.schema or {}
    rows = first_rows(source, FEW_LINES) if plain_lines(source) else []
    if not rows:
        return
    if option(source, "header") is None and set(schema) <= set(rows[0]):
        file.problem(
            ("source", "options"),
            "source: the first line of the files names the columns: write "
            "options = { header = true }.",
        )
    elif all(len(row) != len(schema) for row in rows):
        file.problem(
            ("source", "schema"),
            f"source: the schema has {len(schema)} columns, and the files have {len(rows[0])}: "
            f"write one for each, in their order: {', '.join(likely_types(source))}.",
        )


def _check_records(source: Source, file: File) -> None:
    """What every row must have, some row should."""
    records = first_records(source) if plain_lines(source) else []
    fields = list(dict.fromkeys(name for record in records for name in record))
    for name in dict.fromkeys((source.time, *source.required)):
        if fields and name in (source.schema or {}) and found_in(fields, name) is None:
            file.problem(
                ("source", "schema", name),
                f"source.schema: the files have no field {name!r}{nearest(name, fields)}",
            )

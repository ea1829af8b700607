"""What the schema of files might be: for the user to write, and to correct."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping

import pyarrow as pa

from sash.pipeline.columns import first_bytes, first_rows, has_header, option, separator_of
from sash.pipeline.definition import Source
from sash.pipeline.wording import in_toml

NAME = re.compile(r"[^\W\d][\w .-]*")


def suggested_schema(source: Source, named: Mapping[str, str]) -> str:
    """What to write. named: the columns that the file names, and what they might be."""
    has_names = has_header(source) or _begins_with_names(source)
    types = _guessed(source, has_names) or dict(named)
    written = f"schema = {in_toml(types)}"
    if has_names and not has_header(source):
        return f"options = {{ header = true }} and {written}"
    return written


def likely_types(source: Source) -> list[str]:
    """The types of the fields of a CSV source without names, in their order."""
    return list((_guessed(source, has_names=False) or {}).values())


def _begins_with_names(source: Source) -> bool:
    """Whether the first line of a CSV file names the columns, as far as can be told."""
    if source.format != "csv" or option(source, "header") is not None:
        return False
    rows = first_rows(source, 2)
    if len(rows) < 2:
        return False
    first, second = rows
    named = all(NAME.fullmatch(each) for each in first) and len(set(first)) == len(first)
    return named and not all(NAME.fullmatch(each) for each in second)


def _guessed(source: Source, has_names: bool) -> dict[str, str] | None:
    data = first_bytes(source)
    try:
        if source.format == "json":
            from pyarrow import json

            table = json.read_json(io.BytesIO(data))
        elif source.format == "csv":
            from pyarrow import csv

            table = csv.read_csv(
                io.BytesIO(data),
                csv.ReadOptions(autogenerate_column_names=not has_names),
                csv.ParseOptions(
                    delimiter=separator_of(source), invalid_row_handler=lambda _: "skip"
                ),
            )
        else:
            return None
    except (pa.ArrowException, OSError, ValueError):
        return None
    return {field.name: _spark_name(field.type) for field in table.schema}


def _spark_name(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "bigint"
    if pa.types.is_floating(kind):
        return "double"
    if pa.types.is_timestamp(kind):
        return "timestamp"
    if pa.types.is_list(kind):
        return f"array<{_spark_name(kind.value_type)}>"
    return "date" if pa.types.is_date(kind) else "string"

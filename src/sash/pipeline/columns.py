"""The columns of a source, as far as they can be known before Spark runs."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import os
import re
from collections.abc import Iterator, Mapping
from glob import glob
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from sash.pipeline.definition import Source, is_local, local
from sash.pipeline.formats import RATE
from sash.spark.schemas import schema_named, schema_of_arrow, type_named

CAST = re.compile(r"(?:try_)?cast\s*\(.*\bas\s+([\w<>(), ]+?)\s*\)", re.IGNORECASE | re.DOTALL)
NAME = re.compile(r"`?(\w+)`?")
FIRST_BYTES = 1 << 18
HEADER_BYTES = 1 << 14
HIDDEN = ("_", ".")
"""Files whose names begin so are not data to Spark."""
SPECIAL = set("*?[{")
PACKED = {".gz": gzip.open, ".bz2": bz2.open}
UNREADABLE = (".zst", ".lz4", ".snappy", ".deflate", ".xz")
OTHER_LINES = ("multiline", "encoding", "charset", "linesep", "quote", "escape", "comment")
"""Options that make lines and fields of other text than it seems."""


def known_columns(source: Source) -> dict[str, Any] | None:
    """The types of a source's columns by name, None where one is not known; None if none is."""
    types: dict[str, Any] | None = None
    if source.schema is not None or source.format == "rate":
        declared = schema_named(source.schema or RATE)
        types = {field.name: field.dataType for field in declared}
    elif source.format in ("parquet", "orc"):
        types = _of_typed_files(source)
    if types is None:
        return None
    return types | {name: _type_of(sql, types) for name, sql in source.columns.items()}


def found_in(names: Mapping[str, Any] | list[str], name: str) -> str | None:
    """A column as Spark finds it: upper and lower case are alike."""
    return next((each for each in names if each.lower() == name.lower()), None)


def _type_of(sql: str, types: dict[str, Any]) -> Any:
    """The type of what is computed, where it is plain to see."""
    name, cast = NAME.fullmatch(sql.strip()), CAST.fullmatch(sql.strip())
    if name:
        return types.get(found_in(types, name[1]) or "")
    try:
        return type_named(cast[1]) if cast else None
    except ValueError:
        return None


def _of_typed_files(source: Source) -> dict[str, Any] | None:
    first = next(data_files(source), None)
    if first is None:
        return None
    try:
        found = schema_of_arrow(_arrow_schema(source.format, first))
    except (pa.ArrowException, OSError):
        return None  # Spark will say what is wrong with it
    parts = [part.partition("=") for part in first.parts if "=" in part]
    return found | {name: None for name, _, _ in parts}  # of folders named key=value


def _arrow_schema(form: str, path: Path) -> pa.Schema:
    # Imported here, as each takes its time and most pipelines need none of them.
    if form == "orc":
        from pyarrow import orc

        return orc.ORCFile(path).schema
    from pyarrow import parquet

    return parquet.read_schema(path)


def data_files(source: Source) -> Iterator[Path]:
    """The files of a source that lie on this machine."""
    for given in source.paths:
        for path in matching(given):
            if path.is_file():
                yield path
            for folder, inner, names in os.walk(path):
                # Spark passes over what is hidden; and large folders are not listed twice.
                inner[:] = sorted(each for each in inner if not each.startswith(HIDDEN))
                for name in sorted(names):
                    if not name.startswith(HIDDEN):
                        yield Path(folder, name)


def matching(path: str) -> list[Path]:
    """What there is on this machine at a path, which may be a pattern."""
    if not is_local(path):
        return []
    if not is_pattern(path):
        return [local(path)] if exists(local(path)) else []
    return sorted(map(Path, glob(str(local(path)))))


def is_pattern(path: str) -> bool:
    return bool(SPECIAL & set(path)) and not (is_local(path) and exists(local(path)))


def exists(path: Path) -> bool:
    """Whether there is something; a name that no file can have is none's."""
    try:
        return path.exists()
    except OSError:
        return False


def is_known_pattern(path: str) -> bool:
    """Whether Python understands it as Spark does."""
    return is_pattern(path) and not ({"{", "^"} & set(path) or "**" in path)


def option(source: Source, *names: str) -> str | None:
    """An option of Spark's, whose names are alike in upper and lower case."""
    given = {name.lower(): value for name, value in source.options.items()}
    return next((given[name] for name in names if name in given), None)


def has_header(source: Source) -> bool:
    return source.format == "csv" and (option(source, "header") or "").lower() == "true"


def header_of(source: Source) -> list[str] | None:
    """The names in the first line of a source's files, if they have one."""
    rows = first_rows(source, 1) if has_header(source) else []
    return rows[0] if rows else None


def headers_of(source: Source, most: int) -> Iterator[tuple[Path, list[str]]]:
    """The first files of a source, and the names in the first line of each."""
    for path in islice(data_files(source), most):
        lines = _lines(_begin(path, HEADER_BYTES), 1)
        for header in _fields(lines, source):
            yield path, header


def first_rows(source: Source, count: int) -> list[list[str]]:
    """The fields of the first lines of a CSV source; none if they cannot be told."""
    return _fields(first_lines(source, count), source)


def _fields(lines: list[str], source: Source) -> list[list[str]]:
    separator = separator_of(source)
    if len(separator) != 1:
        return []
    try:
        return list(csv.reader(filter(str.strip, lines), delimiter=separator))
    except (csv.Error, TypeError, ValueError):
        return []


def separator_of(source: Source) -> str:
    return (option(source, "sep", "delimiter") or ",").replace("\\t", "\t")


def plain_lines(source: Source) -> bool:
    """Whether each line is a row, of fields that are written as usual."""
    return not any(option(source, name) for name in OTHER_LINES)


def first_lines(source: Source, count: int) -> list[str]:
    return _lines(first_bytes(source), count)


def _lines(data: bytes, count: int) -> list[str]:
    return list(islice(data.decode("utf-8-sig", errors="replace").splitlines(), count))


def first_bytes(source: Source) -> bytes:
    """The begin of a source's first file."""
    first = next(data_files(source), None)
    return b"" if first is None else _begin(first, FIRST_BYTES)


def _begin(path: Path, size: int) -> bytes:
    """The begin of a file, up to the end of a line; unpacked, if it is packed."""
    if path.suffix in UNREADABLE:
        return b""
    try:
        with _opened(path) as file:
            data = file.read(size)
    except (OSError, EOFError):
        return b""
    return data if len(data) < size else data[: data.rfind(b"\n") + 1]


def _opened(path: Path) -> IO[bytes]:
    opener: Any = PACKED.get(path.suffix, open)
    found: IO[bytes] = opener(path, "rb")
    return found


def first_records(source: Source) -> list[dict[str, Any]]:
    """What the first lines of a JSON source hold; lines that are none are passed over."""
    found: list[dict[str, Any]] = []
    for line in first_lines(source, 1000):
        try:
            read = json.loads(line)
        except ValueError:
            continue
        found += [
            each for each in (read if isinstance(read, list) else [read]) if isinstance(each, dict)
        ]
    return found

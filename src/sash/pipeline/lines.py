"""In which line of a TOML file a key stands. Python's parser does not tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import NamedTuple

Path = tuple[str, ...]
Lines = dict[Path, int]

KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
DOTTED = rf"{KEY}(?:[ \t]*\.[ \t]*{KEY})*"
HEADER = re.compile(rf"[ \t]*\[\[?[ \t]*({DOTTED})[ \t]*\]")
ASSIGNED = re.compile(rf"[ \t]*({DOTTED})[ \t]*=")
PART = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*|[\n\[\]{}]''',
    re.DOTALL,
)
"""Where a statement may end, or what may hide its end: texts, comments and brackets."""


class Statement(NamedTuple):
    """A table's head, or a key with its value: what it names, and its first and last line."""

    path: Path
    first: int
    last: int
    above: int
    """How many parts of the path stand in the head above it."""


def lines_of(text: str) -> Lines:
    """The lines of all tables and keys that begin one.

    >>> found = lines_of("[source]\\npath = 'x'\\n[queries.a]\\nwindow = { last = 3 }")
    >>> found["source", "path"], found["queries", "a", "window"]
    (2, 4)
    """
    found: Lines = {}
    for path, line, _, above in statements(text):
        for length in range(above + 1, len(path) + 1):
            found.setdefault(path[:length], line)
    return found


def line_of(lines: Lines, path: Path) -> int | None:
    """The line of a key, or of the table that it is missing in, or written in."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def statements(text: str) -> Iterator[Statement]:
    """All statements of a text, which need not be right: what is none is passed over."""
    table: Path = ()
    at, line = 0, 1
    while at < len(text):
        end = _end(text, at)
        last = line + text.count("\n", at, end)
        header, assigned = HEADER.match(text, at), ASSIGNED.match(text, at)
        if header:
            table = _parts(header[1])
            yield Statement(table, line, last, 0)
        elif assigned:
            yield Statement((*table, *_parts(assigned[1])), line, last, len(table))
        line, at = last + 1, end + 1


def _end(text: str, at: int) -> int:
    """Where the statement that begins here ends: at a line's end outside of texts and brackets."""
    depth = 0
    for part in PART.finditer(text, at):
        if part[0] == "\n" and depth <= 0:
            return part.start()
        depth += (part[0] in "[{") - (part[0] in "]}")
    return len(text)


def _parts(dotted: str) -> Path:
    """A key taken apart as the parser does it: quotes, escapes and dots within quotes."""
    found: Path = ()
    try:
        inner = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:  # it will tell
        return found
    while isinstance(inner, dict):
        ((key, inner),) = inner.items()
        found = (*found, key)
    return found

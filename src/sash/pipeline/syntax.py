"""A text that is no TOML: in which line, why, and what to write."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from sash.pipeline.lines import Statement, statements
from sash.pipeline.wording import ADDRESS, shown

PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
FIRST_NAME = re.compile(r"[ \t]*([\w.-]+)[ \t]*=[ \t]*")
LAST_NAME = re.compile(r"([\w-]+)[ \t]*=[ \t]*(?=[^=]*$)")
VALUE = re.compile(r"[^\s,\]}#]*")
NOT_CLOSED = "the text is not closed: write its quotes at its end, too"
IN_QUOTES = 'text stands in quotes: write it as in store = "redis://localhost:6379/0"'
HINTS = {
    "Expected '=' after a key": 'a setting is written as name = value, as in format = "csv"',
    "Illegal character '\\n'": NOT_CLOSED,
    "Unterminated string": NOT_CLOSED,
    'Expected "': NOT_CLOSED,
    "Unclosed array": "the list is not closed: write text in quotes, commas between its parts, "
    "and a ] at its end",
    "Unclosed inline table": "a table in braces stands in one line: write text in quotes, "
    "commas between its parts, and a } at its end",
    "at the end of a": "the name of a table stands in brackets: write it as in [source]",
    "Invalid hex value": "in text a \\ is special: write \\\\ for it, or the text in single quotes",
    "Unescaped '\\'": "in text a \\ is special: write \\\\ for it, or the text in single quotes",
    "Invalid initial character for a key part": "a name is missing; no comma stands before a }",
    "Invalid statement": "a line is [a.table], name = value or # a comment; names of other signs "
    "than letters, digits, - and _ stand in quotes",
    "Duplicate inline table key": "a name is given twice: leave one of the two out",
}
"""What to write, by what the parser says."""


def parsed(text: str) -> dict[str, Any]:
    """What a text says, or a ValueError of the line and the sentence."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(*_complaint(text, str(error))) from None
    except (ValueError, RecursionError) as error:
        what = "lists are nested" if isinstance(error, RecursionError) else "a number goes on"
        raise ValueError(1, f"this cannot be read: {what} too far.") from None


def _complaint(text: str, message: str) -> tuple[int, str]:
    place = PLACE.search(message)
    told = message[: place.start()] if place else message
    lines = text.split("\n")
    line, column = int((place and place[1]) or 0), int((place and place[2]) or 0)
    line = line or len(text.rstrip("\n").split("\n"))
    quotable = not ADDRESS.search(lines[line - 1])  # there may be a password in it
    why = (_of_value(lines[line - 1], column, told) if quotable else None) or next(
        (hint for sign, hint in HINTS.items() if sign in told),
        told[:1].lower() + told[1:] if quotable else IN_QUOTES,
    )
    every = list(statements(text))
    within = next((each for each in every if each.first <= line <= each.last), None)
    if within is not None:
        line = within.first  # a list that is not closed ends where the parser gave up
        first = _given_before(within, every)
        if first is not None and told.startswith("Cannot"):
            name = ".".join(within.path)
            return line, f"{name} is given in line {first} already: leave one of the two out."
    return line, f"this is not TOML: {why}."


def _given_before(this: Statement, every: list[Statement]) -> int | None:
    """The line in which the same was said; or else more of it, or what it is a part of."""
    before = [each for each in every if each.first < this.first]
    same = [each for each in before if each.path == this.path]
    more = [each for each in before if each.path[: len(this.path)] == this.path]
    around = [each for each in before if this.path[: len(each.path)] == each.path]
    around.sort(key=lambda each: -len(each.path))
    return next((each.first for each in (*same, *more, *around)), None)


def _of_value(line: str, column: int, told: str) -> str | None:
    """What to write instead of something that is no value, or that only begins like one."""
    at = column - 1
    if told.startswith("Invalid value"):
        named = LAST_NAME.search(line[:at])
        value = VALUE.match(line, at)
    elif told.startswith("Expected newline"):
        named = FIRST_NAME.match(line)
        value = VALUE.match(line, named.end()) if named else None
        if value is None or at >= value.end():
            return _too_much(line[at:])
    else:
        return None
    name, given = named[1] if named else "name", value[0] if value else ""
    in_list = named is not None and "[" in line[named.end() : at]
    if not given:
        return f"there is no value: write one after {name} ="
    if given.lower() in ("true", "false"):
        return f"{given} is no value: write {name} = {given.lower()}"
    if re.fullmatch(r"[\w./:+-]+", given):
        return f"{given} is no value: write {'' if in_list else f'{name} = '}{shown(given)}"
    if told.startswith("Expected newline"):
        return _too_much(line[at:])
    return (
        f"{given} is no value: write text in quotes, and operators as in "
        f'{name} = {{ op = "Mean", of = "load" }}'
    )


def _too_much(rest: str) -> str:
    return (
        f"a line holds one setting, and {rest.strip()} is too much: write it in a line of its own, "
        f"or after a #"
    )

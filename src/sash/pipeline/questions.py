"""The queries of a pipeline file: windows, and what is asked of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sash.aggregators.registry import MODULES
from sash.operators.base import Operator
from sash.operators.sums import Count
from sash.pipeline.definition import Question, Source
from sash.pipeline.operators import OURS, made, operator_kind, options_of
from sash.pipeline.problems import closest, nearest
from sash.pipeline.tables import EXAMPLES, SETTINGS, Table
from sash.pipeline.wording import key_in_toml, reworded, shown
from sash.windows.definitions import Definition, definition, last

NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
RESERVED = ("quarantine",)
ALGORITHMS = ("auto", *MODULES)
WINDOW = 'window = { last = "1h", every = "1min" }'
ADVICE = {
    "must be more than nothing": 'write rows as in { last = 1000 } or time as in { last = "1h" }',
    "are two.": "leave one out",
    "is none.": 'write one as in { last = "1h", every = "1min" }',
    "needs width": 'write one as in { delta = "price", width = 10 }',
    "a policy knows": 'write numbers beside these, as in { slide_while = "total - old >= 10" }',
    "is no expression": 'write one as in { slide_while = "total - old >= 10" }',
}
"""What to write, where a sentence does not say it."""


def questions_of(top: Table, source: Source | None) -> list[Question]:
    table = top.table("queries", example=EXAMPLES["queries"], needed=True)
    if table is None:
        return []
    if not table.given:
        table.problem(None, f"queries is empty: write {EXAMPLES['queries']}.")
    return [found for name in table.given if (found := _named(table, name, source)) is not None]


def _named(table: Table, name: str, source: Source | None) -> Question | None:
    example = EXAMPLES["queries"].replace("load_1h", key_in_toml(name))
    inner = table.table(name, example=example, known=SETTINGS["queries"])
    if name in RESERVED:
        table.problem(
            name,
            f"queries: {name!r} is the folder of malformed rows: choose another name, as in "
            f"[queries.all].",
        )
    elif not NAME.fullmatch(name):
        plain = re.sub(r"\W+", "_", name).strip("_") or "all"
        table.problem(
            name,
            f"queries: the answers of {name!r} go to a folder of that name: write it with letters, "
            f"digits and _, as in [queries.{plain}].",
        )
    return None if inner is None else _question(inner, name, source)


def _question(table: Table, name: str, source: Source | None) -> Question:
    window = _window(table)
    key = table.texts("key", example='key = ["house_id"]')
    emit = table.one_of("emit", ("every", "early"), "every")
    least = table.take("min_size", int, example="min_size = 10")
    if least is not None and least < 0:
        table.problem(
            "min_size", f"queries.{name}: min_size is 0 or more, not {least}: write min_size = 10."
        )
    columns = table.texts("columns", example='columns = ["ts", "load"]')
    asked = {each: _aggregate(table, each) for each in table.unknown()}
    if not asked:
        table.problem(
            None,
            f'queries.{name} asks for nothing: write highest = {{ op = "Max", of = "load" }}.',
        )
    default = source.key if source is not None else ()
    found = Question(
        name,
        last(1) if window is None else window,  # as nothing runs if it is wrong
        {each: op for each, op in asked.items() if op is not None},
        key=default if key is None else key,
        emit=emit,
        min_size=max(1 if least is None else least, 0),
        columns=columns,
        algorithm=_algorithm(table),
    )
    if source is not None:
        _check_with_source(table, found, source)
    return found


def _check_with_source(table: Table, question: Question, source: Source) -> None:
    file, name = table.file, question.name
    if question.emit == "early" and source.lateness is None and file.is_right("source", "lateness"):
        table.problem(
            "emit",
            f'queries.{name}: emit = "early" corrects answers when late rows come: write '
            f'lateness = "2min" in [source].',
        )
    if question.emit == "early" and source.idle is not None:
        table.problem(
            "emit",
            f'queries.{name}: emit = "early" does not go with idle: write emit = "every", or leave '
            f"idle out of [source].",
        )
    in_store = "state" in file.content  # where there are no keys, and that is told there
    if source.idle and not question.key and file.is_right("source", "key") and not in_store:
        where = (*table.path, "key") if table.has("key") else ("source", "idle")
        file.problem(
            where,
            f"{'.'.join(where[:-1])}: idle is for keys that are forgotten, and there is none: "
            f'write key = ["house_id"], or leave idle out of [source].',
        )


def _algorithm(table: Table) -> str:
    found = table.text("algorithm", example='algorithm = "auto"') or "auto"
    if found in ALGORITHMS:
        return found
    table.problem(
        "algorithm",
        f"{table.named('algorithm')} cannot be {found!r}{nearest(found, ALGORITHMS)}",
    )
    return "auto"


def _window(table: Table) -> Definition | None:
    given = table.take("window", dict, str, int, example=WINDOW, needed=True)
    if given is None:
        return None
    try:
        return definition(given)
    except (TypeError, ValueError) as error:
        said = _said_of_window(str(error), given)
    where = (*table.path, "window", _part(said, given) or "")
    table.file.problem(where, f"{table.named('window')}: {said}")
    return None


def _said_of_window(sentence: str, given: Any) -> str:
    said = reworded(sentence, given)
    if not isinstance(given, Mapping):  # short for one with last
        said = re.sub(r"^size: ", "", re.sub(r"^size must", "it must", said))
    advice = next((text for sign, text in ADVICE.items() if sign in said), None)
    return said if advice is None else f"{said.rstrip('.')}: {advice}."


def _part(sentence: str, given: Any) -> str | None:
    """The key of a window's table that a sentence is about: it may stand in a line of its own."""
    if not isinstance(given, Mapping):
        return None
    first = re.match(r"\w*", sentence)
    if first and first[0] in given and f"{first[0]} does not know" not in sentence:
        return first[0]
    return next((key for key in given if repr(key) in sentence), None)


def _aggregate(table: Table, name: str) -> Operator | None:
    given = table.given[name]
    is_setting = closest(name, SETTINGS["queries"]) or any(name in x for x in SETTINGS.values())
    if is_setting and not (isinstance(given, dict) and "op" in given):
        table.refuse(name)
        return None
    if not isinstance(given, dict):
        likely = given if isinstance(given, str) and given in OURS else "Max"
        table.problem(
            name,
            f"{table.named(name)} is an aggregate, not {shown(given)}: write {key_in_toml(name)} = "
            f'{{ op = "{likely}", of = "load" }}.',
        )
        return None
    inner = Table(table.file, given, (*table.path, name), ("op", "of"))
    op = inner.text("op", example='op = "Max"', needed=True)
    if op is None:
        for key in inner.unknown():
            if closest(key, ("op", "of")) is not None:
                inner.refuse(key)
        return None
    try:
        kind = operator_kind(op, table.file.path.absolute().parent)
    except ValueError as error:
        inner.problem("op", f"{table.named(name)}: {error}")
        return None
    return _made(inner, kind, table.named(name))


def _made(table: Table, kind: type[Operator], named: str) -> Operator | None:
    """The operator with its columns and options."""
    table.known = ("op", "of", *options_of(kind))
    for key in table.unknown():
        table.problem(key, f"{named}: {kind.name} does not know {key!r}{nearest(key, table.known)}")
    counts_rows = issubclass(kind, Count) and not table.has("of")
    of = table.texts("of", example='of = "load"', needed=not counts_rows)
    if (of is None and not counts_rows) or not table.file.is_right(*table.path):
        return None
    options = {key: value for key, value in table.given.items() if key not in ("op", "of")}
    try:
        return made(kind, of or (), options)
    except ValueError as error:
        words = re.findall(r"\w+", str(error))
        about = next((key for key in options if key in words), "op")
        table.problem(about, f"{named}: {error}")
        return None

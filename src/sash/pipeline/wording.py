"""Sentences that Python's users are told, in the words of a pipeline file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, time
from typing import Any

from sash.operators.base import Operator
from sash.windows.definitions import Definition

MOST_SHOWN = 60
ADDRESS = re.compile(r'\b((?:redis|valkey)s?://).*?("?]?)$', re.DOTALL)
"""Of a server, with what may be a password in it."""
NAMES = {"by": "key", "order_by": "time"}
"""Arguments whose settings are called otherwise."""
SETTING = re.compile(r"\b(by|order_by|lateness|idle|emit|columns|algorithm|closed|every|offset)=")
OWN_NAMES = {"last": "size", "tumbling": "size", "session": "gap"}
"""What Python calls that which a window's own key says."""
TYPES = {
    **{"timestamp[us, tz=UTC]": "timestamp", "timestamp[us]": "timestamp_ntz"},
    **{"date32[day]": "date", "bool": "boolean", "halffloat": "float"},
    **{"int64": "bigint", "int32": "int", "int16": "smallint", "int8": "tinyint"},
}
OF_TYPE = re.compile(r"(is of|was given) (timestamp\[us(?:, tz=UTC)?\]|date32\[day\]|\w+)")
WORDS = {
    "lateness = …": 'lateness = "2min" in [source]',
    "the order column": "the time column",
    "order by a": "name as time a",
    "True or False": "true or false",
    "a dict": "a table",
    "an empty dict": "an empty table",
    "a tuple": "a list",
    "{'punctuated': column}": '{ punctuated = "lap" }',
    "?.": "?",
}


def in_toml(value: Any) -> str:
    """A value as it is written in a file.

    >>> in_toml({"last": "1h", "every": {"punctuated": "new lap"}})
    '{ last = "1h", every = { punctuated = "new lap" } }'
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key_in_toml(key)} = {in_toml(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(in_toml, value))}]"
    if isinstance(value, (date, time)):
        return value.isoformat()
    if not isinstance(value, str):
        return str(value)
    plain = not re.search(r'["\\\x00-\x1f\x7f]', value)
    return f'"{value}"' if plain else repr(value)


def key_in_toml(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else in_toml(key)


def shown(value: Any) -> str:
    """A value within a sentence.

    >>> shown("redis://me:secret@host/0"), shown(3)
    ('"redis://…"', '3')
    """
    if isinstance(value, Mapping) and value:
        return "a table"
    if isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        return "a list of tables"
    text = ADDRESS.sub(r"\1…\2", in_toml(value))
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def reworded(sentence: str, *meant: Any) -> str:
    """A sentence about calls and arguments as one about settings. meant: what it may show.

    >>> reworded("give by=… too; not {'last': True}.", {"last": True})
    'give key = … too; not { last = true }.'
    """
    for each in meant:
        for python, toml in _both(each):
            sentence = sentence.replace(python, toml)
        window = each.to_dict() if isinstance(each, Definition) else each
        for kind in OWN_NAMES.keys() & set(window if isinstance(window, Mapping) else ()):
            sentence = re.sub(rf"(^|write ){OWN_NAMES[kind]}\b", rf"\1{kind}", sentence)
    sentence = OF_TYPE.sub(lambda found: f"{found[1]} {TYPES.get(found[2], found[2])}", sentence)
    sentence = SETTING.sub(lambda found: f"{NAMES.get(found[1], found[1])} = ", sentence)
    for python, toml in WORDS.items():
        sentence = sentence.replace(python, toml)
    return sentence


def _both(meant: Any) -> list[tuple[str, str]]:
    """How Python shows something, and how a file would."""
    if isinstance(meant, Operator):
        return [(repr(meant), f"{meant.name} of {', '.join(meant.columns)}")]
    if isinstance(meant, Definition):
        return [(repr(meant), in_toml(meant.to_dict()))]
    found = [(repr(meant), in_toml(meant))]
    if isinstance(meant, Mapping):
        # What is shown last in a sentence: a plain 1 may stand anywhere.
        found += [(f"not {each!r}", f"not {in_toml(each)}") for each in meant.values()]
    return found

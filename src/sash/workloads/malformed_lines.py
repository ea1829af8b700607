"""Lines as sensors and their gateways spoil them, one way of each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

# Nothing here has quotes: one would swallow the lines that follow it, and with them good rows.
_NO_NUMBERS: Final = ("n/a", "--", "overflow", "12.5.1", "0xFF", "1;5", "?")
_GARBAGE: Final = (
    "*** gateway restarted ***",
    "<html><body>502 Bad Gateway</body></html>",
    "buffer overrun at 0x7f3a",
    "{status: offline}",
    "~~~~~~~~~~~~",
)


def _not_a_number(fields: list[str], rng: np.random.Generator) -> list[str]:
    field = int(rng.choice([1, 2, 2, 2, 4]))  # most often the value
    return [*fields[:field], str(rng.choice(_NO_NUMBERS)), *fields[field + 1 :]]


def _no_timestamp(fields: list[str], rng: np.random.Generator) -> list[str]:
    return [fields[0], "", *fields[2:]]


def _too_few_fields(fields: list[str], rng: np.random.Generator) -> list[str]:
    return fields[: int(rng.integers(2, len(fields)))]


def _too_many_fields(fields: list[str], rng: np.random.Generator) -> list[str]:
    """The end of the line once more, as if two had run together."""
    return [*fields, *fields[-int(rng.integers(1, len(fields))) :]]


def _garbage(fields: list[str], rng: np.random.Generator) -> list[str]:
    return [str(rng.choice(_GARBAGE))]


def _no_value(fields: list[str], rng: np.random.Generator) -> list[str]:
    return [*fields[:2], "", *fields[3:]]


MALFORMED: Final[dict[str, Callable[[list[str], np.random.Generator], list[str]]]] = {
    "not a number": _not_a_number,
    "no timestamp": _no_timestamp,
    "too few fields": _too_few_fields,
    "too many fields": _too_many_fields,
    "garbage": _garbage,
    "no value": _no_value,
}
"""Of each kind, what it makes of the fields of a good line: id, timestamp, value and four more."""

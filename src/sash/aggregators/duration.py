"""Lengths of time as people write them: "1h", "90s", "1h30m", a timedelta."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from numbers import Integral
from typing import Any

import numpy as np

NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "sec": 1_000_000_000,
    "m": 60_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
    "w": 604_800_000_000_000,
}
WORDS = {"second": "s", "minute": "min", "hour": "h", "day": "d", "week": "w"}
WORDS |= {"millisecond": "ms", "microsecond": "us", "nanosecond": "ns"}
PIECE = re.compile(r"\s*(\d+)\s*([A-Za-zµ]+)\s*")
STEPS = re.compile(r"\s*(\d+)\s*i\s*")
HOUR = NANOSECONDS["h"]
LONGEST_FIRST = ("w", "d", "h", "min", "s", "ms", "us", "ns")


@dataclass(frozen=True)
class Time:
    """A length of time.

    >>> str(Time(5_400_000_000_000)), str(Time(90_000_000_000)), str(Time(250_000_000))
    ('1h30min', '90s', '250ms')
    """

    nanoseconds: int

    def __str__(self) -> str:
        sign, left = ("-" if self.nanoseconds < 0 else ""), abs(self.nanoseconds)
        return sign + min(_spellings(left), key=len)


@dataclass(frozen=True)
class Steps:
    """So many units of an integer time, written "60i"."""

    count: int

    def __str__(self) -> str:
        return f"{self.count}i"


def length(given: Any) -> int | Time | Steps:
    """A number of rows, a length of time, or steps of an integer time, as people write them.

    >>> length(1000), length("90s"), length("60i")
    (1000, Time(nanoseconds=90000000000), Steps(count=60))
    """
    if isinstance(given, (Time, Steps)):
        return given
    if isinstance(given, Integral) and not isinstance(given, (bool, np.timedelta64)):
        return int(given)
    if not isinstance(given, (str, timedelta, np.timedelta64)):
        raise TypeError(
            f"a length is a number of rows, such as 1000, or a length of time, such as '1h' "
            f"(for integer times '60i'); not {given!r}."
        )
    if isinstance(given, str):
        text = given.strip()
        if text.isdecimal():
            raise ValueError(
                f"{given!r} has no unit: write {text} for rows, '{text}s' for time, or '{text}i' "
                f"for integer times."
            )
        sign, text = (-1, text[1:]) if text.startswith("-") else (1, text)
        counted = steps(text)
        return Time(sign * nanoseconds(text)) if counted is None else Steps(sign * counted)
    return Time(nanoseconds(given))


def _spellings(amount: int) -> list[str]:
    """In the largest unit that fits, and in several. "90s" but "1h30min", not "90min"."""
    if not amount:
        return ["0s"]
    unit = next(u for u in LONGEST_FIRST if amount % NANOSECONDS[u] == 0)
    alone = amount < HOUR or NANOSECONDS[unit] >= HOUR
    pieces, left = "", amount
    for part in LONGEST_FIRST[1:]:
        count, left = divmod(left, NANOSECONDS[part])
        pieces += f"{count}{part}" if count else ""
    return [f"{amount // NANOSECONDS[unit]}{unit}", pieces] if alone else [pieces]


def steps(text: Any) -> int | None:
    """The width of "10i": so many units of an integer time. None if it is not written so."""
    found = STEPS.fullmatch(text) if isinstance(text, str) else None
    return int(found[1]) if found else None


def nanoseconds(length: Any) -> int:
    """A length of time in nanoseconds.

    >>> nanoseconds("1h30min") == nanoseconds("90 minutes") == 5_400_000_000_000
    True
    """
    if isinstance(length, np.timedelta64):
        if np.isnat(length):
            raise ValueError("a length of time cannot be NaT.")
        unit, count = np.datetime_data(length.dtype)
        if unit in ("Y", "M", "generic"):
            raise ValueError(f"{length!r} has no fixed length; write it in days, as in '30d'.")
        if unit.lower() in NANOSECONDS:  # exact, however long
            return int(length.astype(np.int64)) * count * NANOSECONDS[unit.lower()]
        return int(length.astype("timedelta64[ns]").astype(np.int64))
    if isinstance(length, timedelta):
        whole = (length.days * 86_400 + length.seconds) * 1_000_000_000
        finer = getattr(length, "nanoseconds", 0)  # of pandas' own kind
        return whole + length.microseconds * 1000 + int(finer)
    if not isinstance(length, str):
        raise TypeError(
            f'a length of time is written as "1h", "90s" or a timedelta, not {length!r}.'
        )
    total, at = 0, 0
    if not length.strip():
        raise ValueError("a length of time is missing: write it as '1h' or '90s'.")
    while at < len(length):
        piece = PIECE.match(length, at)
        unit = piece[2].lower() if piece else ""
        unit = WORDS.get(unit.removesuffix("s"), unit)
        if piece is None or unit not in NANOSECONDS:
            raise ValueError(
                f"{length!r} is not a length of time; write a number and one of "
                f"{', '.join(u for u in NANOSECONDS if u.isascii())}, as in '1h' or '1h30min'."
            )
        total += int(piece[1]) * NANOSECONDS[unit]
        at = piece.end()
    return total

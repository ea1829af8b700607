"""Lengths of time as people write them: "1h", "90s", "1h30m", a timedelta."""

from __future__ import annotations

import re
from datetime import timedelta
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

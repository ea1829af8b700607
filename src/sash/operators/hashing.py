"""Hashes that are the same in every process, on every machine: what sketches are built on.

Python's own hash of a string differs from process to process, so a sketch made with it could
not be merged with another's. Here a value is first written as bytes, such that equal values are
written alike (1, 1.0, True and Decimal(1); an instant in two time zones), and these are hashed by
BLAKE2.
"""

from __future__ import annotations

import hashlib
import math
import struct
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np

from sash.operators.errors import OperatorError

WORDS = 8
"""How many 64-bit words one digest gives."""


def hashes(value: Any, count: int) -> list[int]:
    """`count` independent 64-bit hashes of a value."""
    written = encoded(value)
    found: list[int] = []
    for block in range(0, count, WORDS):
        digest = hashlib.blake2b(written, salt=block.to_bytes(8, "little")).digest()
        found += struct.unpack("<8Q", digest)
    return found[:count]


def encoded(value: Any) -> bytes:
    """A value as bytes, the same for equal values and, but for those, never the same."""
    if isinstance(value, np.generic):
        value = _plain(value)
    if isinstance(value, str):
        return b"s" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, (int, float, Decimal, Fraction)):
        return _number(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return b"b" + bytes(value)
    if isinstance(value, datetime):
        if value.tzinfo is None:
            return b"D" + value.isoformat().encode()
        return b"Z" + value.astimezone(UTC).isoformat().encode()
    if isinstance(value, (date, time)):
        return type(value).__name__[:1].encode() + value.isoformat().encode()
    if isinstance(value, timedelta):
        return b"p" + _number(value // timedelta(microseconds=1))
    if isinstance(value, UUID):
        return b"u" + value.bytes
    if isinstance(value, (tuple, list)):
        parts = [encoded(part) for part in value]
        return b"(" + b"".join(struct.pack("<Q", len(part)) + part for part in parts)
    if value is None:
        return b"0"
    raise OperatorError(
        f"a value of type {type(value).__name__} cannot be hashed the same way everywhere; "
        f"sketches take numbers, strings, bytes, dates, times, UUIDs and tuples of these."
    )


def _number(value: int | float | Decimal | Fraction) -> bytes:
    if value != value:
        return b"n"
    if value in (math.inf, -math.inf):
        return b"+" if value > 0 else b"-"
    whole = int(value)
    if whole == value:
        return b"i" + whole.to_bytes(whole.bit_length() // 8 + 1, "little", signed=True)
    if isinstance(value, float):
        return b"f" + struct.pack("<d", value)
    ratio = Fraction(value)
    nearest = float(ratio)
    if ratio == nearest:
        return b"f" + struct.pack("<d", nearest)
    return b"q" + f"{ratio.numerator}/{ratio.denominator}".encode()


def _plain(value: np.generic) -> Any:
    """A NumPy scalar as the Python value it equals."""
    if not isinstance(value, (np.datetime64, np.timedelta64)):
        return value.item()
    if np.isnat(value):
        return math.nan
    unit = "M8[us]" if isinstance(value, np.datetime64) else "m8[us]"
    rounded = value.astype(unit)
    # Python knows no nanoseconds.
    return rounded.item() if rounded == value else (str(value.dtype), int(value.astype("int64")))

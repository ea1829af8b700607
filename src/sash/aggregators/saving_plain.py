"""Plain Python values as they are saved: numbers, dates and times, UUIDs, ranges."""

from __future__ import annotations

import re
import struct
from collections import deque
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sash.aggregators.saving_kinds import SavedError, checked, own

DATE = struct.Struct("<HBB")
TIME = struct.Struct("<BBBIB")  # hour, minute, second, microsecond, fold
DELTA = struct.Struct("<iii")  # days, seconds, microseconds
COMPLEX = struct.Struct("<dd")
ZONE = re.compile(r"[A-Za-z0-9_+\-]+(/[A-Za-z0-9_+\-]+){0,3}")


def _decimal(content: Any) -> Decimal:
    (text,) = checked((content,), str)
    made = Decimal(text)
    if str(made).upper() != text:  # out of range, where the context does not raise
        raise SavedError("a number is not written as one")
    return made


def _complex(content: Any) -> complex:
    return complex(*COMPLEX.unpack(content))


def _ratio(content: Any) -> Fraction:
    return Fraction(*checked(content, int, int))


def _range(content: Any) -> range:
    return range(*checked(content, int, int, int))


def _deque(content: Any) -> deque[Any]:
    values, longest = content
    if type(values) is not list or (longest is not None and len(values) > longest):
        raise SavedError("a deque is longer than it may be")
    return deque(values, longest)


def _uuid(content: Any) -> UUID:
    return UUID(bytes=content)


def _date_bytes(value: date) -> bytes:
    return DATE.pack(value.year, value.month, value.day)


def _time_bytes(value: time | datetime) -> bytes:
    return TIME.pack(value.hour, value.minute, value.second, value.microsecond, value.fold)


def _in_zone(value: time | datetime, written: bytes) -> Any:
    return written if value.tzinfo is None else (written, value.tzinfo)


def _written(content: Any) -> tuple[bytes, tzinfo | None]:
    """What a time of day was written as, and its zone."""
    written, zone = content if type(content) is tuple else (content, None)
    if type(written) is not bytes or not isinstance(zone, tzinfo | None):
        raise SavedError("a time is not written as one")
    return written, zone


def _time(content: Any) -> time:
    written, zone = _written(content)
    hour, minute, second, microsecond, fold = TIME.unpack(written)
    return time(hour, minute, second, microsecond, zone, fold=fold)


def _datetime(content: Any) -> datetime:
    written, zone = _written(content)
    day, clock = written[: DATE.size], written[DATE.size :]
    return datetime.combine(date(*DATE.unpack(day)), _time((clock, zone)))


def _delta(content: Any) -> timedelta:
    return timedelta(*DELTA.unpack(content))


def _offset_content(value: timezone) -> Any:
    offset, name = value.utcoffset(None), value.tzname(None)
    return offset, (None if name == timezone(offset).tzname(None) else name)


def _offset(content: Any) -> timezone:
    offset, name = content
    return timezone(offset) if name is None else timezone(offset, name)


def _zone_name(value: ZoneInfo) -> str:
    if value.key is None:
        raise TypeError("a time zone without a name cannot be saved; make it by ZoneInfo(name).")
    return value.key


def _zone(content: Any) -> ZoneInfo:
    # A name becomes a path, or a module of the package tzdata: only what looks like one does.
    if type(content) is not str or not ZONE.fullmatch(content):
        raise SavedError("a time zone has no name")
    try:
        return ZoneInfo(content)
    except Exception as error:
        raise SavedError(f"the time zone {content} is not known here") from error


own(Decimal, "d", lambda v: str(v).upper(), _decimal)
own(Fraction, "/", lambda v: (v.numerator, v.denominator), _ratio)
own(complex, "j", lambda v: COMPLEX.pack(v.real, v.imag), _complex)
own(range, "r", lambda v: (v.start, v.stop, v.step), _range)
own(deque, "q", lambda v: (list(v), v.maxlen), _deque)
own(UUID, "u", lambda v: v.bytes, _uuid)
own(date, "D", _date_bytes, lambda c: date(*DATE.unpack(c)))
own(time, "t", lambda v: _in_zone(v, _time_bytes(v)), _time)
own(datetime, "m", lambda v: _in_zone(v, _date_bytes(v) + _time_bytes(v)), _datetime)
own(timedelta, "p", lambda v: DELTA.pack(v.days, v.seconds, v.microseconds), _delta)
own(timezone, "o", _offset_content, _offset)
own(ZoneInfo, "z", _zone_name, _zone)

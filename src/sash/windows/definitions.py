"""Which rows a window holds, and when it answers: the definitions.

    last(1000)                    the last 1000 rows, answered at every row
    last("1h", every="1min")      [end - 1h, end) for each end on the minute
    tumbling(size)                last(size, every=size)
    delta(column, width)          rows whose column is within width of the newest one's
    punctuated(column)            from one marked row to the next
    session(gap)                  until gap passes with no row
    slide_while(policy)           the oldest rows leave while policy(total, old) is True

A definition is plain data: it can be compared, hashed, printed as the call that makes it, and
written as a dict for a TOML or JSON file. It says nothing about how its window is kept.

>>> last("1h", every="1min").to_dict()
{'last': '1h', 'every': '1min'}
>>> from_dict({"last": "1h", "every": "1min"})
last('1h', every='1min')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from numbers import Integral
from typing import Any

import numpy as np

from sash.aggregators.duration import Steps, Time
from sash.windows import written
from sash.windows.bounds import CLOSED
from sash.windows.definition_parts import (
    check_one_of,
    check_policy,
    check_same_time,
    checked_column,
    checked_width,
    name_of,
    offset_within,
    plain,
    set_part,
    some_length,
)
from sash.windows.policies import Policy, source_of

Length = int | str | timedelta | np.timedelta64 | Time | Steps
"""What a caller may write for a number of rows or a length of time."""

MARKS = ("start", "end")


class Definition:
    """Which rows a window holds, and when it answers."""

    def to_dict(self) -> dict[str, Any]:
        """As a dict of text and numbers, without what is as it is by default."""
        raise NotImplementedError

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> Definition:
        """The definition that `to_dict` wrote, or that someone wrote in a file."""
        return from_dict(given)

    def __repr__(self) -> str:
        return written.call(self.to_dict())


@dataclass(frozen=True, repr=False)
class Punctuated(Definition):
    """See `punctuated`."""

    column: str
    marks: str = "start"

    def __post_init__(self) -> None:
        set_part(self, "column", checked_column(self.column, "punctuated", "flag"))
        check_one_of("marks", self.marks, MARKS)

    def to_dict(self) -> dict[str, Any]:
        found = {"punctuated": self.column}
        return found if self.marks == "start" else found | {"marks": self.marks}


Every = int | Time | Steps | Punctuated


@dataclass(frozen=True, repr=False)
class Last(Definition):
    """See `last`."""

    size: int | Time | Steps
    every: Every = 1
    offset: Time | Steps | None = None
    closed: str = "right"

    def __post_init__(self) -> None:
        set_part(self, "size", some_length("size", self.size))
        set_part(self, "every", _every(self.every))
        check_same_time("size", self.size, self.every)
        set_part(self, "offset", offset_within(self.offset, self.every))
        check_one_of("closed", self.closed, CLOSED)
        if self.closed != "right" and isinstance(self.every, (Time, Steps)):
            raise ValueError(
                f"closed={self.closed!r} is for windows that end at a row; with "
                f"every='{self.every}' each holds its begin and not its end, so leave closed out."
            )

    def to_dict(self) -> dict[str, Any]:
        if self.size == self.every != 1 and self.closed == "right":
            found = {"tumbling": plain(self.size)}
        else:
            found = {"last": plain(self.size), **_every_of(self)}
            if self.closed != "right":
                found["closed"] = self.closed
        return found | _offset_of(self)


@dataclass(frozen=True, repr=False)
class Delta(Definition):
    """See `delta`."""

    column: str
    width: int | float | Time
    every: Every = 1
    offset: Time | Steps | None = None

    def __post_init__(self) -> None:
        set_part(self, "column", checked_column(self.column, "delta", "price"))
        set_part(self, "width", checked_width(self.width))
        set_part(self, "every", _every(self.every))
        set_part(self, "offset", offset_within(self.offset, self.every))

    def to_dict(self) -> dict[str, Any]:
        found = {"delta": self.column, "width": plain(self.width)}
        return found | _every_of(self) | _offset_of(self)


@dataclass(frozen=True, repr=False)
class Session(Definition):
    """See `session`."""

    gap: Time | Steps

    def __post_init__(self) -> None:
        gap = some_length("gap", self.gap)
        if isinstance(gap, int):
            raise TypeError(
                f"a session ends when time passes without a row: write the gap as '30min', or as "
                f"'{gap}i' for integer times; not {gap}."
            )
        set_part(self, "gap", gap)

    def to_dict(self) -> dict[str, Any]:
        return {"session": plain(self.gap)}


@dataclass(frozen=True, repr=False, eq=False)
class SlideWhile(Definition):
    """See `slide_while`.

    text: the policy as text, read when the definition is made; None if it cannot be written so.
    """

    policy: Callable[[Any, Any], Any]
    every: Every = 1
    raw: bool = False
    text: str | None = field(init=False)

    def __post_init__(self) -> None:
        if isinstance(self.policy, str):
            set_part(self, "policy", Policy(self.policy))
        check_policy(self.policy)
        set_part(self, "every", _every(self.every))
        if not isinstance(self.raw, (bool, np.bool_)):
            raise TypeError(f"raw must be True or False, not {self.raw!r}.")
        set_part(self, "raw", bool(self.raw))
        set_part(self, "text", source_of(self.policy))

    def to_dict(self) -> dict[str, Any]:
        if self.text is None:
            raise TypeError(
                f"the policy {name_of(self.policy)} cannot be written down; write it as text, as "
                f"in slide_while('total - old >= 10')."
            )
        return self._parts(self.text)

    def _parts(self, policy: str) -> dict[str, Any]:
        found = {"slide_while": policy, **_every_of(self)}
        return found | {"raw": True} if self.raw else found

    def __repr__(self) -> str:
        if self.text is not None:
            return super().__repr__()
        return written.call(self._parts(name_of(self.policy)), bare=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SlideWhile) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        """Policies of the same text are the same; other functions are only themselves."""
        return self.text or id(self.policy), self.every, self.raw


def last(
    size: Length,
    every: Length | Punctuated = 1,
    *,
    offset: Length | None = None,
    closed: str = "right",
) -> Last:
    """The last rows: so many, or those of so long.

    size    a number of rows (1000), or a length of time ("1h", a timedelta; "60i" if times are
            integers)
    every   answer at each so-many-th row; or at each end on a grid of time ("1min": windows are
            [end - size, end), as Spark's window()); or at the rows that `punctuated(column)` marks
    offset  shifts the grid: windows begin at k · every + offset
    closed  for answers at rows, which ends count: right, (t - size, t]; left; both; neither

    >>> last("90 minutes", every=timedelta(minutes=1), offset="75s")
    last('1h30min', every='1min', offset='15s')
    """
    return Last(size, every, offset, closed)  # type: ignore[arg-type]


def tumbling(size: Length, *, offset: Length | None = None) -> Last:
    """Windows side by side, each answered at its end: last(size, every=size).

    >>> tumbling(5) == last(5, every=5)
    True
    """
    return Last(size, size, offset)  # type: ignore[arg-type]


def delta(
    column: str,
    width: float | str | timedelta | np.timedelta64 | Time,
    every: Length | Punctuated = 1,
    *,
    offset: Length | None = None,
) -> Delta:
    """The rows whose column is within `width` of the newest one's: newest - value ≤ width.

    column  it must not go back
    width   a number; or a length of time, if the column holds times
    every   as for `last`, and so is offset

    >>> delta("odometer", 12.5)
    delta('odometer', 12.5)
    """
    return Delta(column, width, every, offset)  # type: ignore[arg-type]


def punctuated(column: str, marks: str = "start") -> Punctuated:
    """From one marked row to the next; marked is where the column is true.

    marks   "start": a marked row begins a window, answered when the next one begins;
            "end": a marked row is the last of its window, answered at once

    >>> punctuated("new_lap")
    punctuated('new_lap')
    """
    return Punctuated(column, marks)


def session(gap: str | timedelta | np.timedelta64 | Time | Steps) -> Session:
    """Rows each at most `gap` after the one before, answered once more than that has passed.

    As Spark's session_window(): a row just the gap after the last still belongs to it.

    >>> session("30min")
    session('30min')
    """
    return Session(gap)  # type: ignore[arg-type]


def slide_while(
    policy: str | Callable[[Any, Any], Any], every: Length | Punctuated = 1, *, raw: bool = False
) -> SlideWhile:
    """At each row, as many of the oldest leave as policy(total, old) is True for.

    policy  total is the answer of the window, old that of its oldest rows. A function, or text
            such as "total - old >= 10", which can be kept in a file and compiled
    every   as for `last`
    raw     the policy sees partials, field by field, instead of answers

    >>> slide_while("total.n - old.n > 100")
    slide_while('total.n - old.n > 100')
    """
    return SlideWhile(policy, every, raw)  # type: ignore[arg-type]


def definition(given: Any) -> Definition:
    """A definition, or what is short for one: 1000 or "1h" for `last`, a dict for `from_dict`.

    >>> definition("1h"), definition({"session": "30min"})
    (last('1h'), session('30min'))
    """
    if isinstance(given, Definition):
        return given
    if isinstance(given, Mapping):
        return from_dict(given)
    count = isinstance(given, Integral) and not isinstance(given, bool)
    if count or isinstance(given, (str, timedelta, np.timedelta64, Time, Steps)):
        return last(given)
    hint = ""
    if callable(given):
        called = getattr(given, "__name__", "")
        hint = f"; write {called}(…)" if called in MAKERS else "; write slide_while(policy)"
    raise TypeError(
        f"a window is a number of rows, such as 1000, a length of time, such as '1h', or one of "
        f"{', '.join(MAKERS)}; not {given!r}{hint}."
    )


MAKERS: dict[str, Callable[..., Definition]] = {
    "last": last,
    "tumbling": tumbling,
    "delta": delta,
    "punctuated": punctuated,
    "session": session,
    "slide_while": slide_while,
}


def from_dict(given: Mapping[str, Any]) -> Definition:
    """The definition that is written as this dict.

    >>> from_dict({"last": "1h", "every": {"punctuated": "flag"}})
    last('1h', every=punctuated('flag'))
    """
    name, first, rest = written.taken_apart(given)
    if isinstance(rest.get("every"), Mapping):
        every = from_dict(rest["every"])
        if not isinstance(every, Punctuated):
            raise ValueError(
                f"every is a number of rows, a length of time or {{'punctuated': column}}, not "
                f"{every.to_dict()}."
            )
        rest["every"] = every
    if name == "slide_while" and not isinstance(first, str):
        raise TypeError(f"slide_while is written with a policy as text, not {first!r}.")
    return MAKERS[name](first, **rest)


def _every_of(given: Last | Delta | SlideWhile) -> dict[str, Any]:
    if given.every == 1:
        return {}
    nested = isinstance(given.every, Punctuated)
    return {"every": given.every.to_dict() if nested else plain(given.every)}  # type: ignore


def _offset_of(given: Last | Delta) -> dict[str, Any]:
    return {} if given.offset is None else {"offset": str(given.offset)}


def _every(given: Any) -> Every:
    if isinstance(given, Punctuated):
        return Punctuated(given.column)  # an answer comes at the marked row, whatever it marks
    if isinstance(given, Definition):
        raise TypeError(
            f"every is a number of rows, a length of time or punctuated(column), not {given!r}."
        )
    return some_length("every", given)

"""The parts of a window's definition: checked, and brought into one form."""

from __future__ import annotations

import inspect
import math
from datetime import timedelta
from numbers import Integral, Real
from typing import Any

import numpy as np

from sash.aggregators.duration import Steps, Time, length
from sash.windows.bounds import MOST


def set_part(definition: object, name: str, value: Any) -> None:
    """For what is frozen once it is made."""
    object.__setattr__(definition, name, value)


def plain(given: float | Time | Steps) -> int | float | str:
    """As a file holds it."""
    return str(given) if isinstance(given, (Time, Steps)) else given


def any_length(name: str, given: Any) -> int | Time | Steps:
    """Rows, time or steps, of any sign; errors begin with the name of the part."""
    try:
        found = length(given)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None
    if abs(_amount(found)) > MOST:
        raise ValueError(f"{name} must be below 2**63 rows, nanoseconds or steps, not {given!r}.")
    return found


def some_length(name: str, given: Any) -> int | Time | Steps:
    """Rows, time or steps: one at least."""
    found = any_length(name, given)
    if _amount(found) < 1:
        raise ValueError(f"{name} must be more than nothing, not {given!r}.")
    return found


def check_same_time(name: str, given: int | Time | Steps, every: object) -> None:
    """Refuse steps of an integer time beside lengths of real time."""
    if {type(given), type(every)} == {Time, Steps}:
        raise ValueError(
            f"{name} '{given}' and every '{every}' do not go together: '60i' is for integer times, "
            f"'1h' for datetimes."
        )


def offset_within(given: Any, every: object) -> Time | Steps | None:
    """The same grid, with the least offset; None if it is not shifted at all."""
    if given is None:
        return None
    if not isinstance(every, (Time, Steps)):
        raise ValueError(
            f"offset={given!r} needs a grid of time to shift: give every as a length of time, such "
            f"as '1h'."
        )
    offset = any_length("offset", given)
    if isinstance(offset, int):
        raise TypeError(
            f"offset must be a length of time, such as '15s' (for integer times '15i'), not "
            f"{given!r}."
        )
    check_same_time("offset", offset, every)
    reduced = _amount(offset) % _amount(every)
    return type(offset)(reduced) if reduced else None


def checked_width(given: Any) -> int | float | Time:
    """How far apart values may be: a number, or a length of time."""
    if isinstance(given, Real) and not isinstance(given, (bool, np.timedelta64)):
        number = int(given) if isinstance(given, Integral) else float(given)
        if not math.isfinite(number) or not 0 <= number <= MOST:
            raise ValueError(f"width must be a number from 0 to 2**63, not {given!r}.")
        return number
    if not isinstance(given, (str, timedelta, np.timedelta64, Time, Steps)):
        raise TypeError(
            f"width must be a number, or a length of time such as '1h' if the column holds times, "
            f"not {given!r}."
        )
    found = any_length("width", given)
    if not isinstance(found, Time):
        raise ValueError(f"width is a number for a column of numbers: write 60, not {given!r}.")
    if found.nanoseconds < 0:
        raise ValueError(f"width must not be negative, as {given!r} is.")
    return found


def checked_column(given: Any, window: str, example: str) -> str:
    """The name of a column."""
    if not isinstance(given, str):
        raise TypeError(
            f"{window} takes the name of a column, as in {window}('{example}', …), not {given!r}."
        )
    if not given:
        raise ValueError(f"{window} takes the name of a column, and '' is none.")
    return str(given)


def check_one_of(name: str, given: Any, known: tuple[str, ...]) -> None:
    """Refuse a word that is not among the known."""
    if not isinstance(given, str):
        raise TypeError(f"{name} must be one of {', '.join(known)}, not {given!r}.")
    if given not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {given!r}.")


def check_policy(policy: Any) -> None:
    """Refuse what cannot be called with total and old."""
    if not callable(policy):
        raise TypeError(
            f"a policy is a function of (total, old), or text such as 'total - old >= 10', not "
            f"{policy!r}."
        )
    try:
        inspect.signature(policy).bind(None, None)
    except TypeError:
        raise TypeError(
            f"a policy is called as policy(total, old), and {name_of(policy)} does not take these "
            f"two."
        ) from None
    except ValueError:  # a builtin that does not tell what it takes
        pass


def name_of(policy: Any) -> str:
    """What to call it in a sentence."""
    return getattr(policy, "__name__", None) or repr(policy)


def _amount(given: int | Time | Steps) -> int:
    if isinstance(given, Time):
        return given.nanoseconds
    return given.count if isinstance(given, Steps) else given

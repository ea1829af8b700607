"""What is wrong with the value of an option, in a sentence; None if nothing is."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import pyarrow as pa


def wrong_count(option: str, value: Any) -> str | None:
    """It must be a positive integer."""
    if is_integer(value) and value >= 1:
        return None
    return f"{option} must be an integer of 1 or more, and is {value!r}."


def wrong_between(option: str, value: Any, least: int, most: int) -> str | None:
    """It must be an integer in this range."""
    if is_integer(value) and least <= value <= most:
        return None
    return f"{option} must be an integer from {least} to {most}, and is {value!r}."


def wrong_ranks(option: str, value: Any) -> str | None:
    """It must be a rank from 0 to 1, or several."""
    ranks = ranks_of(value)
    if ranks and all(isinstance(r, Real) and 0 <= float(r) <= 1 for r in ranks):
        return None
    return f"{option} must be a number from 0 to 1, or a tuple of such, and is {value!r}."


def ranks_of(value: Any) -> tuple[Any, ...]:
    """One rank or several, as a tuple."""
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else (value,)


def type_of_ranks(value: Any) -> Any:
    """The type of what stands at these ranks: a number for one, a list of them for several."""
    return pa.float64() if len(ranks_of(value)) == 1 else pa.list_(pa.float64())


def is_integer(value: Any) -> bool:
    """Whether it is an integer, of Python's or NumPy's; True and False are none here."""
    return isinstance(value, Integral) and not isinstance(value, bool)

"""Slide policies: by what the oldest values leave a window, and whether one makes sense.

policy(total, old) is given what the window answers and what some of its oldest values answer, and
is True if these must leave. A search finds the longest such prefix, so a policy must be True up to
some number of values and False beyond.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import FunctionType


class NotCompiledError(Exception):
    """A policy that cannot be compiled for an operator; it can still be called from Python."""


@dataclass(frozen=True)
class SlidePolicy:
    """A policy to be compiled.

    source   a function of (total, old), or the text of one: "def policy(total, old):\\n return …".
             Text becomes part of a program, so it must not come from where anyone can write it
             unless it was checked; it may use built-in functions and nothing else.
    raw      whether it is shown partials, field by field, instead of answers
    """

    source: FunctionType | str
    raw: bool = False


def check_monotone(truths: Iterable[bool]) -> None:
    """Refuse a policy that is True for more of the oldest values, but False for fewer.

    truths: what it says of the oldest value, of the two oldest, and so on.

    >>> check_monotone([True, True, False])
    >>> check_monotone([True, False, True])
    Traceback (most recent call last):
    ...
    ValueError: the policy is True for the 3 oldest values, but False for the 2 oldest: how many \
leave is ambiguous; write one that is True up to some number of values and False beyond.
    """
    first_false = 0
    for count, is_true in enumerate(truths, 1):
        if not is_true:
            first_false = first_false or count
        elif first_false:
            raise ValueError(
                f"the policy is True for the {count} oldest values, but False for the "
                f"{first_false} oldest: how many leave is ambiguous; write one that is True up to "
                f"some number of values and False beyond."
            )

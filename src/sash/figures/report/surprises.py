"""What was not to be expected: each told with the numbers of this run, or not at all."""

from __future__ import annotations

from collections.abc import Callable

from sash.figures.claims.judging import Found, NotMeasuredError

Surprise = Callable[[Found], str]


def surprises() -> list[Callable[[Found], str | None]]:
    """Each tells a sentence, or nothing if it was not measured."""
    return [_if_measured(each) for each in ALL]


def _if_measured(surprise: Surprise) -> Callable[[Found], str | None]:
    def told(found: Found) -> str | None:
        try:
            return surprise(found)
        except (NotMeasuredError, KeyError, ValueError):
            return None

    return told


ALL: list[Surprise] = []

"""What is asked of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sash.aggregators.aggregator import checked_operator, whole
from sash.operators.base import Operator
from sash.windows.definitions import Definition, definition
from sash.windows.shapes import Shape

EMITS = ("every", "changes")


@dataclass(frozen=True)
class Query:
    """An operator, over a window. Made by `sash.query`."""

    operator: Operator
    window: Definition
    min_size: int = 1
    emit: str = "every"

    @cached_property
    def shape(self) -> Shape:
        return Shape(self.window)

    def __repr__(self) -> str:
        more = "" if self.min_size == 1 else f", min_size={self.min_size}"
        more += "" if self.emit == "every" else f", emit={self.emit!r}"
        return f"query({self.operator!r}, {self.window!r}{more})"


def query(op: Operator, window: Any, *, min_size: int = 1, emit: str = "every") -> Query:
    """A query for `sash.share`: an operator, or several `Together`, over a window.

    >>> import sash
    >>> query(sash.Max(), "1h")
    query(Max(), last('1h'))
    """
    checked_operator(op)
    if emit not in EMITS:
        raise ValueError(f"emit is one of {', '.join(EMITS)}; not {emit!r}.")
    if whole("min_size", min_size) < 0:
        raise ValueError(f"min_size must be at least 0, not {min_size}.")
    return Query(op, definition(window), int(min_size), emit)

"""By place in the window: First, Last. The position travels, and the value is taken at the end."""

from __future__ import annotations

from sash.operators.base import operator


@operator(partial={"row": "int64"}, selective=True, answer="int64", takes="same")
class First:
    """The oldest value that is not null."""

    def identity():
        return -1

    def lift(row):
        return row

    def combine(a, b):
        return a.row if a.row >= 0 else b.row

    def lower(p):
        return p.row if p.row >= 0 else None


class Last(First):
    """The newest value that is not null."""

    def combine(a, b):
        return b.row if b.row >= 0 else a.row

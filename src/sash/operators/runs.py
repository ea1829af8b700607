"""Runs of neighbouring values: LongestRise.

A run that crosses from one part of the window to the next is the end of the first and the
beginning of the second. So a partial knows three runs: the one at its beginning (`prefix`), the
one at its end (`suffix`) and the longest (`best`). Their rows are kept and not computed from
their lengths, because nulls lie between.
"""

from __future__ import annotations

from sash.operators.base import operator
from sash.operators.families import COMPARED
from sash.operators.functions import VALUE

RUNS = {
    "n": "int64",
    "first": VALUE,
    "last": VALUE,
    "prefix": "int64",
    "prefix_end": "int64",
    "suffix": "int64",
    "suffix_start": "int64",
    "best": "int64",
    "best_start": "int64",
    "best_end": "int64",
}


@operator(
    partial=RUNS,
    empty=None,
    answer={"start": "int64", "end": "int64", "length": "int64"},
    needs=COMPARED,
)
class LongestRise:
    """The longest run of strictly rising values: its first row, its last, and its length.

    The earliest of equally long runs wins. NaN rises from nothing and nothing rises from it; nulls
    are passed over.
    """

    def identity():
        return 0, 0, 0, 0, -1, 0, -1, 0, -1, -1

    def lift(v, row):
        return 1, v, v, 1, row, 1, row, 1, row, row

    def combine(a, b):
        meets = a.n > 0 and b.n > 0 and a.last < b.first
        crossing = a.suffix + b.prefix if meets else 0

        # The first run goes on into b if a is nothing else; likewise the last.
        into_b = a.n == 0 or (meets and a.prefix == a.n)
        from_a = b.n == 0 or (meets and b.suffix == b.n)
        prefix = a.prefix + b.prefix if into_b else a.prefix
        prefix_end = b.prefix_end if into_b and b.n > 0 else a.prefix_end
        suffix = a.suffix + b.suffix if from_a else b.suffix
        suffix_start = a.suffix_start if from_a and a.n > 0 else b.suffix_start

        best, start, end = a.best, a.best_start, a.best_end
        if crossing > best:
            best, start, end = crossing, a.suffix_start, b.prefix_end
        if b.best > best:
            best, start, end = b.best, b.best_start, b.best_end

        first = a.first if a.n > 0 else b.first
        last = b.last if b.n > 0 else a.last
        n = a.n + b.n
        return n, first, last, prefix, prefix_end, suffix, suffix_start, best, start, end

    def lower(p):
        return p.best_start, p.best_end, p.best

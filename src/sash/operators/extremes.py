"""The smallest and the largest: Min, Max, Range, MinCount, MaxCount, ArgMin, ArgMax.

NaN is the greatest of all values, as in Spark: a window that holds one has NaN for its maximum,
and for its minimum only if it holds nothing else. The conditional expressions are written so that
the compiler makes selections of them and no branch: a branch here is mispredicted every other row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.operators.base import operator
from sash.operators.families import COMPARED, DECIMALS, NUMBERS
from sash.operators.functions import VALUE


class _Extreme:
    """Less than (or greater than) every value; stands in where a type has no least value."""

    def __init__(self, name: str, sign: int) -> None:
        self.name = name
        self.sign = sign

    def __lt__(self, other: object) -> bool:
        return self.sign < 0 and other is not self

    def __gt__(self, other: object) -> bool:
        return self.sign > 0 and other is not self

    def __le__(self, other: object) -> bool:
        return self.sign < 0 or other is self

    def __ge__(self, other: object) -> bool:
        return self.sign > 0 or other is self

    def __sub__(self, other: object) -> None:
        """The range of no value is none."""

    def __reduce__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name


LOWEST = _Extreme("LOWEST", -1)
HIGHEST = _Extreme("HIGHEST", +1)


def lowest(dtype: np.dtype[Any]) -> Any:
    """What no value of this type is below."""
    if dtype.kind == "f":
        return -np.inf
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min)
    return False if dtype.kind == "b" else LOWEST


def highest(dtype: np.dtype[Any]) -> Any:
    """What no value of this type is above; NaN is above infinity."""
    if dtype.kind == "f":
        return np.nan
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).max)
    return True if dtype.kind == "b" else HIGHEST


@operator(
    partial={"hi": VALUE},
    commutative=True,
    selective=True,
    empty=None,
    answer=VALUE,
    needs=COMPARED,
)
class Max:
    """The largest value."""

    def for_type(dtype):
        return {"least": lowest(dtype)}

    def identity(*, least):
        return least

    def lift(v):
        return v

    def combine(a, b):
        larger = a.hi if a.hi > b.hi else b.hi
        return larger if a.hi == a.hi else a.hi

    def lower(p):
        return p.hi


@operator(
    partial={"lo": VALUE},
    commutative=True,
    selective=True,
    empty=None,
    answer=VALUE,
    needs=COMPARED,
)
class Min:
    """The smallest value."""

    def for_type(dtype):
        return {"greatest": highest(dtype)}

    def identity(*, greatest):
        return greatest

    def lift(v):
        return v

    def combine(a, b):
        smaller = a.lo if a.lo < b.lo else b.lo
        return smaller if b.lo == b.lo else a.lo

    def lower(p):
        return p.lo


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype({"i": "int64", "u": "uint64", "b": "int64"}.get(dtype.kind, dtype))


@operator(
    partial={"lo": VALUE, "hi": VALUE},
    commutative=True,
    empty=None,
    answer=_wide,
    needs=(NUMBERS, DECIMALS),
)
class Range:
    """The largest value less the smallest."""

    def for_type(dtype):
        most = 0 if dtype.kind not in "iub" else int(np.iinfo(_wide(dtype)).max)
        return {"least": lowest(dtype), "greatest": highest(dtype), "most": most}

    def identity(*, least, greatest):
        return greatest, least

    def lift(v):
        return v, v

    def combine(a, b):
        smaller = a.lo if a.lo < b.lo else b.lo
        larger = a.hi if a.hi > b.hi else b.hi
        return smaller if b.lo == b.lo else a.lo, larger if a.hi == a.hi else a.hi

    def lower(p, *, most):
        if most > 0 and p.lo < 0 and p.hi > most + p.lo:
            raise OverflowError("the range of these integers does not fit in 64 bits")
        return p.hi - p.lo


@operator(partial={"hi": VALUE, "n": "int64"}, commutative=True, answer="int64", needs=COMPARED)
class MaxCount:
    """How many values are the largest."""

    def for_type(dtype):
        return {"least": lowest(dtype)}

    def identity(*, least):
        return least, 0

    def lift(v):
        return v, 1

    def combine(a, b):
        larger = a.hi if a.hi > b.hi else b.hi
        larger = larger if a.hi == a.hi else a.hi
        of_a = a.n if a.hi == larger or a.hi != a.hi else 0
        of_b = b.n if b.hi == larger or b.hi != b.hi else 0
        return larger, of_a + of_b

    def lower(p):
        return p.n


@operator(partial={"lo": VALUE, "n": "int64"}, commutative=True, answer="int64", needs=COMPARED)
class MinCount:
    """How many values are the smallest."""

    def for_type(dtype):
        return {"greatest": highest(dtype)}

    def identity(*, greatest):
        return greatest, 0

    def lift(v):
        return v, 1

    def combine(a, b):
        smaller = a.lo if a.lo < b.lo else b.lo
        smaller = smaller if b.lo == b.lo else a.lo
        of_a = a.n if a.lo == smaller or smaller != smaller else 0
        of_b = b.n if b.lo == smaller or smaller != smaller else 0
        return smaller, of_a + of_b

    def lower(p):
        return p.n


@operator(
    partial={"hi": VALUE, "row": "int64"},
    selective=True,
    answer="int64",
    takes="rest",
    needs=COMPARED,
)
class ArgMax:
    """What the row with the largest value holds in other columns; the first row wins a tie."""

    def for_type(dtype):
        return {"least": lowest(dtype)}

    def identity(*, least):
        return least, -1

    def lift(v, row):
        return v, row

    def combine(a, b):
        later = b.row >= 0 and (a.row < 0 or (a.hi == a.hi and not b.hi <= a.hi))
        return b if later else a

    def lower(p):
        return p.row if p.row >= 0 else None


@operator(
    partial={"lo": VALUE, "row": "int64"},
    selective=True,
    answer="int64",
    takes="rest",
    needs=COMPARED,
)
class ArgMin:
    """What the row with the smallest value holds in other columns; the first row wins a tie."""

    def for_type(dtype):
        return {"greatest": highest(dtype)}

    def identity(*, greatest):
        return greatest, -1

    def lift(v, row):
        return v, row

    def combine(a, b):
        later = b.row >= 0 and (a.row < 0 or (b.lo == b.lo and not a.lo <= b.lo))
        return b if later else a

    def lower(p):
        return p.row if p.row >= 0 else None

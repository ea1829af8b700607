"""The values themselves: all, some, or how many differ (Collect, Concat, FirstN, TopK, …).

Partials are Python objects, never changed once made. NaN is one value here, equal to itself, and
the greatest of all, as in Spark; where it matters partials say apart whether they hold it, since
Python's sets and sorts do not know that.
"""

from __future__ import annotations

import math
from typing import Any

from sash.operators.base import operator
from sash.operators.errors import OperatorError
from sash.operators.families import COMPARED, LISTS, TEXT
from sash.operators.functions import VALUE, VALUES
from sash.operators.options import wrong_count
from sash.operators.rope import Rope

NO_VALUES = Rope()


@operator(partial=object, answer=VALUES)
class Collect:
    """All values, oldest first, as a list."""

    def identity():
        return NO_VALUES

    def lift(v):
        return Rope((v,))

    def combine(a, b):
        return a + b

    def lower(p):
        return p.values()


class Concat(Collect):
    """Strings joined in order, with `sep` between them; bytes, lists and tuples too."""

    answer = VALUE
    needs = (TEXT, LISTS)

    def lift(v):
        if not isinstance(v, (str, bytes, list, tuple)):
            raise OperatorError(
                f"Concat joins strings, bytes, lists or tuples, not {type(v).__name__}; "
                f"Collect keeps any values."
            )
        return Rope((v,))

    def lower(p, *, sep=""):
        return joined(p.values(), sep) if len(p) else None


def joined(pieces: list[Any], sep: Any) -> Any:
    """Pieces of one type, with a separator of that type (or none: "") between them."""
    kind = next(kind for kind in (str, bytes, list, tuple) if isinstance(pieces[0], kind))
    between: Any = kind() if sep == "" else sep
    if kind is bytes and isinstance(between, str):
        between = between.encode()
    for piece in (between, *pieces):
        if not isinstance(piece, kind):
            what = "its sep is" if piece is between else "one value is"
            raise OperatorError(
                f"Concat joins values of one type: the first is {kind.__name__}, "
                f"{what} {type(piece).__name__}."
            )
    if kind in (str, bytes):
        return between.join(pieces)
    whole = list(pieces[0])
    for piece in pieces[1:]:
        whole += between
        whole += piece
    return kind(whole)


@operator(partial=object, answer=VALUES)
class FirstN:
    """The n oldest values, oldest first."""

    def check_options(*, n):
        return wrong_count("n", n)

    def identity():
        return ()

    def lift(v):
        return (v,)

    def combine(a, b, *, n):
        return a if len(a) >= n or not b else a + b[: n - len(a)]

    def lower(p):
        return list(p)


class LastN(FirstN):
    """The n newest values, oldest first."""

    def combine(a, b, *, n):
        return b if len(b) >= n or not a else a[len(b) - n :] + b


@operator(partial=object, answer=VALUES, needs=COMPARED)
class CollectDistinct:
    """The distinct values, in the order in which they first appear."""

    def identity():
        return (), False

    def lift(v):
        return (hashable("CollectDistinct", v),), bool(v != v)

    def combine(a, b):
        (older, has_nan), (newer, adds_nan) = a, b
        seen = frozenset(older)
        fresh = [v for v in newer if v not in seen and not (has_nan and v != v)]
        return (older + tuple(fresh), has_nan or adds_nan) if fresh else a

    def lower(p):
        return list(p[0])


@operator(partial=object, commutative=True, answer="int64", needs=COMPARED)
class CountDistinct:
    """How many distinct values there are."""

    def identity():
        return frozenset(), False

    def lift(v):
        v = hashable("CountDistinct", v)
        return (frozenset(), True) if v != v else (frozenset((v,)), False)

    def combine(a, b):
        has_nan = a[1] or b[1]
        # Mostly the values are not new, and a set that holds the other is not copied.
        if b[0] <= a[0]:
            return a[0], has_nan
        return (b[0] if a[0] <= b[0] else a[0] | b[0]), has_nan

    def lower(p):
        return len(p[0]) + p[1]


def hashable(name: str, v: Any) -> Any:
    """The value, if it can be told from others by its hash."""
    try:
        hash(v)
    except TypeError:
        raise OperatorError(
            f"{name} tells values apart by their hash, and {type(v).__name__} has none."
        ) from None
    return v


@operator(partial=object, commutative=True, answer=VALUES, needs=COMPARED)
class TopK:
    """The k largest values, the largest first; equal ones are all kept."""

    def check_options(*, k):
        return wrong_count("k", k)

    def identity():
        return 0, ()

    def lift(v):
        return (1, ()) if v != v else (0, (v,))

    def combine(a, b, *, k):
        nans = min(k, a[0] + b[0])
        room = k - nans
        if not b[1] or (len(a[1]) >= room and (room == 0 or b[1][0] <= a[1][room - 1])):
            return nans, a[1][:room]
        # Two runs already in order: the sort finds them and merges them in one pass.
        return nans, tuple(sorted(a[1] + b[1], reverse=True)[:room])

    def lower(p):
        return [math.nan] * p[0] + list(p[1])


class BottomK(TopK):
    """The k smallest values, the smallest first; equal ones are all kept."""

    def combine(a, b, *, k):
        nans = min(k, a[0] + b[0])
        if not b[1] or (len(a[1]) == k and a[1][-1] <= b[1][0]):
            return nans, a[1]
        return nans, tuple(sorted(a[1] + b[1])[:k])

    def lower(p, *, k):
        return (list(p[1]) + [math.nan] * p[0])[:k]

"""Apache DataSketches as operators: ApproxCountDistinct (HLL), ApproxQuantile (KLL).

A partial holds a sketch as bytes, so that nothing can change it and anything can store it; the
empty one is None. The library is an extra, and is looked for when the first value comes.
"""

from __future__ import annotations

import math
from typing import Any

from sash.operators.base import operator
from sash.operators.families import COMPARED, DECIMALS, LISTS, NUMBERS
from sash.operators.hashing import hashes
from sash.operators.options import ranks_of, type_of_ranks, wrong_between, wrong_ranks

SAME_RANKS = [i / 16 for i in range(1, 16)]


def library(name: str) -> Any:
    """The datasketches module, or a sentence on how to get it."""
    try:
        import datasketches
    except ImportError:
        raise ImportError(f"{name} needs the extra: pip install 'sash[sketches]'") from None
    return datasketches


class Bytes:
    """A sketch as bytes; each kind knows which two are the same for whoever asks them."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.data,)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} sketch, {len(self.data)} bytes>"


class Hll(Bytes):
    """A HyperLogLog sketch. The same values give the same estimate, however they were merged."""

    __slots__ = ()

    def estimate(self) -> float:
        """How many distinct values there are.

        A sketch updated value by value estimates by the history of its updates, a merged one by
        its registers alone. Only the latter is the same for every order of merging; a union of
        the sketch with itself brings it about.
        """
        sketches = library("ApproxCountDistinct")
        sketch = sketches.hll_sketch.deserialize(self.data)
        union = sketches.hll_union(sketch.lg_config_k)
        union.update(sketch)
        union.update(sketch)
        return float(union.get_result(sketches.HLL_8).get_estimate())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hll):
            return NotImplemented
        return self.data == other.data or self.estimate() == other.estimate()


@operator(partial=object, commutative=True, answer="int64", needs=(*COMPARED, LISTS))
class ApproxCountDistinct:
    """About how many distinct values there are, as an integer, by a HyperLogLog sketch.

    Its standard error is 1.04 / √2^lg_k: 1.6 % for lg_k=12, which is exact up to
    some hundred values.
    """

    def check_options(*, lg_k):
        return wrong_between("lg_k", lg_k, 7, 21)

    def identity():
        return None

    def lift(v, *, lg_k=12):
        sketches = library("ApproxCountDistinct")
        sketch = sketches.hll_sketch(lg_k, sketches.HLL_8)
        # Hashed here first: the library's own overloads tell 1 from 1.0 and pass over "".
        sketch.update(hashes(v, 1)[0] - 2**63)
        return Hll(sketch.serialize_compact())

    def combine(a, b, *, lg_k=12):
        if a is None or b is None:
            return b if a is None else a
        sketches = library("ApproxCountDistinct")
        union = sketches.hll_union(lg_k)
        union.update(sketches.hll_sketch.deserialize(a.data))
        union.update(sketches.hll_sketch.deserialize(b.data))
        return Hll(union.get_result(sketches.HLL_8).serialize_compact())

    def lower(p):
        return 0 if p is None else round(p.estimate())


class Kll(Bytes):
    """A KLL sketch of numbers. Two are the same if their ranks agree within their error."""

    __slots__ = ()

    def sketch(self) -> Any:
        return library("ApproxQuantile").kll_doubles_sketch.deserialize(self.data)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kll):
            return NotImplemented
        if self.data == other.data:
            return True
        a, b = self.sketch(), other.sketch()
        if (a.n, a.get_min_value(), a.get_max_value()) != (
            b.n,
            b.get_min_value(),
            b.get_max_value(),
        ):
            return False
        apart = a.normalized_rank_error(False) + b.normalized_rank_error(False)
        apart = 2 * apart if a.is_estimation_mode() or b.is_estimation_mode() else 0.0
        return all(
            b.get_rank(v, False) - apart <= rank <= b.get_rank(v, True) + apart
            for rank, v in zip(SAME_RANKS, a.get_quantiles(SAME_RANKS, True), strict=True)
        )


def _answer(value: Any, *, q: Any) -> Any:
    return type_of_ranks(q)


@operator(partial=object, commutative=True, answer=_answer, needs=(NUMBERS, DECIMALS))
class ApproxQuantile:
    """About the value at rank q (0.5: the median), or a list of them for a tuple of ranks.

    It is a value of the window, whose rank is q give or take 1.3 % (for k=200), 99 times in 100.
    NaN is the greatest value. Up to about k values it is exact; with more the library throws
    coins, so two runs, or two ways of merging the same values, may give two such answers.
    """

    def check_options(*, q, k):
        return wrong_ranks("q", q) or wrong_between("k", k, 8, 65535)

    def identity():
        return 0, None

    def lift(v, *, k=200):
        if v != v:
            return 1, None
        sketch = library("ApproxQuantile").kll_doubles_sketch(k)
        sketch.update(float(v))
        return 0, Kll(sketch.serialize())

    def combine(a, b):
        nans = a[0] + b[0]
        if a[1] is None or b[1] is None:
            return nans, b[1] if a[1] is None else a[1]
        sketch = a[1].sketch()
        sketch.merge(b[1].sketch())
        return nans, Kll(sketch.serialize())

    def lower(p, *, q=0.5):
        nans, held = p
        ranks = ranks_of(q)
        if held is None:
            found = [math.nan] * len(ranks) if nans else None
        else:
            sketch = held.sketch()
            found = [quantile(sketch, rank, nans) for rank in ranks]
        return found[0] if found and len(ranks) == 1 else found


def quantile(sketch: Any, rank: float, nans: int) -> float:
    """The value at a rank among those of the sketch and, above them, so many NaNs."""
    among = rank * (sketch.n + nans) / sketch.n
    return float(sketch.get_quantile(among, True)) if among <= 1 else math.nan

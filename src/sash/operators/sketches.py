"""Summaries of fixed size, and what they give up for it.

| operator | tells | error |
|---|---|---|
| Bloom | whether a value is in the window | says yes, wrongly, to few that are not |
| CountMin | how often a value is in the window | too many by at most ε·n, with probability 1 - δ |
| ApproxCountDistinct | how many distinct values there are | standard error 1.04 / √2^lg_k |
| ApproxQuantile | the value at a rank | 1.3 % of n in rank for k=200, 99 times in 100 |
| MomentSketch | the value at a rank, from a few sums (see moment_sketch) | 1 % for smooth data |
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from sash.operators.base import operator
from sash.operators.datasketches import ApproxCountDistinct, ApproxQuantile
from sash.operators.errors import OperatorError
from sash.operators.families import COMPARED, LISTS
from sash.operators.hashing import hashes as hashes_of
from sash.operators.moment_sketch import MomentSketch
from sash.operators.options import wrong_count
from sash.operators.sketch_bytes import content, damaged, written

__all__ = [
    "ApproxCountDistinct",
    "ApproxQuantile",
    "Bloom",
    "BloomFilter",
    "CountMin",
    "Counts",
    "Frequencies",
    "MomentSketch",
]

HASHED = (*COMPARED, LISTS)


@operator(partial=object, commutative=True, answer="binary", needs=HASHED)
class Bloom:
    """Which values the window may hold: a BloomFilter, to be asked with `in`."""

    def check_options(*, bits, hashes):
        return wrong_count("bits", bits) or wrong_count("hashes", hashes)

    def identity():
        return 0

    def lift(v, *, bits=1024, hashes=4):
        return bit_set(v, bits, hashes)

    def combine(a, b):
        return a | b

    def lower(p, *, bits=1024, hashes=4):
        return BloomFilter(p, bits, hashes)


def bit_set(value: Any, bits: int, hashes: int) -> int:
    """The bits of one value, as an integer."""
    found = 0
    for h in hashes_of(value, hashes):
        found |= 1 << h % bits
    return found


BLOOM = struct.Struct("<QI")


@dataclass(frozen=True, slots=True)
class BloomFilter:
    """A set that may say yes to what it does not hold, and never says no to what it does."""

    field: int
    bits: int
    hashes: int

    def __contains__(self, value: Any) -> bool:
        wanted = bit_set(value, self.bits, self.hashes)
        return self.field & wanted == wanted

    def to_bytes(self) -> bytes:
        """The filter as bytes for `from_bytes`: what a table or a data frame holds of it."""
        bits = self.field.to_bytes(-(-self.bits // 8), "little")
        return written(b"B", BLOOM.pack(self.bits, self.hashes) + bits)

    @classmethod
    def from_bytes(cls, data: bytes) -> BloomFilter:
        """The filter that `to_bytes` wrote; a ValueError if it is damaged.

        >>> filter = Bloom().bind().lower(0b1011)
        >>> BloomFilter.from_bytes(filter.to_bytes()) == filter
        True
        """
        held = content(b"B", "BloomFilter", data)
        if len(held) < BLOOM.size:
            raise damaged("BloomFilter", "they end too early")
        bits, hashes = BLOOM.unpack_from(held)
        field = int.from_bytes(held[BLOOM.size :], "little")
        sound = bits > 0 and hashes > 0 and len(held) - BLOOM.size == -(-bits // 8)
        if not sound or field.bit_length() > bits:
            raise damaged("BloomFilter", "their parts do not go together")
        return cls(field, bits, hashes)

    def __repr__(self) -> str:
        share = self.field.bit_count() / self.bits
        return f"BloomFilter(bits={self.bits}, hashes={self.hashes}, {share:.0%} set)"


@operator(partial=object, commutative=True, answer="binary", needs=HASHED)
class CountMinTable:
    """The functions of CountMin, which also takes the error it may make for an option."""

    def check_options(*, width, depth):
        return wrong_count("width", width) or wrong_count("depth", depth)

    def identity():
        return Counts(())

    def lift(v, *, width=272, depth=5):
        return Counts(cells_of(v, width, depth))

    def combine(a, b, *, width=272, depth=5):
        if not a.total or not b.total:
            return a if a.total else b
        return Counts.summed(a, b, +1, width * depth)

    def inverse(total, old, *, width=272, depth=5):
        return Counts.summed(total, old, -1, width * depth) if old.total else total

    def lower(p, *, width=272, depth=5):
        return Frequencies(p, width, depth)


class CountMin(CountMinTable):
    """How often each value is in the window: an object to be asked with `.count(value)`.

    The count is never too low, and too high by more than epsilon times the number of values only
    with probability delta. Give these two, or the table's width (e / epsilon) and depth
    (ln(1 / delta)) themselves; by default epsilon is 0.01 and delta 0.0067.
    """

    name = "CountMin"

    def __init__(
        self,
        *columns: str,
        epsilon: float | None = None,
        delta: float | None = None,
        **options: Any,
    ) -> None:
        for option, value, sets in (("epsilon", epsilon, "width"), ("delta", delta, "depth")):
            if value is None:
                continue
            if not 0 < value < 1:
                raise OperatorError(f"CountMin: {option} must be between 0 and 1, not {value!r}.")
            if sets in options:
                raise OperatorError(f"CountMin: give {option} or {sets}, not both.")
            size = math.e / value if sets == "width" else math.log(1 / value)
            options[sets] = math.ceil(size)
        super().__init__(*columns, **options)


def cells_of(value: Any, width: int, depth: int) -> tuple[int, ...]:
    """A value's cell in each row of the table."""
    return tuple(row * width + h % width for row, h in enumerate(hashes_of(value, depth)))


class Counts:
    """A table of counts: of no value or of one, by the cells that hold 1; of more, in full.

    A window keeps a partial for each of its values, and most of them are counts of one value.
    """

    __slots__ = ("cells", "table", "total")

    def __init__(self, cells: tuple[int, ...], table: Any = None, total: int | None = None) -> None:
        self.cells = cells
        self.table = table
        self.total = (1 if cells else 0) if total is None else total
        if table is not None:
            table.flags.writeable = False

    @staticmethod
    def summed(a: Counts, b: Counts, sign: int, size: int) -> Counts:
        """a + sign·b, in a new table."""
        table = a.full(size)
        if b.table is not None:
            table += sign * b.table
        else:
            table[list(b.cells)] += sign  # one cell per row, so none comes twice
        return Counts((), table, a.total + sign * b.total)

    def full(self, size: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """A copy of the table."""
        table = np.zeros(size, np.int64)
        if self.table is not None:
            table += self.table
        else:
            table[list(self.cells)] = 1
        return table

    def __getitem__(self, cell: int) -> int:
        return int(self.table[cell]) if self.table is not None else int(cell in self.cells)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.table is None and other.table is None:
            return self.cells == other.cells
        size = len(self.table if self.table is not None else other.table)
        return bool((self.full(size) == other.full(size)).all())

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Counts, (self.cells, self.table, self.total)

    def __repr__(self) -> str:
        return f"<counts, {self.total} in all>"


TABLE = struct.Struct("<QQQB")


@dataclass(frozen=True, slots=True, eq=True)
class Frequencies:
    """How often each value was seen, never too low. `total` is the number of all values."""

    counts: Counts
    width: int
    depth: int

    __hash__ = None  # type: ignore[assignment]

    def count(self, value: Any) -> int:
        """How often the value was seen, or somewhat more."""
        return min(self.counts[cell] for cell in cells_of(value, self.width, self.depth))

    @property
    def total(self) -> int:
        return self.counts.total

    def to_bytes(self) -> bytes:
        """The table as bytes for `from_bytes`; each count in as few as the largest needs."""
        table = self.counts.full(self.width * self.depth)
        least = np.min_scalar_type(int(table.max())).newbyteorder("<")
        shape = TABLE.pack(self.width, self.depth, self.total, least.itemsize)
        return written(b"C", shape + table.astype(least).tobytes())

    @classmethod
    def from_bytes(cls, data: bytes) -> Frequencies:
        """The table that `to_bytes` wrote; a ValueError if it is damaged.

        >>> table = CountMin(width=8, depth=2).bind(object)
        >>> Frequencies.from_bytes(table.lower(table.lift("a")).to_bytes()).count("a")
        1
        """
        held = content(b"C", "Frequencies", data)
        if len(held) < TABLE.size:
            raise damaged("Frequencies", "they end too early")
        width, depth, total, size = TABLE.unpack_from(held)
        sound = width > 0 and depth > 0 and size in (1, 2, 4, 8)
        if not sound or len(held) - TABLE.size != width * depth * size:
            raise damaged("Frequencies", "their parts do not go together")
        table = np.frombuffer(held, f"<u{size}", offset=TABLE.size).astype(np.int64)
        # Each value is counted in one cell of each row.
        if not (table.reshape(depth, width).sum(axis=1) == total).all() or table.min() < 0:
            raise damaged("Frequencies", "their counts do not add up")
        return cls(Counts((), table, total), width, depth)

    def __repr__(self) -> str:
        return f"Frequencies(width={self.width}, depth={self.depth}, total={self.total})"

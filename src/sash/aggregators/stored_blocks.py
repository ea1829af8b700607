"""Values of a window as bytes in a store, and back: nothing of it is run, all of it is checked.

    2   b"SB"
    1   the version of this format
    1   how the values are written: c columns of numbers, p packed (see saving)
    16  BLAKE2 of all the rest and of the key it lies under, with a key of the window's own
    …   the values

A value is refused with a `SavedError` if it was changed, if it is another window's, or if it lies
under another key than it was written for. Without a secret this finds mistakes and damage; with one
that only the window's owner knows, nobody else can write what is taken for the window's.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from hashlib import blake2b
from hmac import compare_digest
from typing import Any

import numpy as np

from sash.aggregators.keeping import as_partial
from sash.aggregators.rings import field_types, flatten
from sash.aggregators.saving import SavedError, pack, unpack
from sash.operators.monoid import Monoid, Partial

HEAD = struct.Struct("<2sBc16s")
MAGIC, VERSION = b"SB", 1
COLUMNS, PACKED = b"c", b"p"
COUNT = struct.Struct("<I")
WIDE = {"i": "<i8", "u": "<u8", "f": "<f8", "b": "<i8"}
"""Numbers are stored as wide as Python has them, so that none is rounded on its way."""
FITTING = {"<i8": "ib", "<u8": "uib", "<f8": "fiub"}
KIND = "block"
FEW_ASKED = 16


class Seal:
    """What marks values as those of one window."""

    def __init__(self, secret: bytes, window: bytes) -> None:
        """secret: known to the window's owner alone, or empty; window: which one it is."""
        self._key = blake2b(window, key=blake2b(secret).digest(), digest_size=32).digest()

    def close(self, key: bytes, how: bytes, content: bytes) -> bytes:
        """Content as it lies under a key."""
        return HEAD.pack(MAGIC, VERSION, how, self._digest(key, how, content)) + content

    def open(self, key: bytes, data: bytes) -> tuple[bytes, bytes]:
        """How what lies under a key is written, and what it is; refused if it was not ours."""
        if len(data) < HEAD.size:
            raise SavedError("a value in the store is cut off.")
        magic, version, how, digest = HEAD.unpack_from(data)
        if magic != MAGIC:
            raise SavedError("a value in the store is none of a window.")
        if version != VERSION:
            raise SavedError(f"a value in the store has version {version}, which is not known.")
        content = data[HEAD.size :]
        if not compare_digest(digest, self._digest(key, how, content)):
            raise SavedError(
                "a value in the store is damaged, or of another window, or of another secret."
            )
        return how, content

    def _digest(self, key: bytes, how: bytes, content: bytes) -> bytes:
        digest = blake2b(COUNT.pack(len(key)) + key + how, key=self._key, digest_size=16)
        digest.update(content)
        return digest.digest()


class Objects:
    """Values of any kind that can be saved."""

    blank: Any = None
    """What stands where there is no value."""

    def encode(self, values: list[Any]) -> tuple[bytes, bytes]:
        """How, and the bytes."""
        return PACKED, pack(KIND, values, compress=False)

    def block(self, how: bytes, content: bytes) -> Any:
        """Values that may never be asked for, or but a few of them."""
        return self.decode(how, content)

    def decode(self, how: bytes, content: bytes) -> list[Any]:
        if how == PACKED:
            found = unpack(KIND, content)
            if isinstance(found, list):
                return found
        raise SavedError("a value in the store is not written as it should be.")


class Numbers(Objects):
    """Whole numbers, or floats: whatever the values of a block are."""

    blank = 0

    def encode(self, values: list[Any]) -> tuple[bytes, bytes]:
        try:
            array = np.array(values)
            if array.dtype.kind not in "if" or array.ndim != 1:
                return super().encode(values)
            kind = WIDE[array.dtype.kind]
            return COLUMNS, _columns([array.astype(kind)], [kind])
        except OverflowError:
            return super().encode(values)

    def decode(self, how: bytes, content: bytes) -> list[Any]:
        if how != COLUMNS:
            return super().decode(how, content)
        found: list[Any] = _columns_again(content, 1)[0].tolist()
        return found


class Partials(Objects):
    """An operator's partials: their fields in columns if they are a few numbers."""

    def __init__(self, monoid: Monoid) -> None:
        self._monoid = monoid
        self.blank = monoid.identity()
        self._kinds: list[str] | None = None
        if monoid.fixed_width:
            self._kinds = [WIDE[dtype.kind] for dtype in field_types(monoid)]

    def encode(self, values: list[Any]) -> tuple[bytes, bytes]:
        if self._kinds is not None:
            rows = map(flatten, values) if self._monoid.members else values
            fields: Any = zip(*rows, strict=True) if values else [()] * len(self._kinds)
            columns = [_fitting(*each) for each in zip(fields, self._kinds, strict=True)]
            if all(column is not None for column in columns):
                return COLUMNS, _columns(columns, self._kinds)
        return super().encode(values)

    def decode(self, how: bytes, content: bytes) -> list[Partial]:
        if how != COLUMNS:
            found = super().decode(how, content)
            if self._kinds is not None and not all(map(self._is_one, found)):
                raise SavedError("a value in the store is no partial of this operator.")
            return found
        if self._kinds is None:
            raise SavedError("a value in the store is no partial of this operator.")
        return self._made_of(_columns_again(content, len(self._kinds)))

    def block(self, how: bytes, content: bytes) -> Any:
        if how != COLUMNS or self._kinds is None:
            return self.decode(how, content)
        return Unmade(_columns_again(content, len(self._kinds)), self._made_of)

    def _made_of(self, columns: list[Any]) -> list[Partial]:
        """Partials, given their fields."""
        each = zip(*(column.tolist() for column in columns), strict=True)
        if self._monoid.members:
            return [as_partial(self._monoid, list(row)) for row in each]
        return list(map(self._monoid.partial._make, each))

    def _is_one(self, p: Any) -> bool:
        return type(p) is self._monoid.partial and len(flatten(p)) == len(self._kinds or ())


def _fitting(column: Sequence[Any], kind: str) -> Any:
    """A field of many partials as an array; None if that would not be what they are.

    Plain Python counts on beyond 64 bits, and an operator's field need not be what it says.
    """
    array = np.array(column)
    if array.dtype.kind not in FITTING[kind] and len(array):
        return None
    return array.astype(kind)


class Unmade:
    """Partials by their fields: each is made when it is asked for, and all once many were.

    A bulk eviction reads a block of each level, and asks each for one or two.
    """

    def __init__(self, columns: list[Any], make: Callable[[list[Any]], list[Partial]]) -> None:
        self._columns, self._make = columns, make
        self._asked = 0
        self.made: list[Partial] | None = None

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, i: int) -> Partial:
        if self.made is None:
            self._asked += 1
            if self._asked <= FEW_ASKED:
                return self._make([column[i : i + 1] for column in self._columns])[0]
            self.made = self._make(self._columns)
        return self.made[i]


def _columns(arrays: Sequence[Any], kinds: Sequence[str]) -> bytes:
    head = COUNT.pack(len(arrays[0]) if arrays else 0) + "".join(k[1] for k in kinds).encode()
    return b"".join([head, *(array.tobytes() for array in arrays)])


def _columns_again(content: bytes, count: int) -> list[Any]:
    if len(content) < COUNT.size + count:
        raise SavedError("a value in the store is cut off.")
    (rows,) = COUNT.unpack_from(content)
    kinds = content[COUNT.size : COUNT.size + count].decode("latin-1")
    if len(content) != COUNT.size + count + 8 * rows * count or set(kinds) - set("iuf"):
        raise SavedError("a value in the store is not as long as it says.")
    found = []
    for k, kind in enumerate(kinds):
        at = COUNT.size + count + 8 * rows * k
        found.append(np.frombuffer(content, f"<{kind}8", rows, at))
    return found

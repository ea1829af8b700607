"""Nested values as bytes: a tag for each value, then what it holds.

    N T F          None, True, False
    i f s b        int (signed, little-endian), float (8 bytes), str (UTF-8), bytes
    ( [ { < >      tuple, list, dict (the keys, then the values), set, frozenset: how many, then
                   the parts
    P A            a partial or an answer with named fields: how many, the names, the parts
    R              a rope of two parts
    ;              several values, of which the last is meant
    @              a value that was met before, by its number
    k              a value of a registered kind: its tag, its content
    other          a value of a kind of our own: its content, after its buffer if it has one

Values that may be large are numbered as they end, and written once however often they are met: a
window's partials share most of their parts. Keys and members of sets are written in full, so that
hashing them takes no longer than reading them. Nothing recurs, so nesting is limited by `DEPTH`
alone.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from sash.aggregators.saving_kinds import BUILT_IN, kind_of
from sash.operators.monoid import answers_class, partial_class
from sash.operators.rope import Rope

DEPTH = 200
LARGE = 64 * 1024
"""A buffer of this size or more is a block of its own, beside the values."""

SHORT_TEXT = 8
SHORT_INT = 64
"""Texts and integers of fewer bytes are not numbered."""

MOST_NAMES = 1000
"""How many lists of field names there may be: a class is made for each, and stays."""

NAMED: dict[str, Any] = {"P": partial_class, "A": answers_class}
FLOAT = struct.Struct("<d")

Parts = tuple[Iterator[Any], Any, bool]
"""Values to write, the value that is numbered once they are, and whether they are hashed."""


class Writer:
    """Writes one nested value: to `out`, and what is large to `blocks`."""

    def __init__(self) -> None:
        self.out = bytearray()
        self.blocks: list[memoryview] = []
        # With the values themselves, so that no other gets the id of one meanwhile.
        self._numbers: dict[int, tuple[int, Any]] = {}
        self._count = 0
        self._tags: dict[type, str] = {}

    def write(self, content: Any) -> None:
        waiting: list[Parts] = [(iter((content,)), None, False)]
        while waiting:
            values, owner, hashed = waiting[-1]
            for value in values:
                simple = _SIMPLE.get(type(value))
                if simple is not None and simple(self, value):
                    continue
                parts = self._begin(value, hashed)
                if parts:
                    if len(waiting) > DEPTH:
                        raise TypeError(
                            f"a value is nested more than {DEPTH} deep, or holds itself: "
                            f"it cannot be saved."
                        )
                    waiting += parts
                    break
            else:
                waiting.pop()
                if owner is not None:
                    self._number(owner)

    def _begin(self, value: Any, hashed: bool) -> list[Parts] | None:
        """Write a value, or its head; the parts that are to follow."""
        known = self._numbers.get(id(value))
        if known is not None and not hashed:
            self._head(b"@", known[0])
            return None
        cls = type(value)
        write = _SHARED.get(cls)
        if write is not None:
            parts: list[Parts] | None = write(self, value, hashed)
            return parts
        if issubclass(cls, tuple) and self._named(cls):
            self._head(self._tags[cls].encode(), len(value))
            return [(iter((value._fields, *value)), value, hashed)]
        return self._kind(value, hashed)

    def _number(self, value: Any) -> None:
        self._numbers[id(value)] = self._count, value
        self._count += 1

    def _head(self, tag: bytes, count: int) -> None:
        self.out += tag
        self._varint(count)

    def _varint(self, count: int) -> None:
        while count > 127:
            self.out.append(count & 127 | 128)
            count >>= 7
        self.out.append(count)

    def _buffer(self, data: Any) -> None:
        found = memoryview(data)
        self._varint(len(found))
        if len(found) < LARGE:
            self.out += found
        else:
            self.blocks.append(found)

    # Values that are never numbered; False: it is not one of them

    def _none(self, value: None) -> bool:
        self.out += b"N"
        return True

    def _bool(self, value: bool) -> bool:
        self.out += b"T" if value else b"F"
        return True

    def _float(self, value: float) -> bool:
        self.out += b"f" + FLOAT.pack(value)
        return True

    def _int(self, value: int) -> bool:
        size = value.bit_length() // 8 + 1
        if size >= SHORT_INT:
            return False
        self.out += b"i%c" % size + value.to_bytes(size, "little", signed=True)
        return True

    # Values without parts

    def _long_int(self, value: int, hashed: bool) -> None:
        size = value.bit_length() // 8 + 1
        self._head(b"i", size)
        self.out += value.to_bytes(size, "little", signed=True)
        self._number(value)

    def _str(self, value: str, hashed: bool) -> None:
        data = value.encode("utf-8", "surrogatepass")
        self._head(b"s", len(data))
        self.out += data
        if len(data) >= SHORT_TEXT:
            self._number(value)

    def _bytes(self, value: bytes, hashed: bool) -> None:
        self.out += b"b"
        self._buffer(value)
        if len(value) >= SHORT_TEXT:
            self._number(value)

    # Values with parts

    def _tuple(self, value: tuple[Any, ...], hashed: bool) -> list[Parts] | None:
        self._head(b"(", len(value))
        return [(iter(value), value, hashed)] if value else None

    def _list(self, value: list[Any], hashed: bool) -> list[Parts]:
        self._head(b"[", len(value))
        return [(iter(value), value, hashed)]

    def _set(self, value: set[Any], hashed: bool) -> list[Parts]:
        self._head(b"<", len(value))
        return [(iter(value), value, True)]

    def _frozenset(self, value: frozenset[Any], hashed: bool) -> list[Parts] | None:
        self._head(b">", len(value))
        return [(iter(value), value, True)] if value else None

    def _dict(self, value: dict[Any, Any], hashed: bool) -> list[Parts]:
        self._head(b"{", len(value))
        return [(iter(value.values()), value, hashed), (iter(value), None, True)]

    def _named(self, cls: Any) -> bool:
        """Whether this is a class of partials or answers with named fields; notes its tag."""
        if cls in self._tags:
            return True
        fields = getattr(cls, "_fields", None)
        for tag, class_of in NAMED.items():
            if cls.__module__ == class_of.__module__ and cls is class_of(fields):
                self._tags[cls] = tag
                if len(self._tags) > MOST_NAMES:
                    raise TypeError(f"at most {MOST_NAMES} lists of fields can be saved at once.")
                return True
        return False

    def _kind(self, value: Any, hashed: bool) -> list[Parts]:
        kind = kind_of(type(value))
        content = kind.encode(value)
        if len(kind.tag) > 1:
            self.out += b"k"
            return [(iter((kind.tag, content)), value, hashed)]
        self.out += kind.tag.encode()
        if kind.raw:
            content, data = content
            self._buffer(data)
        return [(iter((content,)), value, hashed)]

    def _rope(self, value: Rope, hashed: bool) -> list[Parts]:
        """A rope's parts that were not met before; those that others are made of come first."""
        ropes, leaves = self._unmet(value)
        # The reader refuses a rope longer than all that it reads. That is one whose parts come
        # again and again within it: it is written out.
        if hashed or len(value) > len(self.out) + leaves:
            self.out += b"R"
            return [(iter((tuple(value.values()), ())), value, hashed)]
        if len(ropes) == 1:
            self.out += b"R"
            return [(iter((value.left, value.right)), value, hashed)]
        self._head(b";", len(ropes))
        return [(iter(ropes), None, hashed)]

    def _unmet(self, rope: Rope) -> tuple[list[Rope], int]:
        """The ropes in this one that are not numbered, and how many values their tuples hold."""
        found: list[Rope] = []
        leaves = 0
        met: set[int] = set()
        waiting: list[tuple[Any, bool]] = [(rope, False)]
        while waiting:
            part, done = waiting.pop()
            if done:
                found.append(part)
            elif id(part) not in met and id(part) not in self._numbers:
                met.add(id(part))
                if isinstance(part, Rope):
                    waiting += ((part, True), (part.right, False), (part.left, False))
                else:
                    leaves += len(part)
        return found, leaves


_SIMPLE: dict[type, Callable[[Writer, Any], bool]] = {
    type(None): Writer._none,
    bool: Writer._bool,
    int: Writer._int,
    float: Writer._float,
}
_SHARED: dict[type, Callable[[Writer, Any, bool], Any]] = {
    int: Writer._long_int,
    str: Writer._str,
    bytes: Writer._bytes,
    tuple: Writer._tuple,
    list: Writer._list,
    set: Writer._set,
    frozenset: Writer._frozenset,
    dict: Writer._dict,
    Rope: Writer._rope,
}
BUILT_IN.update(_SIMPLE, _SHARED)

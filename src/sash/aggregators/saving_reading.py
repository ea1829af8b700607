"""Nested values from bytes: what `saving_writing` wrote, with nothing taken on trust.

A checksum tells damage, not malice. So lengths are held against the bytes that are there, nesting
is limited, classes are made of checked names only, and what is read takes memory in proportion to
its bytes. What makes no sense raises, mostly a `SavedError`; the caller makes one of any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from keyword import iskeyword
from typing import Any

from sash.aggregators.saving_kinds import BY_TAG, LONGEST_TAG, SavedError
from sash.aggregators.saving_writing import (
    DEPTH,
    FLOAT,
    LARGE,
    MOST_NAMES,
    NAMED,
    SHORT_INT,
    SHORT_TEXT,
)
from sash.operators.rope import Rope, of_parts


class _Open:
    """A value whose parts are being read. The first `keys` of them will be hashed."""

    __slots__ = ("count", "finish", "keys", "numbered", "parts")

    def __init__(
        self,
        count: int,
        finish: Callable[[list[Any]], Any],
        keys: int = 0,
        numbered: bool = True,
    ) -> None:
        self.count = count
        self.finish = finish
        self.keys = keys
        self.numbered = numbered
        self.parts: list[Any] = []


class Reader:
    """Reads one nested value from its bytes and its blocks."""

    def __init__(self, data: bytes, blocks: Iterable[Any] = ()) -> None:
        self._data = data
        self._at = 0
        self._blocks = iter(blocks)
        self._numbered: list[Any] = []
        self._waiting: list[_Open] = []
        self._classes: dict[tuple[str, int], tuple[Any, Any]] = {}
        self._names: set[tuple[str, ...]] = set()

    def read(self) -> Any:
        value = self._value()
        if self._at != len(self._data) or next(self._blocks, None) is not None:
            raise SavedError("something follows its end")
        return value

    def _value(self) -> Any:
        waiting = self._waiting
        while True:
            tag = self._byte()
            read = _READERS.get(tag)
            value = read(self) if read is not None else self._kind(chr(tag))
            if type(value) is _Open:
                if value.count:
                    if len(waiting) >= DEPTH:
                        raise SavedError(f"it is nested more than {DEPTH} deep")
                    waiting.append(value)
                    continue
                value = self._finished(value)
            while waiting:
                top = waiting[-1]
                top.parts.append(value)
                if len(top.parts) < top.count:
                    break
                waiting.pop()
                value = self._finished(top)
            else:
                return value

    def _finished(self, opened: _Open) -> Any:
        value = opened.finish(opened.parts)
        if opened.numbered:
            self._numbered.append(value)
        return value

    def _byte(self) -> int:
        at = self._at
        self._at = at + 1
        if at >= len(self._data):
            raise SavedError("it ends too early")
        return self._data[at]

    def _take(self, size: int) -> bytes:
        start = self._at
        end = self._at = start + size
        if end > len(self._data):
            raise SavedError("it ends too early")
        return self._data[start:end]

    def _varint(self) -> int:
        byte = self._byte()
        found, shift = byte & 127, 7
        while byte > 127:
            if shift > 63:
                raise SavedError("a length is too large")
            byte = self._byte()
            found |= (byte & 127) << shift
            shift += 7
        return found

    def _count(self) -> int:
        """How many parts follow; each takes a byte at least."""
        count = self._varint()
        if count > len(self._data) - self._at:
            raise SavedError("it ends too early")
        return count

    def _buffer(self) -> Any:
        size = self._varint()
        if size < LARGE:
            return self._take(size)
        block = next(self._blocks, None)
        if block is None or len(block) != size:
            raise SavedError("a block is missing")
        return block

    # Values without parts

    def _int(self) -> int:
        size = self._varint()
        value = int.from_bytes(self._take(size), "little", signed=True)
        if size >= SHORT_INT:
            self._numbered.append(value)
        return value

    def _float(self) -> float:
        value: float = FLOAT.unpack(self._take(8))[0]
        return value

    def _str(self) -> str:
        data = self._take(self._varint())
        value = data.decode("utf-8", "surrogatepass")
        if len(data) >= SHORT_TEXT:
            self._numbered.append(value)
        return value

    def _bytes(self) -> bytes:
        value = bytes(self._buffer())
        if len(value) >= SHORT_TEXT:
            self._numbered.append(value)
        return value

    def _met(self) -> Any:
        number = self._varint()
        if number >= len(self._numbered):
            raise SavedError("it refers to a value that is not there")
        # Tuples of tuples that share their parts can take forever to hash.
        if any(len(opened.parts) < opened.keys for opened in self._waiting):
            raise SavedError("it refers to another value in a key")
        return self._numbered[number]

    # Values with parts

    def _tuple(self) -> _Open:
        count = self._count()
        return _Open(count, tuple, numbered=count > 0)

    def _list(self) -> _Open:
        return _Open(self._count(), list)

    def _set(self) -> _Open:
        count = self._count()
        return _Open(count, lambda parts: _distinct(set(parts), count), keys=count)

    def _frozenset(self) -> _Open:
        count = self._count()

        def made(parts: list[Any]) -> Any:
            return _distinct(frozenset(parts), count)

        return _Open(count, made, keys=count, numbered=count > 0)

    def _dict(self) -> _Open:
        count = self._count()

        def made(parts: list[Any]) -> Any:
            return _distinct(dict(zip(parts[:count], parts[count:], strict=True)), count)

        return _Open(2 * count, made, keys=count)

    def _named(self, tag: str) -> _Open:
        return _Open(1 + self._count(), lambda parts: self._class(tag, parts)._make(parts[1:]))

    def _class(self, tag: str, parts: list[Any]) -> Any:
        """The class of a value with named fields: the names are the first of its parts."""
        names = parts[0]
        known = self._classes.get((tag, id(names)))
        if known is None:
            if type(names) is not tuple or len(names) != len(parts) - 1:
                raise SavedError("fields and names do not match")
            if not all(map(_names_a_field, names)) or len(set(names)) != len(names):
                raise SavedError("fields have no names of their own")
            self._names.add(names)
            if len(self._names) > MOST_NAMES:
                raise SavedError("it has too many lists of fields")
            known = self._classes[tag, id(names)] = NAMED[tag](names), names
        return known[0]

    def _rope(self) -> _Open:
        return _Open(2, self._joined)

    def _joined(self, parts: list[Any]) -> Rope:
        left, right = (part.part() if type(part) is Rope else part for part in parts)
        known = all(type(part) in (tuple, Rope) for part in (left, right))
        if not known or (not right and type(left) is Rope) or (right and not left):
            raise SavedError("a rope is not made of its parts")
        size = len(left) + len(right)
        if size > len(self._data):
            raise SavedError("a rope is longer than it can be")
        return of_parts(left, right, size)

    def _last(self) -> _Open:
        count = self._count()
        if not count:
            raise SavedError("it lacks a value")
        return _Open(count, lambda parts: parts[-1], numbered=False)

    def _registered(self) -> _Open:
        return _Open(2, _of_kind)

    def _kind(self, tag: str) -> _Open:
        kind = BY_TAG.get(tag)
        if kind is None:
            raise SavedError("it holds a value of no known kind")
        decode = kind.decode
        if not kind.raw:
            return _Open(1, lambda parts: decode(parts[0]))
        data = self._buffer()
        return _Open(1, lambda parts: decode(parts[0], data))


_READERS: dict[int, Callable[[Reader], Any]] = {
    ord("N"): lambda reader: None,
    ord("T"): lambda reader: True,
    ord("F"): lambda reader: False,
    ord("i"): Reader._int,
    ord("f"): Reader._float,
    ord("s"): Reader._str,
    ord("b"): Reader._bytes,
    ord("@"): Reader._met,
    ord("("): Reader._tuple,
    ord("["): Reader._list,
    ord("<"): Reader._set,
    ord(">"): Reader._frozenset,
    ord("{"): Reader._dict,
    ord("P"): lambda reader: reader._named("P"),
    ord("A"): lambda reader: reader._named("A"),
    ord("R"): Reader._rope,
    ord(";"): Reader._last,
    ord("k"): Reader._registered,
}


def _distinct(made: Any, count: int) -> Any:
    if len(made) != count:
        raise SavedError("a key is there twice")
    return made


def _names_a_field(name: Any) -> bool:
    usable = type(name) is str and name.isidentifier() and not iskeyword(name)
    return usable and not name.startswith("_")


def _of_kind(parts: list[Any]) -> Any:
    tag, content = parts
    if type(tag) is not str or not 2 <= len(tag) <= LONGEST_TAG:
        raise SavedError("it holds a value of no known kind")
    kind = BY_TAG.get(tag)
    if kind is None:
        raise SavedError(
            f"it holds a value of the kind {tag!r}, which is not registered here: "
            f"call sash.aggregators.saving.register for its class first"
        )
    return kind.decode(content)

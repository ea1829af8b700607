"""A sequence that is joined to another without copying either: what Collect and Concat hold.

A window's algorithm keeps a partial for each of its suffixes. As tuples these would take n²/2
places; ropes share their parts, so they take a constant number each. A short rope is one tuple;
a long one is two ropes. What is added at an end goes into the tuple there until that is `BLOCK`
long, so a rope that grew at its ends has about n / BLOCK parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

BLOCK = 64

Part: TypeAlias = "tuple[Any, ...] | Rope"


class Rope:
    """A sequence of values; never changed once made. Equal if the values are."""

    __slots__ = ("_size", "left", "right")

    left: Part
    right: Part

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self.left = tuple(values)
        self.right = ()
        self._size = len(self.left)

    def __add__(self, other: Rope) -> Rope:
        if not other._size or not self._size:
            return self if self._size else other
        if self._size + other._size <= BLOCK:
            return of_parts((*self.values(), *other.values()), (), self._size + other._size)
        left: Any = self.part()
        right: Any = other.part()
        if isinstance(left, Rope) and _fit(left.right, right):
            left, right = left.left, (*left.right, *right)
        elif isinstance(right, Rope) and _fit(left, right.left):
            left, right = (*left, *right.left), right.right
        return of_parts(left, right, self._size + other._size)

    def part(self) -> Part:
        """This rope as a part of another: bare, if it is one tuple."""
        return self if self.right else self.left

    def values(self) -> list[Any]:
        """All the values, in order."""
        found: list[Any] = []
        waiting: list[Part] = [self]
        while waiting:
            part = waiting.pop()
            if isinstance(part, Rope):
                waiting += (part.right, part.left)
            else:
                found.extend(part)
        return found

    def __len__(self) -> int:
        return self._size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rope):
            return NotImplemented
        if self._size != other._size:
            return False
        pairs = zip(self.values(), other.values(), strict=True)
        return all(a is b or a == b or (a != a and b != b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]  # the values need not be hashable

    def __reduce__(self) -> tuple[Any, ...]:
        return Rope, (self.values(),)

    def __repr__(self) -> str:
        return f"Rope({self.values()!r})"


def _fit(left: Part, right: Part) -> bool:
    """Whether two parts are to be one tuple."""
    return len(left) + len(right) <= BLOCK and isinstance(left, tuple) and isinstance(right, tuple)


def of_parts(left: Part, right: Part, size: int) -> Rope:
    """The rope of two parts that hold so many values."""
    rope = Rope.__new__(Rope)
    rope.left, rope.right, rope._size = left, right, size
    return rope

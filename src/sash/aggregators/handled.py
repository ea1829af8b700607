"""A window whose values can be removed and replaced anywhere, by the handle given out for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sash.aggregators.aggregator import STALE, Aggregator, whole
from sash.aggregators.beside import NullRows
from sash.aggregators.keeping import Kept
from sash.operators.monoid import Monoid


class HandledAggregator(Aggregator):
    """A window that need not be first in, first out. Made by `sash.aggregator("flat_fat", …)`.

    `insert` gives out a handle, the number of the value counted from the window's first. The
    order of the window is that of insertion, whatever is removed or replaced.

    >>> from sash.operators.collections import Concat
    >>> window = HandledAggregator("flat_fat", Concat())
    >>> a, b, c = [window.insert(letter) for letter in "abc"]
    >>> window.evict(b)
    >>> window.update({a: "x"})
    >>> window.query(), len(window)
    ('xc', 2)
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._holes: set[int] = set()  # removed, though older ones are still there

    def __len__(self) -> int:
        return self._in - self._out - len(self._holes)

    def insert(self, value: Any) -> int:
        """Add a value at the young end of the window; its handle is returned."""
        super().insert(value)
        return self._in - 1

    def evict(self, handle: int | None = None) -> None:
        """Remove the value with this handle, or the oldest."""
        if handle is None:
            super().evict()
            return
        self._check_handle(handle)
        if handle == self._out:
            self.bulk_evict(1)
            return
        if self._kept is not None:
            self._kept.evict_handle(handle)
        self._holes.add(handle)
        self._forget(handle)
        self._answer = STALE

    def update(self, values: Mapping[int, Any]) -> None:
        """Replace values by handle, all at once: each sum that depends on them is formed once."""
        if not isinstance(values, Mapping):
            raise TypeError(f"update is given values by handle, {{handle: value}}; not {values!r}.")
        for handle in values:
            self._check_handle(handle)
        rows = {handle: self._cells(value) for handle, value in values.items()}
        lifted = {handle: self._lifted(cells, handle) for handle, (cells, _) in rows.items()}
        if self._kept is not None:
            none = self._kept.monoid.identity()
            self._kept.update({h: none if p is None else p for h, p in lifted.items()})
        for handle, (cells, payloads) in rows.items():
            self._forget(handle)
            self._remember(handle, handle, cells, payloads)
        self._nulls = [NullRows.fromkeys(sorted(nulls)) for nulls in self._nulls]
        self._answer = STALE

    def prefix(self, handle: int) -> Any:
        """The answer for the values up to and including the one with this handle."""
        self._check_handle(handle)
        return self._part(None, handle)

    def suffix(self, handle: int) -> Any:
        """The answer for the values from the one with this handle on."""
        self._check_handle(handle)
        return self._part(handle, None)

    def _part(self, first: int | None, last: int | None) -> Any:
        if self._kept is None:
            return self.query()
        p = self._kept.between_handles(first, last)
        start = self._out if first is None else first
        end = self._in if last is None else last + 1
        return self._lowered(self._kept.monoid, p, range(start, end))

    def _check_handle(self, handle: int) -> None:
        handle = whole("a handle", handle)
        if not self._out <= handle < self._in or handle in self._holes:
            raise IndexError(f"no value in this window has the handle {handle!r}.")

    def _rows(self) -> Iterator[int]:
        return (row for row in range(self._out, self._in) if row not in self._holes)

    def _held(self, rows: range) -> int:
        return len(rows) - sum(row in rows for row in self._holes)

    def _youngest(self, count: int) -> range:
        first = self._in
        while count:
            first -= 1
            count -= first not in self._holes
        return range(first, self._in)

    def _evicted(self, count: int) -> None:
        if not self._holes:
            super()._evicted(count)
            return
        for _ in range(count):
            self._forget(self._out)
            self._out += 1
            self._skip_holes()
        self._answer = STALE

    def _skip_holes(self) -> None:
        while self._out in self._holes:
            self._holes.remove(self._out)
            self._out += 1

    def _came_untyped(self) -> int:
        return self._in

    def _keeping(self, monoid: Monoid) -> Kept:
        kept = super()._keeping(monoid)
        there = set(self._rows())
        for row in range(self._in):
            if row not in there:
                kept.evict_handle(row)
        return kept

"""What must be known of the rows in a window beside their partials: times, and what answers take.

Each key has a ring, a segment of shared columns: value p of the key is at offset + (p & mask). A
ring that is too short gets a longer segment at the end; when more than half of the columns is of
no use any more, all of it moves together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.aggregators.compiling import compile_plain

Array = np.ndarray[Any, Any]
SHORTEST = 4


class KeptRows:
    """Rings of rows, one for each key, with the same columns."""

    far = False
    """Whether rows are elsewhere, so that it is slow to look at them one by one."""

    def __init__(self) -> None:
        self.columns: list[Array] = []
        self.offsets = np.zeros(0, np.int64)
        self.rooms = np.zeros(0, np.int64)
        self.used = 0
        self.lost = 0
        self._only: Any = None

    def add(self, keys: int) -> None:
        """There are so many keys now; the new ones have no rows."""
        self.offsets, self.rooms = longer(self.offsets, keys), longer(self.rooms, keys)

    def settle(self, dtypes: list[Any]) -> None:
        """The types of the columns, from the first rows on."""
        self.columns = [np.zeros(SHORTEST, dtype) for dtype in dtypes]
        self._only = None

    def cast(self, k: int, dtype: Any) -> None:
        """A column that later rows do not fit gets a wider type."""
        self.columns[k] = self.columns[k].astype(dtype)
        self._only = None

    def make_room(self, codes: Array, S: Array, E: Array, S_then: Array, E_then: Array) -> None:
        """Room for the rows S_then ≤ i < E_then of these keys, which have S ≤ i < E now."""
        short = np.flatnonzero(E_then - S_then > self.rooms[codes])
        if not len(short):
            return
        growing = codes[short]
        longest = np.maximum(E_then[short] - S_then[short], SHORTEST)
        rooms = (2 ** np.ceil(np.log2(longest))).astype(np.int64)
        offsets = self.used + np.cumsum(rooms) - rooms
        total = self.used + int(rooms.sum())
        if total > len(self.columns[0]):
            for k, column in enumerate(self.columns):
                wider = np.zeros(max(total, 2 * len(column)), column.dtype)
                wider[: self.used] = column[: self.used]
                self.columns[k] = wider
        first = np.maximum(S_then[short], S[short])
        self._move(growing, first, np.maximum(E[short], first), offsets, rooms)
        self.lost += int(self.rooms[growing].sum())
        self.offsets[growing], self.rooms[growing] = offsets, rooms
        self.used = total
        self._only = None

    def _move(self, codes: Array, first: Array, last: Array, offsets: Array, rooms: Array) -> None:
        """Copy the rows first ≤ i < last of these keys to other segments of the same columns."""
        count = int((last - first).sum())
        here, there = np.empty(count, np.int64), np.empty(count, np.int64)
        slots = compile_plain(list_slots)
        slots(first, last, self.offsets[codes], self.rooms[codes], here)
        slots(first, last, offsets, rooms, there)
        for column in self.columns:
            column[there] = column[here]

    def put(self, codes: Array, first: Array, last: Array, rows: Array, columns: list[Any]) -> None:
        """Write the rows first ≤ i < last of these keys; value `first` is at index `rows`."""
        count = int((last - first).sum())
        here, there = np.empty(count, np.int64), np.empty(count, np.int64)
        slots = compile_plain(list_slots)
        slots(first, last, self.offsets[codes], self.rooms[codes], there)
        no_ring = np.full(len(codes), 2**62, np.int64)
        slots(first, last, rows - first, no_ring, here)
        for k, values in enumerate(columns):
            self.columns[k][there] = values(here) if callable(values) else values[here]

    def only(self) -> tuple[Any, int, int]:
        """The first column, and offset and mask of the only key's ring."""
        if self._only is None:
            first = self.columns[0] if self.columns else np.zeros(0, np.int64)
            self._only = first, int(self.offsets[0]), int(self.rooms[0]) - 1
        found: tuple[Any, int, int] = self._only
        return found

    def put_one(self, S: int, E: int, start: int, end: int, value: Any) -> None:
        """The only key has the rows start ≤ i < end now, the last of them new, by its value."""
        if end - start > self.only()[2] + 1:
            self.make_room(np.zeros(1, np.int64), *(np.array([n]) for n in (S, E, start, end)))
            self.tidy(np.array([start]), np.array([end - 1]))
        if end > start:
            column, at, mask = self.only()
            column[at + ((end - 1) & mask)] = value

    def skip(self, S: int, E: int, bound: Any) -> int:
        """Up to where the rows of the only key are less than this, but for the last; if far."""
        raise NotImplementedError

    def forget(self, codes: Array) -> None:
        """These keys have no rows any more."""
        self.lost += int(self.rooms[codes].sum())
        self.offsets[codes], self.rooms[codes] = 0, 0

    def tidy(self, S: Array, E: Array) -> None:
        """Move all rows together, S ≤ i < E for each key, if most of the room is of no use."""
        if self.lost <= max(self.used // 2, 1024):
            return
        held = E - S
        wanted = 2 ** np.ceil(np.log2(np.maximum(2 * held, SHORTEST))).astype(np.int64)
        rooms = np.where(held > 0, np.minimum(wanted, self.rooms), 0)
        offsets = np.cumsum(rooms) - rooms
        total = max(int(rooms.sum()), SHORTEST)
        count = int(held.sum())
        here, there = np.empty(count, np.int64), np.empty(count, np.int64)
        slots = compile_plain(list_slots)
        slots(S, E, self.offsets, self.rooms, here)
        slots(S, E, offsets, rooms, there)
        for k, column in enumerate(self.columns):
            moved = np.zeros(total, column.dtype)
            moved[there] = column[here]
            self.columns[k] = moved
        self.offsets, self.rooms, self.used, self.lost = offsets, rooms, total, 0
        self._only = None

    def held(self, S: Array, E: Array) -> list[Array]:
        """The rows S ≤ i < E of each key, one key after the other, by column."""
        if not self.columns:
            return []
        slots = np.empty(int((E - S).sum()), np.int64)
        compile_plain(list_slots)(S, E, self.offsets, self.rooms, slots)
        return [column[slots] for column in self.columns]

    @classmethod
    def holding(cls, columns: list[Array], rooms: Array, S: Array, E: Array) -> KeptRows:
        """Rings with these rows, as `held` gave them."""
        found = cls()
        found.rooms = np.ascontiguousarray(rooms, np.int64)
        powers = (found.rooms & (found.rooms - 1) == 0).all() and (found.rooms >= 0).all()
        fits = (E >= S).all() and (not columns or (found.rooms >= E - S).all())
        if len(rooms) != len(S) or not powers or not fits:
            raise ValueError("its rows are at odds")
        found.offsets = np.cumsum(found.rooms) - found.rooms
        found.used = int(found.rooms.sum())
        if not columns:
            return found
        slots = np.empty(int((E - S).sum()), np.int64)
        compile_plain(list_slots)(S, E, found.offsets, found.rooms, slots)
        found.settle([column.dtype for column in columns])
        for k, values in enumerate(columns):
            column = np.zeros(max(found.used, SHORTEST), values.dtype)
            column[slots] = values
            found.columns[k] = column
        return found

    def copy(self) -> KeptRows:
        found = KeptRows()
        found.columns = [column.copy() for column in self.columns]
        found.offsets, found.rooms = self.offsets.copy(), self.rooms.copy()
        found.used, found.lost = self.used, self.lost
        return found


def longer(array: Array, length: int, fill: int = 0) -> Array:
    """An array of at least this length; what is new is filled."""
    if length <= len(array):
        return array
    found = np.full(max(length, 2 * len(array)), fill, np.int64)
    found[: len(array)] = array
    return found


def list_slots(first, last, offsets, rooms, slots):  # type: ignore[no-untyped-def]
    """Where the values first ≤ i < last of each ring are, one ring after the other."""
    k = 0
    for g in range(len(first)):
        mask = rooms[g] - 1
        for p in range(first[g], last[g]):
            slots[k] = offsets[g] + (p & mask)
            k += 1

"""Which entries of a window by time something is noted of: its nulls, and rows with a payload."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Any

Entry = tuple[int, int]
"""A time and a row number: what entries are ordered by."""


class Marks:
    """Entries that something is noted of, in order; they leave with the window's old end."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.gone = 0

    def __len__(self) -> int:
        return len(self.entries) - self.gone

    def __iter__(self) -> Any:
        return iter(self.entries[self.gone :])

    def append(self, entry: Entry) -> None:
        if self.entries and entry < self.entries[-1]:
            insort(self.entries, entry, lo=self.gone)
        else:
            self.entries.append(entry)

    def extend(self, entries: Any) -> None:
        del self.entries[: self.gone]
        self.gone = 0
        self.entries.extend(entries)
        self.entries.sort()

    def at(self, i: int) -> Entry:
        return self.entries[self.gone + i]

    def before(self, entry: Entry) -> int:
        return bisect_left(self.entries, entry, lo=self.gone) - self.gone

    def since(self, entry: Entry) -> int:
        return len(self) - self.before(entry)

    def drop(self, oldest: Entry) -> list[Entry]:
        """Forget what is before the oldest entry of the window; the dropped ones."""
        end = self.gone + self.before(oldest)
        dropped = self.entries[self.gone : end]
        self.gone = end
        if 2 * self.gone > len(self.entries):
            del self.entries[: self.gone]
            self.gone = 0
        return dropped

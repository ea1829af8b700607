"""Where the partials of a window are kept if it has a store: what must be at hand in lists, the
levels of its tree on a shelf.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from sash.aggregators import driving
from sash.aggregators.binding import bind
from sash.aggregators.generating import state_layout
from sash.aggregators.keeping import Journal, Kept
from sash.aggregators.rings import NOTHING, Settings, lengths
from sash.aggregators.shelf import Shelf
from sash.aggregators.stored_blocks import Partials
from sash.aggregators.stored_levels import IN_STORE, LEVELS, StoredLevels
from sash.operators.monoid import Monoid

ROOM = 2**50
"""Values that a window may have."""


class StoredKept(Kept):
    """The rings and the state of one algorithm; its levels are on a shelf."""

    def __init__(
        self,
        algorithm: ModuleType,
        monoid: Monoid,
        shelf: Shelf,
        content: dict[str, Any] | None = None,
        settled: Settings = NOTHING,
    ) -> None:
        """content: what `content` told of one that was stored."""
        super().__init__(algorithm, monoid, settled)
        self.run = run = bind(self.algorithm, monoid, IN_STORE)
        self._insert, self._evict = run.insert, run.evict
        self.codec = Partials(monoid)
        self.capacity = ROOM
        if content is None:
            shelf.renew(LEVELS)
        self.levels = StoredLevels(shelf, self.codec)
        small = lengths(self.algorithm, ROOM, settled)[1:]
        self.rings = [self.levels, *([monoid.identity()] * length for length in small)]
        if content is not None:
            self._restore(content)

    def evict(self, count: int) -> None:
        if count > 1:
            self.state = self._at_once(self.run.bulk_evict, count)
        elif self._journals or self.journals is not None:
            self.state = self._at_once(self._evict)
        else:
            self.state = self._evict(self.rings, self.state)

    def insert(self, p: Any) -> None:
        if self._journals or self.journals is not None:
            self.state = self._at_once(self._insert, p)
        else:
            self.state = self._insert(self.rings, self.state, p)

    def at_hand(self) -> tuple[list[Any], Any]:
        rings = self.rings
        if self.journals is not None:
            if not self.journals:
                self.journals.append(self.levels.undoing())  # type: ignore[arg-type]
            small = [Journal(ring) for ring in rings[1:]]
            self.journals += small
            rings = [self.levels, *small]
        return rings, self.state

    def _at_once(self, call: Callable[..., Any], *args: Any) -> Any:
        if not self._journals or self.journals is not None:
            return call(*self.at_hand(), *args)
        self.journals = []
        try:
            return call(*self.at_hand(), *args)
        except BaseException:
            for journal in reversed(self.journals):
                journal.undo()
            raise
        finally:
            self.journals = None

    def _shrunk(self, held: int) -> None:
        """Nothing here is longer than it must be."""

    def partials_held(self) -> int:
        """How many partials are in memory."""
        return self.levels.at_hand() + sum(map(len, self.rings[1:])) + len(self.state)

    # What is stored beside the levels

    @property
    def oldest(self) -> int:
        """The position of the oldest value."""
        found: int = self.run.span(self.state)[0]
        return found

    def content(self) -> dict[str, Any]:
        layout = state_layout(self.algorithm)
        each = list(zip(self.state, layout, strict=True))
        return {
            "positions": [item for item, is_partial in each if not is_partial],
            "partials": self.codec.encode([item for item, is_partial in each if is_partial]),
            "rings": [self.codec.encode(ring) for ring in self.rings[1:]],
        }

    def _restore(self, content: dict[str, Any]) -> None:
        layout = state_layout(self.algorithm)
        positions = iter(content["positions"])
        partials = iter(self.codec.decode(*content["partials"]))
        state = tuple(next(partials if is_partial else positions) for is_partial in layout)
        whole = [n for n, is_partial in zip(state, layout, strict=True) if not is_partial]
        if not all(type(n) is int and 0 <= n < ROOM for n in whole) or [*positions, *partials]:
            raise ValueError("its state cannot be one")
        for ring, stored in zip(self.rings[1:], content["rings"], strict=True):
            found = self.codec.decode(*stored)
            if len(found) != len(ring):
                raise ValueError("a ring is of another length")
            ring[:] = found
        self.state = state
        sound = getattr(self.run, "sound", driving.sound)
        start, end = self.run.span(state)
        if not sound(tuple(self.rings), state):
            raise ValueError("its state cannot be one")
        if self.levels.columns and self.levels.columns[0].end != end:
            raise ValueError("it does not hold the values that it says")
        if start < end and not self.levels.columns:
            raise ValueError("its values are missing")
        self.levels.rebuild(lambda level: self.run.whole_nodes(state, level), self.monoid.combine)

"""Answers as callers get them: an array for the rows, or `Answers`: all, changes, corrections."""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.aggregators.answers import of_objects
from sash.aggregators.binding import equal
from sash.aggregators.columns import Kind
from sash.windows.answers import Answers, as_list
from sash.windows.early import Early
from sash.windows.engine import Given
from sash.windows.keys import Keys
from sash.windows.shapes import Shape
from sash.windows.stamps import Stamps

NOTHING: Any = object()


class Giver:
    """What is given of answers."""

    def __init__(
        self, shape: Shape, stamps: Stamps, keys: Keys, *, emit: str, least: int, keyed: bool
    ) -> None:
        self.shape = shape
        self.stamps = stamps
        self.keys = keys
        self.emit = emit
        self.least = least
        self.keyed = keyed
        self.early = Early()
        self.before: dict[int, Any] = {}
        """By key, the last answer, if only changes are given."""

    def rows(self, given: Given) -> Any:
        """An answer for each row, or for every so many of them; none for too few rows."""
        given.found.hide(given.held < self.least)
        return given.found.dress(self.stamps.kind)

    def answers(self, given: Given) -> Answers:
        """Those for enough rows; of these all, or those that are not as the one before."""
        kind = self.stamps.kind
        which = np.flatnonzero(given.held >= self.least)
        found = given.found if len(which) == len(given.held) else given.found.take(which)
        items = None
        if self.emit == "changes":
            items = as_list(found.dress("list"))
            owners = [0] * len(items) if given.codes is None else given.codes[which].tolist()
            pairs = zip(owners, items, strict=True)
            at = np.flatnonzero(np.array([self.differs(*pair) for pair in pairs], bool))
            which, items, found = which[at], [items[i] for i in at.tolist()], found.take(at)
        marks = self.stamps.marks(given.times[which], given.since[which], kind)
        keys = None
        if given.keys is not None:
            keys = of_objects([given.keys[i] for i in which.tolist()], kind)
        elif given.codes is not None:
            keys = self._dressed(given.codes[which], kind)
        return Answers(found.dress(kind), items, **marks, keys=keys, count=len(which))

    def differs(self, code: int, answer: Any) -> bool:
        """Whether an answer is not that before it."""
        before = self.before.get(code, NOTHING)
        self.before[code] = answer
        return before is NOTHING or not equal(before, answer)

    def corrections(self, final: Given, still_open: Given | None) -> Answers:
        """What is new: of answers that will not change any more, and of those that may."""
        open_ones = [] if still_open is None else self._each(still_open)
        changes = self.early.changes(self._each(final), open_ones)
        changes.sort(key=lambda change: change[2][1])
        items = [answer for answer, _, _ in changes]
        codes, times, since = (
            np.array([window[k] for _, _, window in changes], np.int64) for k in range(3)
        )
        kind = self.stamps.kind
        types = final.found.types
        return Answers(
            of_objects(items, kind, types[0] if len(types) == 1 else None),
            items,
            **self.stamps.marks(times, since, kind),
            keys=self._dressed(codes, kind) if self.keyed else None,
            revisions=np.array([revision for _, revision, _ in changes], np.int64),
        )

    def _each(self, given: Given) -> list[tuple[Any, ...]]:
        """Answers one by one: key, time, begin, answer."""
        which = np.flatnonzero(given.held >= self.least)
        items = as_list(given.found.take(which).dress("list"))
        codes = np.zeros(len(which), np.int64) if given.codes is None else given.codes[which]
        times = given.times[which]
        since = given.since[which] if self.shape.sliced else np.zeros_like(times)
        marks = (codes.tolist(), times.tolist(), since.tolist())
        return list(zip(*marks, items, strict=True))

    def _dressed(self, codes: Any, kind: Kind) -> Any:
        return of_objects([self.keys.values[code] for code in codes.tolist()], kind)

    def forget(self, codes: Any) -> None:
        """These keys are gone."""
        for code in codes.tolist():
            self.before.pop(code, None)

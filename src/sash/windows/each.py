"""A window of its own for each key, kept by an aggregator."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

from sash.aggregators.aggregator import Aggregator
from sash.aggregators.beside import NullRows
from sash.aggregators.following import (
    Bounds,
    Undo,
    each_answer,
    evict_by,
    follow,
)
from sash.operators.base import Operator
from sash.windows.answers import Found
from sash.windows.batches import Batch
from sash.windows.definitions import SlideWhile
from sash.windows.tracking import END, START, Cuts, Tracker

Array = np.ndarray[Any, Any]


class Each:
    """A window of its own for each key, in plain Python; a single one also in compiled loops."""

    def __init__(self, make: Callable[[], Aggregator]) -> None:
        self.make = make
        self.windows: list[Aggregator] = []
        self.one_type = False
        """Whether all rows are of the same types, so that a new window may have those of an old."""

    @property
    def operator(self) -> Operator:
        return self.windows[0].operator

    def add(self, count: int) -> None:
        self.windows += [self.make() for _ in range(count)]

    def follow(self, batch: Batch, order: Array | None, cuts: Cuts) -> Found:
        bounds = list(_bounds(cuts))
        if not bounds:
            return Found(self.operator, None, [])
        if len(self.windows) == 1:
            leaves, objects = follow(self.windows[0], batch.columns, batch.rows, bounds[0])
            return Found(self.operator, leaves, objects)
        rows = self._rows(batch, order)
        answers: list[Any] = []
        with ExitStack() as stack:
            windows = [self.windows[code] for code in cuts.groups.codes]
            for window in windows:
                stack.enter_context(Undo(window))
            each = zip(windows, bounds, cuts.groups.first, cuts.groups.last, strict=True)
            for window, its_bounds, first, last in each:
                answers += each_answer(window, rows[first:last], its_bounds)
        return Found(self.operator, None, answers)

    def _rows(self, batch: Batch, order: Array | None) -> list[Any]:
        if not batch.rows:
            return []
        rows = list(self.windows[0]._each(batch.columns))
        return rows if order is None else [rows[i] for i in order.tolist()]

    def follow_policy(
        self, batch: Batch, order: Array | None, cuts: Cuts, policy: SlideWhile, debug: bool
    ) -> Found:
        """Let a policy decide what leaves; it is noted in `cuts` what is held then."""
        rows = self._rows(batch, order)
        return Found(self.operator, None, self.policy_rows(rows, cuts, policy, debug))

    def policy_rows(
        self, rows: list[Any], cuts: Cuts, policy: SlideWhile, debug: bool
    ) -> list[Any]:
        """`follow_policy` row by row."""
        answers: list[Any] = []
        with ExitStack() as stack:
            for g, code in enumerate(cuts.groups.codes):
                window = self.windows[code]
                stack.enter_context(Undo(window))
                first, asked = int(cuts.groups.first[g]), int(cuts.upto[g - 1]) if g else 0
                E, E_then = int(cuts.before[END][g]), int(cuts.after[END][g])
                for n in range(E, E_then + 1):
                    if n > E:
                        window.insert(rows[first + n - 1 - E])
                        evict_by(window, policy.policy, policy.raw, debug)
                    while asked < int(cuts.upto[g]) and int(cuts.ends[asked]) == n:
                        cuts.starts[asked] = window._out
                        answers.append(window.query())
                        asked += 1
                cuts.after[START][g] = window._out
        return answers

    def query(self, code: int) -> Any:
        return self.windows[code].query()

    def forget(self, codes: Array) -> None:
        for code in codes.tolist():
            old, self.windows[code] = self.windows[code], self.make()
            if self.one_type and old._kept is not None:  # to bind an operator takes a while
                new = self.windows[code]
                new._types, new._kept = old._types, old._kept.emptied()

    def payload(self, batch: Batch, order: Array | None) -> list[Any]:
        """Aggregators keep what their answers are taken from."""
        return []

    def copy(self, tracker: Tracker) -> Each:
        found = Each(self.make)
        found.one_type = self.one_type
        found.windows = [copied(window) for window in self.windows]
        return found


def _bounds(cuts: Cuts) -> Any:
    """Each group's bounds."""
    first = 0
    for g, upto in enumerate(cuts.upto):
        last = int(upto)
        yield Bounds(
            *(int(cuts.before[START][g]), int(cuts.before[END][g])),
            *(int(cuts.after[START][g]), int(cuts.after[END][g])),
            cuts.starts[first:last],
            cuts.ends[first:last],
        )
        first = last


def copied(window: Aggregator) -> Aggregator:
    found = copy.copy(window)
    found._nulls = [NullRows(each) for each in window._nulls]
    found._payloads = [dict(each) for each in window._payloads]
    if window._kept is not None:
        found._kept = copy.copy(window._kept)
        found._kept.rings = [
            tuple(a.copy() for a in ring) if isinstance(ring, tuple) else ring.copy()
            for ring in window._kept.rings
        ]
    return found

"""Where fiba's entries are kept: lists or arrays, and single calls that take either."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sash.aggregators.compiling import Compiled
from sash.aggregators.keeping import FEW, Kept
from sash.aggregators.marks import Entry
from sash.aggregators.rings import as_arrays, flatten
from sash.aggregators.running import Job
from sash.operators.monoid import Partial

LATE_COST = 24
"""A late row takes about as long as writing so many rows anew, in order."""


class KeptByTime(Kept):
    """What fiba keeps. A long window that a compiled loop has filled stays in arrays for a while.

    Single calls read and write the fields of partials where they are, until there have been as
    many as the window has values: moving them to lists would not have cost more.
    """

    single_calls = 0

    def insert_at(self, time: int, row: int, p: Partial) -> None:
        self.make_room()
        rings, state = self.at_hand()
        self.put_back(self.run.insert_at(rings, state, time, row, p))

    def insert(self, p: Partial) -> None:
        self.make_room()
        rings, state = self.at_hand()
        self.put_back(self.run.insert(rings, state, p))

    def query(self) -> Partial:
        return self.run.query(*self.at_hand())

    def query_last(self, count: int) -> Partial:
        return self.run.query_last(*self.at_hand(), count)

    def query_between(self, start: int, end: int) -> Partial:
        return self.run.query_between(*self.at_hand(), start, end)

    def oldest_value(self) -> Partial:
        return self.run.oldest_value(*self.at_hand())

    def rank(self, time: int) -> int:
        return int(self.run.count_up_to(self.rings, self._as_items(), time))

    def entry(self, i: int) -> Entry:
        time, row = self.run.entry(self.rings, self._as_items(), i)
        return int(time), int(row)

    def insert_rows(self, job: Job, times: Any, order: Any, first: int) -> None:
        """Rows by their times, in one compiled loop: each from the finger, or all in one merge."""
        held, rows = self.held(), len(order)
        late = 0
        if held:
            late = int(np.searchsorted(times[order], self.entry(held - 1)[0]))
        self.to_arrays(job.code, held + rows)
        given = (job.rows, times, order, first, rows)
        if late * LATE_COST > held + rows:
            rings = tuple(as_arrays(self.algorithm, self.monoid, self.capacity))
            self.state = job.call("merge_rows", tuple(self.rings), rings, self.state, *given)
        else:
            rings = self.copied() if self.may_stop_inserting else tuple(self.rings)
            self.state = job.call("insert_rows", rings, self.state, *given)
        self.rings = list(rings)

    def to_arrays(self, compiled: Compiled, count: int) -> None:
        self.single_calls = 0
        super().to_arrays(compiled, count)

    def at_hand(self) -> tuple[list[Any], Any]:
        """Rings and state as plain Python takes them."""
        self.single_calls += 1
        if self.in_arrays and self.held() <= max(FEW, self.single_calls):
            self.to_lists()
        if not self.in_arrays:
            return self.rings, self.state
        rings = [InFields(r, self._partial) if isinstance(r, tuple) else r for r in self.rings]
        return rings, self._as_items()

    def put_back(self, state: Any) -> None:
        self.state = flatten(state) if self.in_arrays else state


class InFields:
    """A ring whose partials lie in arrays, one for each field, as a list of partials."""

    def __init__(self, arrays: tuple[Any, ...], make: Callable[[list[Any]], Partial]) -> None:
        self.arrays = arrays
        self.make = make

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, i: int) -> Partial:
        return self.make([array[i].item() for array in self.arrays])

    def __setitem__(self, i: int, p: Partial) -> None:
        for array, value in zip(self.arrays, flatten(p), strict=True):
            array[i] = value

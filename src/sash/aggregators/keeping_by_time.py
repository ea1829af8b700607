"""Where fiba's entries are kept: lists or arrays, and single calls that take either."""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.aggregators.keeping import Kept
from sash.aggregators.marks import Entry
from sash.aggregators.rings import as_arrays
from sash.aggregators.running import Job
from sash.operators.monoid import Partial

LATE_COST = 24
"""A late row takes about as long as writing so many rows anew, in order."""


class KeptByTime(Kept):
    """What fiba keeps."""

    def insert_at(self, time: int, row: int, p: Partial) -> None:
        self.make_room()
        rings, state = self.at_hand()
        self.put_back(self.run.insert_at(rings, state, time, row, p))

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

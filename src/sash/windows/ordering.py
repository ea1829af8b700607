"""Rows that come late: held until no earlier one can come, then let go in the order of time."""

from __future__ import annotations

import numpy as np

from sash.windows.batches import Batch
from sash.windows.cutting import NEVER


class Ordering:
    """What has come and may still be overtaken.

    Rows may be up to `lateness` behind the newest time seen. The watermark is that far behind it:
    what is before it is final, and a row that comes before it is late.
    """

    def __init__(self, lateness: int) -> None:
        self.lateness = lateness
        self.newest = NEVER
        self.advanced = NEVER
        self.late = 0
        self.pending: Batch | None = None

    @property
    def watermark(self) -> int:
        if self.newest == NEVER:
            return self.advanced
        return max(self.newest - self.lateness, self.advanced)

    def take(self, batch: Batch, finish: bool = False) -> Ordered:
        """These rows come: what this does, before it is made so. finish: nothing waits longer."""
        assert batch.times is not None
        newest = self.newest
        late = 0
        if batch.rows:
            seen = np.maximum.accumulate(np.maximum(batch.times, newest))
            newest = int(seen[-1])
            behind = seen - batch.times > self.lateness
            on_time = ~behind & (batch.times >= self.advanced)
            late = batch.rows - int(on_time.sum())
            if late:
                batch = batch.take(np.flatnonzero(on_time))
        if self.pending is not None:
            batch = self.pending.then(batch)
        return self._split(batch, newest, late, finish)

    def _split(self, batch: Batch, newest: int, late: int, finish: bool) -> Ordered:
        assert batch.times is not None
        watermark = self.advanced
        if newest != NEVER:
            watermark = max(newest - self.lateness, watermark)
        if batch.rows and (batch.times[1:] < batch.times[:-1]).any():
            batch = batch.take(np.argsort(batch.times, kind="stable"))
        assert batch.times is not None
        ready = int(np.searchsorted(batch.times, watermark)) if batch.rows else 0
        if finish or ready == batch.rows:
            return Ordered(batch, None, newest, watermark, late)
        rows = np.arange(batch.rows)
        return Ordered(batch.take(rows[:ready]), batch.take(rows[ready:]), newest, watermark, late)

    def commit(self, ordered: Ordered) -> None:
        self.pending = ordered.pending
        self.newest = ordered.newest
        self.late += ordered.late


class Ordered:
    """Rows whose turn it is, in order, and those that wait."""

    def __init__(
        self, ready: Batch, pending: Batch | None, newest: int, watermark: int, late: int
    ) -> None:
        self.ready = ready
        self.pending = pending
        self.newest = newest
        self.watermark = watermark
        self.late = late

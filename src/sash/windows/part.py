"""One part of a series whose windows reach back into rows that are elsewhere.

It is sent the rows before its own that may leave while its own come, one by one. Those between,
that stay for as long as it runs, come as one value, their total:

    rows one by one  |  one value for all between  |  its own rows
    lo ≤ row < hi    |  hi ≤ row < since           |  since ≤ row < until

This is the parallel boundary aggregator with parts for chunks: what is needed of other parts is
the sums up to a boundary, and one total.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.aggregator import STALE
from sash.aggregators.columns import leaves as read_leaves
from sash.aggregators.running import types_of
from sash.operators.base import Operator
from sash.operators.together import Together
from sash.windows import cutting
from sash.windows.batches import Batch
from sash.windows.definitions import Definition, Last
from sash.windows.each import Each
from sash.windows.engine import Given
from sash.windows.grouped import NOTHING, Array, GroupedWindows, Told, as_batch
from sash.windows.payload import columns_taken
from sash.windows.totals import Total, as_partial, lifted_row
from sash.windows.tracking import CAME, END, NEWEST, NEXT, START


@dataclass(frozen=True)
class Between:
    """The rows between those that come one by one and the part's own, as one value."""

    rows: int
    total: Total
    time: int | None
    """Just before the first of the part's own."""


class PartWindow(GroupedWindows):
    """The window of one part of a series."""

    def __init__(
        self,
        op: Operator,
        window: Definition,
        *,
        first: int = 0,
        between: Between | None = None,
        min_size: int = 1,
        algorithm: str = "auto",
    ) -> None:
        """first: the number of the first row, as others of the series are elsewhere."""
        self.first = first
        self.between = between
        self.keyed = between is None  # what keeps many keys is the faster one, but takes no total
        if between is not None:
            # One value stands for so many rows.
            more = between.rows - 1
            min_size = max(min_size - more, 1)
            if isinstance(window, Last) and isinstance(window.size, int):
                window = replace(window, size=window.size - more)
        super().__init__(op, window, min_size=min_size, algorithm=algorithm)

    def rows(self, columns: Mapping[str, Any], begins: Array, times: Array | None) -> Told:
        batch = as_batch(columns, times)
        if self.open is None:
            self._begin(times)
        came = int(self.engine.tracker.states[CAME][0])
        codes = np.zeros(batch.rows, np.int64) if self.keyed else None
        given = self.engine.run(replace(batch, codes=codes))
        told = self._told(
            given, np.zeros(len(given.held), np.int64), columns, np.array([-came], np.int64)
        )
        self._keep(columns, came, times)
        return told

    def advance(self, time: int) -> Told | None:
        """Rows of this time and later are elsewhere; what they would bring is told here."""

        def run(batch: Batch) -> Given:
            codes = NOTHING if self.keyed else None
            return self.engine.run(replace(batch, codes=codes), time, all_keys=self.keyed)

        return self._without_rows(run)

    def came(self) -> int:
        return self.first if self.open is None else super().came()

    def _closed(self, batch: Batch) -> Given:
        if self.keyed:
            return super()._closed(batch)
        return self.engine.run(batch, cutting.FOREVER, finish=True)

    def _begin(self, times: Array | None) -> None:
        """As if the rows before had come, and none was held."""
        self.open = 0
        self._make_room(1)
        if not self.first:
            return
        states = self.engine.tracker.states
        for k in (CAME, START, END):
            states[k][0] = self.first
        if times is not None:
            states[NEWEST][0] = times[0]
        _, _, every, offset = self.shape.numbers
        if self.shape.trigger == cutting.AT_ROWS:
            states[NEXT][0] = self.first % every
        elif self.shape.trigger == cutting.AT_ENDS:
            assert times is not None
            states[NEXT][0] = times[0] - (times[0] - offset) % every + every

    def insert_between(self, columns: Mapping[str, Any], times: Array | None) -> None:
        """All rows between come as one value; `columns` are of those that come next."""
        between, engine = self.between, self.engine
        assert between is not None and isinstance(engine.keeper, Each)
        if self.open is None:
            self._begin(times)
        window = engine.keeper.windows[0]
        tracker = engine.tracker
        before = [state.tolist() for state in tracker.states]
        number = before[CAME][0]
        if not len(window):
            window._in = window._out = number
        values = engine.roles.values(as_batch(columns, times))
        window.settle_by(values)
        if window._kept is None:
            window._settle_types(types_of(read_leaves(values, engine.operator)[0]))
        kept = window._kept
        assert kept is not None
        leaves = list(zip(self.operator.leaves, kept.monoid.leaves(), between.total, strict=True))
        partials = []
        for k, (leaf, monoid, content) in enumerate(leaves):
            if content is None:
                window._nulls[k].append(number)
                partials.append(monoid.identity())
            elif leaf.takes:
                partials.append(lifted_row(leaf, monoid, content, number))
            else:
                partials.append(as_partial(monoid, content))
        several = isinstance(self.operator, Together)
        kept.insert(kept.monoid.partial._make(partials) if several else partials[0])
        window._in += 1
        window._answer = STALE
        after = [list(state) for state in before]
        after[CAME][0] += 1
        after[END][0] += 1
        if between.time is not None:
            after[NEWEST][0] = between.time
        if self.shape.trigger == cutting.AT_ROWS:
            after[NEXT][0] = (after[NEXT][0] + between.rows) % self.shape.numbers[2]
        elif self.shape.trigger == cutting.AT_ENDS and number == before[START][0]:
            assert between.time is not None
            _, _, every, offset = self.shape.numbers
            after[NEXT][0] = between.time - (between.time - offset) % every + every
        tracker.commit_one(before, after, between.time)
        self._keep_between(columns, leaves, number)

    def _keep_between(self, columns: Mapping[str, Any], leaves: Any, number: int) -> None:
        """What answers may be taken from: of the rows between, it is one for each leaf at most."""
        if not self.payload.names:
            return
        rows: dict[Any, pa.Array] = {
            name: pa.nulls(1, columns[name].type) for name in self.payload.names
        }
        for k, (leaf, _, content) in enumerate(leaves):
            if leaf.takes and content is not None:
                rows |= {(k, name): content[name] for name in columns_taken(leaf)}
        self.payload.keep(rows, number, int(self.engine.tracker.states[START][0]))

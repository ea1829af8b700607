"""`sash.share`: many queries over the same rows, computed together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sash.aggregators.columns import Column
from sash.plans.alone import Alone
from sash.plans.explaining import explained
from sash.plans.queries import Query
from sash.plans.shares import Shares, kind_of
from sash.plans.slicing import TECHNIQUES, Technique
from sash.windows import cutting
from sash.windows.batches import Batch
from sash.windows.definitions import definition
from sash.windows.engine import Engine, Given
from sash.windows.giving import Giver
from sash.windows.keys import Keys
from sash.windows.ordering import Ordering
from sash.windows.reading import Reader
from sash.windows.shapes import Shape, amount
from sash.windows.stamps import Stamps
from sash.windows.window import time_length

ANY = Shape(definition(1))
"""For what is read for windows of all kinds."""


def share(
    queries: Mapping[str, Query], *, slicing: Technique = "cutty", lateness: Any = None
) -> Plan:
    """Many queries over the same rows, computed together.

    queries   by name: `sash.query(op, window)`
    slicing   how rows are cut into slices that windows share: cutty, pairs or panes
    lateness  how far behind the newest time rows may come; without it they must be in order

    >>> import sash
    >>> plan = sash.share({"low": sash.query(sash.Min(), 2), "high": sash.query(sash.Max(), 3)})
    >>> plan.push_many([3, 1, 4, 1, 5])
    {'low': [3, 1, 1, 1, 1], 'high': [3, 3, 4, 4, 5]}
    """
    return Plan(queries, slicing=slicing, lateness=lateness)


class Plan:
    """Queries over the same rows. Made by `sash.share`."""

    def __init__(
        self, queries: Mapping[str, Query], *, slicing: Technique = "cutty", lateness: Any = None
    ) -> None:
        if slicing not in TECHNIQUES:
            raise ValueError(f"slicing is one of {', '.join(TECHNIQUES)}; not {slicing!r}.")
        if not isinstance(queries, Mapping):
            raise TypeError(f"queries are given by name, as in {{'high': …}}; not as {queries!r}.")
        self.slicing = slicing
        self.lateness = None if lateness is None else time_length("lateness", lateness)
        self.queries: dict[str, Query] = {}
        self._shared = Shares(slicing)
        self._alone: dict[str, Alone] = {}
        """Queries whose windows cannot be shared."""
        self._vetting: dict[str, Engine] = {}
        """With lateness, what knows for each query which rows can go in."""
        self._givers: dict[str, Giver] = {}
        self._stamps = Stamps(ANY, {"lateness": self.lateness})
        self._order = None if lateness is None else Ordering(amount(self.lateness))
        self._reader = _Front(self._stamps, lateness is not None)
        self._newest = self._advanced = cutting.NEVER
        self._first: int | None = None
        """The time of the first row."""
        self._finished = False
        for name, each in queries.items():
            self._add(name, each)
        self._reader.settle(list(self.queries.values()))

    def __repr__(self) -> str:
        return f"<Plan of {len(self.queries)} queries: {', '.join(self.queries)}>"

    @property
    def late(self) -> int:
        """How many rows came too late, and were dropped."""
        return 0 if self._order is None else self._order.late

    @property
    def watermark(self) -> Any:
        """The time before which everything is final; None before there is any."""
        at = self._advanced if self._order is None else self._order.watermark
        return None if at == cutting.NEVER else self._stamps.one(at)

    # Queries

    def add(self, name: str, query: Query) -> None:
        """One more query: it sees the rows that are let in from now on.

        With `lateness` these are also rows that have come, and still wait for earlier ones.
        """
        self._check_open()
        self._add(name, query)
        self._reader.settle(list(self.queries.values()))

    def _add(self, name: str, query: Query) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a query is text, not {name!r}.")
        if not isinstance(query, Query):
            raise TypeError(f"{name}: write sash.query(op, window), not {query!r}.")
        if name in self.queries:
            raise ValueError(f"there is a query {name!r} already: remove it first.")
        shape = query.shape
        if self._stamps.clock is not None:
            shape.check_clock(self._stamps.clock, {})
        if shape.needs_times and self._stamps.has_times is False:
            raise TypeError(f"{query.window!r} needs times, and the rows of this plan have none.")
        if kind_of(query) is None:
            self._alone[name] = Alone(query)
        else:
            self._shared.add(name, query)
        self._givers[name] = Giver(
            shape,
            Stamps(shape, {}),
            Keys(),
            emit=query.emit,
            least=query.min_size,
            keyed=False,
        )
        if self._order is not None:
            self._vetting[name] = Alone(query).engine
        self.queries[name] = query

    def remove(self, name: str) -> None:
        """One query less; the others go on as they are."""
        if name not in self.queries:
            raise KeyError(f"there is no query {name!r}; there are {', '.join(self.queries)}.")
        del self.queries[name], self._givers[name]
        self._vetting.pop(name, None)
        if self._alone.pop(name, None) is None:
            self._shared.remove(name)
        self._reader.settle(list(self.queries.values()))

    def explain(self) -> str:
        """Print how the queries are computed: what they share, where rows are cut, who reads what.

        Before rows have come it is taken for granted that columns hold floats.
        """
        shares = self._shared.preview()
        alone = {
            name: (self.queries[name].window, each.algorithm) for name, each in self._alone.items()
        }
        told = explained(shares.groups, shares.asking, alone, self.slicing, self._rate())
        print(told)
        return told

    def _rate(self) -> float | None:
        """How many rows came in a unit of time."""
        if self._first is None or self._newest <= self._first:
            return None
        return self._shared.came / (self._newest - self._first)

    # Rows

    def push_many(self, values: Any, times: Any = None) -> dict[str, Any]:
        """Many rows come: by query its answers, as `sash.Window.push_many` gives them."""
        self._check_open()
        with self._stamps.if_done():
            given = self._run(self._reader.batch(values, times, None))
        return self._told(given, rows=self._order is None)

    def advance(self, time: Any) -> dict[str, Any]:
        """Time has come this far, though no row says so: what that completes."""
        self._check_open()
        if self._stamps.has_times is False:
            raise TypeError("the rows of this plan have no times, so it cannot advance.")
        before = self._advanced
        with self._stamps.if_done():
            self._advance(max(before, self._stamps.number(time)))
            try:
                given = self._run(self._reader.nothing())
            except BaseException:
                self._advance(before)
                raise
        return self._told(given, rows=False)

    def _advance(self, moment: int) -> None:
        self._advanced = moment
        if self._order is not None:
            self._order.advanced = moment

    def finish(self) -> dict[str, Any]:
        """No more rows will come: answers for all that is open. The plan takes none any more."""
        self._check_open()
        given = self._run(self._reader.nothing(), finish=True)
        self._finished = True
        return self._told(given, rows=False)

    def _check_open(self) -> None:
        if self._finished:
            raise ValueError("this plan is finished: make another for more rows.")

    def _run(self, batch: Batch, finish: bool = False) -> dict[str, Given]:
        """What rows, and time, complete. If anything fails, nothing has come."""
        self._check_clock()
        ordered = None
        now = cutting.FOREVER if finish else self._advanced
        ready = batch
        if self._order is not None:
            self._vet(batch)
            ordered = self._order.take(batch, finish)
            ready, now = ordered.ready, cutting.FOREVER if finish else ordered.watermark
        elif batch.rows and batch.times is not None:
            self._check_times(batch.times)
        newest = self._newest
        if ready.rows and ready.times is not None:
            newest = max(newest, int(ready.times[-1]))
        alone = {name: each.run(ready, now, finish) for name, each in self._alone.items()}
        ran = self._shared.run(ready, self._newest, now, finish)
        self._shared.commit(ran)
        for each in self._alone.values():
            each.commit()
        if ordered is not None and self._order is not None:
            self._order.commit(ordered)
        self._newest = newest
        if self._first is None and ready.rows and ready.times is not None:
            self._first = int(ready.times[0])
        self._reader.came(batch)
        given = {**ran.given, **alone}
        return {name: given[name] for name in self.queries}

    def _vet(self, batch: Batch) -> None:
        """Rows that wait must be such as can go in when their turn comes."""
        if batch.rows:
            for engine in self._vetting.values():
                engine.vet(batch)

    def _check_clock(self) -> None:
        """All windows must be such as the rows' times are for."""
        if self._stamps.clock is not None:
            for query in self.queries.values():
                query.shape.check_clock(self._stamps.clock, {})

    def _check_times(self, times: Any) -> None:
        if int(times[0]) < self._advanced:
            raise ValueError(
                f"the row at {self._stamps.one(int(times[0]))} comes after time was advanced to "
                f"{self.watermark}; give lateness=… for rows that are late."
            )
        back = np.flatnonzero(np.diff(times) < 0) + 1
        first = int(times[0]) < self._newest
        if first or len(back):
            row = 0 if first else int(back[0])
            raise ValueError(
                f"times must not go back, and that of row {row} is before the last one; sort the "
                f"rows by time, or say how late they may be, with lateness=…"
            )

    def _told(self, given: dict[str, Given], rows: bool) -> dict[str, Any]:
        """Answers as callers get them."""
        stamps, found = self._stamps, {}
        for name, giver in self._givers.items():
            own = giver.stamps
            own.clock, own.zone, own.unit = stamps.clock, stamps.zone, stamps.unit
            own.kind = stamps.kind
            at_rows = rows and giver.emit == "every" and giver.shape.answers_rows
            found[name] = giver.rows(given[name]) if at_rows else giver.answers(given[name])
        return found


class _Front(Reader):
    """Reads all that any of the queries asks for."""

    def __init__(self, stamps: Stamps, ordered: bool) -> None:
        super().__init__(_Leaves(()), ANY, (), stamps, ordered)  # type: ignore[arg-type]
        self.names: set[str] = set()

    def settle(self, queries: list[Query]) -> None:
        """These are asked, from now on."""
        self.op = _Leaves(tuple(leaf for each in queries for leaf in each.operator.leaves))  # type: ignore[assignment]
        timed = (each.shape for each in queries if each.shape.needs_times)
        self.shape = next(timed, ANY)
        shapes = [each.shape for each in queries]
        self.names = {name for each in shapes for name in (each.mark, each.along) if name}
        self.names |= {name for leaf in self.op.leaves for name in leaf.columns}

    def _without_keys(self, named: dict[str, Column]) -> dict[str, Column]:
        # Rows that wait may be seen by queries that come while they do.
        if self.ordered or not all(leaf.columns for leaf in self.op.leaves):
            return named
        found = {name: given for name, given in named.items() if name in self.names}
        return found or named  # what is missing is told by who reads it


class _Leaves:
    """All operators that read columns."""

    def __init__(self, leaves: tuple[Any, ...]) -> None:
        self.leaves = leaves

"""One call of `sliding` on a stream: what goes to workers.

It asks for one window, or for several, all of the same rows, of the same aggregates.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import pyarrow as pa

from sash.operators.known import described
from sash.spark.clocks import OrderClock
from sash.spark.query import Query
from sash.spark.worker import windowed_columns
from sash.windows.questions import Question
from sash.windows.shard import Asked
from sash.windows.slices import Slices

MOMENT, WEIGHT = "__sash_moment", "__sash_weight"
"""Of slices: when they are, and how many rows each stands for."""


@dataclass(frozen=True)
class StreamQuery:
    """What is asked of a stream, and among how many shards its keys are shared."""

    queries: tuple[Query, ...]
    """One for each window."""
    shards: tuple[int, ...]
    names: tuple[str, ...] = ()
    """Of the windows, if they have any."""

    def __reduce__(self) -> Any:
        """For workers: without what has been found out here, which has operators as they are."""
        return StreamQuery, (self.queries, self.shards, self.names)

    @property
    def query(self) -> Query:
        """That of the first window, for all that they have in common."""
        return self.queries[0]

    @property
    def clock(self) -> OrderClock:
        clock = self.query.clock
        assert clock is not None
        return clock

    @cached_property
    def sent(self) -> tuple[str, ...]:
        """The columns that are read of rows."""
        query = self.query
        reads = [name for one in self.queries for name in one.reads]
        if self.slices is not None:  # in which the order of rows is lost
            return tuple(dict.fromkeys(reads))
        kept = query.columns if query.at_rows else ()
        return tuple(dict.fromkeys([*kept, *reads, *query.order_by, *query.ties]))

    @cached_property
    def slices(self) -> Slices | None:
        """How rows become slices before they are sent, if windows allow it."""
        query = self.query
        if query.min_size > 1 or query.idle is not None:  # it matters how many rows, and when
            return None
        shapes = [one.shape for one in self.queries]
        return Slices.of(query.operator, shapes, query.schema_read)

    @cached_property
    def packed_schema(self) -> pa.Schema:
        """The columns that shards are sent, be they of rows or of slices."""
        query, slices = self.query, self.slices
        if slices is None:
            return pa.schema([query.schema.field(name) for name in self.sent])
        own = [pa.field(MOMENT, pa.int64()), pa.field(WEIGHT, pa.int64())]
        return pa.schema([*(query.schema.field(name) for name in query.by), *own, *slices.fields])

    @cached_property
    def asked(self) -> Asked:
        query, slices = self.query, self.slices
        of_all = Asked(
            questions=(),
            keys=tuple(query.schema.field(name).type for name in query.by),
            lateness=query.lateness_steps,
            early=query.early,
            idle=query.idle_steps,
            min_size=query.min_size,
        )
        if slices is not None:
            names = tuple(slices.fields.names)
            columns = partial(_only, names)
            questions = (
                Question(slices.merged, one.steps, columns, one.algorithm) for one in self.queries
            )
            stored: tuple[str, ...] = (*names, WEIGHT)
            own: dict[str, Any] = {"stored": stored, "weight": WEIGHT, "grid": slices.grid}
            return replace(of_all, questions=tuple(questions), **own)
        questions = (
            Question(one.operator, one.steps, partial(windowed_columns, one), one.algorithm)
            for one in self.queries
        )
        # Those that wait are given later, and put in order then.
        stored = self.sent if query.lateness is not None else self.windowed
        order = (*query.order_by[1:], *query.ties)
        return replace(of_all, questions=tuple(questions), stored=stored, order=order)

    @cached_property
    def windowed(self) -> tuple[str, ...]:
        """The columns that go into windows."""
        return tuple(dict.fromkeys(name for one in self.queries for name in one.windowed))

    @cached_property
    def fingerprint(self) -> str:
        """What must not change while a stream goes on. The algorithm may."""
        query, windows = self.query, [repr(one.window) for one in self.queries]
        named = [f"{name}: {each}" for name, each in zip(self.names, windows, strict=False)]
        told: dict[str, Any] = {
            "window": named or windows[0],  # where windows stand is kept in their order
            "aggregates": {name: described(op) for name, op in query.aggs.items()},
            "by": query.by,
            "order_by": query.order_by,
            "columns": {name: str(query.schema.field(name).type) for name in self.sent},
            "min_size": query.min_size,
            "lateness": query.lateness_steps,
            "idle": query.idle_steps,
            "emit": "early" if query.early else "every",
            "slices": None if self.slices is None else self.slices.described(),
        }
        return json.dumps(told, default=repr, sort_keys=True)

    def difference(self, other: str) -> str:
        """What was asked otherwise, in words."""
        mine, theirs = json.loads(self.fingerprint), json.loads(other)
        # Slices follow from the rest: it is that which a user has changed.
        for name in sorted(mine, key=lambda each: (each == "slices", each != "window")):
            if mine[name] != theirs.get(name):
                return f"{name} was {theirs.get(name)}, and is {mine[name]} now"
        return "it was asked something else"


def question_of(asked: Sequence[StreamQuery], shard: int) -> int:
    """Which of several questions a shard is of."""
    return next(k for k, each in enumerate(asked) if shard in each.shards)


def _only(names: tuple[str, ...], given: Mapping[str, pa.Array], count: int) -> dict[str, pa.Array]:
    return {name: given[name] for name in names}

"""One call of `sliding` on a stream: what goes to workers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pyarrow as pa

from sash.operators.known import described
from sash.spark.clocks import OrderClock
from sash.spark.query import Query
from sash.spark.worker import windowed_columns
from sash.windows.shard import Asked
from sash.windows.slices import Slices

MOMENT, WEIGHT = "__sash_moment", "__sash_weight"
"""Of slices: when they are, and how many rows each stands for."""


@dataclass(frozen=True)
class StreamQuery:
    """What is asked of a stream, and among how many shards its keys are shared."""

    query: Query
    shards: tuple[int, ...]

    def __reduce__(self) -> Any:
        """For workers: without what has been found out here, which has operators as they are."""
        return StreamQuery, (self.query, self.shards)

    @property
    def clock(self) -> OrderClock:
        clock = self.query.clock
        assert clock is not None
        return clock

    @cached_property
    def sent(self) -> tuple[str, ...]:
        """The columns that are read of rows."""
        query = self.query
        if self.slices is not None:  # in which the order of rows is lost
            return query.reads
        kept = query.columns if query.at_rows else ()
        return tuple(dict.fromkeys([*kept, *query.reads, *query.order_by, *query.ties]))

    @cached_property
    def slices(self) -> Slices | None:
        """How rows become slices before they are sent, if windows allow it."""
        query = self.query
        if query.min_size > 1 or query.idle is not None:  # it matters how many rows, and when
            return None
        return Slices.of(query.operator, query.shape, query.schema_read)

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
        if slices is not None:
            names = tuple(slices.fields.names)
            return Asked(
                slices.merged,
                query.steps,
                keys=tuple(query.schema.field(name).type for name in query.by),
                stored=(*names, WEIGHT),
                columns=partial(_only, names),
                weight=WEIGHT,
                lateness=query.lateness_steps,
                grid=slices.grid,
                early=query.early,
                min_size=query.min_size,
                algorithm=query.algorithm,
            )
        return Asked(
            query.operator,
            query.steps,
            keys=tuple(query.schema.field(name).type for name in query.by),
            order=(*query.order_by[1:], *query.ties),
            # Those that wait are given later, and put in order then.
            stored=query.windowed if query.lateness is None else self.sent,
            columns=partial(windowed_columns, query),
            lateness=query.lateness_steps,
            early=query.early,
            idle=query.idle_steps,
            min_size=query.min_size,
            algorithm=query.algorithm,
        )

    @cached_property
    def fingerprint(self) -> str:
        """What must not change while a stream goes on. The algorithm may."""
        query = self.query
        told: dict[str, Any] = {
            "window": repr(query.window),
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

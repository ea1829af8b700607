"""One call of `sliding` on a stream: what goes to workers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from sash.operators.known import described
from sash.spark.clocks import OrderClock
from sash.spark.query import Query
from sash.spark.worker import windowed_columns
from sash.windows.shard import Asked


@dataclass(frozen=True)
class StreamQuery:
    """What is asked of a stream, and among how many shards its keys are shared."""

    query: Query
    shards: tuple[int, ...]

    @property
    def clock(self) -> OrderClock:
        clock = self.query.clock
        assert clock is not None
        return clock

    @cached_property
    def sent(self) -> tuple[str, ...]:
        """The columns that shards are sent."""
        query = self.query
        kept = query.columns if query.at_rows else ()
        return tuple(dict.fromkeys([*kept, *query.reads, *query.order_by, *query.ties]))

    @cached_property
    def asked(self) -> Asked:
        query = self.query
        return Asked(
            query.operator,
            query.steps,
            keys=tuple(query.schema.field(name).type for name in query.by),
            order=(*query.order_by[1:], *query.ties),
            # Those that wait are given later, and put in order then.
            stored=query.windowed if query.lateness is None else self.sent,
            columns=partial(windowed_columns, query),
            lateness=query.lateness_steps,
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
        }
        return json.dumps(told, default=repr, sort_keys=True)

    def difference(self, other: str) -> str:
        """What was asked otherwise, in words."""
        mine, theirs = json.loads(self.fingerprint), json.loads(other)
        for name in mine:
            if mine[name] != theirs.get(name):
                return f"{name} was {theirs.get(name)}, and is {mine[name]} now"
        return "it was asked something else"

"""One call of `sliding`, read and checked: what goes to workers, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from keyword import iskeyword
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from sash.aggregators.duration import Steps, Time
from sash.operators.base import Operator
from sash.operators.sums import Count
from sash.operators.together import Together
from sash.spark.clocks import OrderClock
from sash.spark.series import Part
from sash.spark.shipping import shipped
from sash.windows import cutting
from sash.windows.answer_types import answer_types
from sash.windows.definitions import Definition, Delta
from sash.windows.grouped import algorithm_for
from sash.windows.shapes import Shape

PART, OWN = "__sash_part", "__sash_own"
ALONG = "__sash_along"
ROWS = "__sash_rows"
START, END = "window_start", "window_end"
VERSION = "version"


@dataclass(frozen=True)
class Query:
    """What is asked of the rows of a DataFrame."""

    aggs: Mapping[str, Operator]
    window: Definition
    by: tuple[str, ...]
    order_by: tuple[str, ...]
    columns: tuple[str, ...]
    """Of the input, those that are in the output, if answers are for rows."""
    min_size: int
    algorithm: str
    schema: pa.Schema
    """Of the input."""
    ties: tuple[str, ...] = ()
    """Columns that order rows of the same order value."""
    collated: tuple[str, ...] = ()
    """Columns of text that Spark orders otherwise than byte by byte."""
    parts: Mapping[int, Part] = field(default_factory=dict)
    """By number, the parts of keys that are cut into such."""
    lateness: Time | Steps | None = None
    """How far behind the newest time rows of a stream may come."""
    idle: Time | Steps | None = None
    """After so long without a row a key begins anew."""
    early: bool = False
    """Whether answers are given before they are final."""

    @cached_property
    def operator(self) -> Operator:
        """All aggregates as one operator."""
        given = [_counting_rows(op) for op in self.aggs.values()]
        if len(given) == 1:
            return given[0]
        # A slide policy knows answers by their names, as far as these can be written there.
        return Together(
            **{
                _name(name, k): op
                for k, (name, op) in enumerate(zip(self.aggs, given, strict=True))
            }
        )

    @cached_property
    def clock(self) -> OrderClock | None:
        """How the first order column tells time, if it does."""
        if not self.order_by:
            return None
        first = self.order_by[0]
        return OrderClock.of(first, self.schema.field(first).type)

    @cached_property
    def steps(self) -> Definition:
        """The window in the units of the order column, and of the column it is measured along."""
        window = self.window if self.clock is None else self.clock.in_steps(self.window)
        if isinstance(window, Delta):
            width: Any = window.width
            if isinstance(width, Time):
                clock = OrderClock.of(window.column, self.schema.field(window.column).type)
                if clock is None or clock.kind == "integer":
                    raise TypeError(
                        f"{self.window!r} has a width of time, and the column {window.column!r} "
                        f"has no times."
                    )
                width = clock.steps(width, "width")
            window = replace(window, column=ALONG, width=width)
        return window

    @cached_property
    def shape(self) -> Shape:
        return Shape(self.steps)

    @cached_property
    def shape_as_written(self) -> Shape:
        """With columns as they are called in the input."""
        return Shape(self.window)

    @cached_property
    def at_rows(self) -> bool:
        """Whether answers are for rows, all or some of them, so that their columns are given."""
        return self.shape.at_rows

    @cached_property
    def goes_by_time(self) -> bool:
        """Whether the order column says more than which row is before which."""
        idle = self.idle is not None
        return idle or self.shape.needs_times or self.shape.trigger == cutting.WHEN_OVER

    @cached_property
    def idle_steps(self) -> int | None:
        """In the units of the order column."""
        return self._steps("idle")

    @cached_property
    def lateness_steps(self) -> int | None:
        return self._steps("lateness")

    def _steps(self, name: str) -> int | None:
        given = getattr(self, name)
        return None if given is None or self.clock is None else self.clock.steps(given, name)

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """The columns that workers read."""
        return tuple(dict.fromkeys([*self.by, *self.order_by[:1], *self.windowed]))

    @cached_property
    def windowed(self) -> tuple[str, ...]:
        """The columns that go into windows: what is aggregated, and what tells where they end."""
        marks = [self.shape.mark] if self.shape.mark else []
        along = [self.window.column] if isinstance(self.window, Delta) else []
        values = [name for name in self.operator.columns if name != ROWS]
        return tuple(dict.fromkeys([*values, *marks, *along]))

    @cached_property
    def sent(self) -> tuple[str, ...]:
        """What workers are sent: these, and which part rows are for, and which they are of."""
        if not self.parts:
            return self.reads
        some_not_sent = any(part.between is not None for part in self.parts.values())
        return (*self.reads, PART, OWN) if some_not_sent else (*self.reads, PART)

    @cached_property
    def grouped_by(self) -> tuple[str, ...]:
        """What tells rows apart that go into different windows."""
        return (*self.by, PART) if self.parts else self.by

    @cached_property
    def bare(self) -> bool:
        """Whether workers give nothing but the answers of one aggregate."""
        return self.shape.plain and len(self.aggs) == 1

    @cached_property
    def schema_read(self) -> pa.Schema:
        """Of the input, and of the column that counts rows."""
        return self.schema.append(pa.field(ROWS, pa.int8()))

    @cached_property
    def answer_types(self) -> dict[str, pa.DataType]:
        """The Arrow type of each answer."""
        found = answer_types(self.operator, self.schema_read)
        if not isinstance(found, dict):
            return dict.fromkeys(self.aggs, found)
        return dict(zip(self.aggs, found.values(), strict=True))

    @cached_property
    def chosen(self) -> str:
        """The algorithm that keeps the windows."""
        return algorithm_for(self.operator, self.steps, self.algorithm)

    def __reduce__(self) -> Any:
        """For workers: operators and policies in a way that reaches them."""
        parts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        parts |= self.shipped
        return received, (parts, dict(self.answer_types))

    @cached_property
    def shipped(self) -> dict[str, Any]:
        """What users may have written, such that it reaches workers."""
        aggs = {name: shipped(op) for name, op in self.aggs.items()}
        return {"aggs": aggs, "window": shipped(self.window)}


def received(parts: dict[str, Any], types: dict[str, pa.DataType]) -> Query:
    """A query, where it has been sent to."""
    parts["aggs"] = {name: each.operator for name, each in parts["aggs"].items()}
    parts["window"] = parts["window"].definition
    query = Query(**parts)
    query.__dict__["answer_types"] = types
    return query


def _name(given: str, k: int) -> str:
    plain = given.isidentifier() and not iskeyword(given) and not given.startswith("_")
    return given if plain else f"answer_{k}"


def quoted(name: str) -> Column:
    """The column of this name, whatever signs it has."""
    return F.col("`" + name.replace("`", "``") + "`")


def _counting_rows(op: Operator) -> Operator:
    """`Count()`, of no column, counts rows."""
    return with_columns(op, (ROWS,)) if isinstance(op, Count) and not op.columns else op


def with_columns(op: Operator, columns: tuple[str, ...]) -> Operator:
    if columns == op.columns:
        return op
    found = object.__new__(type(op))  # its class is settled, whatever its options
    found.__dict__.update(op.__dict__, columns=columns)
    return found

"""A monoid: an operator with its types settled, which is what an aggregator computes with."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

Partial = Any
"""A fixed-width partial is a named tuple of numbers; an object partial is whatever was returned."""


class _NotGiven:
    """Nothing was said; None would say something. There is one, which pickling keeps so."""

    def __reduce__(self) -> str:
        return "NOT_GIVEN"

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN: Any = _NotGiven()


@cache
def partial_class(names: tuple[str, ...]) -> Any:
    """The named tuple for a partial with these fields; one class per list of names."""
    return namedtuple("Partial", names)


@cache
def answers_class(names: tuple[str, ...]) -> Any:
    """The named tuple for the answers of a composite with these members."""
    made = namedtuple("Answers", names)  # type: ignore[misc]
    pickled: Any = lambda self: (_answers, (names, tuple(self)))  # noqa: E731
    made.__reduce__ = pickled  # type: ignore[method-assign]
    return made


def _answers(names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """Answers as they were before they were pickled."""
    return answers_class(names)._make(values)


@dataclass(frozen=True)
class Monoid:
    """An operator with its types settled: what an aggregator computes with.

    `fields` are the (name, dtype) pairs of a fixed-width partial, or None if it is an object.
    `members` are the named monoids a composite is made of; its fields are theirs.
    `empty` is what no value at all answers, where `lower(identity())` does not tell it from a
    value; `guarded` says that `lower` cannot be asked about the identity, which answers null.
    `functions` are the user's own, with their options settled, from which compiled code is
    generated; `identity` … `lower` are the same, ready to call from Python.
    """

    name: str
    fields: tuple[tuple[str, np.dtype[Any]], ...] | None
    identity: Callable[[], Partial]
    lift: Callable[..., Partial]
    combine: Callable[[Partial, Partial], Partial]
    lower: Callable[[Partial], Any]
    inverse: Callable[[Partial, Partial], Partial] | None = None
    commutative: bool = False
    selective: bool = False
    inputs: int = 1
    uses_row: bool = False
    takes: str | None = None
    empty: Any = NOT_GIVEN
    guarded: bool = False
    answer: Any = None
    functions: Mapping[str, FunctionType] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    members: tuple[tuple[str, Monoid], ...] = ()

    @property
    def fixed_width(self) -> bool:
        """Whether partials are a few numbers, so that the operator can be compiled."""
        if self.members:
            return all(member.fixed_width for _, member in self.members)
        return self.fields is not None

    @property
    def invertible(self) -> bool:
        return self.inverse is not None

    @property
    def partial(self) -> Any:
        """The named tuple class of a fixed-width partial."""
        if self.members:
            return partial_class(tuple(name for name, _ in self.members))
        return partial_class(tuple(name for name, _ in self.fields or ()))

    def leaves(self) -> Iterator[Monoid]:
        """The monoids that read columns: the members of a composite, or this one."""
        if not self.members:
            yield self
        for _, member in self.members:
            yield from member.leaves()

    def named_answers(self, answers: Iterable[Any]) -> Any:
        """The members' answers under their names."""
        return _answers(tuple(name for name, _ in self.members), tuple(answers))

    def lift_cells(self, cells: Iterator[tuple[Any, ...]], row: int) -> Partial:
        """Lift one row, given for each leaf the values it reads; nulls are skipped."""
        if self.members:
            return self.partial._make([m.lift_cells(cells, row) for _, m in self.members])
        values = next(cells)
        if any(value is None for value in values):
            return self.identity()
        values = values[: self.inputs]
        return self.lift(*values, row) if self.uses_row else self.lift(*values)

    def empty_answer(self) -> Any:
        """What a window that holds no value answers; None where there is no such value."""
        return self.lower(self.identity()) if self.empty is NOT_GIVEN else self.empty

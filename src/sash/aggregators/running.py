"""One algorithm, one operator, rows at hand: run it, compiled or in plain Python."""

from __future__ import annotations

from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from sash.aggregators.answer_types import with_empty
from sash.aggregators.answers import Array, LeafAnswers
from sash.aggregators.binding import Rows, bind
from sash.aggregators.columns import Leaf
from sash.aggregators.compiling import Compiled
from sash.aggregators.registry import fitting
from sash.aggregators.rings import (
    NOTHING,
    Settings,
    apart,
    as_arrays,
    as_lists,
    field_types,
    flatten,
    ring_length,
)
from sash.operators.base import Operator
from sash.operators.families import instead
from sash.operators.laws import vet
from sash.operators.monoid import Monoid


def types_of(leaves: list[Leaf]) -> tuple[tuple[np.dtype[Any], ...], ...]:
    """The types of the columns that each leaf lifts."""
    return tuple(tuple(c.dtype for c in leaf.inputs) for leaf in leaves)


def check(leaves: list[Leaf], monoid: Monoid) -> None:
    """Find what is wrong before a long computation starts: on the types, and on one row."""
    for leaf, bound in zip(leaves, monoid.leaves(), strict=True):
        for given in leaf.inputs[: bound.inputs]:
            if bound.fixed_width and given.numbers is None:
                kind = getattr(given.source, "type", getattr(given.source, "dtype", "objects"))
                hint = instead(kind) if given.kind == "arrow" else ""
                raise TypeError(
                    f"{leaf.operator!r} needs numbers, and was given {_named_type(kind)}{hint}."
                )
        row = _first(leaf)
        ours = type(leaf.operator).__module__.startswith("sash.")
        of_objects = leaf.operator.fields is not None and not bound.fixed_width
        if row is not None and (of_objects or not ours):
            values = tuple(c.item(row) for c in leaf.inputs[: bound.inputs])
            vet(leaf.operator, bound, values)


def _first(leaf: Leaf) -> int | None:
    """The first row on which nothing is missing."""
    mask = leaf.valid
    if mask is None:
        return 0 if len(leaf.inputs[0]) else None
    found = np.flatnonzero(mask)
    return int(found[0]) if len(found) else None


def _named_type(kind: Any) -> str:
    return "objects" if str(kind) == "object" else str(kind)


@cache
def _compiled(algorithm: ModuleType, key: Any, types: Any, nulls: Any, nan: bool) -> Compiled:
    operator: Operator = key.operator
    return Compiled(algorithm, operator.bind_leaves(types), nulls, nan)


class CodeKey:
    """An operator as far as its code goes: the columns it reads do not matter."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.key = operator.code_key()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CodeKey) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


def code_for(algorithm: ModuleType, operator: Operator, types: Any) -> Compiled:
    """The compiled code for columns of these types without nulls; it may not need any rows."""
    nulls = (False,) * len(types)
    return _compiled(algorithm, CodeKey(operator), types, nulls, False)


class Job:
    """Rows, an operator and an algorithm; `call` runs one of the algorithm's loops over them."""

    def __init__(
        self,
        algorithm: ModuleType,
        operator: Operator,
        leaves: list[Leaf],
        base: int = 0,
        nan: bool = False,
    ) -> None:
        """base: the position of the first row; nan: NaN may stand for an answer that is null."""
        self.types = types_of(leaves)
        self.monoid = operator.bind_leaves(self.types)
        check(leaves, self.monoid)
        self.algorithm = fitting(algorithm, self.monoid)
        self.nan = nan
        self.compiled: Compiled | None = None
        self.python: SimpleNamespace | None = None
        if self.monoid.fixed_width:
            self.key = CodeKey(operator)
            self._take(leaves, base)
        else:
            self.leaves = leaves
            self.valid = [leaf.valid for leaf in leaves]
            self.python = bind(self.algorithm, self.monoid)
            self.rows: Any = Rows([[c.objects() for c in leaf.inputs] for leaf in leaves], base)

    def _take(self, leaves: list[Leaf], base: int) -> None:
        """The rows, and code that looks for nulls only where there are some."""
        self.leaves = leaves
        self.valid = [leaf.valid for leaf in leaves]
        nulls = tuple(mask is not None for mask in self.valid)
        self.compiled = _compiled(self.algorithm, self.key, self.types, nulls, self.nan)
        self.rows = self.arrays(self.valid, base)

    def without_rows(self) -> Job:
        """To be kept for rows to come, without those that it was made for."""
        job = Job.__new__(Job)
        job.__dict__.update(self.__dict__, leaves=[], valid=[], rows=())
        return job

    def over(self, leaves: list[Leaf], base: int = 0) -> Job:
        """The same for other rows of these types; only for an operator of fixed width."""
        job = Job.__new__(Job)
        job.__dict__.update(self.__dict__)
        job._take(leaves, base)
        return job

    def arrays(self, valid: list[Array | None], base: int) -> tuple[Any, ...]:
        flat: list[Any] = []
        for leaf, bound, mask in zip(self.leaves, self.monoid.leaves(), valid, strict=True):
            flat += [c.numbers for c in leaf.inputs[: bound.inputs]]
            if mask is not None:
                flat.append(mask)
        return (*flat, base)

    def buffer(self, length: int) -> Any:
        """Room for partials."""
        if self.python is not None:
            return [None] * length
        fields = enumerate(field_types(self.monoid))
        return tuple(apart(i, np.empty, length, dtype) for i, dtype in fields)

    def ring(self, length: int) -> Any:
        """Room for at least this many partials, in a ring."""
        return self.buffer(ring_length(length))

    def rings(self, count: int, settled: Settings = NOTHING) -> tuple[Any, ...]:
        """The algorithm's rings, empty, for a window of so many values."""
        make = as_lists if self.compiled is None else as_arrays
        return tuple(make(self.algorithm, self.monoid, ring_length(count), settled))

    @property
    def code(self) -> Compiled:
        """The compiled entry points; only for an operator of fixed width."""
        assert self.compiled is not None
        return self.compiled

    def call(self, entry: str, *args: Any) -> Any:
        if self.compiled is not None:
            return self.compiled.call(entry, *args)
        return getattr(self.python, entry)(*args)

    def slide(self, rings: tuple[Any, ...], state: Any, rows: int, length: int, out: Any) -> Any:
        """Slide a window over the rows, in the algorithm's own way if it has one."""
        drive = getattr(self.algorithm, "drive_slide", None)
        if drive is None or self.compiled is None:
            return self.call("slide", rings, state, self.rows, rows, length, out)
        return drive(self.call, rings, state, self.rows, rows, length, out)

    def new_state(self) -> tuple[Any, ...]:
        """The state of an empty window, flat if it is for compiled code."""
        python = self.python or bind(self.algorithm, self.monoid)
        state: tuple[Any, ...] = python.new()
        return state if self.compiled is None else flatten(state)

    def outputs(self, count: int) -> tuple[Any, list[LeafAnswers]]:
        """Where `call` writes answers, and the same by leaf."""
        pairs = list(zip(self.leaves, self.monoid.leaves(), strict=True))
        answers = [LeafAnswers(leaf, bound, count) for leaf, bound in pairs]
        if self.compiled is None:
            return [None] * count, answers
        flat: list[Array] = []
        types = iter(self.compiled.answer_types)
        for leaf_answers, nullable in zip(answers, self.compiled.nullable, strict=True):
            answer = leaf_answers.monoid.answer
            width = len(answer) if isinstance(answer, dict) else 1
            for name, dtype in [next(types) for _ in range(width)]:
                dtype = with_empty(dtype, leaf_answers.monoid.empty)
                leaf_answers.fields[name] = apart(len(flat), np.empty, count, dtype)
                flat.append(leaf_answers.fields[name])
            if nullable:
                leaf_answers.there = np.ones(count, bool)
                flat.append(leaf_answers.there)
        return tuple(flat), answers

    def collect(self, out: Any, answers: list[LeafAnswers]) -> list[LeafAnswers]:
        """After the call: what plain Python wrote goes to the leaf that answered it."""
        if self.compiled is None:
            single = not self.monoid.members
            for k, leaf_answers in enumerate(answers):
                leaf_answers.objects = [row if single else row[k] for row in out]
        for leaf_answers in answers:
            if leaf_answers.there is not None and leaf_answers.there.all():
                leaf_answers.there = None
        return answers

"""What is told of each operator of ours: by `sash operators`, and in the docs.

All of it is read off the operators themselves, so that it cannot be out of date.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from sash.operators.base import Operator
from sash.operators.families import NUMBERS
from sash.operators.functions import EMPTY, VALUE, counted
from sash.operators.known import KNOWN
from sash.operators.together import Together

WITHIN = ("FloatSum", "IntegerSum", "ObjectSum", "CountMinTable")
"""What others are made of; nobody asks for them by name."""

AS_COLUMN = "as the column"


@dataclass(frozen=True)
class Entry:
    """An operator: what it answers, what it takes, and what may be assumed of it.

    A trait that is None is there if all members have it.
    """

    name: str
    answers: str
    more: str
    """The rest of what its docstring says; "" if there is no more."""
    columns: tuple[int, int | None]
    """The least and the greatest number that it reads; None: any."""
    takes: tuple[str, ...]
    """The families of values, of the first column; () for any."""
    options: Mapping[str, Any]
    """With their defaults."""
    must: tuple[str, ...]
    """The options that have none."""
    commutative: bool | None
    invertible: bool | None
    selective: bool | None
    partial: Mapping[str, str] | None
    """The fields of a fixed-width partial, of a column of floats; None if it is an object."""
    empty: Any
    """What a window without a value answers."""

    @property
    def traits(self) -> str:
        """Those that it has."""
        names = ("commutative", "invertible", "selective")
        return ", ".join(name for name in names if getattr(self, name))

    @property
    def columns_told(self) -> str:
        """How many columns it reads, and of what."""
        *others, last = self.takes or ("anything",)
        of = f"{', '.join(others)} or {last}" if others else last
        least, most = self.columns
        return f"1 of {of}" + ("" if most == 1 else f", then {least - 1} or more of anything")

    @property
    def options_told(self) -> str:
        """As they are written."""
        needed = [f"{name}=… (needed)" for name in self.must]
        return ", ".join([*needed, *(f"{name}={value!r}" for name, value in self.options.items())])

    @property
    def partial_told(self) -> str:
        """Its shape."""
        return "object" if self.partial is None else counted(len(self.partial), "number")

    @property
    def empty_told(self) -> str:
        if self.empty is None:
            return "null"
        if isinstance(self.empty, (int, float)):
            return f"{self.empty:g}"
        kind = type(self.empty).__name__
        return "[]" if self.empty == [] else f"an empty {kind}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON: text, numbers, lists and nulls only."""
        plain = self.empty is None or isinstance(self.empty, (int, float, list))
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        return told | {
            "columns": {"least": self.columns[0], "most": self.columns[1]},
            "takes": list(self.takes) or ["anything"],
            "must": list(self.must),
            "partial": "object" if self.partial is None else dict(self.partial),
            "empty": self.empty if plain else self.empty_told,
        }


class Composite(Entry):
    """Together: all that is told of it depends on its members."""

    traits = "commutative, invertible: if all members are"
    columns_told = "those of its members"
    options_told = "name=operator, …"
    partial_told = "those of its members"
    empty_told = "what its members do"

    def as_dict(self) -> dict[str, Any]:
        return super().as_dict() | {"partial": self.partial_told, "empty": self.empty_told}


def catalogue() -> dict[str, Entry]:
    """All operators that a user may ask for, by name.

    >>> entry = catalogue()["Mean"]
    >>> entry.answers, entry.traits, entry.partial_told, entry.empty_told
    ('The arithmetic mean.', 'commutative, invertible', '3 numbers', 'null')
    """
    found = {name: _entry(kind) for name, kind in KNOWN.items() if name not in WITHIN}
    return found | {Together.name: _together()}


def _entry(kind: type[Operator]) -> Entry:
    typed = kind.for_type is not None  # options without a default come from the type then
    must = [k for k, v in kind.defaults.items() if v is EMPTY and not typed]
    operator = kind(**dict.fromkeys(must, 1))
    answers, more = _docstring(kind)
    return Entry(
        name=kind.name,
        answers=answers,
        more=more,
        columns=operator.column_counts(),
        takes=_takes(operator),
        options={k: v for k, v in kind.defaults.items() if v is not EMPTY} | _of_init(kind),
        must=tuple(must),
        commutative=operator.commutative,
        invertible=operator.invertible,
        selective=operator.selective,
        partial=_partial(operator),
        empty=_empty(operator),
    )


def _takes(operator: Operator) -> tuple[str, ...]:
    """Partials of numbers are made of numbers, unless `lift` looks at nothing but the place."""
    if operator.needs or operator.fields is None or not operator.inputs:
        return tuple(operator.needs)
    return (NUMBERS,)


def _partial(operator: Operator) -> dict[str, str] | None:
    if operator.fields is None:
        return None
    return {name: AS_COLUMN if kind == VALUE else kind for name, kind in operator.fields.items()}


def _of_init(kind: type[Operator]) -> dict[str, Any]:
    """Options that are turned into others when the operator is made."""
    parameters = inspect.signature(kind.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def _empty(operator: Operator) -> Any:
    monoid = operator.bind()
    if operator.finish is None:
        return monoid.empty_answer()
    names = operator.fields or ()
    return operator.finish(dict(zip(names, monoid.lower(monoid.identity()), strict=True)))


def _docstring(kind: type) -> tuple[str, str]:
    first, _, rest = inspect.cleandoc(kind.__doc__ or "").partition("\n")
    return first, rest.strip()


def _together() -> Entry:
    answers, _ = _docstring(Together)
    return Composite(
        name=Together.name,
        answers=answers,
        more="Its options are operators, by the names of their answers: Together(hi=Max()).",
        columns=(0, None),
        takes=(),
        options={},
        must=(),
        commutative=None,
        invertible=None,
        selective=False,
        partial=None,
        empty=None,
    )

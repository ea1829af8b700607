"""Operators that stand for another one, but give or take its partials.

`Telling` answers with the partial itself, `Merging` reads partials for rows: what one of them gives
the other takes, so that a partial can be summed in one place and lowered, or summed on, in another.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import FunctionType
from typing import Any

from sash.operators.base import Operator
from sash.operators.functions import making
from sash.operators.monoid import Monoid


class Standing(Operator):
    """An operator that is another one, but for what is said here, and for what Operator itself has
    a value for: such attributes are not asked for elsewhere."""

    def __init__(self, of: Operator, columns: tuple[str, ...]) -> None:
        self.of = of
        self.columns = columns

    def __getattr__(self, name: str) -> Any:
        if name == "of":  # not made yet
            raise AttributeError(name)
        return getattr(self.of, name)

    def code_key(self) -> tuple[Any, ...]:
        return (type(self), *self.of.code_key())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.of, self.columns)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), self.of, self.columns))


class Telling(Standing):
    """Answers with its partial; null if there was no value."""

    def bind(self, *types: Any) -> Monoid:
        found = self.of.bind(*types)
        fields = None if found.fields is None else dict(found.fields)
        each = "p" if fields is None else f"({', '.join(f'p.{name}' for name in fields)},)"
        text = f"def lower(p):\n    return {each}\n"
        lower = _written(text, "lower")
        return replace(
            found,
            lower=lower,
            functions={**found.functions, "lower": lower},
            sources={**found.sources, "lower": text},
            answer=fields,
            empty=None,
            guarded=False,
        )


class Merging(Standing):
    """Reads partials, of values of these types."""

    needs = ()
    uses_row = False

    def __init__(self, of: Operator, columns: tuple[str, ...], types: tuple[Any, ...]) -> None:
        super().__init__(of, columns)
        self.types = types

    @property
    def inputs(self) -> int:
        return len(self.columns)

    @property
    def finish(self) -> Any:  # type: ignore[override]
        return self.of.finish

    def finished_type(self) -> Any:
        return self.of.finished_type()

    def bind(self, *types: Any) -> Monoid:
        found = self.of.bind(*self.types)
        names = ", ".join(name for name, _ in found.fields or ())
        text = f"def lift({names}):\n    return ({names},)\n"
        lift = _written(text, "lift")
        return replace(
            found,
            lift=making(found.partial, lift, f"{self.of.name}.lift"),
            functions={**found.functions, "lift": lift},
            sources={**found.sources, "lift": text},
            inputs=self.inputs,
            uses_row=False,
        )

    def code_key(self) -> tuple[Any, ...]:
        return (*super().code_key(), self.types)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.of, self.columns, self.types)


@cache
def _written(text: str, name: str) -> FunctionType:
    """A function of ours, of its text: the names in it are those of an operator's fields."""
    space: dict[str, Any] = {"__name__": __name__}
    exec(text, space)
    found: FunctionType = space[name]
    return found

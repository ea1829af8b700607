"""Several operators over one window."""

from __future__ import annotations

from collections.abc import Sequence
from keyword import iskeyword
from typing import Any

from sash.operators.base import Operator
from sash.operators.errors import OperatorError
from sash.operators.monoid import NOT_GIVEN, Monoid, partial_class


class Together(Operator):
    """Several operators at once, each over its own columns, with one window kept.

    >>> from sash.operators.extremes import Max, Min
    >>> both = Together(lo=Min("price"), hi=Max("price")).bind()
    >>> both.lower(both.lift_cells(iter([(2.5,), (2.5,)]), 0))
    Answers(lo=2.5, hi=2.5)
    """

    name = "Together"
    takes = None
    empty = NOT_GIVEN
    answer = None

    def __init__(self, **members: Operator) -> None:
        if not members:
            raise OperatorError("Together needs at least one operator, as in Together(hi=Max()).")
        for name, member in members.items():
            if not name.isidentifier() or iskeyword(name) or name.startswith("_"):
                raise OperatorError(f"Together: {name!r} cannot be the name of an answer.")
            if isinstance(member, type) and issubclass(member, Operator):
                raise OperatorError(f"Together: {name} is a class; write {member.__name__}().")
            if not isinstance(member, Operator) or isinstance(member, Together):
                raise OperatorError(f"Together: {name} must be an operator, not {member!r}.")
        self.members = members
        self.columns = tuple(dict.fromkeys(c for m in members.values() for c in m.columns))

    @property
    def leaves(self) -> tuple[Operator, ...]:
        return tuple(self.members.values())

    @property
    def invertible(self) -> bool:
        return all(member.invertible for member in self.members.values())

    @property
    def commutative(self) -> bool:  # type: ignore[override]
        return all(member.commutative for member in self.members.values())

    @property
    def selective(self) -> bool:  # type: ignore[override]
        return False

    def bind(self, *types: Any) -> Monoid:
        return self.bind_leaves([types] * len(self.members))

    def bind_leaves(self, types: Sequence[Sequence[Any]]) -> Monoid:
        names = tuple(self.members)
        bound = [m.bind(*given) for m, given in zip(self.members.values(), types, strict=True)]
        partial = partial_class(names)

        def lift(*values: Any) -> Any:
            raise OperatorError("Together lifts a row's cells, one tuple for each member.")

        def combine(a: Any, b: Any) -> Any:
            return partial._make([m.combine(x, y) for m, x, y in zip(bound, a, b, strict=True)])

        def inverse(total: Any, old: Any) -> Any:
            pairs = zip(bound, total, old, strict=True)
            return partial._make([m.inverse(x, y) for m, x, y in pairs if m.inverse])

        def lower(p: Any) -> Any:
            return monoid.named_answers(m.lower(x) for m, x in zip(bound, p, strict=True))

        monoid = Monoid(
            name="Together",
            fields=None,
            identity=lambda: partial._make([m.identity() for m in bound]),
            lift=lift,
            combine=combine,
            inverse=inverse if all(m.invertible for m in bound) else None,
            lower=lower,
            commutative=all(m.commutative for m in bound),
            members=tuple(zip(names, bound, strict=True)),
        )
        return monoid

    def code_key(self) -> tuple[Any, ...]:
        return tuple((name, member.code_key()) for name, member in self.members.items())

    def __reduce__(self) -> tuple[Any, ...]:
        return _together, (self.members,)

    def __repr__(self) -> str:
        return f"Together({', '.join(f'{name}={m!r}' for name, m in self.members.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Together) and self.members == other.members

    def __hash__(self) -> int:
        return hash(tuple(self.members.items()))


def _together(members: dict[str, Operator]) -> Together:
    """A composite as it was when pickled."""
    return Together(**members)

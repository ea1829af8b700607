"""For tests of operators: the laws, and an operator that counts its ⊕."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sash.operators.base import Operator
from sash.operators.laws import BrokenLaw, check_operator
from sash.operators.monoid import Monoid

__all__ = ["BrokenLaw", "Counting", "check_operator"]


class Counting:
    """How often ⊕ (and its inverse) is called.

    >>> from sash import Sum, aggregator
    >>> calls = Counting()
    >>> window = aggregator("two_stacks", calls.of(Sum()))
    >>> window.insert(1)
    >>> calls.taken()
    1
    """

    def __init__(self) -> None:
        self.count = 0

    def taken(self) -> int:
        """The calls since this was last asked."""
        count, self.count = self.count, 0
        return count

    def of(self, operator: Operator) -> Operator:
        """The same operator, counted. For values one by one: compiled loops do not count."""
        counting = self

        class Counted(type(operator)):  # type: ignore[misc]
            def bind(self, *types: Any) -> Monoid:
                monoid: Monoid = super().bind(*types)
                inverse = monoid.inverse
                return replace(
                    monoid,
                    combine=counting._counted(monoid.combine),
                    inverse=None if inverse is None else counting._counted(inverse),
                )

        counted = Counted(*operator.columns, **operator.given())
        counted.name = operator.name
        return counted

    def _counted(self, function: Any) -> Any:
        def counted(a: Any, b: Any) -> Any:
            self.count += 1
            return function(a, b)

        return counted

"""Any interleaving of a window's calls, compared with recalc after each."""

from __future__ import annotations

from collections.abc import Callable

from cases import Case
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import sash
from sash.aggregators.registry import named
from sash.operators.laws import close
from sash.stores import Place

ALGORITHMS = [card.name for card in sash.algorithms() if not card.composed]

FOR_LESS = [name for name in ALGORITHMS if hasattr(named(name), "query_last")]
"""Those that also answer for the youngest values of their window."""


def answers_alike(found: object, expected: object) -> bool:
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            answers_alike(found[k], expected[k]) for k in found
        )
    if isinstance(found, list) and isinstance(expected, list):
        return close(tuple(found), tuple(expected))
    return close(found, expected)


def machine(
    algorithm: str, case: Case, place: Callable[[], Place] | None = None
) -> type[RuleBasedStateMachine]:
    """place: makes one for a window that is kept in a store, and is opened again now and then."""
    values = st.one_of(st.none(), case.values, case.values, case.values)

    class Window(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.place = None if place is None else place()
            self.tried = sash.aggregator(algorithm, case.operator, store=self.place)
            self.oracle = sash.aggregator("recalc", case.operator)
            self.values: list[object] = []

        @rule(first=case.values, more=st.lists(values, max_size=6))
        def insert(self, first: object, more: list[object]) -> None:
            for value in [first, *more] if not self.values else more or [first]:
                self.tried.insert(value)
                self.oracle.insert(value)
                self.values.append(value)

        @precondition(lambda self: self.values)
        @rule()
        def evict(self) -> None:
            self.tried.evict()
            self.oracle.evict()
            del self.values[0]

        @precondition(lambda self: self.values)
        @rule(share=st.sampled_from([0.3, 0.7, 1.0]))
        def bulk_evict(self, share: float) -> None:
            count = max(1, int(share * len(self.values)))
            self.tried.bulk_evict(count)
            self.oracle.bulk_evict(count)
            del self.values[:count]

        @precondition(lambda self: self.values)
        @rule(more=st.lists(case.values, min_size=1, max_size=12))
        def slide(self, more: list[object]) -> None:
            """A window of one size for a while: evict, insert, query."""
            for value in more:
                for window in (self.tried, self.oracle):
                    window.evict()
                    window.insert(value)
                self.values = [*self.values[1:], value]
                assert answers_alike(self.tried.query(), self.oracle.query())

        @precondition(lambda self: self.place)
        @rule(closing=st.booleans())
        def open_again(self, closing: bool) -> None:
            if closing:
                self.tried.close()
            else:
                self.tried.sync()
                self.tried.abandon()
            self.tried = sash.aggregator(algorithm, case.operator, store=self.place)

        def teardown(self) -> None:
            if self.place is not None:
                self.tried.abandon()

        @invariant()
        def answers_as_the_oracle(self) -> None:
            assert len(self.tried) == len(self.values)
            if self.values:
                self.tried.check_invariants(self.values)
            assert answers_alike(self.tried.query(), self.oracle.query())
            if algorithm in FOR_LESS:
                n = len(self.values)
                for last in sorted({n, n // 2, n // 3, min(n, 1), 0}, reverse=n % 2 == 0):
                    assert answers_alike(self.tried.query(last), self.oracle.query(last))

    return Window

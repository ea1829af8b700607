"""Every algorithm with every operator, in any interleaving of calls, against recalc."""

from __future__ import annotations

import pytest
from cases import CASES, Case, fits
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import sash
from sash.aggregators.registry import named
from sash.operators.laws import close

ALGORITHMS = [card.name for card in sash.algorithms() if not card.composed]

FOR_LESS = [name for name in ALGORITHMS if hasattr(named(name), "query_last")]
"""Those that also answer for the youngest values of their window."""


PAIRS = [
    pytest.param(a, case, id=f"{a}-{case.name}")
    for a in ALGORITHMS
    for case in CASES
    if fits(a, case.operator)
]


def answers_alike(found: object, expected: object) -> bool:
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            answers_alike(found[k], expected[k]) for k in found
        )
    if isinstance(found, list) and isinstance(expected, list):
        return close(tuple(found), tuple(expected))
    return close(found, expected)


def machine(algorithm: str, case: Case) -> type[RuleBasedStateMachine]:
    values = st.one_of(st.none(), case.values, case.values, case.values)

    class Window(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.tried = sash.aggregator(algorithm, case.operator)
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


@pytest.mark.parametrize(("algorithm", "case"), PAIRS)
def test_any_interleaving(algorithm: str, case: Case) -> None:
    default = settings()
    run_state_machine_as_test(
        machine(algorithm, case),
        settings=settings(
            default, max_examples=max(5, default.max_examples // 6), stateful_step_count=20
        ),
    )

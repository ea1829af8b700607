"""Every algorithm with every operator, in any interleaving of calls, against recalc."""

from __future__ import annotations

import pytest
from cases import CASES, Case, fits
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from interleavings import ALGORITHMS, machine

PAIRS = [
    pytest.param(a, case, id=f"{a}-{case.name}")
    for a in ALGORITHMS
    for case in CASES
    if fits(a, case.operator)
]


@pytest.mark.parametrize(("algorithm", "case"), PAIRS)
def test_any_interleaving(algorithm: str, case: Case) -> None:
    default = settings()
    run_state_machine_as_test(
        machine(algorithm, case),
        settings=settings(
            default, max_examples=max(5, default.max_examples // 6), stateful_step_count=20
        ),
    )

"""What correct means for a window whose rows are in the order of a list."""

from __future__ import annotations

from typing import Any

import sash
from sash.operators.laws import close


def answer_for(operator: sash.Operator, values: list[Any]) -> Any:
    """What a window of just these values answers."""
    window = sash.aggregator("recalc", operator)
    for value in values:
        window.insert(value)
    return window.query()


def alike(found: Any, expected: Any) -> bool:
    """Whether two answers are equal, up to the rounding of floats."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(alike(found[k], expected[k]) for k in found)
    if isinstance(found, list) and isinstance(expected, list):
        return close(tuple(found), tuple(expected))
    return close(found, expected)

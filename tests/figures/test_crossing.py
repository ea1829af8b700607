"""Where a ratio crosses a line, and stays above it."""

from __future__ import annotations

from math import inf

import pytest

from sash.figures.crossing import crossing
from sash.figures.results import Curve


@pytest.mark.parametrize(
    ("ratios", "times", "expected"),
    [
        ({1: 2.0, 4: 3.0}, 1.0, 1.0),  # never below
        ({1: 0.5, 4: 0.9}, 1.0, inf),  # never above
        ({1: 0.5, 4: 2.0}, 1.0, 2.0),  # half-way, on logarithmic axes
        ({1: 0.5, 4: 2.0, 16: 0.5, 64: 2.0}, 1.0, 32.0),  # what counts is where it stays
        ({1: 1.0, 8: 0.99}, 1.0, inf),
        ({1: 2.5, 4: 10.0, 16: 40.0}, 10.0, 4.0),
    ],
)
def test_crossing(ratios: dict[float, float], times: float, expected: float) -> None:
    assert crossing(Curve(ratios), times) == pytest.approx(expected)


def test_of_nothing() -> None:
    assert crossing(Curve({})) == inf

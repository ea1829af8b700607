"""From which window size on one algorithm is so many times as fast as another."""

from __future__ import annotations

from math import exp2, inf, log2

from sash.figures.results import Curve


def crossing(ratio: Curve, times: float = 1.0) -> float:
    """The x from which on a ratio stays at or above `times`; inf if it does not.

    Between two places it is read off a straight line through logarithms. Noise may carry a ratio
    over the line and back: what counts is where it stays above.
    """
    points = sorted(ratio.at.items())
    below = [place for place, (_, value) in enumerate(points) if value < times]
    if not points or (below and below[-1] == len(points) - 1):
        return inf
    if not below:
        return points[0][0]
    (x, value), (next_x, next_value) = points[below[-1] : below[-1] + 2]
    share = (log2(times) - log2(value)) / (log2(next_value) - log2(value))
    return exp2(log2(x) + share * (log2(next_x) - log2(x)))

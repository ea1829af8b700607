"""An operator of our own, for the demo: it is written as the built-in ones are, and compiled."""

from __future__ import annotations

import math

import sash


@sash.operator(partial={"hi": "float64", "lo": "float64"}, commutative=True, empty=None)
class Spread:
    """The highest less the lowest."""

    def identity():
        return -math.inf, math.inf

    def lift(v):
        return v, v

    def combine(a, b):
        return max(a.hi, b.hi), min(a.lo, b.lo)

    def lower(p):
        return p.hi - p.lo

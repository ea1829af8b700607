"""Lengths of time, which the layer below reads too."""

from sash.aggregators.duration import nanoseconds, steps

__all__ = ["nanoseconds", "steps"]

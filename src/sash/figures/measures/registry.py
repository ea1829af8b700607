"""All kinds of measurement by the names that experiments call them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from sash.figures.cases import Group
from sash.figures.measures.calls import calls
from sash.figures.measures.memory import memory
from sash.figures.measures.ranges import all_ranges
from sash.figures.measures.throughput import throughput

Measure = Callable[..., list[Group]]
"""Takes the settings of an experiment by name."""

MEASURES: dict[str, Measure] = {
    "throughput": throughput,
    "all ranges": all_ranges,
    "calls": calls,
    "memory": memory,
}


def measure_named(name: str) -> Measure:
    """A kind of measurement: ours, or `module:function` of an experiment of one's own."""
    module, found, function = name.partition(":")
    if found:
        own: Measure = getattr(import_module(module), function)
        return own
    return MEASURES[name]

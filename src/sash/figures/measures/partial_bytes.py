"""The same slides with partials of eight bytes and of one: is it caches, or branches?

If windows are slower where they outgrow the caches, those of one byte are so with eight times as
many values. If it is a branch that the processor does not foresee, bytes make no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Final

from sash.aggregators.registry import named
from sash.figures.asked import Asked
from sash.figures.cases import Case, Group
from sash.figures.data import values_of
from sash.figures.measures import b_int_even
from sash.figures.measures.sliding import Slider, slides_for
from sash.figures.own_operators import greatest_of

EVEN: Final = "b_int, no branches"
BYTES: Final = {"8 bytes": "int64", "1 byte": "int8"}


def partial_bytes(*, algorithms: Sequence[str], sizes: Sequence[int], slides: int) -> list[Group]:
    """A panel for each width of a partial, a line for each algorithm."""

    def group(size: int) -> list[Case]:
        count = slides_for("", size, slides, 0)
        values = values_of("in a byte", size + count)
        cases = []
        for panel, kind in BYTES.items():
            asked = Asked(greatest_of(kind), kind)
            for name in algorithms:
                slider = Slider(_module(name), asked, values, size, count)
                cases.append(Case(panel, name, size, slider.run, slider.answers))
        return cases

    return [partial(group, size) for size in sizes]


def _module(name: str) -> ModuleType:
    return b_int_even if name == EVEN else named(name)

"""What lift, ⊕ and lower take of operators whose partials are objects, in plain Python.

By how many values each of the two partials holds that ⊕ joins.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sash.figures.asked import ASKED
from sash.figures.cases import Case, Group, Point

MICROSECONDS = "µs a call"


def parts_of_objects(*, operators: Sequence[str], sizes: Sequence[int], calls: int) -> list[Group]:
    """A panel for each operator; `lists joined` is what ⊕ would do to lists as Python has them."""

    def group(operator: str, size: int) -> list[Case]:
        monoid: Any = ASKED[operator].operator.bind(ASKED[operator].dtype)
        one, other = (_sum(monoid, range(start, start + size)) for start in (0, size))
        lists = list(range(size)), list(range(size))
        parts: dict[str, Callable[[], Any]] = {
            "lift": partial(monoid.lift, 7),
            "⊕": partial(monoid.combine, one, other),
            "lists joined": partial(list.__add__, *lists),
        }
        if operator != "Collect":
            del parts["lists joined"]
        return [
            Case(operator, name, size, partial(_timed, call, calls)) for name, call in parts.items()
        ]

    return [partial(group, operator, size) for operator in operators for size in sizes]


def _sum(monoid: Any, values: range) -> Any:
    total = monoid.identity()
    for value in values:
        total = monoid.combine(total, monoid.lift(value))
    return total


def _timed(call: Callable[[], Any], calls: int) -> list[Point]:
    start = time.perf_counter_ns()
    for _ in range(calls):
        call()
    return [Point(MICROSECONDS, (time.perf_counter_ns() - start) / calls / 1e3)]

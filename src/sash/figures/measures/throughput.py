"""Evict, insert, query: how long a slide takes, for windows of many sizes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from sash.figures.asked import ASKED, values_of
from sash.figures.cases import Case, Group
from sash.figures.measures.sliding import Slider, slides_for


def throughput(
    *,
    algorithms: Sequence[str],
    operators: Sequence[str],
    sizes: Sequence[int],
    slides: int,
    work: int,
    workload: str,
    stop: dict[str, int] | None = None,
    instead: dict[str, dict[str, Any]] | None = None,
) -> list[Group]:
    """A panel for each operator, a line for each algorithm.

    work: how many ⊕ an algorithm without memory may spend on a run; stop: the longest window of
    some algorithms, which would take too long for more; instead: other `sizes`, `slides` and `work`
    of some operators, whose ⊕ takes long.
    """
    other = instead or {}

    def group(operator: str, size: int) -> list[Case]:
        cases = []
        own = other.get(operator, {})
        for algorithm in algorithms:
            if stop and size > stop.get(algorithm, size):
                continue
            least, most = own.get("slides", slides), own.get("work", work)
            count = slides_for(algorithm, size, least, most)
            values = values_of(workload, size + count)
            slider = Slider(algorithm, ASKED[operator], values, size, count)
            cases.append(Case(operator, algorithm, size, slider.run, slider.answers))
        return cases

    return [
        partial(group, operator, size)
        for operator in operators
        for size in other.get(operator, {}).get("sizes", sizes)
    ]

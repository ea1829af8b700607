"""Several dimensions aggregated in one window: how long a value takes by their number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

import sash
from sash.figures.cases import Case, Group
from sash.figures.measures.policy_slides import Slides
from sash.figures.measures.policy_windows import SIZED, Question, made, missing_stores, there

PANEL = "dimensions"

ops: Any = sash


def dimensions(
    *, series: Sequence[str], size: int, dimensions: Sequence[int], slides: int
) -> list[Group]:
    """One window of `size` values for each number of counts."""

    def group() -> list[Case]:
        cases = []
        for name in there(series):
            for count in dimensions:
                values = repeat([size] * slides)
                timed = Slides(made(name, counts(count)), [size] * size, values.__next__)
                cases.append(Case(PANEL, name, count, timed.run, timed.answers))
        return cases

    return [group, *missing_stores(series)]


def counts(number: int) -> Question:
    """The paper's monoid with several counts; the first one tells the policy what to do."""
    others = {f"count{k}": ops.Count() for k in range(2, number + 1)}
    return Question(
        ops.Together(first=SIZED.operator, **others),
        lambda total, old: total.first["count"] - old.first["count"] >= total.first["max_size"],
    )

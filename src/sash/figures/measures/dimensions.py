"""Several dimensions aggregated in one window: how long a value takes by their number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
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
    """One window of `size` values with each number of counts."""

    def group(count: int) -> list[Case]:
        cases = []
        for name in there(series):
            timed = Slides(
                made(name, counts(count)), [size] * size, repeat([size] * slides).__next__
            )
            cases.append(Case(PANEL, name, count, timed.run, timed.answers))
        return cases

    return [*(partial(group, count) for count in dimensions), *missing_stores(series)]


def counts(number: int) -> Question:
    """The paper's monoid with several counts; the first one tells the policy what to do."""
    others = {f"count{k}": ops.Count() for k in range(2, number + 1)}
    return Question(
        ops.Together(first=SIZED.operator, **others),
        lambda total, old: total.first["count"] - old.first["count"] >= total.first["max_size"],
    )

"""A window of constant size by a slide policy: how long a value takes that comes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import repeat

import numpy as np

from sash.figures.cases import Case, Group
from sash.figures.measures.policy_slides import Slides, SlidesInLoop
from sash.figures.measures.policy_windows import (
    SIZED,
    is_compiled,
    made,
    missing_stores,
    there,
)

PANEL = "constant size"
BY_LOOP = 16
"""How many times as many values a compiled loop is given, which would else be done at once."""


def constant_size(
    *,
    series: Sequence[str],
    sizes: Sequence[int],
    slides: int,
    work: int,
    stop: dict[str, int] | None = None,
) -> list[Group]:
    """slides: values that are timed; work: how many ⊕ recalc may spend on them; stop: the longest
    window of some series.
    """

    def group(size: int) -> list[Case]:
        cases = []
        for name in there(series):
            if stop and size > stop.get(name, size):
                continue
            timed: Slides | SlidesInLoop
            if is_compiled(name):
                values = repeat(np.full(BY_LOOP * slides, size))
                timed = SlidesInLoop(name, SIZED, np.full(size, size), values.__next__)
            else:
                count = max(min(slides, work // size), 8) if name == "recalc" else slides
                ones = repeat([size] * count)
                timed = Slides(made(name, SIZED), [size] * size, ones.__next__)
            cases.append(Case(PANEL, name, size, timed.run, timed.answers))
        return cases

    return [*(partial(group, size) for size in sizes), *missing_stores(series)]

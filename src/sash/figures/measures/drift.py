"""What is left of a huge value that has gone out of the window: the error of later answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from sash.figures.cases import Case, Group, Point
from sash.figures.data import Array
from sash.figures.measures.installed import installed, missing
from sash.figures.measures.rivals_on_arrays import FLOOR, LIBRARIES, one_thread

ERROR = "worst relative error"
RIVALS = [name for name in LIBRARIES if name != FLOOR]
STEP = 10
"""One answer in so many is looked at."""

EXACT: dict[str, Callable[[Array], Array]] = {
    "Max": lambda windows: windows.max(axis=1),
    "Mean": lambda windows: windows.mean(axis=1),
    "StdDev": lambda windows: windows.std(axis=1, ddof=1),
}


def drift(*, operators: Sequence[str], size: int, rows: int, huge: float) -> list[Group]:
    """A panel for each operator, a column for each library."""
    one_thread()

    def group(operator: str) -> list[Case]:
        found = errors(operator, size, rows, huge)
        return [
            Case(operator, name, size, partial(_told, error), timed=False)
            for name, error in found.items()
        ]

    return missing(RIVALS) + [partial(group, operator) for operator in operators]


def _told(error: float) -> list[Point]:
    return [Point(ERROR, error)]


def errors(operator: str, size: int, rows: int, huge: float) -> dict[str, float]:
    """By library, the worst error of a window's answers once one huge value has left it."""
    values = np.random.default_rng(1).random(rows)
    values[size] = huge
    after = slice(3 * size, None, STEP)
    exact = EXACT[operator](np.lib.stride_tricks.sliding_window_view(values, size)[after])
    found = {}
    for name in installed(RIVALS):
        run: Any = LIBRARIES[name](operator, values, size)
        if run is not None:
            answers = np.asarray(run())[size - 1 :][after]
            found[name] = float(np.max(np.abs(answers - exact) / np.abs(exact)))
    return found

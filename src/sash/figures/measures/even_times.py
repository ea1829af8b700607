"""Windows of an hour over rows that come at any time, or one as long after the other.

With even times one row leaves for each that comes, which a processor foresees; the rest of what a
window of time does is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

import sash
from sash.figures.cases import Case, Group
from sash.figures.measures.rivals_by_time import HOUR
from sash.figures.measures.rivals_on_arrays import OPERATORS, Timed

PANEL = "Max"


def even_times(*, sizes: Sequence[int], rows: int) -> list[Group]:
    """sizes: how many rows an hour has, on average."""
    rng = np.random.default_rng(0)
    values, gaps = rng.random(rows), rng.exponential(1.0, rows)
    operator = OPERATORS["Max"]

    def group(size: int) -> list[Case]:
        every = HOUR // size
        times = {
            "at any time": np.cumsum((gaps * every).astype(np.int64) + 1),
            "evenly": np.arange(1, rows + 1) * every,
        }
        runs = {
            name: partial(sash.rolling, values, "1h", operator, times=at.astype("datetime64[us]"))
            for name, at in times.items()
        }
        runs["by rows"] = partial(sash.rolling, values, size, operator)
        return [Case(PANEL, name, size, Timed(run, rows).run) for name, run in runs.items()]

    return [partial(group, size) for size in sizes]

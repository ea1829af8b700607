"""A stream of readings of a computer's memory, by operator and slide policy: time a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import sash
from sash.figures.asked import ASKED, Array
from sash.figures.cases import Case, Group
from sash.figures.measures.policy_slides import Slides, SlidesInLoop
from sash.figures.measures.policy_windows import (
    Question,
    is_compiled,
    made,
    missing_stores,
    there,
)
from sash.workloads import memory_usage

ops: Any = sash

NAMES = {
    "Sum": "Sum<Double>",
    "Mean": "ArithmeticMean",
    "G. Mean": "GeometricMean",
    "Std. Dev.": "SampleStdDev",
    "Max": "Max<Double>",
}
"""As the paper's table calls them, and as `asked` does."""
LONGEST_RISE = "LIS"
SHRINKING = ("Max", LONGEST_RISE)
"""Windows that also lose what can never again be part of the answer."""


def policy_streams(
    *,
    series: Sequence[str],
    operators: Sequence[str],
    size: int,
    slides: int,
    work: int,
    by_loop: int = 16,
) -> list[Group]:
    """A panel for each operator; windows of at most `size` values.

    by_loop: how many times as many values a compiled loop is given.
    """

    def group(operator: str) -> list[Case]:
        cases = []
        question = asked(operator, size)
        for name in there(series):
            timed: Slides | SlidesInLoop
            if is_compiled(name):
                stream = Stream(operator, size, slides * by_loop)
                timed = SlidesInLoop(name, question, stream.columns(0, size), stream.following)
            else:
                few = name == "recalc" and operator not in SHRINKING
                stream = Stream(operator, size, max(work // size, 8) if few else slides)
                filling = rows_of(stream.columns(0, size))
                following = partial(_next_rows, stream.following)
                timed = Slides(made(name, question), filling, following)
            cases.append(Case(operator, name, size, timed.run, timed.answers))
        return cases

    return [*(partial(group, operator) for operator in operators), *missing_stores(series)]


class Stream:
    """The readings: `size` that fill the window, and as many as each run takes."""

    def __init__(self, operator: str, size: int, slides: int) -> None:
        self.with_times = operator == LONGEST_RISE
        self.at, self.slides = size, slides

    def columns(self, first: int, end: int) -> Any:
        values = memory_usage.in_use(end)[first:end].astype(float)
        return {"v": values, "t": np.arange(first, end)} if self.with_times else values

    def following(self) -> Any:
        self.at += self.slides
        return self.columns(self.at - self.slides, self.at)


def rows_of(columns: Any) -> list[Any]:
    """Columns as values that come one by one."""
    if not isinstance(columns, dict):
        values: list[Any] = columns.tolist()
        return values
    lists: Iterator[Any] = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in lists]


def _next_rows(following: Callable[[], Array]) -> list[Any]:
    return rows_of(following())


def asked(operator: str, size: int) -> Question:
    """An operator beside a count, which the policy needs.

    Of Max, all before the greatest value leave; of the longest rise, all before that.
    """
    if operator == LONGEST_RISE:
        rise = ops.Together(n=ops.Count("t"), rise=ops.LongestRise("v"), newest=ops.Max("t"))
        return Question(
            rise,
            lambda total, old: old.newest < total.rise["start"] or total.n - old.n >= size,
            f"old.newest < total.rise.start or total.n - old.n >= {size}",
        )
    together = ops.Together(n=ops.Count(), value=ASKED[NAMES[operator]].operator)
    if operator == "Max":
        return Question(
            together,
            lambda total, old: old.value < total.value or total.n - old.n >= size,
            f"old.value < total.value or total.n - old.n >= {size}",
        )
    return Question(
        together,
        lambda total, old: total.n - old.n >= size,
        f"total.n - old.n >= {size}",
    )

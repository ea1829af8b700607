"""Which algorithm keeps a window: one ladder, read from the top; the first rung that fits is taken.

What decides is what the operator can do, in which order rows come and leave, and whether the
longest wait matters or the sum of all of them. The figures that the reasons quote are measured by
`make bench-algorithms`, which writes them to measured.csv.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

import numpy as np

from sash.operators.base import Operator
from sash.operators.monoid import Monoid

Order = Literal["fifo", "bounded", "any"]
Shape = Literal["fixed", "variable", "bulk", "policy"]
Latency = Literal["throughput", "worst_case"]


@dataclass(frozen=True)
class Need:
    """What is asked of a window."""

    fixed_width: bool
    selective: bool
    exact_inverse: bool
    order: Order = "fifo"
    shape: Shape = "fixed"
    latency: Latency = "throughput"
    ranges: int | Literal["any"] = 1
    """How many are asked for; "any" if which ones is not known beforehand."""
    threads: int = 1
    arrays: bool = True
    """Whether rows come as arrays, in compiled loops; or one by one."""


@dataclass(frozen=True)
class Rung:
    """An algorithm, when to take it, and why."""

    algorithm: str
    asked: str
    fits: Callable[[Need], bool]
    why: str
    against: tuple[str, ...] = ()
    """What it was measured against, for this need."""
    figure: str = "slide"


LADDER = (
    Rung(
        "amta",
        "a slide policy decides what leaves",
        lambda need: need.shape == "policy" and need.order == "fifo",
        "it finds what a policy rejects by a search down its tree, in O(log n)",
        ("log_mta",),
    ),
    Rung(
        "fiba",
        "rows come in any order",
        lambda need: need.order != "fifo",
        "a late row costs O(log d), d rows behind the newest, and one in order a constant",
        ("flat_fat",),
    ),
    Rung(
        "slick_deque",
        "several ranges, and ⊕ picks one of its arguments",
        lambda need: need.ranges != 1 and need.selective,
        "it is as fast as any and keeps the least: values that can no longer win are gone",
        ("slide_side", "flat_fit"),
        "ranges",
    ),
    Rung(
        "flat_fit",
        "any range may be asked for",
        lambda need: need.ranges == "any",
        "what one range has summed the next reuses; log_mta's ranges cost as much, its slide ten "
        "times as much",
        ("log_mta", "b_int", "flat_fat"),
        "ranges",
    ),
    Rung(
        "slide_side",
        "several ranges, known beforehand",
        lambda need: need.ranges != 1,
        "values are shared, and each range is two sums, or one step back where that is exact",
        ("flat_fit", "b_int"),
        "ranges",
    ),
    Rung(
        "amta",
        "no wait may be long, and many rows leave at once",
        lambda need: need.latency == "worst_case" and need.shape == "bulk",
        "it evicts any number of rows in O(log n)",
        ("fiba", "sba", "daba_lite"),
        "evict half",
    ),
    Rung(
        "pba",
        "no wait may be long, the window has one size, and there is a second thread",
        lambda need: (
            need.latency == "worst_case"
            and need.shape == "fixed"
            and need.threads > 1
            and need.arrays
            and need.fixed_width
        ),
        "the other thread sums what will be needed, and none of it is waited for",
        ("daba_lite", "sba"),
        "worst",
    ),
    Rung(
        "daba_lite",
        "no wait may be long",
        lambda need: need.latency == "worst_case",
        "no slide takes more than six ⊕, however long the window and whatever enters and leaves; "
        "it keeps half of what daba does",
        ("daba", "two_stacks_lite"),
        "worst",
    ),
    Rung(
        "sba",
        "rows come as arrays",
        lambda need: need.arrays,
        "sums from both ends of chunks are formed side by side, also in several threads",
        ("two_stacks_lite", "daba_lite", "slick_deque"),
    ),
    Rung(
        "subtract_on_evict",
        "rows come one by one, and ⊕ can be taken back exactly",
        lambda need: need.exact_inverse,
        "one total, one step for each row that comes or leaves",
        ("two_stacks_lite",),
        "single",
    ),
    Rung(
        "two_stacks_lite",
        "rows come one by one",
        lambda need: True,
        "three ⊕ per slide on average, for any ⊕, and nothing is stored twice",
        ("sba", "daba_lite"),
        "single",
    ),
)


@dataclass(frozen=True)
class Choice:
    """The algorithm that was chosen, and the way down to it."""

    algorithm: str
    rung: Rung
    passed: tuple[Rung, ...]
    need: Need

    def __str__(self) -> str:
        lines = [f"{self.algorithm}: {self.rung.asked}; {self.rung.why}."]
        lines += [f"  {line}" for line in _figures(self.rung)]
        if self.passed:
            lines.append("  passed over, as this was not asked for:")
            width = max(len(rung.algorithm) for rung in self.passed)
            lines += [f"    {rung.algorithm:{width}}  {rung.asked}" for rung in self.passed]
        return "\n".join(lines)


def choose(need: Need) -> Choice:
    """The first rung of the ladder that fits."""
    if need.shape == "policy" and need.order != "fifo":
        raise ValueError("a slide policy is for rows in order: it cannot go with lateness.")
    for at, rung in enumerate(LADDER):
        if rung.fits(need):
            return Choice(rung.algorithm, rung, LADDER[:at], need)
    raise AssertionError("the last rung fits everything")


def need_of(operator: Operator, dtype: Any = None, **asked: Any) -> Need:
    """What an operator's traits add to what is asked; `dtype` is that of its values."""
    for name, known in (("order", Order), ("shape", Shape), ("latency", Latency)):
        if name in asked and asked[name] not in get_args(known):
            raise ValueError(f"{name} is one of {', '.join(get_args(known))}; not {asked[name]!r}.")
    kinds = [(np.dtype(dtype or "float64"),) * max(leaf.inputs, 1) for leaf in operator.leaves]
    monoid = operator.bind_leaves(kinds)
    return Need(
        fixed_width=monoid.fixed_width,
        selective=monoid.selective,
        exact_inverse=monoid.invertible and all(map(_is_whole, monoid.leaves())),
        **asked,
    )


def _is_whole(leaf: Monoid) -> bool:
    """Whether a leaf's fields are whole numbers, which lose nothing when taken back."""
    return leaf.fields is not None and all(dtype.kind in "iub" for _, dtype in leaf.fields)


MEANING = {
    "slide": "one slide of a window of 65,536, in multiples of np.maximum.accumulate",
    "worst": "the longest of a million slides of a window of 16,384, in microseconds",
    "evict half": "evicting half of 1,048,576 values at once, in microseconds",
    "ranges": "one slide answered for 16 ranges up to 1,024, in multiples of accumulate",
    "single": "one slide called from Python, in microseconds",
}


@cache
def measured() -> dict[tuple[str, str], float]:
    """The figures by their name and the algorithm's."""
    text = files("sash.aggregators").joinpath("measured.csv").read_text()
    return {
        (row["figure"], row["algorithm"]): float(row["value"])
        for row in csv.DictReader(text.splitlines())
    }


def _figures(rung: Rung) -> list[str]:
    known = measured()
    names = [n for n in (rung.algorithm, *rung.against) if (rung.figure, n) in known]
    if len(names) < 2:
        return []
    each = ", ".join(f"{name} {known[rung.figure, name]:.3g}" for name in names)
    return [f"measured ({MEANING[rung.figure]}): {each}"]

"""The claims of the FlatFIT paper (2017)."""

from __future__ import annotations

from sash.figures.claims.judging import Claims, Found, Verdict, along, at_least, at_most
from sash.figures.crossing import crossing
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve

CLAIMS = Claims("flat_fit")
claim = CLAIMS.claim

SLIDE = "ns a slide"


def _one(found: Found) -> Curve:
    """How many times as many slides per second FlatFIT does, with one query."""
    return found["flat_fit_one_query"].ratio(SLIDE, "flat_fat", "flat_fit", "Max")


def _all(found: Found) -> Curve:
    """The same with a query for every range."""
    return found["flat_fit_all_queries"].ratio(SLIDE, "flat_fat", "flat_fit", "Max")


@claim("abstract", "up to 17 times the throughput of FlatFAT")
def _(found: Found) -> Verdict:
    best = max(_one(found).greatest, _all(found).greatest)
    return at_least(best, 17, f"up to {told(best)} x")


@claim("Table 1, Figure 8", "3 ⊕ a slide with one query, however long the window")
def _(found: Found) -> Verdict:
    counted = found["flat_fit_calls"].curve("⊕ a slide", "flat_fit", "one query")
    most = told(counted.greatest)
    return along(counted, lambda n, calls: calls <= 3, f"at most {most} ⊕ a slide")


@claim("Table 1, Figure 10", "n - 1 ⊕ a slide with a query for every range")
def _(found: Found) -> Verdict:
    counted = found["flat_fit_calls"].curve("⊕ a slide", "flat_fit", "all queries")
    said = f"{told(counted.last)} ⊕ at n = {told(counted.xs[-1])}"
    return along(counted, lambda n, calls: calls <= n - 1 + 1e-9, said)


@claim("Figure 13", "1.8 times the throughput of FlatFAT on average over all windows, one query")
def _(found: Found) -> Verdict:
    return at_least(_one(found).mean, 1.8)


@claim("Figure 13", "at best 2.6 times the throughput of FlatFAT with one query")
def _(found: Found) -> Verdict:
    return at_least(_one(found).greatest, 2.6)


def _short_trees(found: Found) -> str:
    results = found["flat_fit_one_query"]
    tree, fit = (results.curve(SLIDE, name, "Max") for name in ("flat_fat", "flat_fit"))
    return (
        f"A tree of 8 values has three levels, and a compiled loop goes up them in "
        f"{told(tree.at[4])} to {told(tree.at[16])} ns; FlatFIT's stack and pointers take "
        f"{told(fit.at[4])} to {told(fit.at[16])} ns whatever the window."
    )


@claim("Figure 13", "faster than FlatFAT from windows of 8 values on", why=_short_trees)
def _(found: Found) -> Verdict:
    at = crossing(_one(found))
    return at_most(at, 8, f"from {told(at, 2)} values on", in_part=1024)


@claim(
    "Figure 13", "at most 4.4 % slower than FlatFAT on windows of 1 to 4 values", why=_short_trees
)
def _(found: Found) -> Verdict:
    small = _one(found).where(lambda n: n <= 4)
    worst = told(small.least, 2)
    said = f"at worst {worst} x the slides per second of flat_fat"
    return along(small, lambda n, ratio: ratio >= 1 / 1.044, said)


def _grows(found: Found) -> str:
    gain = _all(found)
    below = gain.where(lambda n: n < 128)
    return (
        f"The average is over all windows from {told(min(gain.xs))} to {told(max(gain.xs))} "
        f"values, and the short ones count as much as the long: below 128 values it is "
        f"{told(below.least)} – {told(below.greatest)} x, from 128 on "
        f"{told(gain.where(lambda n: n >= 128).least)} x or more."
    )


@claim(
    "Figure 14",
    "10 times the throughput of FlatFAT on average, with a query for every range",
    why=_grows,
)
def _(found: Found) -> Verdict:
    return at_least(_all(found).mean, 10)


@claim("Figure 15", "at best 17 times the throughput of FlatFAT, with a query for every range")
def _(found: Found) -> Verdict:
    return at_least(_all(found).greatest, 17)


@claim(
    "Figure 14",
    "with a query for every range the fastest of all from windows of 2 values on",
    why="Two or four values are computed anew for each range in the time that FlatFIT needs to "
    "look where its ranges begin.",
)
def _(found: Found) -> Verdict:
    results = found["flat_fit_all_queries"]
    others = ("recalc", "flat_fat", "b_int")
    ratios = [results.ratio(SLIDE, other, "flat_fit", "Max") for other in others]
    least = Curve({n: min(ratio.at[n] for ratio in ratios) for n in ratios[0].xs if n >= 2})
    return along(least, lambda n, ratio: ratio > 1, f"at least {told(least.least)} x any other")


@claim("Figure 14", "with windows of 1 value at most 2 % slower than Naive and FlatFAT")
def _(found: Found) -> Verdict:
    results = found["flat_fit_all_queries"]
    others = ("recalc", "flat_fat")
    worst = min(results.ratio(SLIDE, other, "flat_fit", "Max").at[1] for other in others)
    return at_least(worst, 1 / 1.02, f"{told(worst)} x the faster of both", in_part=0.5)


def _memory(found: Found) -> Curve:
    """How many times as much memory FlatFAT takes."""
    return found["flat_fit_memory"].ratio("MB for the window", "flat_fat", "flat_fit", "Max")


@claim("Figure 16", "1.4 times less memory than FlatFAT on average")
def _(found: Found) -> Verdict:
    return at_least(_memory(found).mean, 1.4)


@claim(
    "Figure 16",
    "at best 1.9 times less memory than FlatFAT",
    why="Rings have a power of two places here, FlatFIT's as well as FlatFAT's, so that what the "
    "paper gains between powers of two is lost. What FlatFAT takes more is another thing: a handle "
    "for each value, by which it can be removed or replaced, half as much again as its tree.",
)
def _(found: Found) -> Verdict:
    return at_least(_memory(found).greatest, 1.9)


@claim(
    "Figure 12",
    "2n numbers with one query or with all, less than FlatFAT's for every window",
    why="Rings have a power of two places, which are more than there are values in between.",
)
def _(found: Found) -> Verdict:
    held = found["flat_fit_memory"].curve("MB for the window", "flat_fit", "Max")
    numbers = Curve({n: megabytes * 2**20 / 8 / n for n, megabytes in held.at.items()})
    said = f"{told(numbers.least)}n – {told(numbers.greatest)}n numbers of 8 bytes"
    return along(numbers, lambda n, each: each <= 2.05, said)

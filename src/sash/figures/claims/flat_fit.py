"""The claims of the FlatFIT paper (2017) about throughput."""

from __future__ import annotations

from sash.figures.claims.judging import (
    Claims,
    Found,
    Verdict,
    along,
    at_least,
    at_most,
    for_each,
    is_flat,
)
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


def _mean(gain: Curve, claimed: float) -> Verdict:
    """The average over all windows that were measured, the shortest and the longest among them."""
    said = f"{told(gain.mean)} x, over windows of {told(gain.xs[0])} to {told(gain.xs[-1])}"
    return at_least(gain.mean, claimed, said)


@claim(
    "Figure 13",
    "1.8 times the throughput of FlatFAT on average, one query (the paper: windows of 1 to 2^27)",
)
def _(found: Found) -> Verdict:
    return _mean(_one(found), 1.8)


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
    "Figure 15",
    "10 times the throughput of FlatFAT on average, with a query for every range (the paper: "
    "windows of 1 to 2^27)",
    why=_grows,
)
def _(found: Found) -> Verdict:
    return _mean(_all(found), 10)


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


for name, title, share in (("recalc", "Naive", 0.02), ("flat_fat", "FlatFAT", 0.01)):

    @claim("Figure 14", f"with windows of 1 value at most {100 * share:.0f} % slower than {title}")
    def _(found: Found, name: str = name, share: float = share) -> Verdict:
        ratio = found["flat_fit_all_queries"].ratio(SLIDE, name, "flat_fit", "Max").at[1]
        return at_least(ratio, 1 - share, f"{told(ratio)} x its slides per second", in_part=0.5)


@claim(
    "Section 2.2",
    "B-Int is slower than FlatFAT by a constant factor (at most 1.5 times between any two windows, "
    "from 16 values on)",
    why="With one query B-Int takes a step where the processor no longer foresees which intervals "
    "make up its window (see the claims on Figure 11 of the Reactive Aggregator).",
)
def _(found: Found) -> Verdict:
    fits, said = {}, []
    for experiment, asked in (
        ("flat_fit_one_query", "one query"),
        ("flat_fit_all_queries", "all queries"),
    ):
        ratio = found[experiment].ratio(SLIDE, "b_int", "flat_fat", "Max")
        ratio = ratio.where(lambda n: n >= 16)
        fits[asked] = ratio.least > 1 and is_flat(ratio, 1.5)
        said.append(f"{asked}: {told(ratio.least)} – {told(ratio.greatest)} x")
    return for_each(fits, "B-Int takes " + ", ".join(said))

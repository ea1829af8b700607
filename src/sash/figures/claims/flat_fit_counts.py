"""The claims of the FlatFIT paper (2017) about ⊕ and memory."""

from __future__ import annotations

from collections.abc import Callable
from math import log2

from sash.figures.claims.judging import (
    HOLDS,
    NOT_HERE,
    Claims,
    Found,
    NotMeasuredError,
    Verdict,
    along,
    along_each,
    at_least,
    for_each,
    power,
)
from sash.figures.drawing.drawn import told
from sash.figures.drawing.theory import ALL_QUERIES, ONE_QUERY, PARTIALS
from sash.figures.results import Curve

CLAIMS = Claims("flat_fit")
claim = CLAIMS.claim

MEAN, WORST, WINDOW = "⊕ a slide", "⊕ of the worst slide", "MB for the window"
ONE, ALL = "one query", "all queries"
TITLES = {"recalc": "Naive", "flat_fat": "FlatFAT", "b_int": "B-Int"}
OTHERS = tuple(TITLES)


def _counted(found: Found, algorithm: str, asked: str, metric: str = MEAN) -> Curve:
    return found["flat_fit_calls"].curve(metric, algorithm, asked)


@claim("Table 1, Figure 8", "3 ⊕ a slide with one query, however long the window")
def _(found: Found) -> Verdict:
    counted = _counted(found, "flat_fit", ONE)
    most = told(counted.greatest)
    return along(counted, lambda n, calls: calls <= 3, f"at most {most} ⊕ a slide")


@claim("Section 4.1", "with one query 3 (n - 1) ⊕ in each cycle of n + 1 slides (within 1 %)")
def _(found: Found) -> Verdict:
    counted = _counted(found, "flat_fit", ONE).where(lambda n: n > 1)
    share = Curve({n: calls * (n + 1) / (3 * (n - 1)) for n, calls in counted.at.items()})
    said = f"{told(share.least)} to {told(share.greatest)} times as many"
    return along(share, lambda n, times: abs(times - 1) <= 0.01, said)


@claim("Section 4.1", "with one query the worst slide of a cycle does n - 1 ⊕")
def _(found: Found) -> Verdict:
    worst = _counted(found, "flat_fit", ONE, WORST).where(lambda n: n > 1)
    said = f"{told(worst.last)} at n = {told(worst.xs[-1])}"
    return along(worst, lambda n, calls: calls == n - 1, said)


@claim("Table 1, Figure 10", "n - 1 ⊕ a slide with a query for every range")
def _(found: Found) -> Verdict:
    counted = _counted(found, "flat_fit", ALL)
    said = f"{told(counted.last)} ⊕ at n = {told(counted.xs[-1])}"
    return along(counted, lambda n, calls: calls <= n - 1 + 1e-9, said)


def _formulas(asked: str, formulas: dict[str, Callable[[float], float]], why: str) -> None:
    """The other algorithms' ⊕, as Table 1 has them."""
    texts = {ONE: ("n - 1", "log2 n", "log2 n"), ALL: ("n (n - 1) / 2", "n log2 n", "n log2 n")}
    figure = {ONE: "Figure 8", ALL: "Figure 10"}[asked]
    words = {ONE: "with one query", ALL: "with a query for every range"}[asked]
    for name, text in zip(OTHERS, texts[asked], strict=True):

        @claim(f"Table 1, {figure}", f"{TITLES[name]}: {text} ⊕ a slide {words} at most", why=why)
        def _(found: Found, name: str = name) -> Verdict:
            counted = _counted(found, name, asked).where(lambda n: n > 1)
            formula = formulas[name]
            n = counted.xs[-1]
            said = f"{told(counted.last)} at n = {told(n)}, where that is {told(formula(n))}"
            return along(counted, lambda n, calls: calls <= formula(n) + 1e-9, said)


_formulas(
    ONE,
    ONE_QUERY,
    why="Here ⊕ are counted value by value: an evict, an insert, a query. FlatFAT goes up its tree "
    "for each of the first two, which is twice log2 n; the compiled loop that is timed takes both "
    "ways up in one, as the paper does. Naive and B-Int begin with the identity, so that each does "
    "one ⊕ more.",
)
_formulas(
    ALL,
    ALL_QUERIES,
    why="Naive begins each range with the identity: one ⊕ more for each. FlatFAT's evict and "
    "insert go up the tree each, 2 log2 n ⊕ that n log2 n leaves no room for in short windows.",
)


@claim(
    "Section 4.1",
    "FlatFAT, with a query for every range: n log2 n - 3n/2 + 5 (log2 n)/2 + 5/2 ⊕ a slide exactly "
    "(within 10 %)",
    why="The formula counts one way up the tree for a new value; here the old one has its own. And "
    "ranges of the inverted buffer are looked up as a suffix and a prefix.",
)
def _(found: Found) -> Verdict:
    counted = _counted(found, "flat_fat", ALL).where(lambda n: n > 1)
    exact = {n: n * log2(n) - 1.5 * n + 2.5 * log2(n) + 2.5 for n in counted.xs}
    share = Curve({n: calls / exact[n] for n, calls in counted.at.items()})
    said = f"{told(share.least)} to {told(share.greatest)} times as many"
    return along(share, lambda n, times: abs(times - 1) <= 0.1, said)


for asked, figures, least in ((ONE, "Figure 8, Figure 9", 16), (ALL, "Figure 10, Figure 11", 4)):

    @claim(figures, f"FlatFIT does the fewest ⊕ of all with {asked} (from {least} values on)")
    def _(found: Found, asked: str = asked, least: int = least) -> Verdict:
        ours = _counted(found, "flat_fit", asked).where(lambda n: n >= least)
        curves = {
            TITLES[name]: Curve(
                {n: _counted(found, name, asked).at[n] / calls for n, calls in ours.at.items()}
            )
            for name in OTHERS
        }
        lowest = min(curve.least for curve in curves.values())
        return along_each(curves, lambda n, ratio: ratio > 1, f"others do {told(lowest)} x or more")


# Memory


def _memory(found: Found, above: str = "flat_fat") -> Curve:
    """How many times as much memory another takes."""
    return found["flat_fit_memory"].ratio(WINDOW, above, "flat_fit", "Max")


@claim("Figure 16", "1.4 times less memory than FlatFAT on average (for the window alone)")
def _(found: Found) -> Verdict:
    return at_least(_memory(found).mean, 1.4)


@claim(
    "Figure 16",
    "at best 1.9 times less memory than FlatFAT (for the window alone)",
    why="Rings have a power of two places here, FlatFIT's as well as FlatFAT's, so that what the "
    "paper gains between powers of two is lost. What FlatFAT takes more is another thing: a handle "
    "for each value, by which it can be removed or replaced, half as much again as its tree.",
)
def _(found: Found) -> Verdict:
    return at_least(_memory(found).greatest, 1.9)


@claim(
    "Section 4.2",
    "Naive takes the least memory, FlatFIT the next, less than FlatFAT and B-Int",
    why="Rings have a power of two places here, so that FlatFIT's partials and pointers take what "
    "the intervals of B-Int take; the paper gains between powers of two.",
)
def _(found: Found) -> Verdict:
    curves = {name: _memory(found, name) for name in OTHERS}
    spans = {name: f"{told(c.least)} – {told(c.greatest)} x" for name, c in curves.items()}
    said = f"of FlatFIT's: {', '.join(f'{TITLES[n]} {text}' for n, text in spans.items())}"
    fits = {
        "Naive": curves["recalc"].greatest <= 1,
        "FlatFAT": curves["flat_fat"].least >= 1,
        "B-Int": curves["b_int"].least >= 1,
    }
    return for_each(fits, said)


def _numbers(found: Found, algorithm: str) -> Curve:
    """Numbers of 8 bytes for each value."""
    held = found["flat_fit_memory"].curve(WINDOW, algorithm, "Max")
    return Curve({n: megabytes * 2**20 / 8 / n for n, megabytes in held.at.items()})


@claim(
    "Figure 12",
    "FlatFIT: 2n numbers (at most 2.05n) with one query",
    why="Rings have a power of two places, which are more than there are values in between.",
)
def _(found: Found) -> Verdict:
    numbers = _numbers(found, "flat_fit")
    said = f"{told(numbers.least)}n – {told(numbers.greatest)}n numbers of 8 bytes"
    return along(numbers, lambda n, each: each <= 2.05, said)


@claim(
    "Section 4.2",
    "FlatFAT: 2n numbers at powers of two (at most 2.05n), up to 3n in between",
    why="A handle for each value is another number for each place, 3n at powers of two and 4n "
    "half-way to the next: those by which values are removed or replaced.",
)
def _(found: Found) -> Verdict:
    numbers = _numbers(found, "flat_fat")
    said = f"{told(numbers.least)}n – {told(numbers.greatest)}n numbers of 8 bytes"
    most = {n: 2.05 if log2(n).is_integer() else 3.05 for n in numbers.xs}
    return along(numbers, lambda n, each: each <= most[n], said)


@claim(
    "Figure 16",
    "memory grows as computed: that of each algorithm within 10 % of a constant times its formula",
    why="The formulas of Naive and FlatFIT have no steps; here all rings have a power of two "
    "places, so that theirs have the steps of a tree.",
)
def _(found: Found) -> Verdict:
    off = {}
    for name in ("recalc", "flat_fat", "b_int", "flat_fit"):
        held = found["flat_fit_memory"].curve(WINDOW, name, "Max")
        times = [megabytes / PARTIALS[name](n) for n, megabytes in held.at.items()]
        off[name] = max(times) / min(times)
    said = ", ".join(f"{name} within {told(each)} x" for name, each in off.items())
    return for_each({name: each <= 1.21 for name, each in off.items()}, said)


@claim("Section 4.2", "between one query and all, 2n + n / 2^(q - 1) numbers with q queries")
def _(found: Found) -> Verdict:
    raise NotMeasuredError("windows with a few ranges were not weighed")


# Time, as computed


def _grown(found: Found, experiment: str, algorithm: str, least: float) -> float:
    """By which power of the window the time of a slide grows."""
    took = found[experiment].curve("ns a slide", algorithm, "Max")
    return power(took.where(lambda n: n >= least))


def _as_computed(
    found: Found, experiment: str, expected: dict[str, tuple[float, float]]
) -> Verdict:
    grown = {name: _grown(found, experiment, name, 16) for name in expected}
    said = ", ".join(f"{name} n^{told(each, 2)}" for name, each in grown.items())
    fits = {name: low <= grown[name] <= high for name, (low, high) in expected.items()}
    return for_each(fits, said)


@claim(
    "Figure 13",
    "throughput falls as computed with one query: Naive's with n (to the power of 0.85 to 1.15), "
    "FlatFIT's not at all (0.05 at most)",
    why="A compiler makes one ⊕ of many neighbours at once, where windows are computed anew: Naive "
    "grows less than with n until the window outgrows the caches.",
)
def _(found: Found) -> Verdict:
    expected = {"recalc": (0.85, 1.15), "flat_fit": (-0.05, 0.05)}
    return _as_computed(found, "flat_fit_one_query", expected)


@claim(
    "Figure 14",
    "throughput falls as computed with a query for every range: Naive's with n² (1.7 to 2.2), "
    "FlatFIT's with n (0.85 to 1.15)",
    why="A compiler makes one ⊕ of many neighbours at once, where ranges are computed anew, the "
    "more so the longer they are: Naive grows less than with n² on such windows.",
)
def _(found: Found) -> Verdict:
    expected = {"recalc": (1.7, 2.2), "flat_fit": (0.85, 1.15)}
    return _as_computed(found, "flat_fit_all_queries", expected)


for experiment, label in (
    ("flat_fit_one_query", "Figure 13"),
    ("flat_fit_all_queries", "Figure 14"),
):

    @claim(
        label,
        f"the gain over FlatFAT grows with the window ({label}; at the longest at least twice that "
        "at 16 values)",
    )
    def _(found: Found, experiment: str = experiment) -> Verdict:
        gain = found[experiment].ratio("ns a slide", "flat_fat", "flat_fit", "Max")
        times = gain.last / gain.at[16]
        said = f"{told(gain.at[16])} x at 16 values, {told(gain.last)} x at {told(gain.xs[-1])}"
        return Verdict(HOLDS if times >= 2 else NOT_HERE, said)

"""The claims of the Reactive Aggregator paper (2015): against computing anew, and as it grows."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, log2
from statistics import median

import numpy as np

from sash.figures.claims.judging import (
    HOLDS,
    IN_PART,
    NOT_HERE,
    Claims,
    Found,
    NotMeasuredError,
    Verdict,
    along,
    at_least,
    at_most,
    bytes_or_not,
    for_each,
    is_flat,
    line,
    straightness,
    theirs,
)
from sash.figures.crossing import crossing
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve, Results

CLAIMS = Claims("reactive")
claim = CLAIMS.claim

SLIDE, RESIDENT, WINDOW = "ns a slide", "MB resident", "MB for the window"
UNGAINFUL = ("Count", "Collect")
"""Functions for which the paper gains nothing."""
STDDEV = "SampleStdDev"


def _gain(results: Results, operator: str) -> Curve:
    """How many times the tuples per second of computing anew."""
    return results.ratio(SLIDE, "recalc", "flat_fat", operator)


def _gains(found: Found) -> dict[str, Curve]:
    results = found["reactive_break_even"]
    names = [name for name in results.panels(SLIDE) if name not in UNGAINFUL]
    return {name: _gain(results, name) for name in names}


def _most(answers: Mapping[str, bool], said: str) -> Verdict:
    """Holds if it does for more than half of them."""
    true = [name for name, holds in answers.items() if holds]
    if not answers:
        raise NotMeasuredError(f"nothing for {said}")
    if 2 * len(true) > len(answers):
        return Verdict(HOLDS, f"{said}; for {len(true)} of {len(answers)} functions")
    found = f"{said}; holds for {', '.join(true) or 'none'}"
    return Verdict(IN_PART if true else NOT_HERE, found)


def _range(values: Mapping[str, float]) -> str:
    """From the least to the greatest, by name."""
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    return f"{_point(values[low])} ({low}) – {_point(values[high])} ({high})"


def _point(at: float) -> str:
    return "never" if at == inf else told(at, 2)


def _slower(gain: Curve, upto: float) -> Curve:
    """How much longer a tuple takes on windows up to a size, as a share."""
    small = gain.where(lambda n: n <= upto)
    return Curve({n: 1 / ratio - 1 for n, ratio in small.at.items()})


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


ENGINE = 330
"""Nanoseconds: the least that a tuple takes in the paper's Figure 6 (3 million a second)."""


def in_the_engine(ours: float, base: float) -> str:
    """How much longer one would take than another, if both had the paper's engine around them."""
    return percent((ours + ENGINE) / (base + ENGINE) - 1)


def _small_windows(found: Found) -> str:
    """What a tuple takes on the windows on which a tree is slower."""
    results = found["reactive_break_even"]
    extra: dict[tuple[float, str], float] = {}
    for name in _gains(found):
        anew, tree = (results.curve(SLIDE, each, name) for each in ("recalc", "flat_fat"))
        extra |= {(n, name): tree.at[n] - anew.at[n] for n in tree.xs if n <= 100}
    (n, name), most = max(extra.items(), key=lambda each: each[1])
    base = results.curve(SLIDE, "recalc", name).at[n]
    return (
        f"In a compiled loop nothing but the window is left to pay for: at worst FlatFAT takes "
        f"{told(most)} ns more than the {told(base)} ns of computing anew ({name}, {told(n)} "
        f"values). A tuple of the paper's Figure 6 takes {ENGINE} ns or more; with these added to "
        f"both, that would be {in_the_engine(base + most, base)} longer, and the claim would hold."
    )


# Against computing anew


@claim(
    "introduction",
    "for most functions (Count and Collect aside) never more than 10 % slower than computing anew "
    "on windows of 1 to 100",
    why=_small_windows,
)
def _(found: Found) -> Verdict:
    worst = {name: _slower(gain, 100).greatest for name, gain in _gains(found).items()}
    low, high = percent(min(worst.values())), percent(max(worst.values()))
    holds = {name: slower <= 0.1 for name, slower in worst.items()}
    return _most(holds, f"at worst {low} – {high} longer")


@claim(
    "introduction",
    "for most functions (Count and Collect aside) at least 10 times the throughput of computing "
    "anew at 6,000 values",
)
def _(found: Found) -> Verdict:
    at = {name: crossing(gain, 10) for name, gain in _gains(found).items()}
    return _most({name: n <= 6000 for name, n in at.items()}, f"10 x from {_range(at)} values on")


for column, times, says in (
    ("as fast", 1, "as fast as computing anew from its entry (10 to 370 values) on, or earlier"),
    ("10 x as fast", 10, "ten times as fast from its entry (700 to 5,810 values) on, or earlier"),
):

    @claim("Table 3", f"each function but Count and Collect: {says}")
    def _(found: Found, column: str = column, times: float = times) -> Verdict:
        table = theirs("reactive_break_even", "Table 3")
        at = {name: crossing(gain, times) for name, gain in _gains(found).items()}
        fits = {name: n <= table[name][column] for name, n in at.items()}
        return for_each(fits, f"from {_range(at)} values on")


def _never(found: Found, operator: str) -> Verdict:
    gain = _gain(found["reactive_break_even"], operator)
    if not gain:
        raise NotMeasuredError(f"{operator} was not asked for at this scale")
    at = crossing(gain)
    largest = told(max(gain.xs))
    if at == inf:
        return Verdict(HOLDS, f"{told(gain.greatest)} x at best, up to {largest} values")
    return Verdict(NOT_HERE, f"from {told(at, 2)} values on, and {told(gain.last)} x at {largest}")


@claim(
    "Table 3",
    "never as fast as computing anew for Count",
    why="The paper's engine knows how many tuples a window has; here computing anew applies ⊕ to "
    "all of them, whatever the operator, so that it grows with the window for Count too.",
)
def _(found: Found) -> Verdict:
    return _never(found, "Count")


def _collect(found: Found) -> str:
    results = found["reactive_break_even"]
    anew, tree = (results.curve(SLIDE, each, "Collect") for each in ("recalc", "flat_fat"))
    n = max(tree.xs)
    parts = found["reactive_objects"]
    ropes, lists = (parts.curve("µs a call", each, "Collect") for each in ("⊕", "lists joined"))
    most = max(ropes.xs)
    return (
        f"⊕ of lists copies them; here partials are ropes, of which a list is made only when "
        f"somebody looks. ⊕ of two with {told(most)} values each takes {told(ropes.at[most])} µs, "
        f"and to join two such lists {told(lists.at[most])} µs; with one value each "
        f"{told(ropes.values[0])} and {told(lists.values[0])} µs (Profile 2). So it is the number "
        f"of ⊕ that counts: at {told(n)} values {told(tree.at[n] / 1e3)} µs against "
        f"{told(anew.at[n] / 1e3)} µs."
    )


@claim("Table 3", "never as fast as computing anew for Collect", why=_collect)
def _(found: Found) -> Verdict:
    return _never(found, "Collect")


@claim(
    "Table 3",
    "the costlier a function, the sooner FlatFAT is as fast as computing anew "
    "(rank correlation of both at most -0.5)",
)
def _(found: Found) -> Verdict:
    gains = _gains(found)
    results = found["reactive_break_even"]
    costs = [_cost(results.curve(SLIDE, "recalc", name)) for name in gains]
    points = [crossing(gain) for gain in gains.values()]
    if len(points) < 2:
        raise NotMeasuredError("a single function has no rank")
    ranks = np.array([np.argsort(np.argsort(each)) for each in (costs, points)], float)
    correlation = float(np.corrcoef(ranks[0], ranks[1])[0, 1])
    said = f"rank correlation {correlation:.2f} over {len(points)} functions"
    return at_most(correlation, -0.5, said, in_part=-0.2)


def _cost(anew: Curve) -> float:
    """What a ⊕ costs when a window is computed anew."""
    return anew.last / max(anew.xs)


@claim(
    "Figure 6",
    "Max about 10 % slower (at most 15 %) than computing anew on up to 64 values",
    why=_small_windows,
)
def _(found: Found) -> Verdict:
    slower = _slower(_gain(found["reactive_break_even"], "Max"), 64)
    said = f"at worst {percent(slower.greatest)} longer"
    return along(slower, lambda n, share: share <= 0.15, said)


@claim("Figure 6", "Max almost 3 times (at least 2.7) as fast as computing anew at 1,024 values")
def _(found: Found) -> Verdict:
    return at_least(_gain(found["reactive_break_even"], "Max").at[1024], 2.7)


@claim(
    "Figure 6",
    "StdDev about 5 % slower (at most 10 %) than computing anew on up to 64 values",
    why=_small_windows,
)
def _(found: Found) -> Verdict:
    slower = _slower(_gain(found["reactive_break_even"], STDDEV), 64)
    said = f"at worst {percent(slower.greatest)} longer"
    return along(slower, lambda n, share: share <= 0.1, said)


@claim("Figure 6", "StdDev more than 10 times as fast as computing anew at 1,024 values")
def _(found: Found) -> Verdict:
    return at_least(_gain(found["reactive_break_even"], STDDEV).at[1024], 10)


@claim("Figure 6", "the speedup goes on growing with the window beyond 1,024 values")
def _(found: Found) -> Verdict:
    results = found["reactive_break_even"]
    grows, ends = {}, []
    for name in ("Max", STDDEV):
        large = _gain(results, name).where(lambda n: n >= 1024)
        grows[name] = len(large.xs) > 1 and large.values == sorted(large.values)
        ends.append(f"{name} {told(large.values[0])} x to {told(large.last)} x")
    return for_each(grows, ", ".join(ends))


# With the logarithm


def _above_line(curve: Curve) -> Curve:
    """By which share it is above the line through windows of up to 4,096, in longer ones."""
    small = curve.where(lambda n: n <= 4096)
    slope, base = line([log2(n) for n in small.xs], small.values)
    long = curve.where(lambda n: n > 4096)
    return Curve({n: took / (slope * log2(n) + base) - 1 for n, took in long.at.items()})


def _worst_above(results: Results) -> Curve:
    """The worse of both functions at each window."""
    above: dict[float, float] = {}
    for name in results.panels(SLIDE):
        for n, share in _above_line(results.curve(SLIDE, "flat_fat", name)).at.items():
            above[n] = max(above.get(n, 0.0), share)
    return Curve(dict(sorted(above.items())))


def _knee(found: Found) -> str:
    """What is above the line: what the machine does besides, or what caches do not hold."""
    results = found["reactive_log"]
    by_shortest = _worst_above(results.shortest())
    apart = max(
        most / least
        for name in results.panels(SLIDE)
        for n, (least, most) in results.spread(SLIDE, "flat_fat", name).items()
        if n > 4096
    )
    bytes_ = found["reactive_bytes"]
    n = max(bytes_.curve(SLIDE, "flat_fat", "8 bytes").xs)
    eight, one = (
        [_above_line(each.curve(SLIDE, "flat_fat", name)).at[n] for each in bytes_.apart()]
        for name in ("8 bytes", "1 byte")
    )
    return (
        f"Rounds of one window are up to {told(apart)} times apart; by the shortest of each it is "
        f"at worst {percent(by_shortest.greatest)} above the line. Slides with a partial of eight "
        f"bytes are {percent(median(eight))} above their line at {told(n)} values, and with one "
        f"byte {percent(median(one))} (Profile 1): {bytes_or_not(eight, one)}. In the paper tuples "
        f"of {ENGINE} ns or more hide it."
    )


@claim(
    "Figure 7",
    "the time of a tuple grows with the logarithm of the window "
    "(a straight line explains at least 95 % of it)",
)
def _(found: Found) -> Verdict:
    results = found["reactive_log"]
    curves = {name: results.curve(SLIDE, "flat_fat", name) for name in results.panels(SLIDE)}
    explained = {name: straightness(curve, log2) for name, curve in curves.items()}
    said = ", ".join(f"{name} {100 * share:.0f} %" for name, share in explained.items())
    return for_each({name: share >= 0.95 for name, share in explained.items()}, said)


@claim(
    "Figure 7",
    "no knee where the tree outgrows the caches (up to 8 million values at most 25 % above the "
    "line through windows of up to 4,096)",
    why=_knee,
)
def _(found: Found) -> Verdict:
    curve = _worst_above(found["reactive_log"])
    said = f"at worst {percent(curve.greatest)} above the line"
    return along(curve, lambda n, share: share <= 0.25, said)


@claim("Figure 7", "2n partials are kept for a window of n values (n a power of two, from 2 on)")
def _(found: Found) -> Verdict:
    results = found["reactive_calls"]
    held = results.curve("partials held", "flat_fat", "tree").where(lambda n: n > 1)
    said = f"{told(held.last)} partials at n = {told(max(held.xs))}"
    return along(held, lambda n, partials: partials <= 2 * n, said)


# Memory


@claim(
    "Section 6.1",
    "8 bytes for each value of the window with Max, and 40 with StdDev",
    why="Fields are 64 bits wide here, the paper's 32: a partial of Max is 8 bytes and one of "
    "StdDev 24, and a tree has two for each value. The handle by which a value can be removed or "
    "replaced takes 8 more.",
)
def _(found: Found) -> Verdict:
    results = found["reactive_memory"]
    claimed = {"Max": 8, STDDEV: 40}
    each = {}
    for panel in claimed:
        curve = results.curve(WINDOW, "flat_fat", panel)
        each[panel] = curve.last * 2**20 / max(curve.xs)
    said = ", ".join(f"{panel} {told(bytes_)} bytes" for panel, bytes_ in each.items())
    return for_each({p: bytes_ <= 1.05 * claimed[p] for p, bytes_ in each.items()}, said)


def _long(curve: Curve) -> Curve:
    return curve.where(lambda n: n >= 65536)


@claim(
    "Figure 12",
    "up to 4,096 values the window matters little beside the process (at most 5 % more than "
    "with two values)",
)
def _(found: Found) -> Verdict:
    results = found["reactive_memory"]
    grown = {}
    for panel in results.panels(RESIDENT):
        small = results.curve(RESIDENT, "flat_fat", panel).where(lambda n: n <= 4096)
        grown[panel] = small.greatest / small.values[0]
    said = f"up to {100 * (max(grown.values()) - 1):.1f} % more"
    return for_each({name: times <= 1.05 for name, times in grown.items()}, said)


@claim("Figure 12", "up to 4,096 values about as much memory (within 5 %) as computing anew takes")
def _(found: Found) -> Verdict:
    results = found["reactive_memory"]
    holds, most = {}, []
    for panel in results.panels(RESIDENT):
        ratio = results.ratio(RESIDENT, "flat_fat", "recalc", panel)
        small = ratio.where(lambda n: n <= 4096)
        holds[panel] = small.greatest <= 1.05
        most.append(small.greatest)
    return for_each(holds, f"up to {told(max(most))} x")


@claim(
    "Figure 12",
    "memory is linear in the window (from 65,536 values on the bytes for each value within 1.25 "
    "times of each other)",
)
def _(found: Found) -> Verdict:
    results = found["reactive_memory"]
    curves = {}
    for panel in results.panels(WINDOW):
        large = _long(results.curve(WINDOW, "flat_fat", panel))
        curves[panel] = Curve({n: megabytes * 2**20 / n for n, megabytes in large.at.items()})
    said = ", ".join(
        f"{name}: {told(curve.least)} – {told(curve.greatest)} bytes a value"
        for name, curve in curves.items()
    )
    return for_each({name: is_flat(curve, 1.25) for name, curve in curves.items()}, said)


@claim("Figure 12", "with a small constant (at most 4 times what computing anew keeps)")
def _(found: Found) -> Verdict:
    results = found["reactive_memory"]
    last = {
        panel: _long(results.ratio(WINDOW, "flat_fat", "recalc", panel)).last
        for panel in results.panels(WINDOW)
    }
    said = ", ".join(f"{name} {told(times)} x" for name, times in last.items())
    return at_most(max(last.values()), 4, said, in_part=8)

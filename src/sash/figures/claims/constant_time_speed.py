"""The claims of the paper on Two-Stacks, ABA and DABA (2015) that are about throughput."""

from __future__ import annotations

from math import log2

from sash.figures.claims.judging import (
    Claims,
    Found,
    Verdict,
    along,
    along_each,
    for_each,
    is_flat,
    straightness,
    theirs,
)
from sash.figures.crossing import crossing
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve, Results

CLAIMS = Claims("constant_time")
claim = CLAIMS.claim

SLIDE = "ns a slide"
OURS = ("two_stacks", "aba", "daba")
TITLES = {"two_stacks": "Two-Stacks", "aba": "ABA", "daba": "DABA", "flat_fat": "Reactive"}


def _points(found: Found, algorithm: str) -> dict[str, float]:
    """From which window on an algorithm is faster than recalc, by function."""
    results = found["constant_time_break_even"]
    return {
        panel: crossing(results.ratio(SLIDE, "recalc", algorithm, panel))
        for panel in results.panels(SLIDE)
    }


def _listed(points: dict[str, float]) -> str:
    return ", ".join(f"{name} {told(at, 2)}" for name, at in points.items())


def _but(points: dict[str, float], *without: str) -> dict[str, float]:
    return {name: at for name, at in points.items() if name not in without}


for name, title in TITLES.items():

    @claim("Table 1", f"{title} pays from the table's window on, or earlier, with all but Collect")
    def _(found: Found, name: str = name) -> Verdict:
        table = theirs("constant_time_break_even", "Table 1")
        points = _but(_points(found, name), "Collect")
        fits = {function: at <= table[function][name] for function, at in points.items()}
        return for_each(fits, f"from {_listed(points)}")


@claim(
    "Table 1",
    "with Collect none of them ever pays",
    why="Collect holds ropes here: to join two copies neither, so that ⊕ takes constant time, and "
    "each ⊕ that is saved counts.",
)
def _(found: Found) -> Verdict:
    points = {name: _points(found, name)["Collect"] for name in TITLES}
    return for_each({name: at == float("inf") for name, at in points.items()}, _listed(points))


@claim(
    "Section 7.1", "with all but Collect Two-Stacks, ABA and DABA pay from 112 values on at most"
)
def _(found: Found) -> Verdict:
    latest = {name: max(_but(_points(found, name), "Collect").values()) for name in OURS}
    said = f"from {_listed(latest)} values on, at the latest"
    return for_each({name: at <= 112 for name, at in latest.items()}, said)


@claim(
    "Section 7.1",
    "Two-Stacks and ABA pay from smaller windows on than DABA (with Bloom ABA from the same, as "
    "its table has it)",
    why="All of them pay from two to a few values on, where one point is within what is measured "
    "of the other.",
)
def _(found: Found) -> Verdict:
    daba = _points(found, "daba")
    fits: dict[str, bool] = {}
    for name in ("two_stacks", "aba"):
        points = _but(_points(found, name), "Collect", *(["Bloom"] if name == "aba" else []))
        fits |= {f"{function} ({name})": at < daba[function] for function, at in points.items()}
    return for_each(fits, f"in {sum(fits.values())} of {len(fits)} pairs")


@claim(
    "Section 7.1",
    "ABA pays from smaller windows on than Two-Stacks, or from the same (not with Bloom: its table "
    "says otherwise)",
    why="Both pay from two to a few values on, where one point is within what is measured of the "
    "other.",
)
def _(found: Found) -> Verdict:
    names = ("two_stacks", "aba")
    stacks, aba = (_but(_points(found, name), "Collect", "Bloom") for name in names)
    fits = {function: at <= stacks[function] for function, at in aba.items()}
    return for_each(fits, f"in {sum(fits.values())} of {len(fits)} functions")


def _reactive_is_early(found: Found) -> str:
    results = found["constant_time_throughput"]
    anew, tree, daba = (
        results.curve(SLIDE, name, "Sum") for name in ("recalc", "flat_fat", "daba")
    )
    return (
        f"All of them pay from windows of a few values on, Reactive too: its tree is a flat array "
        f"that a compiled loop goes up, {told(tree.at[4])} ns a slide for Sum on 4 values, where "
        f"recalculating takes {told(anew.at[4])} and DABA {told(daba.at[4])}. There is no room for "
        f"a factor of ten between points that are all below 32 values."
    )


@claim(
    "Section 7.1",
    "but for Bloom, Reactive's break-even point is 10 to 100 times theirs (8 or more: its table's "
    "least)",
    why=_reactive_is_early,
)
def _(found: Found) -> Verdict:
    reactive = _but(_points(found, "flat_fat"), "Bloom", "Collect")
    ratios = {
        function: min(at / _points(found, name)[function] for name in OURS)
        for function, at in reactive.items()
    }
    said = f"{told(min(ratios.values()))} to {told(max(ratios.values()))} times the latest of them"
    return for_each({function: ratio >= 8 for function, ratio in ratios.items()}, said)


@claim(
    "Section 7.1",
    "ABA pays for Sum from no larger windows on than for Bloom",
    why="Both pay at once. Bloom runs in plain Python, where a ⊕ costs many times what ABA's own "
    "steps do, so that the fewest ⊕ win; the ⊕ of Sum costs less than those steps.",
)
def _(found: Found) -> Verdict:
    points = _points(found, "aba")
    both = {name: points[name] for name in ("Sum", "Bloom")}
    return for_each({"aba": both["Sum"] <= both["Bloom"]}, _listed(both))


def _few_values(found: Found) -> str:
    results = found["constant_time_break_even"]
    anew, daba = (results.curve(SLIDE, name, "Sum") for name in ("recalc", "daba"))
    return (
        f"Recalculating two values takes {told(anew.at[2])} ns a slide for Sum, as the compiler "
        f"unrolls it; DABA's six pointers take {told(daba.at[2])}. Where a tuple takes tens of "
        f"nanoseconds beside, that is slightly more."
    )


@claim(
    "introduction",
    "only slightly slower than recalculating on very small windows (up to 4 values: at most 1.5 "
    "times the time)",
    why=_few_values,
)
def _(found: Found) -> Verdict:
    results = found["constant_time_break_even"]
    worst = {}
    for name in OURS:
        for panel in results.panels(SLIDE):
            ratio = results.ratio(SLIDE, name, "recalc", panel).where(lambda n: n <= 4)
            worst[f"{panel} ({name})"] = ratio.greatest
    said = f"at most {told(max(worst.values()))} x the time"
    return for_each({each: ratio <= 1.5 for each, ratio in worst.items()}, said)


def _over(results: Results, algorithm: str, other: str) -> dict[str, Curve]:
    """How many times the throughput of another an algorithm has, by function."""
    return {panel: results.ratio(SLIDE, other, algorithm, panel) for panel in results.panels(SLIDE)}


def _named(results: Results, other: str, from_n: int) -> dict[str, Curve]:
    """The same for all three, from a window on."""
    return {
        f"{panel} ({name})": curve.where(lambda n: n >= from_n)
        for name in OURS
        for panel, curve in _over(results, name, other).items()
    }


def _range(curves: dict[str, Curve]) -> str:
    some = [curve for curve in curves.values() if curve]
    return f"{told(min(c.least for c in some))} to {told(max(c.greatest for c in some))} x"


@claim(
    "abstract",
    "DABA's throughput is above Reactive's (from windows of 16 values on)",
    why="A tree of 16 values has four levels, and Reactive does four ⊕ a slide; DABA does five at "
    "any window. With Bloom ⊕ is most of what a slide takes.",
)
def _(found: Found) -> Verdict:
    curves = _over(found["constant_time_throughput"], "daba", "flat_fat")
    curves = {panel: curve.where(lambda n: n >= 16) for panel, curve in curves.items()}
    return along_each(curves, lambda n, ratio: ratio > 1, _range(curves))


def _same_beside(found: Found) -> str:
    """What a slide takes whichever algorithm it is, with the functions that cost most."""
    results = found["constant_time_throughput"]
    single = {
        name: results.curve(SLIDE, "recalc", name).at[1] for name in ("GeometricMean", "Bloom")
    }
    return (
        f"A logarithm and an exponential take {told(single['GeometricMean'])} ns of each slide of "
        f"GeometricMean, whichever algorithm it is; hashing a value takes most of the "
        f"{told(single['Bloom'] / 1e3)} µs of a slide of Bloom in a window of one. What is left "
        f"is ⊕, of which there are log2 n with Reactive: twice in all from 512 or 1,024 values "
        f"on, and with Bloom not up to 2^16."
    )


@claim(
    "introduction",
    "existing algorithms are outperformed by a large margin on moderate and large windows "
    "(Reactive by twice or more, from 256 values on)",
    why=_same_beside,
)
def _(found: Found) -> Verdict:
    curves = _named(found["constant_time_throughput"], "flat_fat", 256)
    return along_each(curves, lambda n, ratio: ratio >= 2, _range(curves))


@claim(
    "Figure 18 (throughput)",
    "Two-Stacks or ABA has the best throughput (within 5 %) at every window",
    why="On windows of one to four values recalculating is the fastest of all.",
)
def _(found: Found) -> Verdict:
    results = found["constant_time_throughput"]
    shares = {}
    for panel in results.panels(SLIDE):
        times = {name: results.curve(SLIDE, name, panel) for name in results.series(SLIDE, panel)}
        share = {}
        for n in times["aba"].xs:
            best = min(curve.at[n] for curve in times.values() if n in curve.at)
            share[n] = best / min(times["two_stacks"].at[n], times["aba"].at[n])
        shares[panel] = Curve(share)
    least = min(curve.least for curve in shares.values())
    said = f"at least {told(least)} of the best"
    return along_each(shares, lambda n, share: share >= 0.95, said)


@claim(
    "Figure 18 (throughput)",
    "Recalc's time grows with the window: at 2^10 12 times that at 2^6 or more (16 is linear)",
    why="What a slide takes beside its ⊕ does not grow with the window: an exponential and a "
    "logarithm, or hashing.",
)
def _(found: Found) -> Verdict:
    results = found["constant_time_throughput"]
    fits, grown = {}, {}
    for panel in results.panels(SLIDE):
        curve = results.curve(SLIDE, "recalc", panel)
        if 64 in curve.at and 1024 in curve.at:
            grown[panel] = curve.at[1024] / curve.at[64]
            fits[panel] = grown[panel] >= 12
    return for_each(fits, ", ".join(f"{panel} {told(ratio)} x" for panel, ratio in grown.items()))


for name in ("two_stacks", "aba"):

    @claim(
        "Figure 18 (throughput)",
        f"DABA's throughput is below that of {TITLES[name]}",
        why="But for windows of one value, where DABA never has a list to turn over.",
    )
    def _(found: Found, name: str = name) -> Verdict:
        curves = _over(found["constant_time_throughput"], "daba", name)
        return along_each(curves, lambda n, ratio: ratio < 1, _range(curves))


@claim(
    "Figure 18 (throughput)",
    "all three outperform Reactive, but for Bloom with windows below 2^8 values",
    why="On windows of two to eight values a tree has one to three levels: as many ⊕ as DABA does "
    "at any window, and no lists to keep.",
)
def _(found: Found) -> Verdict:
    curves = _named(found["constant_time_throughput"], "flat_fat", 1)
    curves = {
        name: curve.where(lambda n: n >= 256) if name.startswith("Bloom") else curve
        for name, curve in curves.items()
    }
    return along_each(curves, lambda n, ratio: ratio > 1, _range(curves))


def _gained(found: Found, functions: tuple[str, ...]) -> dict[str, float]:
    """By what the throughput of ABA and DABA grows from windows of 4 values to those of 2^8."""
    results = found["constant_time_throughput"]
    gained = {}
    for function in functions:
        for name in ("aba", "daba"):
            curve = results.curve(SLIDE, name, function)
            gained[f"{function} ({name})"] = curve.at[4] / curve.at[256]
    return gained


@claim(
    "Figure 18 (throughput)",
    "with Sum and GeometricMean ABA and DABA gain throughput up to windows of 2^8",
    why=lambda found: (
        f"With Sum, to turn over a list of a few values costs next to nothing: a slide of DABA "
        f"takes {told(_sum_of(found, 4))} ns with 4 values and {told(_sum_of(found, 256))} with "
        f"256, so that to do it more rarely gains nothing."
    ),
)
def _(found: Found) -> Verdict:
    gained = _gained(found, ("Sum", "GeometricMean"))
    said = ", ".join(f"{name} {told(ratio)} x" for name, ratio in gained.items())
    return for_each({name: ratio > 1 for name, ratio in gained.items()}, f"2^8 over 4: {said}")


@claim(
    "Section 7.2",
    "with Bloom that gain is not to be seen (less than 15 %)",
    why="Bloom runs in plain Python here, where a list that is turned over takes as long as many "
    "slides; in longer windows that is rarer.",
)
def _(found: Found) -> Verdict:
    gained = _gained(found, ("Bloom",))
    said = ", ".join(f"{name} {told(ratio)} x" for name, ratio in gained.items())
    return for_each({name: ratio < 1.15 for name, ratio in gained.items()}, f"2^8 over 4: {said}")


def _sum_of(found: Found, n: float) -> float:
    """Nanoseconds of a slide of DABA with Sum."""
    return found["constant_time_throughput"].value(SLIDE, "daba", "Sum", n)


@claim(
    "Section 7.2",
    "with Sum caching makes little difference to DABA's throughput (within 10 %)",
    why=lambda found: (
        f"It saves one ⊕ of each slide. Sum of floats carries its rounding error along, so that ⊕ "
        f"is seven additions, which shows in slides of {told(_sum_of(found, 1024))} ns."
    ),
)
def _(found: Found) -> Verdict:
    curve = found["constant_time_throughput"].ratio(SLIDE, "daba", "daba_cached", "Sum")
    said = f"{told(curve.least)} to {told(curve.greatest)} x with caching"
    return along(curve, lambda n, ratio: abs(ratio - 1) <= 0.1, said)


@claim(
    "Section 7.2",
    "with Bloom caching makes DABA faster at every window (from 4 values on)",
    why="It saves one of five ⊕, an `or` of two filters of 2 KB. A slide of Bloom is plain Python "
    "here, of which that is the lesser part.",
)
def _(found: Found) -> Verdict:
    curve = found["constant_time_throughput"].ratio(SLIDE, "daba", "daba_cached", "Bloom")
    curve = curve.where(lambda n: n >= 4)
    said = f"{told(curve.least)} to {told(curve.greatest)} x with caching"
    return along(curve, lambda n, ratio: ratio > 1, said)


def _tree(found: Found, function: str) -> str:
    """What a slide of Reactive takes, from short windows to long ones."""
    curve = found["constant_time_throughput"].curve(SLIDE, "flat_fat", function)
    xs = [n for n in curve.xs if n >= 16]
    shown = [xs[0], xs[len(xs) // 2], xs[-1]]
    return ", ".join(f"{told(curve.at[n])} ns at {told(n)}" for n in shown)


for name in OURS:

    @claim(
        "Section 7.2",
        f"a slide of {TITLES[name]} takes as long at any window from 2^4 to 2^14 (within 1.5 x)",
        why="Bloom's filters are of 2 KB each, and each is allocated anew: a window of 2^14 takes "
        "32 MB, as much as the last cache.",
    )
    def _(found: Found, name: str = name) -> Verdict:
        results = found["constant_time_throughput"]
        curves = {
            panel: results.curve(SLIDE, name, panel).where(lambda n: 16 <= n <= 1 << 14)
            for panel in results.panels(SLIDE)
        }
        spread = {panel: curve.greatest / curve.least for panel, curve in curves.items()}
        said = ", ".join(f"{panel} within {told(ratio)} x" for panel, ratio in spread.items())
        return for_each({panel: is_flat(curve, 1.5) for panel, curve in curves.items()}, said)


@claim(
    "Section 7.2",
    "Reactive is the worst asymptotically after Recalc: the time of a slide grows with the "
    "logarithm of the window (a straight line explains 90 %, from 16 values on)",
    why=lambda found: (
        f"Towards the longest windows it grows faster than the logarithm, as the tree outgrows the "
        f"caches: GeometricMean takes {_tree(found, 'GeometricMean')}, Bloom "
        f"{_tree(found, 'Bloom')}."
    ),
)
def _(found: Found) -> Verdict:
    results = found["constant_time_throughput"]
    explained = {}
    for panel in results.panels(SLIDE):
        curve = results.curve(SLIDE, "flat_fat", panel).where(lambda n: n >= 16)
        explained[panel] = straightness(curve, log2) if len(curve.at) > 2 else 1.0
    said = ", ".join(f"{panel} {100 * share:.0f} %" for panel, share in explained.items())
    return for_each({panel: share >= 0.9 for panel, share in explained.items()}, said)


def _kept(found: Found, function: str, algorithm: str) -> Curve:
    """What is left of the best throughput at windows that are larger, as a share.

    Windows of a few values do not count: they have no stacks to speak of.
    """
    curve = found["constant_time_throughput"].curve(SLIDE, algorithm, function)
    curve = curve.where(lambda n: n >= 16)
    best = min(curve.values)
    fastest = min(n for n, ns in curve.at.items() if ns == best)
    return Curve({n: best / ns for n, ns in curve.at.items() if n >= fastest})


IN_ORDER = (
    "2^20 partials of Sum take 16 MB and those of GeometricMean 24, most of which the last cache "
    "holds, and all of these algorithms go through memory in order, so that what comes next has "
    "been fetched before it is needed. Bloom's filters are of 2 KB each, and do not fit."
)


@claim(
    "Section 7.2",
    "throughput falls (by 10 % or more) towards windows of 2^20 values",
    why=IN_ORDER,
)
def _(found: Found) -> Verdict:
    left = {
        f"{function} ({name})": _kept(found, function, name).last
        for function in ("Sum", "GeometricMean", "Bloom")
        for name in OURS
    }
    longest = max(found["constant_time_throughput"].curve(SLIDE, "aba", "Sum").xs)
    said = f"{told(min(left.values()))} to {told(max(left.values()))} of the best is left"
    said += f" at {told(longest)} values (Bloom: fewer)"
    return for_each({name: share <= 0.9 for name, share in left.items()}, said)


@claim(
    "Section 7.2",
    "Sum's throughput falls (below 90 %) at larger windows than GeometricMean's",
    why=IN_ORDER,
)
def _(found: Found) -> Verdict:
    from_n = {}
    for function in ("Sum", "GeometricMean"):
        below = _kept(found, function, "aba").where(lambda n: n >= 1024)
        low = [n for n, share in below.at.items() if share < 0.9]
        from_n[function] = min(low) if low else float("inf")
    later = from_n["Sum"] > from_n["GeometricMean"]
    return for_each({"aba": later}, f"aba: from {_listed(from_n)} values on")

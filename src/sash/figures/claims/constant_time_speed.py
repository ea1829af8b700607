"""The claims of the paper on Two-Stacks, ABA and DABA (2015) that are about throughput."""

from __future__ import annotations

from functools import partial

from sash.figures.claims import constant_time_bytes as parts
from sash.figures.claims.judging import (
    Claims,
    Found,
    Verdict,
    along,
    along_each,
    for_each,
    spans,
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


def _slide(found: Found, algorithm: str, function: str, n: float) -> float:
    return found["constant_time_throughput"].value(SLIDE, algorithm, function, n)


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
    latest = max(max(_but(_points(found, name), "Collect").values()) for name in TITLES)
    return (
        f"All of them pay from windows of a few values on, Reactive too: its tree is a flat array "
        f"that a compiled loop goes up, {told(tree.at[4])} ns a slide for Sum on 4 values, where "
        f"recalculating takes {told(anew.at[4])} and DABA {told(daba.at[4])}. There is little room "
        f"for a factor of ten between points of which the latest is {told(latest, 2)} values."
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


def _sum_and_bloom(found: Found) -> str:
    results = found["constant_time_break_even"]
    anew, aba = (results.curve(SLIDE, name, "Sum").at[4] for name in ("recalc", "aba"))
    return (
        f"Both pay within a few values. With Sum a slide of four values takes {told(anew)} ns if "
        f"it is computed anew, and {told(aba)} with ABA. Bloom runs in plain Python, a ⊕ in "
        f"{told(parts.of_bloom(found, '⊕'))} µs (Profile 2 of the Reactive Aggregator), so that "
        f"each that is saved counts."
    )


@claim(
    "Section 7.1",
    "ABA pays for Sum from no larger windows on than for Bloom",
    why=_sum_and_bloom,
)
def _(found: Found) -> Verdict:
    points = _points(found, "aba")
    both = {name: points[name] for name in ("Sum", "Bloom")}
    return for_each({"aba": both["Sum"] <= both["Bloom"]}, _listed(both))


def _few_values(found: Found) -> str:
    results = found["constant_time_break_even"]
    anew, daba = (results.curve(SLIDE, name, "Sum") for name in ("recalc", "daba"))
    return (
        f"Recalculating two values takes {told(anew.at[2])} ns a slide for Sum, "
        f"with one ⊕ and nothing to keep but the values; DABA keeps six pointers too, and takes "
        f"{told(daba.at[2])}. Where a tuple takes tens of "
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
    "any window.",
)
def _(found: Found) -> Verdict:
    curves = _over(found["constant_time_throughput"], "daba", "flat_fat")
    curves = {panel: curve.where(lambda n: n >= 16) for panel, curve in curves.items()}
    return along_each(curves, lambda n, ratio: ratio > 1, _range(curves))


def _same_beside(found: Found) -> str:
    """What a slide takes whichever algorithm it is, with the functions that cost most."""
    results = found["constant_time_throughput"]
    single = results.curve(SLIDE, "recalc", "GeometricMean").at[1]
    most = {name: _over(results, name, "flat_fat")["Bloom"].greatest for name in OURS}
    gains = ", ".join(f"{name} {told(ratio)} x" for name, ratio in most.items())
    return (
        f"A logarithm and an exponential take {told(single)} ns of each slide of GeometricMean, "
        f"whichever algorithm it is. {parts.slide_of_bloom(found)}; at any window {gains} at most."
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


NEARLY = 0.95


def _best(found: Found) -> dict[str, dict[float, tuple[float, str]]]:
    """By function and window: the share of the best throughput that both have, and whose it is."""
    results = found["constant_time_throughput"]
    shares: dict[str, dict[float, tuple[float, str]]] = {}
    for panel in results.panels(SLIDE):
        times = {name: results.curve(SLIDE, name, panel) for name in results.series(SLIDE, panel)}
        shares[panel] = {}
        for n in times["aba"].xs:
            ns, name = min((curve.at[n], name) for name, curve in times.items() if n in curve.at)
            share = ns / min(times["two_stacks"].at[n], times["aba"].at[n])
            shares[panel][n] = share, name
    return shares


def _faster_than_both(found: Found) -> str:
    said = []
    for panel, best in _best(found).items():
        names = {n: name for n, (share, name) in best.items() if share < NEARLY}
        for name in dict.fromkeys(names.values()):
            places = [n for n, fastest in names.items() if fastest == name]
            said.append(f"{name} with {panel} and windows of {spans(places, list(best))}")
    return "; ".join(said)


@claim(
    "Figure 18 (throughput)",
    "Two-Stacks or ABA has the best throughput (within 5 %) at every window",
    why=lambda found: f"The fastest where neither is: {_faster_than_both(found)}.",
)
def _(found: Found) -> Verdict:
    shares = {
        panel: Curve({n: share for n, (share, _) in best.items()})
        for panel, best in _best(found).items()
    }
    least = min(curve.least for curve in shares.values())
    said = f"at least {told(least)} of the best"
    return along_each(shares, lambda n, share: share >= NEARLY, said)


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


def _not_below(found: Found, name: str) -> str:
    results = found["constant_time_throughput"]
    said = "In windows of one value DABA never has a list to turn over."
    curves = {
        panel: curve.where(lambda n: n > 1) for panel, curve in _over(results, "daba", name).items()
    }
    panel = max(curves, key=lambda panel: curves[panel].greatest)
    most = curves[panel].greatest
    if most < 1:
        return said
    n = next(n for n, ratio in curves[panel].at.items() if ratio == most)
    least, longest = results.spread(SLIDE, "daba", panel)[n]
    return (
        f"{said} In others it has at most {told(most)} x the throughput ({panel}, {told(n)} "
        f"values), where rounds of DABA are {told(longest / least)} x apart."
    )


for name in ("two_stacks", "aba"):

    @claim(
        "Figure 18 (throughput)",
        f"DABA's throughput is below that of {TITLES[name]}",
        why=partial(_not_below, name=name),
    )
    def _(found: Found, name: str = name) -> Verdict:
        curves = _over(found["constant_time_throughput"], "daba", name)
        return along_each(curves, lambda n, ratio: ratio < 1, _range(curves))


@claim(
    "Figure 18 (throughput)",
    "all three outperform Reactive, but for Bloom with windows below 2^8 values",
    why="On windows of up to 16 values a tree has four levels at most: no more ⊕ than DABA does at "
    "any window, and no lists to keep.",
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


def _short_and_long(found: Found, experiment: str) -> str:
    results = found[experiment]
    return ", ".join(
        f"{function} ({name}) {told(curve.at[4])} and {told(curve.at[256])}"
        for function in ("Sum", "GeometricMean")
        for name in ("aba", "daba")
        if (curve := results.curve(SLIDE, name, function))
    )


@claim(
    "Figure 18 (throughput)",
    "with Sum and GeometricMean ABA and DABA gain throughput up to windows of 2^8",
    why=lambda found: (
        f"To turn over a list of a few values is a small part of their slides, so that to do it "
        f"more rarely gains little; nanoseconds with 4 values and with 256: "
        f"{_short_and_long(found, 'constant_time_throughput')}. What another process makes of "
        f"the same loops may differ: {_short_and_long(found, parts.PROFILE)} (Profile 1)."
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


def _saved(found: Found) -> str:
    plain, cached = (_slide(found, name, "Sum", 1024) for name in ("daba", "daba_cached"))
    return f"at 1,024 values {told(plain)} ns without and {told(cached)} with it"


@claim(
    "Section 7.2",
    "with Sum caching makes little difference to DABA's throughput (within 10 %)",
    why=lambda found: (
        f"It saves one ⊕ of each slide and the partials that it reads: {_saved(found)}. "
        f"{parts.caching(found, 'Sum')}"
    ),
)
def _(found: Found) -> Verdict:
    curve = found["constant_time_throughput"].ratio(SLIDE, "daba", "daba_cached", "Sum")
    said = f"{told(curve.least)} to {told(curve.greatest)} x with caching"
    return along(curve, lambda n, ratio: abs(ratio - 1) <= 0.1, said)


@claim(
    "Section 7.2",
    "with Bloom caching makes DABA faster at every window (from 4 values on)",
    why=lambda found: (
        f"It saves one of five ⊕ of {told(parts.of_bloom(found, '⊕'))} µs each, where hashing the "
        f"value takes {told(parts.of_bloom(found, 'lift'))} (Profile 2 of the Reactive "
        f"Aggregator). {parts.caching(found, 'Bloom')}"
    ),
)
def _(found: Found) -> Verdict:
    curve = found["constant_time_throughput"].ratio(SLIDE, "daba", "daba_cached", "Bloom")
    curve = curve.where(lambda n: n >= 4)
    said = f"{told(curve.least)} to {told(curve.greatest)} x with caching"
    return along(curve, lambda n, ratio: ratio > 1, said)


for name in OURS:

    @claim(
        "Section 7.2",
        f"a slide of {TITLES[name]} takes as long at any window from 2^4 to 2^14 (within 1.5 x)",
        why=partial(parts.not_flat, algorithm=name),
    )
    def _(found: Found, name: str = name) -> Verdict:
        spread = parts.spreads(found, name)
        said = ", ".join(f"{panel} within {told(ratio)} x" for panel, ratio in spread.items())
        return for_each({panel: ratio <= parts.FLAT for panel, ratio in spread.items()}, said)


@claim(
    "Section 7.2",
    "Reactive is the worst asymptotically after Recalc: the time of a slide grows with the "
    "logarithm of the window (a straight line explains 90 %, from 16 values on)",
    why=parts.beyond_the_logarithm,
)
def _(found: Found) -> Verdict:
    results = found["constant_time_throughput"]
    explained = {
        panel: parts.explained(results.curve(SLIDE, "flat_fat", panel))
        for panel in results.panels(SLIDE)
    }
    said = ", ".join(f"{panel} {100 * share:.0f} %" for panel, share in explained.items())
    return for_each({panel: share >= parts.STRAIGHT for panel, share in explained.items()}, said)


def _kept(found: Found, function: str, algorithm: str) -> Curve:
    return parts.left(found["constant_time_throughput"].curve(SLIDE, algorithm, function))


def _left(found: Found) -> dict[tuple[str, str], float]:
    """What is left of the best throughput in the longest windows, by function and algorithm."""
    return {
        (function, name): _kept(found, function, name).last
        for function in ("Sum", "GeometricMean", "Bloom")
        for name in OURS
    }


FALLEN = 0.9


@claim(
    "Section 7.2",
    "throughput falls (by 10 % or more) towards windows of 2^20 values",
    why=lambda found: parts.in_long_windows(
        found, (which for which, share in _left(found).items() if share > FALLEN)
    ),
)
def _(found: Found) -> Verdict:
    left = {f"{function} ({name})": share for (function, name), share in _left(found).items()}
    longest = max(found["constant_time_throughput"].curve(SLIDE, "aba", "Sum").xs)
    said = f"{told(min(left.values()))} to {told(max(left.values()))} of the best is left"
    said += f" at {told(longest)} values (Bloom: fewer)"
    return for_each({name: share <= FALLEN for name, share in left.items()}, said)


@claim(
    "Section 7.2",
    "Sum's throughput falls (below 90 %) at larger windows than GeometricMean's",
    why=partial(parts.in_long_windows, series=(("Sum", "aba"), ("GeometricMean", "aba"))),
)
def _(found: Found) -> Verdict:
    from_n = {}
    for function in ("Sum", "GeometricMean"):
        below = _kept(found, function, "aba").where(lambda n: n >= 1024)
        low = [n for n, share in below.at.items() if share < FALLEN]
        from_n[function] = min(low) if low else float("inf")
    later = from_n["Sum"] > from_n["GeometricMean"]
    return for_each({"aba": later}, f"aba: from {_listed(from_n)} values on")

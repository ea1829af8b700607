"""The claims of the Reactive Aggregator paper (2015): many changes at once, and resizing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, log2

from sash.figures.claims.judging import (
    Claims,
    Found,
    NotMeasuredError,
    Verdict,
    along,
    at_most,
    bytes_or_not,
    for_each,
    is_flat,
    straightness,
)
from sash.figures.claims.reactive import ENGINE, in_the_engine, percent
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve, Results

CLAIMS = Claims("reactive")
claim = CLAIMS.claim

TUPLE, ANSWER = "ns a tuple", "ns an answer"
STDDEV = "SampleStdDev"
FEW = ("m = 1", "m = 4", "m = 64")
"""So many rows at a time, however long the window."""
PARTS = ("m = n/16", "m = n/4", "m = n")
"""A part of the window at a time."""


# Tumbling windows


def _tumbling(found: Found) -> dict[str, Curve]:
    """How many times as long as computing anew."""
    results = found["reactive_tumbling"]
    return {
        name: results.ratio(ANSWER, "flat_fat", "recalc", name) for name in results.panels(ANSWER)
    }


def _spread(curves: Mapping[str, Curve]) -> str:
    return ", ".join(
        f"{name} {told(curve.least)} – {told(curve.greatest)} x" for name, curve in curves.items()
    )


def _worst(curves: Mapping[str, Curve]) -> Curve:
    """The greatest of several at each place that all have."""
    places = set.intersection(*(set(curve.xs) for curve in curves.values()))
    return Curve({x: max(curve.at[x] for curve in curves.values()) for x in sorted(places)})


def _nothing_reused(found: Found) -> str:
    results = found["reactive_tumbling"]
    told_of, both = [], []
    for name in results.panels(TUPLE):
        anew, tree = (results.curve(TUPLE, each, name) for each in ("recalc", "flat_fat"))
        told_of.append(f"{name} {told(anew.last)} and {told(tree.last)} ns")
        both += [(tree.at[n], anew.at[n]) for n in tree.xs]
    most = max(both, key=lambda each: each[0] - each[1])
    return (
        f"Computing a window anew, a compiled loop keeps its sum in a register; FlatFAT writes 2 n "
        f"partials to memory for the same n - 1 ⊕. For each tuple of the longest windows: "
        f"{', '.join(told_of)}. With the {ENGINE} ns of the paper's tuples added to both, that "
        f"would be at most {in_the_engine(*most)} longer."
    )


@claim(
    "Figure 8",
    "a tumbling window takes about as long (within 25 %) as computing it anew",
    why=_nothing_reused,
)
def _(found: Found) -> Verdict:
    curves = _tumbling(found)
    apart = {
        name: Curve({n: max(ratio, 1 / ratio) for n, ratio in curve.at.items()})
        for name, curve in curves.items()
    }
    return along(_worst(apart), lambda n, ratio: ratio <= 1.25, _spread(curves))


@claim(
    "Figure 8",
    "essentially no worse (at most 10 %) than computing anew when nothing is reused",
    why=_nothing_reused,
)
def _(found: Found) -> Verdict:
    curves = _tumbling(found)
    return along(_worst(curves), lambda n, ratio: ratio <= 1.1, _spread(curves))


@claim(
    "Figure 8",
    "a tumbling window takes about as long (within 25 %) for StdDev as for Max",
    why=lambda found: (
        f"⊕ itself is what a tuple takes here: one comparison of one field for Max, a division and "
        f"eight more operations on three fields for StdDev. {_tumbling_apart(found)}"
    ),
)
def _(found: Found) -> Verdict:
    results = found["reactive_tumbling"]
    ratio = results.ratio(ANSWER, "flat_fat", "flat_fat", STDDEV, under="Max")
    said = f"StdDev {told(ratio.least)} – {told(ratio.greatest)} x as long"
    return along(ratio, lambda n, times: 1 / 1.25 <= times <= 1.25, said)


def _tumbling_apart(found: Found) -> str:
    results = found["reactive_tumbling"]
    one, other = (results.curve(TUPLE, "flat_fat", name) for name in (STDDEV, "Max"))
    n = max(one.xs, key=lambda n: one.at[n] - other.at[n])
    return (
        f"At most that is {told(one.at[n])} against {told(other.at[n])} ns a tuple ({told(n)} "
        f"values); with {ENGINE} ns added to both, {in_the_engine(one.at[n], other.at[n])} longer."
    )


# Windows that grow and shrink


def _oscillating(found: Found) -> dict[str, Curve]:
    """How many times as long a tuple takes as with a fixed capacity."""
    results = found["reactive_resizing"]
    return {
        name: results.ratio(TUPLE, "oscillating", "fixed", name) for name in results.panels(TUPLE)
    }


def _twice_the_calls(found: Found) -> str:
    ratios = {name: curve.last for name, curve in _oscillating(found).items()}
    said = ", ".join(f"{name} {told(times)} x" for name, times in ratios.items())
    counted = found["reactive_calls"]
    fixed, other = (
        counted.curve("⊕ a tuple", name, "resizing") for name in ("fixed", "oscillating")
    )
    n = max(fixed.xs)
    return (
        f"In a full window of fixed capacity the new tuple takes the leaf of the one that leaves, "
        f"and one path to the root is computed again: {told(fixed.at[n])} ⊕ a tuple at {told(n)} "
        f"values, counted. While a window grows and shrinks each tuple has its path too, and both "
        f"resizes and the eviction sum what is left anew: {told(other.at[n])} ⊕ a tuple, "
        f"{told(other.at[n] / fixed.at[n])} times as many. The longest windows take {said} the "
        f"time. Short ones also pay for the allocation of their few bytes."
    )


@claim(
    "Figure 9",
    "a tuple takes less time with a capacity that oscillates than with a fixed one",
    why=_twice_the_calls,
)
def _(found: Found) -> Verdict:
    curves = _oscillating(found)
    return along(_worst(curves), lambda n, ratio: ratio <= 1, _spread(curves))


@claim(
    "Figure 9",
    "resizing is amortised: a tuple's time over that with a fixed capacity does not grow with the "
    "window (at most 1.25 times as great on the largest as on 1,024 values or fewer)",
)
def _(found: Found) -> Verdict:
    curves = _oscillating(found)
    grown = {}
    for name, curve in curves.items():
        small = curve.where(lambda n: n <= 1024)
        grown[name] = curve.last / small.last
    said = ", ".join(
        f"{name} {told(curve.where(lambda n: n <= 1024).last)} x, then {told(curve.last)} x"
        for name, curve in curves.items()
    )
    return for_each({name: times <= 1.25 for name, times in grown.items()}, said)


def _resizes(found: Found) -> Curve:
    """The time of one resize of StdDev in µs, by the leaves before it."""
    results = found["reactive_resizing"]
    at: dict[float, float] = {}
    for panel in results.panels("µs a resize"):
        at |= results.curve("µs a resize", STDDEV, panel).at
    return Curve(dict(sorted(at.items())))


def _resize(found: Found, leaves: int) -> float:
    took = _resizes(found).at
    if leaves not in took:
        raise NotMeasuredError(f"no window of {told(leaves)} values was resized at this scale")
    return took[leaves]


@claim("Section 6.2", "a window of StdDev is resized from 256 to 512 in 4.2 µs")
def _(found: Found) -> Verdict:
    took = _resize(found, 256)
    return at_most(took, 4.2, f"{told(took)} µs", in_part=8.4)


def _pages(found: Found) -> str:
    results = found["reactive_resizing"]
    panel = results.panels("µs a resize")[-1]
    took, there, small = (
        results.curve("µs a resize", name, panel).last / 1e3
        for name in (STDDEV, f"{STDDEV}, pages there", "Max")
    )
    return (
        f"{percent(1 - there / took)} of it is the kernel, which clears each page of the new tree "
        f"when it is first written: if the pages are there, the same resize takes {told(there)} "
        f"ms. A partial of StdDev is 24 bytes here (the paper's: 20), a tree of 2 million leaves "
        f"96 MB; that of Max is 32 MB, and "
        f"takes {told(small)} ms."
    )


@claim(
    "Section 6.2",
    "a window of StdDev is resized from 1 to 2 million in 9.4 ms",
    why=_pages,
)
def _(found: Found) -> Verdict:
    took = _resize(found, 1 << 20) / 1e3
    return at_most(took, 9.4, f"{told(took)} ms", in_part=18.8)


@claim("Section 6.2", "a resize takes time in proportion to the window (within a factor of 4)")
def _(found: Found) -> Verdict:
    took = _resizes(found)
    longer, larger = took.last / took.values[0], max(took.xs) / min(took.xs)
    said = f"{told(longer)} x as long for a window {told(larger)} x as large"
    off = max(longer / larger, larger / longer)
    return at_most(off, 4, said, in_part=8)


# ⊕, counted


def _counted(found: Found, metric: str) -> Curve:
    return found["reactive_calls"].curve(metric, "flat_fat", "tree")


@claim("Theorem 4.2", "a new tree of n values takes n - 1 ⊕")
def _(found: Found) -> Verdict:
    counted = _counted(found, "⊕ for a new tree")
    said = f"{told(counted.last)} ⊕ at n = {told(max(counted.xs))}"
    return along(counted, lambda n, calls: calls <= n - 1, said)


def _within_bound(found: Found, panel: str) -> Verdict:
    """Whether m changes to n values take at most m (1 + ⌈log2(n/m)⌉) ⊕."""
    results = found["reactive_calls"]
    holds, shares = {}, []
    for name in results.series("⊕ at worst", panel):
        most = results.curve("⊕ at worst", name, panel)
        bound = {n: _bound(name, n) for n in most.xs}
        holds[name] = all(calls <= bound[n] for n, calls in most.at.items())
        shares += [calls / bound[n] for n, calls in most.at.items()]
    if not shares:
        raise NotMeasuredError(f"no ⊕ for changes {panel}")
    return for_each(holds, f"at most {100 * max(shares):.0f} % of the bound")


def _bound(series: str, n: float) -> float:
    whole, _, part = series.removeprefix("m = ").partition("/")
    m = (n if whole == "n" else float(whole)) / float(part or 1)
    return m * (1 + ceil(log2(n / m)))


@claim("Theorem 4.2", "m rows that take the place of the oldest take at most m (1 + ⌈log2(n/m)⌉) ⊕")
def _(found: Found) -> Verdict:
    return _within_bound(found, "side by side")


@claim("Theorem 4.2", "any m values replaced together take at most m (1 + ⌈log2(n/m)⌉) ⊕")
def _(found: Found) -> Verdict:
    return _within_bound(found, "anywhere")


@claim("Theorem 4.2", "the sum of a prefix or of a suffix takes at most log2 n ⊕")
def _(found: Found) -> Verdict:
    parts = [_counted(found, f"⊕ for a {name}, at worst") for name in ("prefix", "suffix")]
    worst = Curve({n: max(part.at[n] for part in parts) for n in parts[0].xs})
    said = f"at most {told(worst.last)} ⊕ at n = {told(max(worst.xs))}"
    return along(worst, lambda n, calls: calls <= log2(n), said)


@claim("Theorem 4.2", "the sum of the whole tree takes no ⊕")
def _(found: Found) -> Verdict:
    counted = _counted(found, "⊕ for the whole")
    return along(counted, lambda n, calls: calls == 0, f"at most {told(counted.greatest)} ⊕")


# m changes, timed


def _lines(found: Found, names: tuple[str, ...]) -> dict[str, Curve]:
    results = found["reactive_batches"]
    curves = {name: results.curve(TUPLE, name, STDDEV) for name in names}
    return {name: curve for name, curve in curves.items() if len(curve.xs) > 2}


def _judged(
    curves: dict[str, Curve], holds: Callable[[Curve], bool], tell: Callable[[Curve], str]
) -> Verdict:
    said = ", ".join(f"{name}: {tell(curve)}" for name, curve in curves.items())
    return for_each({name: holds(curve) for name, curve in curves.items()}, said)


def _bytes(found: Found, ms: Sequence[str]) -> str:
    """Whether the longest windows take longer for want of cache."""
    results, said = found["reactive_batches_bytes"], []
    rounds, widths = results.apart(), ("Greatest, 24 bytes", "Greatest, 1 byte")
    for m in ms:
        wide, narrow = (results.curve(TUPLE, m, name) for name in widths)
        n = max(wide.xs)
        told_of = [f"{told(curve.at[4096])} and {told(curve.at[n])} ns" for curve in (wide, narrow)]
        rises = (
            [
                each.value(TUPLE, m, name, n) / each.value(TUPLE, m, name, 4096) - 1
                for each in rounds
            ]
            for name in widths
        )
        said.append(f"{m} {told_of[0]}, and {told_of[1]} with one: {bytes_or_not(*rises)}")
    return (
        f"At 4,096 and {told(n)} values the greatest of them takes, with partials of 24 bytes, "
        f"as StdDev's (Profile 3): {'; '.join(said)}."
    )


def _many_share(found: Found) -> str:
    """With m = 64, where six of the levels are shared by those that come together."""
    curve = _lines(found, ("m = 64",))["m = 64"]
    short, long = curve.where(lambda n: n <= 1 << 17), curve.where(lambda n: n > 1 << 17)
    said = (
        f"With m = 64 six levels are shared by those that come together, so that the logarithm is "
        f"of what is left: up to {told(short.xs[-1])} values a tuple takes {_ends(short)}, and a "
        f"straight line explains {100 * straightness(short, log2):.0f} % of it."
    )
    if not long:
        return said
    return f"{said} In longer windows it takes {_ends(long)}. {_bytes(found, ['m = 64'])}"


@claim(
    "Figure 10",
    "for m = 1, 4 and 64 the time of a tuple grows with the logarithm of the window "
    "(a straight line explains at least 90 % of it)",
    why=_many_share,
)
def _(found: Found) -> Verdict:
    return _judged(
        _lines(found, FEW),
        lambda curve: straightness(curve, log2) >= 0.9,
        lambda curve: f"{100 * straightness(curve, log2):.0f} %",
    )


def _large(curve: Curve) -> Curve:
    return curve.where(lambda n: n >= 4096)


def _ends(curve: Curve) -> str:
    return f"{told(curve.least)} – {told(curve.greatest)} ns"


def _near(found: Found) -> Curve:
    return _large(_lines(found, ("m = n",))["m = n"]).where(lambda n: n <= 1 << 18)


def _far(found: Found) -> Curve:
    return _lines(found, ("m = n",))["m = n"].where(lambda n: n > 1 << 18)


@claim(
    "Figure 10",
    "for m = n/16, n/4 and n the time of a tuple is constant on large windows "
    "(from 4,096 values on the longest at most 1.5 times the shortest)",
    why=lambda found: (
        f"With m = n a tuple takes {_ends(_near(found))} up to 2^18 values, and "
        f"{_ends(_far(found))} beyond. {_bytes(found, PARTS)}"
    ),
)
def _(found: Found) -> Verdict:
    curves = {name: _large(curve) for name, curve in _lines(found, PARTS).items()}
    return _judged(curves, lambda curve: is_flat(curve, 1.5), _ends)


@claim("Figure 10", "for m = n/16, n/4 and n the time of a tuple falls on small windows")
def _(found: Found) -> Verdict:
    curves = {
        name: curve.where(lambda n: n <= 4096) for name, curve in _lines(found, PARTS).items()
    }
    return _judged(
        curves,
        lambda curve: curve.last < curve.values[0],
        lambda curve: f"{told(curve.values[0])} to {told(curve.last)} ns",
    )


@claim(
    "Section 6.1",
    "a tuple costs most with m = 1 (within 5 %), for any window",
    why="In windows of a few tuples there is nothing to share between those of a batch.",
)
def _(found: Found) -> Verdict:
    results = found["reactive_batches"]
    single = results.curve(TUPLE, "m = 1", STDDEV)
    others = [name for name in (*FEW, *PARTS) if name != "m = 1"]
    ratios = [_over(results, name) for name in others]
    most = Curve(
        {n: max(r.at[n] for r in ratios if n in r.at) for n in single.xs if n > 1 and ratios}
    )
    said = f"the dearest other m takes at most {told(most.greatest)} x as long"
    return along(most, lambda n, ratio: ratio <= 1.05, said)


def _over(results: Results, name: str) -> Curve:
    """The time of a tuple over that with m = 1, where m is more than 1."""
    ratio = results.ratio(TUPLE, name, "m = 1", STDDEV)
    return ratio.where(lambda n: not (name.startswith("m = n/") and n <= int(name[6:])))

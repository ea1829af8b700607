"""Why slides of Two-Stacks, ABA, DABA and Reactive take what they take: the same with fewer bytes.

What a curve looks like is asked of each round by itself, and each round goes through all sizes: a
machine that is slower for a while would give a curve of medians steps of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import log2
from statistics import median

from sash.figures.claims.judging import Found, bytes_or_not, straightness
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve

SLIDE = "ns a slide"
PROFILE = "constant_time_profile"
NARROW = {
    "Sum": "Sum, 8 bytes",
    "GeometricMean": "GeometricMean, 8 bytes",
    "Bloom": "Bloom, 64 bits",
}
"""The same functions with partials of fewer bytes, by those of Figure 18."""

Shape = Callable[[Curve], float]


def _both(
    found: Found, algorithm: str, function: str, shape: Shape
) -> tuple[list[float], list[float]]:
    """Of each round, with the partials of Figure 18, and with narrow ones."""
    rounds = found[PROFILE].apart()
    wide, narrow = (
        [shape(each.curve(SLIDE, algorithm, name)) for each in rounds]
        for name in (function, NARROW[function])
    )
    return wide, narrow


FLAT = 1.5


def _spread(curve: Curve) -> float:
    some = curve.where(lambda n: 16 <= n <= 1 << 14)
    return some.greatest / some.least


def spreads(found: Found, algorithm: str) -> dict[str, float]:
    """How many times the least of a slide the greatest is in Figure 18, by function."""
    results = found["constant_time_throughput"]
    return {
        panel: _spread(results.curve(SLIDE, algorithm, panel)) for panel in results.panels(SLIDE)
    }


def not_flat(found: Found, algorithm: str) -> str:
    """Why slides of some functions take longer in some windows than in others."""
    said = []
    for function, spread in spreads(found, algorithm).items():
        if spread > FLAT:
            wide, narrow = _both(found, algorithm, function, _spread)
            follows = bytes_or_not([each - 1 for each in wide], [each - 1 for each in narrow])
            if median(wide) <= FLAT:
                follows = f"there the claim holds, and what it was {NOT_FOUND}"
            said.append(
                f"with {function} times are within {told(median(wide))} x, and within "
                f"{told(median(narrow))} x with {NARROW[function]}: {follows}"
            )
    return f"The same slides in the profile (Profile 1): {'; '.join(said)}."


NOT_FOUND = "was not found out"
STRAIGHT = 0.9


def explained(curve: Curve) -> float:
    """How much of it a straight line over the logarithm explains, from 16 values on."""
    return straightness(curve.where(lambda n: n >= 16), log2)


def beyond_the_logarithm(found: Found) -> str:
    """Why Reactive's slides do not take what a logarithm says."""
    results = found["constant_time_throughput"]
    said = []
    for function in results.panels(SLIDE):
        if explained(results.curve(SLIDE, "flat_fat", function)) >= STRAIGHT:
            continue
        wide, narrow = (median(each) for each in _both(found, "flat_fat", function, explained))
        if wide >= STRAIGHT:
            follows = f"there the claim holds, and what it was {NOT_FOUND}"
        elif narrow >= STRAIGHT:
            follows = "it is the bytes of partials"
        else:
            follows = f"it is not the bytes of partials alone; what else {NOT_FOUND}"
        said.append(
            f"{100 * wide:.0f} % of {function}, and {100 * narrow:.0f} % of {NARROW[function]}: "
            f"{follows}"
        )
    return f"In the profile (Profile 1) a straight line explains {'; '.join(said)}."


def left(curve: Curve) -> Curve:
    """What is left of the best throughput at windows that are larger, as a share.

    Windows of a few values do not count: they have no stacks to speak of.
    """
    curve = curve.where(lambda n: n >= 16)
    best = min(curve.values)
    fastest = min(n for n, ns in curve.at.items() if ns == best)
    return Curve({n: best / ns for n, ns in curve.at.items() if n >= fastest})


def in_long_windows(found: Found, series: Iterable[tuple[str, str]]) -> str:
    """Whether throughput falls for want of cache, by function and algorithm."""
    said = []
    for function, algorithm in series:
        wide, narrow = _both(found, algorithm, function, lambda curve: left(curve).last)
        follows = bytes_or_not(*([1 / share - 1 for share in each] for each in (wide, narrow)))
        said.append(
            f"{function} ({algorithm}) {told(median(wide))}, with {NARROW[function]} "
            f"{told(median(narrow))}: {follows}"
        )
    single = found["constant_time_throughput"].value(SLIDE, "recalc", "GeometricMean", 1)
    return (
        f"What is left of the best throughput in the longest windows of the profile (Profile 1): "
        f"{'; '.join(said)}. A logarithm and an exponential take {told(single)} ns of each slide "
        f"of GeometricMean, in any window. 2^20 partials of Sum take 16 MB and those of "
        f"GeometricMean 24, beside values and answers, and 2^16 filters of 2 KB 128 MB; the last "
        f"cache holds {found[PROFILE].last_cache}."
    )


def caching(found: Found, function: str) -> str:
    """What caching gains, with partials as they are and with narrow ones."""
    results = found[PROFILE]
    names = (function, NARROW[function])
    gains = (
        results.ratio(SLIDE, "daba", "daba_cached", name).where(lambda n: n >= 4) for name in names
    )
    span = [
        f"{told(gain.least)} – {told(gain.greatest)} x with {name}"
        for name, gain in zip(names, gains, strict=True)
    ]
    return f"In the profile caching brings {' and '.join(span)} (Profile 1)."


def of_bloom(found: Found, name: str) -> float:
    """Microseconds of one call of a function of Bloom (Profile 2 of the Reactive Aggregator)."""
    return found["reactive_objects"].curve("µs a call", name, "Bloom").last


def slide_of_bloom(found: Found) -> str:
    """What a slide of Bloom consists of."""
    results = found["constant_time_throughput"]
    tree = results.curve(SLIDE, "flat_fat", "Bloom")
    n, slide = max(tree.xs), tree.last / 1e3
    calls = log2(n) * of_bloom(found, "⊕")
    narrow = found[PROFILE].value(SLIDE, "flat_fat", NARROW["Bloom"], n) / 1e3
    return (
        f"A slide of Bloom with Reactive takes {told(slide)} µs at {told(n)} values: hashing "
        f"{told(of_bloom(found, 'lift'))}, and log2 n ⊕ {told(calls)} if the filters are at hand "
        f"(Profile 2 of the Reactive Aggregator). With filters of 64 bits, of which ⊕ is next to "
        f"nothing, it still takes {told(narrow)} (Profile 1): most of it is plain Python that goes "
        f"round the loops, whichever algorithm it is"
    )

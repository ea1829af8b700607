"""Why slides of Two-Stacks, ABA, DABA and Reactive take what they take: fewer bytes."""

from __future__ import annotations

from math import log2

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


def _both(found: Found, algorithm: str, function: str) -> tuple[Curve, Curve]:
    """With the partials of Figure 18, and with narrow ones."""
    results = found[PROFILE]
    names = (function, NARROW[function])
    wide, narrow = (results.curve(SLIDE, algorithm, name) for name in names)
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
            wide, narrow = (_spread(curve) for curve in _both(found, algorithm, function))
            follows = bytes_or_not(wide - 1, narrow - 1) if wide > FLAT else "there it is flat"
            said.append(
                f"with {function} times are within {told(wide)} x, and within {told(narrow)} x "
                f"with {NARROW[function]}: {follows}"
            )
    return f"The same slides in the profile (Profile 1): {'; '.join(said)}."


def beyond_the_logarithm(found: Found) -> str:
    """Why Reactive's slides take longer in the longest windows than a logarithm says."""
    said = []
    for function in ("GeometricMean", "Bloom"):
        wide, narrow = (
            curve.where(lambda n: n >= 16) for curve in _both(found, "flat_fat", function)
        )
        shares = [f"{100 * straightness(curve, log2):.0f} %" for curve in (wide, narrow)]
        said.append(
            f"{function} {shares[0]} ({_ends(wide)}), {NARROW[function]} {shares[1]} "
            f"({_ends(narrow)})"
        )
    return f"A straight line explains in the profile (Profile 1): {'; '.join(said)}."


def _ends(curve: Curve) -> str:
    xs = [curve.xs[0], curve.xs[len(curve.xs) // 2], curve.xs[-1]]
    return ", ".join(f"{told(curve.at[n])} ns at {told(n)}" for n in xs)


def left(curve: Curve) -> Curve:
    """What is left of the best throughput at windows that are larger, as a share.

    Windows of a few values do not count: they have no stacks to speak of.
    """
    curve = curve.where(lambda n: n >= 16)
    best = min(curve.values)
    fastest = min(n for n, ns in curve.at.items() if ns == best)
    return Curve({n: best / ns for n, ns in curve.at.items() if n >= fastest})


def towards_long_windows(found: Found) -> str:
    """Whether throughput falls for want of cache."""
    said = []
    for function, narrow in NARROW.items():
        shares = [left(curve).last for curve in _both(found, "aba", function)]
        lost = [1 / share - 1 for share in shares]
        said.append(
            f"{function} {told(shares[0])}, {narrow} {told(shares[1])}: {bytes_or_not(*lost)}"
        )
    return (
        f"What is left of ABA's best throughput in the longest windows of the profile "
        f"(Profile 1): {'; '.join(said)}. 2^20 partials of Sum take 16 MB and those of "
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

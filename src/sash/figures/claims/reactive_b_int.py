"""The claims of the Reactive Aggregator paper (2015): against B-Int, of Arasu and Widom."""

from __future__ import annotations

from math import log2

from sash.figures.claims.judging import (
    Claims,
    Found,
    NotMeasuredError,
    Verdict,
    along,
    for_each,
    is_flat,
    straightness,
)
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve

CLAIMS = Claims("reactive")
claim = CLAIMS.claim

SLIDE, TUPLE = "ns a slide", "ns a tuple"


def _b_int(found: Found, m: str) -> Curve:
    """How many times as long B-Int takes."""
    results = found["reactive_b_int"]
    return results.ratio(TUPLE, f"b_int, {m}", f"flat_fat, {m}", "Max")


@claim("Figure 11", "faster than B-Int with m = 1, for any window")
def _(found: Found) -> Verdict:
    ratio = _b_int(found, "m = 1")
    said = f"B-Int takes {told(ratio.least)} – {told(ratio.greatest)} x as long"
    return along(ratio, lambda n, times: times > 1, said)


@claim("Figure 11", "faster than B-Int with m = n/16, for any window")
def _(found: Found) -> Verdict:
    ratio = _b_int(found, "m = n/16")
    said = f"B-Int takes {told(ratio.least)} – {told(ratio.greatest)} x as long"
    return along(ratio, lambda n, times: times > 1, said)


@claim(
    "Figure 11",
    "by a constant factor (the greatest at most 1.5 times the least, from 64 values on)",
)
def _(found: Found) -> Verdict:
    curves = {m: _b_int(found, m).where(lambda n: n >= 64) for m in ("m = 1", "m = n/16")}
    said = ", ".join(
        f"{m}: {told(curve.least)} – {told(curve.greatest)} x" for m, curve in curves.items()
    )
    return for_each({m: is_flat(curve, 1.5) for m, curve in curves.items()}, said)


@claim(
    "Figure 11",
    "both grow alike: with m = 1 with the logarithm (a straight line explains 90 %), "
    "with m = n/16 not at all (within 1.5 times, from 4,096 values on)",
)
def _(found: Found) -> Verdict:
    results = found["reactive_b_int"]
    answers, said = {}, []
    for name in ("b_int", "flat_fat"):
        single = results.curve(TUPLE, f"{name}, m = 1", "Max")
        part = results.curve(TUPLE, f"{name}, m = n/16", "Max").where(lambda n: n >= 4096)
        share = straightness(single, log2)
        answers[f"{name}, m = 1"] = share >= 0.9
        answers[f"{name}, m = n/16"] = is_flat(part, 1.5)
        said.append(f"{name} {100 * share:.0f} % and {told(part.least)} – {told(part.greatest)} ns")
    return for_each(answers, "; ".join(said))


def _table(found: Found) -> dict[str, Curve]:
    results = found["reactive_b_int_operators"]
    return {name: results.ratio(SLIDE, "b_int", "flat_fat", name) for name in results.panels(SLIDE)}


def _at(found: Found, n: int, least: float) -> Verdict:
    ratios = {name: curve.at[n] for name, curve in _table(found).items() if n in curve.at}
    if not ratios:
        raise NotMeasuredError(f"no window of {told(n)} values at this scale")
    said = f"{min(ratios.values()):.2f} – {max(ratios.values()):.2f} x"
    return for_each({name: ratio >= least for name, ratio in ratios.items()}, said)


@claim("Table 4", "B-Int takes 1.02 to 1.06 times as long as FlatFAT on 8 values (at least 1.02)")
def _(found: Found) -> Verdict:
    return _at(found, 8, 1.02)


@claim("Table 4", "B-Int takes 1.20 to 1.26 times as long on 8,192 values (at least 1.20)")
def _(found: Found) -> Verdict:
    return _at(found, 8192, 1.2)


@claim("Table 4", "B-Int takes 1.35 to 1.39 times as long on 8 million values (at least 1.35)")
def _(found: Found) -> Verdict:
    return _at(found, 1 << 23, 1.35)


@claim(
    "Table 4",
    "the function makes little difference to that (at most 5 % between any two on one window)",
)
def _(found: Found) -> Verdict:
    curves = list(_table(found).values())
    if len(curves) < 2:
        raise NotMeasuredError("a single function has nothing to differ from")
    apart = Curve(
        {n: max(c.at[n] for c in curves) / min(c.at[n] for c in curves) for n in curves[0].xs}
    )
    said = f"up to {100 * (apart.greatest - 1):.0f} % between two functions"
    return along(apart, lambda n, ratio: ratio <= 1.05, said)


@claim("Table 4", "FlatFAT's lead over B-Int grows with the window")
def _(found: Found) -> Verdict:
    curves = _table(found)
    ratios = {n: " → ".join(f"{r:.2f}" for r in curve.values) for n, curve in curves.items()}
    said = ", ".join(f"{name}: {told_ratios}" for name, told_ratios in ratios.items())
    return for_each({n: c.values == sorted(c.values) for n, c in curves.items()}, said)

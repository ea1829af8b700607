"""What was not to be expected: each told with the numbers of this run, or not at all."""

from __future__ import annotations

from collections.abc import Callable

from sash.figures.claims.judging import MISSING, Found
from sash.figures.crossing import crossing
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve

Surprise = Callable[[Found], str]

SLIDE = "ns a slide"


def surprises() -> list[Callable[[Found], str | None]]:
    """Each tells a sentence, or nothing if it was not measured."""
    return [_if_measured(each) for each in ALL]


def _if_measured(surprise: Surprise) -> Callable[[Found], str | None]:
    def told(found: Found) -> str | None:
        try:
            return surprise(found)
        except MISSING:
            return None

    return told


def _trees_pay_at_once(found: Found) -> str:
    results = found["reactive_break_even"]
    names = [name for name in results.panels(SLIDE) if name not in ("Count", "Collect")]
    points = [crossing(results.ratio(SLIDE, "recalc", "flat_fat", name)) for name in names]
    return (
        f"**Trees pay at once.** In the Reactive Aggregator's paper a tree is as fast as computing "
        f"a window anew from 10 to 370 values on; in a loop that is compiled for the operator, "
        f"from {told(min(points), 2)} to {told(max(points), 2)}. All of the newer algorithms pay "
        f"from a few values on too, so that nothing is left of the differences of ten and a "
        f"hundred between their break-even points."
    )


def _branches(found: Found) -> str:
    results = found["reactive_bytes"]
    took, even = (results.curve(SLIDE, name, "8 bytes") for name in ("b_int", "b_int, no branches"))
    short, long = 1 << 11, 1 << 14
    return (
        f"**B-Int is slowed down by its branches, not by its ⊕.** A slide takes "
        f"{told(took.at[short])} ns in a window of {told(short)} values and {told(took.at[long])} "
        f"ns in one of {told(long)}. With an interval or the identity from every level, more ⊕ and "
        f"no branch that depends on the window, it takes {told(even.at[short])} and "
        f"{told(even.at[long])} ns: a processor learns to foresee a sequence that repeats after "
        f"two thousand slides, not one of sixteen thousand."
    )


def _second_thread(found: Found) -> str:
    n = 1 << 15
    one = found["pba_range"].curve(SLIDE, "sba", "uniform").at[n]
    parts = found["pba_parts"]
    both = parts.curve(SLIDE, "both at a time", parts.panels(SLIDE)[0]).at[n]
    return (
        f"**There is nothing left for a second thread, if ⊕ is cheap.** A slide of SBA takes "
        f"{told(one)} ns with Max, in one thread; the two parts of PBA's, each a plain loop in a "
        f"thread of its own that never waits, {told(both)} ns. Where ⊕ costs more, as with "
        f"MomentSketch, the second thread gains."
    )


def _python(found: Found) -> str:
    results = found["mta_constant_size"]
    curves = {n: results.curve(SLIDE, n, "constant size") for n in ("amta", "amta, compiled")}
    n = 1 << 16
    plain, loop = (curve.at[n] for curve in curves.values())
    return (
        f"**Value by value, the algorithm hardly matters.** A slide of AMTA takes "
        f"{told(plain / 1e3)} µs in plain Python and {told(loop)} ns in a compiled loop, at "
        f"{told(n)} values: {told(plain / loop)} times as long, where the best and the worst "
        f"algorithm in Python are within a few times of each other unless a window is computed "
        f"anew."
    )


def _drift(found: Found) -> str:
    results = found["rivals_drift"]
    metric = "worst relative error"
    errors = {
        name: results.curve(metric, name, "StdDev").greatest
        for name in results.series(metric, "StdDev")
    }
    said = ", ".join(
        f"{name} {error:.0%}" if error >= 0.01 else f"{name} {error:.0e}"
        for name, error in errors.items()
    )
    return (
        f"**Some libraries in daily use are off for ever after one large value.** The relative "
        f"errors of a standard deviation over 1,000 values, long after a value of a billion has "
        f"left: {said}."
    )


def _events(found: Found) -> str:
    results = found["rivals_events"]
    ours, theirs = (results.curve("ns an event", n, "Mean") for n in ("sash", "river"))
    rows = found["rivals_arrays"].curve("ns a row", "sash", "Mean")
    n = 1_000
    return (
        f"**One call for each event is the dear part.** A mean over {told(n)} events takes "
        f"{told(ours.at[n] / 1e3)} µs an event from Python, river's {told(theirs.at[n] / 1e3)} µs, "
        f"and {told(rows.at[n])} ns a row if rows come as an array."
    )


def _tree_on_spark(found: Found) -> str:
    results = found["rivals_spark"]
    ratio: Curve = results.ratio("ns a row", "spark", "spark, segment tree", "Max")
    best = max(ratio.at, key=ratio.at.__getitem__)
    return (
        f"**Spark has a segment tree, and leaves it off.** It makes Spark's own maximum over "
        f"{told(best)} rows {told(ratio.at[best])} times as fast; since 4.2 it is one setting away."
    )


ALL: list[Surprise] = [
    _trees_pay_at_once,
    _branches,
    _second_thread,
    _python,
    _drift,
    _events,
    _tree_on_spark,
]

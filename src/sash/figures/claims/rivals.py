"""What we say of Sash beside other libraries: in the README, and as the benchmarks promise it."""

from __future__ import annotations

from collections.abc import Callable

from sash.figures.claims.comparing import ROW, all_at_most, all_faster, ours, over, span
from sash.figures.claims.judging import Claims, Found, Verdict, along_each, for_each, is_flat
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve

CLAIMS = Claims("rivals")
claim = CLAIMS.claim

EVENT, ERROR = "ns an event", "worst relative error"


# Arrays


def _subtracting(found: Found) -> str:
    """What add and subtract takes, and what it leaves behind."""
    results, errors = found["rivals_arrays"], found["rivals_drift"]
    parts = []
    for name in ("bottleneck", "numbagg"):
        took = results.curve(ROW, name, "Mean")
        error = errors.curve(ERROR, name, "StdDev").greatest
        parts.append(f"{name} {span([took])} ns for a mean, and a deviation off by {error:.0%}")
    ours_ = results.curve(ROW, "sash", "Mean")
    return (
        f"To add the new value and subtract the old one is one pass with next to nothing to do, "
        f"and is wrong for ever after a large value (Table R4): {'; '.join(parts)}. Sash takes "
        f"{span([ours_])} ns for a mean, without subtracting, and carries the rounding error of "
        f"sums along."
    )


def _buffers(found: Found) -> str:
    took = found["rivals_arrays"].curve(ROW, "sash", "Mean")
    return (
        f"The sums of a window of a million rows take 32 MB, where the last cache holds "
        f"{found['rivals_arrays'].last_cache}: a mean takes {told(took.last)} ns a row then, and "
        f"{told(took.at[100_000])} with 100,000 rows."
    )


@claim("Figure R1", "a few nanoseconds a row (at most 10) over windows of rows")
def _(found: Found) -> Verdict:
    return all_at_most(ours(found["rivals_arrays"]), 10, "ns a row")


def _irregular(found: Found) -> str:
    results = found["rivals_even_times"]
    names = ("at any time", "evenly", "by rows")
    any_time, evenly, rows = (results.curve(ROW, name, "Max") for name in names)
    return (
        f"How many rows leave as one comes is another number each time, which no processor "
        f"foresees: with Max {span([any_time])} ns a row. If rows come evenly, so that one leaves "
        f"for each, it is {span([evenly])} ns, and {span([rows])} in windows of rows, which look "
        f"at no time (Profile R1)."
    )


@claim(
    "Figure R2",
    "a few nanoseconds a row (at most 10) over windows of time, as over windows of rows",
    why=_irregular,
)
def _(found: Found) -> Verdict:
    return all_at_most(ours(found["rivals_time"]), 10, "ns a row")


@claim(
    "README, Figure R1",
    "as fast over any number of rows (the longest time for a row at most twice the shortest)",
    why=_buffers,
)
def _(found: Found) -> Verdict:
    took = ours(found["rivals_arrays"])
    said = ", ".join(f"{panel} {span([curve])} ns" for panel, curve in took.items())
    return for_each({panel: is_flat(curve, 2) for panel, curve in took.items()}, said)


FLOORS = {"Max": 1.0, "Mean": 1.5, "StdDev": 2.5}


@claim(
    "make bench-core, Figure R1",
    "at most 1.0 times np.maximum.accumulate for Max, 1.5 times for Mean, 2.5 times for StdDev",
    why=_buffers,
)
def _(found: Found) -> Verdict:
    floors = over(found["rivals_arrays"], "sash", "numpy, floor")
    relative = {
        panel: Curve({n: value / FLOORS[panel] for n, value in curve.at.items()})
        for panel, curve in floors.items()
    }
    said = ", ".join(f"{panel} {span([curve])} x" for panel, curve in floors.items())
    return along_each(relative, lambda _, share: share <= 1, said)


Why = str | Callable[[Found], str]


def _claim_faster(
    where: str, experiment: str, rival: str, says: str, metric: str = ROW, why: Why = ""
) -> None:
    @claim(where, says, why)
    def _(found: Found) -> Verdict:
        return all_faster(found, experiment, rival, metric)


for _rival in ("pandas", "polars", "duckdb", "bottleneck", "numbagg"):
    _claim_faster(
        "make bench-core, Figure R1",
        "rivals_arrays",
        _rival,
        f"faster than {_rival} for every aggregate that it has, over windows of any number of rows",
        why=_subtracting,
    )
for _rival in ("pandas", "polars", "duckdb"):
    _claim_faster(
        "Figure R2",
        "rivals_time",
        _rival,
        f"faster than {_rival} over windows of time, however many rows are in them",
    )


# Aggregates of one's own


@claim(
    "README, Figure R3",
    "an operator of one's own is as fast as the same one built in (at most 1.1 times the time)",
)
def _(found: Found) -> Verdict:
    ratios = over(found["rivals_own"], "sash", "sash, built in")
    return all_at_most(ratios, 1.1, "x the time of the built-in one")


def _logarithm(found: Found) -> str:
    took = found["rivals_own"]
    each = {panel: took.curve(ROW, "sash", panel) for panel in took.panels(ROW)}
    said = ", ".join(f"{panel} {span([curve])} ns" for panel, curve in each.items() if curve)
    return f"A geometric mean takes a logarithm and an exponential for each row: {said}."


@claim(
    "README, Figure R3",
    "an aggregate of one's own at a few nanoseconds a row (at most 10)",
    why=_logarithm,
)
def _(found: Found) -> Verdict:
    return all_at_most(ours(found["rivals_own"]), 10, "ns a row")


for _rival, _called in (
    ("pandas", "pandas' rolling.apply"),
    ("pandas, numba", "pandas' rolling.apply compiled by Numba"),
    ("polars", "polars' rolling_map"),
):
    _claim_faster(
        "Figure R3",
        "rivals_own",
        _rival,
        f"faster than {_called} with an aggregate of one's own, for every window",
    )


# Drift


@claim(
    "README, Table R4",
    "a window that a huge value has left shows no trace of it (a relative error of at most 1e-12)",
)
def _(found: Found) -> Verdict:
    errors = ours(found["rivals_drift"], ERROR)
    worst = max(curve.greatest for curve in errors.values())
    return for_each(
        {panel: curve.greatest <= 1e-12 for panel, curve in errors.items()},
        f"{worst:.1e} at worst",
    )


@claim(
    "README, Table R4",
    "a standard deviation that is kept by adding and subtracting, as bottleneck and numbagg do, "
    "stays wrong (by more than 10 %)",
)
def _(found: Found) -> Verdict:
    results = found["rivals_drift"]
    errors = {
        name: results.curve(ERROR, name, "StdDev").greatest
        for name in ("bottleneck", "numbagg")
        if name in results.series(ERROR)
    }
    said = ", ".join(f"{name} is off by {100 * error:.0f} %" for name, error in errors.items())
    return for_each({name: error > 0.1 for name, error in errors.items()}, said)


# Events


@claim(
    "Figure R4",
    "an event that is pushed takes as long, however long the window is (the longest at most twice "
    "the shortest)",
)
def _(found: Found) -> Verdict:
    took = ours(found["rivals_events"], EVENT)
    micro = {
        name: Curve({n: ns / 1e3 for n, ns in curve.at.items()}) for name, curve in took.items()
    }
    said = ", ".join(f"{name} {span([curve])} µs" for name, curve in micro.items())
    return for_each({name: is_flat(curve, 2) for name, curve in micro.items()}, said)


def _made_for_it(found: Found) -> str:
    results = found["rivals_events"]
    parts = []
    for panel in results.panels(EVENT):
        took = [results.curve(EVENT, name, panel) for name in ("sash", "river")]
        ends = [f"{told(c.values[0] / 1e3)} – {told(c.last / 1e3)}" for c in took if c]
        parts.append(f"{panel} {' against '.join(ends)}")
    return (
        f"river's statistics are each written for one aggregate: its mean and variance add and "
        f"subtract (Table R4 tells what comes of it), its maximum keeps a sorted list, which "
        f"grows with the window. Sash runs the algorithm and the operator, whichever they are, as "
        f"plain Python. From the shortest to the longest window, in µs: {'; '.join(parts)}."
    )


_claim_faster(
    "Figure R4",
    "rivals_events",
    "river",
    "faster than river event by event",
    EVENT,
    why=_made_for_it,
)


@claim(
    "Figure R4",
    "faster event by event than a deque that is aggregated again, from windows of 1,000 on",
)
def _(found: Found) -> Verdict:
    times = over(found["rivals_events"], "python", "sash", EVENT)
    long = {panel: curve.where(lambda n: n >= 1_000) for panel, curve in times.items()}
    said = f"the deque takes {span(long.values())} x the time"
    return along_each(long, lambda _, ratio: ratio > 1, said)

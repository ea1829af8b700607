"""The claims of the Monoid Tree Aggregator's paper (2019): operators, memory, dimensions."""

from __future__ import annotations

from math import inf

from sash.figures.claims.judging import (
    HOLDS,
    IN_PART,
    NOT_HERE,
    Claims,
    Found,
    NotMeasuredError,
    Verdict,
    along,
    at_most,
    for_each,
    line,
    off_line,
    theirs,
)
from sash.figures.claims.mta import SLIDE, STORES, TREES, in_python, micro, stored, there
from sash.figures.claims.mta_parts import (
    ANSWERS,
    BLOCKS,
    CALLS,
    CHECKPOINTS,
    COMBINE,
    ROWS,
    calls_of,
    in_all_rounds,
    of_part,
    seen,
    share,
)
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve

CLAIMS = Claims("mta")
claim = CLAIMS.claim

MEMORY = "MB for the window"
SAME_SIZE = ("Sum", "Mean", "G. Mean", "Std. Dev.")
SHRINKING = ("Max", "LIS")
IN_MEMORY = ("log_mta", "amta", "daba_cached")


# Operators and policies


def _took(found: Found, operator: str) -> str:
    """What a value takes with one operator, by algorithm."""
    results = found["mta_streams"]
    names = ("recalc", "daba_cached", "log_mta", "amta", "amta, compiled")
    curves = {name: results.curve(SLIDE, name, operator) for name in names}
    return ", ".join(f"{name} {micro(curve.last)}" for name, curve in curves.items() if curve)


def _short(found: Found) -> str:
    """Why those that go through the oldest values one by one do well, or not."""
    names = ("recalc", "daba_cached", "log_mta", "amta")
    left = {o: in_all_rounds(found, "values that left", "amta", o) for o in SHRINKING}
    slides = in_all_rounds(found, "slides that let some leave", "amta", "LIS")
    sums = ", ".join(f"{name} {told(seen(found, '⊕', name, 'Max').last)}" for name in names)
    by_round = ", ".join(
        f"{name} {micro(least)} – {micro(most)}"
        for name in names
        for least, most in found["mta_profile"].spread(SLIDE, name, "LIS").values()
    )
    return (
        f"Of the values that are timed with Max {told(left['Max']) if left['Max'] else 'none'} "
        f"leave. Naive keeps its sum meanwhile, and DABA has one value to try; AMTA and Log MTA "
        f"keep their trees, and answer again though nothing has left. Counted, a value takes with "
        f"Max these ⊕: {sums}; and these calls of Python: {calls_of(found, names, 'Max')}; with "
        f"LIS, where nothing leaves: {calls_of(found, names, 'LIS')}. But with LIS "
        f"{told(left['LIS'])} values leave, in {told(slides)} slides: Naive and DABA try each of "
        f"them, and Naive sums anew what stays. So a value takes by round: {by_round}. Times of "
        f"the table, with Max: {_took(found, 'Max')}; with LIS: {_took(found, 'LIS')}."
    )


def _beside(found: Found) -> str:
    """What Python takes beside ⊕."""
    both = {name: seen(found, CALLS, name, "Sum") for name in ("amta", "log_mta")}
    said = "; ".join(
        f"{name} {told(calls.last)}, of which {told(of_part(found, CALLS, COMBINE, name, 'Sum'))} "
        f"are of lift and its {told(seen(found, '⊕', name, 'Sum').last)} ⊕ "
        f"({share(found, COMBINE, name, 'Sum')} of the time)"
        for name, calls in both.items()
    )
    same = [of_part(found, CALLS, part, "amta", "Sum") for part in (ANSWERS, ROWS)]
    in_store = [of_part(found, CALLS, p, "amta, RocksDB", "Sum") for p in (BLOCKS, CHECKPOINTS)]
    return (
        f"Values come one by one in plain Python. With Sum, in windows of "
        f"{told(both['amta'].xs[-1])} values, a value takes these calls of Python: {said}. The "
        f"policy and answers take {told(same[0])} calls and the checks of a value {told(same[1])}, "
        f"whatever keeps the window; RocksDB adds {told(sum(in_store))} for blocks and "
        f"checkpoints. A value of the table takes with Sum: {_took(found, 'Sum')}."
    )


def _stream(found: Found, operator: str, above: str, below: str = "amta") -> float:
    """How many times as long one takes as another."""
    ratio = found["mta_streams"].ratio(SLIDE, above, below, operator)
    return there(ratio, f"{above} with {operator}").last


@claim("Table 2", "AMTA in memory is the fastest of all with every operator", why=_short)
def _(found: Found) -> Verdict:
    results = found["mta_streams"]
    others = [s for s in results.series(SLIDE) if s not in ("amta", "amta, compiled")]
    least = {o: min(_stream(found, o, name) for name in others) for o in results.panels(SLIDE)}
    said = ", ".join(f"{operator} {told(each)} x" for operator, each in least.items())
    return for_each({o: each > 1 for o, each in least.items()}, f"the fastest other takes: {said}")


@claim(
    "Table 2",
    "DABA is slower than AMTA, but alike, if windows have one size (1 to 1.3 times)",
    why=_beside,
)
def _(found: Found) -> Verdict:
    each = {operator: _stream(found, operator, "daba_cached") for operator in SAME_SIZE}
    said = ", ".join(f"{operator} {told(ratio)} x" for operator, ratio in each.items())
    return for_each({operator: 1 <= ratio <= 1.3 for operator, ratio in each.items()}, said)


@claim(
    "Table 2",
    "with Max and LIS DABA takes notably longer than AMTA in memory (1.5 times or more)",
    why=_short,
)
def _(found: Found) -> Verdict:
    each = {operator: _stream(found, operator, "daba_cached") for operator in SHRINKING}
    said = ", ".join(f"{operator} {told(ratio)} x" for operator, ratio in each.items())
    return for_each({operator: ratio >= 1.5 for operator, ratio in each.items()}, said)


@claim("Table 2", "with Max and LIS AMTA in a store is faster than DABA in memory", why=_short)
def _(found: Found) -> Verdict:
    names = stored(found["mta_streams"], "amta")
    each = {
        f"{operator} ({name.partition(', ')[2]})": _stream(found, operator, "daba_cached", name)
        for operator in SHRINKING
        for name in names
    }
    said = ", ".join(f"{what} {told(ratio)} x" for what, ratio in each.items())
    return for_each({what: ratio > 1 for what, ratio in each.items()}, f"DABA takes: {said}")


@claim("Table 2", "with Max Naive is the second best", why=_short)
def _(found: Found) -> Verdict:
    names = [s for s in found["mta_streams"].series(SLIDE) if s not in ("recalc", "amta, compiled")]
    faster = [name for name in names if _stream(found, "Max", name, "recalc") < 1]
    kind = HOLDS if len(faster) == 1 else IN_PART if not faster else NOT_HERE
    return Verdict(kind, f"faster than Naive: {', '.join(faster) or 'none'}")


@claim(
    "Table 2",
    "Naive does well where the policy shrinks windows: faster than Log MTA in memory",
    why=_short,
)
def _(found: Found) -> Verdict:
    each = {operator: _stream(found, operator, "log_mta", "recalc") for operator in SHRINKING}
    said = ", ".join(f"{operator} {told(ratio)} x" for operator, ratio in each.items())
    return for_each({o: ratio > 1 for o, ratio in each.items()}, f"Log MTA takes: {said}")


@claim(
    "Table 2",
    "Log MTA in memory takes 2.5 to 3.5 times as long as AMTA (at least 2.5)",
    why=_beside,
)
def _(found: Found) -> Verdict:
    each = {operator: _stream(found, operator, "log_mta") for operator in _operators(found)}
    said = ", ".join(f"{operator} {told(ratio)} x" for operator, ratio in each.items())
    return for_each({operator: ratio >= 2.5 for operator, ratio in each.items()}, said)


@claim(
    "Table 2",
    "AMTA in a store takes 1.1 to 1.7 times as long as in memory (at most 1.7)",
    why=_beside,
)
def _(found: Found) -> Verdict:
    each = {
        f"{operator} ({name.partition(', ')[2]})": _stream(found, operator, name)
        for operator in _operators(found)
        for name in stored(found["mta_streams"], "amta")
    }
    said = f"{told(min(each.values()))} – {told(max(each.values()))} x"
    return for_each({what: ratio <= 1.7 for what, ratio in each.items()}, said)


@claim("Table 2", "no entry is above the table's (windows of 2^20 there)", why=_beside)
def _(found: Found) -> Verdict:
    table = theirs("mta_streams", "Table 2")
    results = found["mta_streams"]
    shares = {
        f"{operator} ({name})": results.curve(SLIDE, name, operator).last / float(entry)
        for operator in _operators(found)
        for name, entry in table[operator].items()
        if results.curve(SLIDE, name, operator)
    }
    said = f"{told(min(shares.values()))} to {told(max(shares.values()))} x the table's"
    return for_each({what: share <= 1 for what, share in shares.items()}, said)


def _operators(found: Found) -> list[str]:
    return found["mta_streams"].panels(SLIDE)


# Memory


def _memory(found: Found, series: str) -> float:
    """MB of the longest window."""
    return there(found["mta_memory"].curve(MEMORY, series, "memory"), series).last


def _does_not_grow(found: Found) -> str:
    """What a window takes in memory and in a store, as it grows."""
    results = found["mta_memory"]
    parts = []
    for name in ("recalc", "daba_cached", *stored(results, "amta")):
        curve = results.curve(MEMORY, name, "memory")
        n = min(x for x in curve.xs if x >= 1 << 16)
        parts.append(
            f"{name} {told(curve.at[n])} MB at {told(n)} values and {told(curve.last)} MB at "
            f"{told(curve.xs[-1])}"
        )
    return (
        f"In memory a window takes room in proportion to its values; in a store what is in the "
        f"process, the store's own buffers and caches among it, hardly grows: {'; '.join(parts)}. "
        f"The goal is 2^25 values in the paper, 16 times as many, and so are such ratios."
    )


@claim(
    "Figure 8",
    "in a store the goal is reached with a 32nd of the memory of Naive",
    why=_does_not_grow,
)
def _(found: Found) -> Verdict:
    names = stored(found["mta_memory"], *TREES)
    each = {name: _memory(found, "recalc") / _memory(found, name) for name in names}
    said = ", ".join(f"{name} 1/{told(ratio)}" for name, ratio in each.items())
    verdict = for_each({name: ratio >= 32 for name, ratio in each.items()}, said)
    less = verdict.kind == NOT_HERE and all(ratio > 1 for ratio in each.values())
    return Verdict(IN_PART, f"{said}: less memory, not so much less") if less else verdict


@claim(
    "Figure 8",
    "with little memory a window in a store is 50 times as long as one in memory",
    why=_does_not_grow,
)
def _(found: Found) -> Verdict:
    results = found["mta_memory"]
    reached = {name: results.curve("values reached", name, "memory") for name in IN_MEMORY}
    best: dict[str, float] = {}
    for name in stored(results, *TREES):
        curve = results.curve("values reached", name, "memory")
        ratios = [
            values / max(reached[other].at[budget] for other in IN_MEMORY)
            for budget, values in curve.at.items()
            if max(reached[other].at[budget] for other in IN_MEMORY)
        ]
        best[name] = max(ratios)
    said = ", ".join(f"{name} {told(ratio)} x at best" for name, ratio in best.items())
    return for_each({name: ratio >= 50 for name, ratio in best.items()}, said)


@claim("Figure 8", "an empty window takes O(log n) memory in a store, and O(n) in memory")
def _(found: Found) -> Verdict:
    raise NotMeasuredError("windows here grow as values come, and an empty one takes next to none")


@claim(
    "Figure 8",
    "in a store the goal is reached with a 64th of the memory of DABA and the trees",
    why=_does_not_grow,
)
def _(found: Found) -> Verdict:
    least = min(_memory(found, name) for name in IN_MEMORY)
    each = {name: least / _memory(found, name) for name in stored(found["mta_memory"], *TREES)}
    said = ", ".join(f"{name} 1/{told(ratio)}" for name, ratio in each.items())
    verdict = for_each({name: ratio >= 64 for name, ratio in each.items()}, said)
    less = verdict.kind == NOT_HERE and all(ratio > 1 for ratio in each.values())
    return Verdict(IN_PART, f"{said}: less memory, not so much less") if less else verdict


@claim(
    "Figure 8", "Naive reaches the goal with half of the memory of DABA and the trees (0.6 at most)"
)
def _(found: Found) -> Verdict:
    each = {name: _memory(found, "recalc") / _memory(found, name) for name in IN_MEMORY}
    said = ", ".join(f"{told(ratio, 2)} of {name}" for name, ratio in each.items())
    return for_each({name: ratio <= 0.6 for name, ratio in each.items()}, said)


@claim(
    "Figure 8",
    "in a store Log MTA takes no more memory than AMTA",
    why="Both keep the same blocks; what differs is less than what a process grows by at a time.",
)
def _(found: Found) -> Verdict:
    stores = [s for s in STORES if f"amta, {s}" in stored(found["mta_memory"], "amta")]
    each = {s: _memory(found, f"log_mta, {s}") / _memory(found, f"amta, {s}") for s in stores}
    said = ", ".join(f"{store} {told(ratio)} x" for store, ratio in each.items())
    return for_each({store: ratio <= 1 for store, ratio in each.items()}, said)


@claim(
    "Figure 8",
    "with the least memory windows in a store become longer than any in memory",
    why=_does_not_grow,
)
def _(found: Found) -> Verdict:
    results = found["mta_memory"]
    in_store = stored(results, *TREES)
    names = ["recalc", *IN_MEMORY, *in_store]
    reached = {name: results.curve("values reached", name, "memory") for name in names}
    budget = reached["recalc"].xs[0]
    most = max(reached[name].at[budget] for name in ("recalc", *IN_MEMORY))
    said = ", ".join(f"{name} {told(reached[name].at[budget])}" for name in in_store)
    return for_each(
        {name: reached[name].at[budget] > most for name in in_store},
        f"with {told(budget)} MB {said}, {told(most)} in memory",
    )


# Dimensions


def _dimensions(found: Found) -> Curve:
    return there(found["mta_dimensions"].curve(SLIDE, "amta, RocksDB", "dimensions"), "amta")


@claim("Figure 9", "the time grows linearly with the dimensions (within 15 % of a straight line)")
def _(found: Found) -> Verdict:
    off = off_line(_dimensions(found))
    return at_most(off, 0.15, f"at worst {off:.0%} off the line", in_part=0.3)


def _in_each(found: Found) -> str:
    """What a dimension more adds to a slide."""

    def more(metric: str) -> float:
        curve = seen(found, metric, "amta, RocksDB", "dimensions")
        return (curve.last - curve.values[0]) / (curve.xs[-1] - curve.xs[0])

    curve = seen(found, CALLS, "amta, RocksDB", "dimensions")
    sums, shown = (
        told(seen(found, metric, "amta, RocksDB", "dimensions").last)
        for metric in ("⊕", "sums shown")
    )
    by_part = ", ".join(
        f"{told(more(f'{CALLS}: {part}'))} for {what}"
        for part, what in (
            (ANSWERS, f"its answers, two and {shown} that the policy is shown"),
            (COMBINE, f"lift and {sums} ⊕"),
            (ROWS, "checks of the value"),
            (BLOCKS, "blocks"),
            (CHECKPOINTS, "checkpoints"),
        )
    )
    return (
        f"Each dimension is an operator of its own, whose functions Python calls one by one. One "
        f"more adds {told(more(CALLS))} calls of Python to the {told(curve.values[0])} of a slide "
        f"with {told(curve.xs[0])}, and {micro(more(SLIDE))}: {by_part}."
    )


@claim(
    "Figure 9",
    "a dimension costs a tenth of what all of them share (411 of 4,158 ns)",
    why=_in_each,
)
def _(found: Found) -> Verdict:
    curve = _dimensions(found)
    slope, base = line(curve.xs, curve.values)
    said = f"{told(slope / base, 2)} of it: {micro(slope)} each, {micro(base)} shared"
    return at_most(slope / base if base > 0 else inf, 0.1, said, in_part=0.5)


for what, claimed in (("a value with one dimension", 4_895), ("each dimension more", 411)):

    @claim("Figure 9", f"{what} takes {claimed:,} ns", why=_in_each)
    def _(found: Found, what: str = what, claimed: float = claimed) -> Verdict:
        curve = _dimensions(found)
        slope, _ = line(curve.xs, curve.values)
        took = float(curve.values[0] if "with one" in what else slope)
        return at_most(took, claimed, micro(took), in_part=claimed)


@claim("Figure 9", "k dimensions in one window take less than k windows")
def _(found: Found) -> Verdict:
    curve = _dimensions(found)
    ratio = Curve({k: k * curve.values[0] / each for k, each in curve.at.items() if k > 1})
    said = f"{told(ratio.last)} x as fast with {told(ratio.xs[-1])}"
    return along(ratio, lambda k, each: each > 1, said, "dimensions")


@claim(
    "conclusion",
    "a few µs (at most 10) to insert and slide, in windows of tens of millions",
    why=in_python,
)
def _(found: Found) -> Verdict:
    results = found["mta_constant_size"]
    names = ["amta", *stored(results, "amta"), "amta, compiled"]
    curves = {name: there(results.curve(SLIDE, name, "constant size"), name) for name in names}
    said = ", ".join(f"{n} {micro(c.last)} at {told(c.xs[-1])}" for n, c in curves.items())
    return for_each({name: curve.last <= 10e3 for name, curve in curves.items()}, said)

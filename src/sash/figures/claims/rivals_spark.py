"""What we say of Sash beside Spark's own windows, as the benchmarks promise it."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from sash.figures.claims.comparing import ROW, all_at_most, all_faster, ours, over, span
from sash.figures.claims.judging import (
    Claims,
    Found,
    NotMeasuredError,
    Verdict,
    along,
    along_each,
    at_least,
    for_each,
    is_flat,
)
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve
from sash.figures.spec import specs

CLAIMS = Claims("rivals")
claim = CLAIMS.claim

SORTED = "spark, shuffle and sort alone"
THERE_AND_BACK = "spark, to Python and back"


# Spark's batches


def _to_python(found: Found) -> str:
    """What a row takes, step by step: each step is measured with those before it."""
    results = found["rivals_spark"]
    steps = [results.curve(ROW, name, "Max") for name in (SORTED, THERE_AND_BACK, "sash")]
    java, python = (
        [
            results.curve(f"ns of {part} a row", name, "Max")
            for name in (SORTED, THERE_AND_BACK, "sash")
        ]
        for part in ("Java", "Python")
    )
    parts = []
    for panel in ("Max", "StdDev"):
        beside = {
            name: _over(results.curve(ROW, name, panel), results.curve(ROW, SORTED, panel))
            for name in ("sash", "spark, segment tree", "spark")
        }
        each = ", ".join(f"{name} {span([curve])}" for name, curve in beside.items() if curve)
        parts += [f"{panel}: {each}"] if each else []
    return (
        f"Sash's rows go from Java to a Python worker, and answers back. Nanoseconds a row (Max, "
        f"the median of all windows): the shuffle and the sort {_typical(steps[0])}, the way to "
        f"Python and back, with nothing done there, {_typical(steps[1], steps[0])} more, all that "
        f"Sash does there {_typical(steps[2], steps[1])} more. The way takes "
        f"{_typical(java[1], java[0])} ns of processor time in Java and "
        f"{_typical(python[1], python[0])} in Python. Spark's own windows stay in Java. From the "
        f"least to the most, beyond the shuffle and the sort: {'; '.join(parts)}."
    )


def _over(curve: Curve, base: Curve) -> Curve:
    """How much one is above another, where both are."""
    return Curve({x: curve.at[x] - base.at[x] for x in curve.xs if x in base.at})


def _typical(curve: Curve, base: Curve | None = None) -> str:
    """The median of all places: of a curve, or of what it is above another."""
    shown = curve if base is None else _over(curve, base)
    return told(median(shown.values))


def _rounds(found: Found) -> str:
    """How far the rounds of a case are apart, and which part of the processor time that is."""
    results = found["rivals_spark"]
    apart: dict[str, float] = {}
    more = dict.fromkeys(("Java", "Python", "compiling", "garbage"), 0.0)
    cores: dict[str, str] = {}
    for panel in ours(results):
        for n, by_round in results.rounds[panel, "sash", ROW].items():
            slow, fast = (by(by_round, key=by_round.__getitem__) for by in (max, min))
            name = f"{panel}, {told(n)} rows"
            apart[name] = by_round[slow] / by_round[fast]
            busy = results.rounds[panel, "sash", "cores busy"][n]
            cores[name] = f"{told(busy[slow])} cores busy in the slower, {told(busy[fast])} in the "
            for part in more:
                took = results.rounds[panel, "sash", f"ns of {part} a row"][n]
                more[part] += took[slow] - took[fast]
    worst = max(apart, key=apart.__getitem__)
    whole = more["Java"] + more["Python"]
    if whole <= 0:
        raise NotMeasuredError("no run takes more of the processors than another")
    python = {
        name: results.curve("ns of Python a row", name, "own maximum")
        for name in ("sash", "sash, built in")
    }
    return (
        f"Windows are computed in Python workers, which take {span([python['sash']])} ns of "
        f"processor time a row with an operator of one's own, and "
        f"{span([python['sash, built in']])} with the same one built in; for all else a row takes "
        f"the same way. What differs is Java: two runs of the same are up to "
        f"{apart[worst]:.2f} x apart ({worst}: {cores[worst]}faster). Of the processor time that "
        f"all slower runs take more than the faster, Java's compiler has "
        f"{more['compiling'] / whole:.0%}, its garbage collector {more['garbage'] / whole:.0%}, "
        f"Python {more['Python'] / whole:.0%}, and Java's other threads the rest."
    )


@claim(
    "make bench-spark, Figure R5",
    "on Spark at most twice the time of the shuffle and sort that any window needs",
    why=_to_python,
)
def _(found: Found) -> Verdict:
    ratios = over(found["rivals_spark"], "sash", SORTED)
    return all_at_most(ratios, 2, "x the time")


@claim(
    "make bench-spark, Figure R5",
    "on Spark an operator of one's own is as fast as the same one built in (at most 1.1 times the "
    "time)",
    why=_rounds,
)
def _(found: Found) -> Verdict:
    ratio = found["rivals_spark"].ratio(ROW, "sash", "sash, built in", "own maximum")
    return along(ratio, lambda _, times: times <= 1.1, f"{span([ratio])} x the built-in one")


@claim(
    "Figure R5",
    "on Spark as fast for any window (the longest time for a row at most 1.5 times the shortest)",
    why=_rounds,
)
def _(found: Found) -> Verdict:
    took = ours(found["rivals_spark"])
    said = ", ".join(f"{panel} {span([curve])} ns" for panel, curve in took.items())
    return for_each({panel: is_flat(curve, 1.5) for panel, curve in took.items()}, said)


@claim(
    "make bench-spark, Figure R5",
    "faster than Spark's own windows as they come, for every window",
    why=_to_python,
)
def _(found: Found) -> Verdict:
    return all_faster(found, "rivals_spark", "spark")


@claim(
    "make bench-spark, Figure R5",
    "at least 40 times as fast as Spark's own windows as they come, from 10,000 rows on",
)
def _(found: Found) -> Verdict:
    times = over(found["rivals_spark"], "spark", "sash")
    long = {panel: curve.where(lambda n: n >= 10_000) for panel, curve in times.items()}
    return along_each(long, lambda _, ratio: ratio >= 40, f"{span(long.values())} x as fast")


TREE = {"Max": 1.5, "StdDev": 2.5}


@claim(
    "make bench-spark, Figure R5",
    "from 1,000 rows on at least 1.5 times as fast as Spark's segment tree for Max, and 2.5 times "
    "for StdDev",
    why=_to_python,
)
def _(found: Found) -> Verdict:
    times = {
        panel: curve.where(lambda n: n >= 1_000)
        for panel, curve in over(found["rivals_spark"], "spark, segment tree", "sash").items()
    }
    relative = {
        panel: Curve({n: value / TREE[panel] for n, value in curve.at.items()})
        for panel, curve in times.items()
    }
    said = f"{span(times.values())} x as fast"
    return along_each(relative, lambda _, share: share >= 1, said)


@claim("Figure R5", "at least 5 times as fast as a pandas_udf over Spark's own windows")
def _(found: Found) -> Verdict:
    times = over(found["rivals_spark"], "spark, pandas_udf", "sash")
    said = f"{span(times.values())} x as fast"
    return along_each(times, lambda _, ratio: ratio >= 5, said)


# Spark's streams: by panel, rival and how many times its rows a second, at least

STREAMS = (
    (
        "last hour at each row",
        "spark, mapInArrow alone",
        0.4,
        "on a stream at least 0.4 times the rows a second of a mapInArrow that does nothing",
    ),
    (
        "last hour at each row",
        "spark, applyInPandasWithState",
        5,
        "on a stream at least 5 times the rows a second of applyInPandasWithState with a list",
    ),
    (
        "last minute at each second",
        "spark, window() as it comes",
        40,
        "on a stream at least 40 times the rows a second of Spark's window() as it comes (promised "
        "for micro-batches of 500,000 rows of 1,000 keys)",
    ),
    (
        "last minute at each second",
        "spark, window()",
        5,
        "on a stream at least 5 times the rows a second of Spark's window() with Sash's settings",
    ),
    (
        "last hour, a row of each key",
        "spark, transformWithState",
        20,
        "on a stream at least 20 times the rows a second of transformWithState for each key "
        "(promised for 100,000 keys)",
    ),
)


MICRO_BATCH, FEW = "ms a micro-batch", ", few rows"


def _of_micro_batches(panel: str, rival: str) -> Callable[[Found], str]:
    """What of a micro-batch's time is there whatever its rows."""

    def why(found: Found) -> str:
        results = found["rivals_spark"]
        streams = specs()["rivals_spark"].settings[results.scale]["streams"]
        rows, few = streams["rows"], streams["sample"]

        def of(metric: str, name: str = "sash") -> float:
            return results.curve(metric, name, panel).last

        whole = of(MICRO_BATCH)
        if not results.curve(MICRO_BATCH + FEW, "sash", panel):
            return (
                f"A micro-batch takes Sash {told(whole)} ms, of which plans and logs take "
                f"{told(of('ms of plans and logs'))}, what is done where the state is "
                f"{told(of('ms of updates'))}, and the state's commits "
                f"{told(of('ms of commits'))}. {rival.removeprefix('spark, ')}: "
                f"{told(of(MICRO_BATCH, rival))} ms, of which what is done where the state is "
                f"takes {told(of('ms of updates', rival))}."
            )
        alone = of(MICRO_BATCH + FEW)
        said = (
            f"A micro-batch of {told(rows)} rows takes Sash {told(whole)} ms, one of {told(few)} "
            f"rows {told(alone)} ms: most of that is there whatever its rows"
            if alone > whole / 2
            else f"A micro-batch of {told(rows)} rows takes Sash {told(whole)} ms, one of "
            f"{told(few)} rows {told(alone)} ms"
        )
        said += (
            f". Of these {told(alone)} ms, plans and logs take "
            f"{told(of('ms of plans and logs' + FEW))}, what is done where the state is "
            f"{told(of('ms of updates' + FEW))}, and the state's commits "
            f"{told(of('ms of commits' + FEW))}. {rival.removeprefix('spark, ').capitalize()}: "
            f"{told(of(MICRO_BATCH, rival))} ms"
        )
        if not results.curve(MICRO_BATCH + FEW, rival, panel):
            return f"{said}."
        theirs = of(MICRO_BATCH + FEW, rival)
        ours_a_row = (whole - alone) / (rows - few)
        theirs_a_row = (of(MICRO_BATCH, rival) - theirs) / (rows - few)
        said += f" and {told(theirs)} ms"
        if ours_a_row <= 0 or theirs_a_row <= 0:
            return f"{said}."
        return (
            f"{said}. Each row more takes Sash {told(ours_a_row * 1e6)} ns and the other "
            f"{told(theirs_a_row * 1e6)}: with ever more rows of the same {told(streams['keys'])} "
            f"keys in each, Sash would come to {told(theirs_a_row / ours_a_row)} x its rows a "
            f"second, if a row more takes as long as these do."
        )

    return why


def _claim_stream(panel: str, rival: str, least: float, says: str) -> None:
    @claim("make bench-stream, Figure R6", says, why=_of_micro_batches(panel, rival))
    def _(found: Found) -> Verdict:
        ratio = found["rivals_spark"].ratio("rows/s", "sash", rival, panel)
        if not ratio:
            raise NotMeasuredError(f"{rival} was not run")
        # A share of one is missed by less than one as by any other.
        return at_least(ratio.last, least, in_part=min(1.0, least))


for _given in STREAMS:
    _claim_stream(*_given)

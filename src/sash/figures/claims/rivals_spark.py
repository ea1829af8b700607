"""What we say of Sash beside Spark's own windows, as the benchmarks promise it."""

from __future__ import annotations

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


# Spark's batches


def _to_python(found: Found) -> str:
    """What goes between Java and Python takes."""
    results = found["rivals_spark"]
    parts = []
    for panel in ("Max", "StdDev"):
        names = ("spark, shuffle and sort alone", "sash", "spark, segment tree", "spark")
        took = {name: results.curve(ROW, name, panel) for name in names}
        each = ", ".join(f"{name} {span([curve])}" for name, curve in took.items() if curve)
        parts.append(f"{panel}: {each}")
    return (
        f"Sash's rows go from Java to a Python worker, and answers back, which takes as long as "
        f"the shuffle and the sort, and many times what the window takes; Spark's own "
        f"windows stay in Java. Nanoseconds a row: {'; '.join(parts)}."
    )


def _rounds(found: Found) -> str:
    """How far the rounds of a case are apart."""
    results = found["rivals_spark"]
    apart = {
        f"{panel}, {n:,.0f} rows": high / low
        for panel in ours(results)
        for n, (low, high) in results.spread(ROW, "sash", panel).items()
    }
    worst = max(apart, key=apart.__getitem__)
    return (
        f"A case runs twice, for seconds, and Spark's two runs of the same are up to "
        f"{apart[worst]:.2f} x apart ({worst}): Java compiles, and collects garbage, when it does."
    )


@claim(
    "make bench-spark, Figure R5",
    "on Spark at most twice the time of the shuffle and sort that any window needs",
    why=_to_python,
)
def _(found: Found) -> Verdict:
    ratios = over(found["rivals_spark"], "sash", "spark, shuffle and sort alone")
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


def _of_micro_batches(found: Found) -> str:
    results = found["rivals_spark"]
    streams = specs()["rivals_spark"].settings[results.scale]["streams"]
    parts = []
    for panel in results.panels("rows/s"):
        names = results.series("rows/s", panel)
        last = {name: results.curve("rows/s", name, panel).last for name in names}
        each = ", ".join(f"{name} {told(rate)}" for name, rate in last.items())
        parts.append(f"{panel}: {each}")
    return (
        f"A micro-batch has a cost of its own, the state's above all, which more rows in each "
        f"would share: here they have {told(streams['rows'])} rows of {told(streams['keys'])} "
        f"keys. Rows a second: {'; '.join(parts)}."
    )


def _claim_stream(panel: str, rival: str, least: float, says: str) -> None:
    @claim("make bench-stream, Figure R6", says, why=_of_micro_batches)
    def _(found: Found) -> Verdict:
        ratio = found["rivals_spark"].ratio("rows/s", "sash", rival, panel)
        if not ratio:
            raise NotMeasuredError(f"{rival} was not run")
        # A share of one is missed by less than one as by any other.
        return at_least(ratio.last, least, in_part=min(1.0, least))


for _given in STREAMS:
    _claim_stream(*_given)

"""The claims of the PBA paper (2022) about an engine: there Flink, here Spark."""

from __future__ import annotations

from sash.figures.claims.judging import (
    Claims,
    Found,
    NotMeasuredError,
    Verdict,
    along,
    at_least,
)
from sash.figures.drawing.drawn import told

CLAIMS = Claims("pba")
claim = CLAIMS.claim

EVENT = "ns an event"


def _growth(found: Found, series: str) -> float:
    """How many times as many events two tasks do as one."""
    took = found["pba_spark"].curve(EVENT, series, "Max")
    return took.at[1] / took.at[2]


def _no_free_core(found: Found) -> str:
    took = {name: found["pba_spark"].curve(EVENT, name, "Max") for name in ("sash", "spark")}
    said = "; ".join(
        f"{name} {told(curve.at[1])} and {told(curve.at[2])} ns an event"
        for name, curve in took.items()
    )
    return (
        f"No core is free with two: a task of Sash is a thread of Java and a Python worker, which "
        f"keep both busy, and Java compiles and collects garbage beside Spark's own. With one task "
        f"at a time and with two: {said}."
    )


@claim(
    "conclusion, Figure 8",
    "on an engine, on one machine, many more events a second (at least twice as many) than with "
    "the engine's own windows, at every parallelism",
)
def _(found: Found) -> Verdict:
    ratio = found["pba_spark"].ratio(EVENT, "spark", "sash", "Max")
    said = f"{told(ratio.least)} – {told(ratio.greatest)} x Spark's own windows as they come"
    return along(ratio, lambda _, times: times >= 2, said, "parallelism")


@claim(
    "introduction, Figure 8",
    "with the algorithm in the engine, events a second grow in proportion to the parallelism while "
    "cores are free (twice the tasks: at least 1.8 times as many)",
    why=_no_free_core,
)
def _(found: Found) -> Verdict:
    return at_least(_growth(found, "sash"), 1.8, in_part=1.2)


@claim(
    "Figure 8",
    "with the engine's own windows too, events a second grow in proportion to the parallelism "
    "while cores are free (twice the tasks: at least 1.8 times as many)",
    why=_no_free_core,
)
def _(found: Found) -> Verdict:
    return at_least(_growth(found, "spark"), 1.8, in_part=1.2)


@claim("Figure 8", "beyond 3 parallel instances on 6 cores, growth is less than linear")
def _(found: Found) -> Verdict:
    raise NotMeasuredError("this needs more cores than two")


@claim("conclusion, Figure 8", "on a cluster too, many more events a second than the engine's own")
def _(found: Found) -> Verdict:
    raise NotMeasuredError("this needs several machines")


@claim("introduction, Figure 8", "on a cluster, events a second grow linearly with its nodes")
def _(found: Found) -> Verdict:
    raise NotMeasuredError("this needs several machines")

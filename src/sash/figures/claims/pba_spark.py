"""The claims of the PBA paper (2022) about an engine: there Flink, here Spark."""

from __future__ import annotations

from collections.abc import Callable

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
PARTS = ("Java", "Python", "compiling", "garbage")


def _growth(found: Found, series: str) -> float:
    """How many times as many events two tasks do as one."""
    took = found["pba_spark"].curve(EVENT, series, "Max")
    return took.at[1] / took.at[2]


def _two_cores(series: str) -> Callable[[Found], str]:
    """Why two tasks do not do twice as much as one."""

    def why(found: Found) -> str:
        results = found["pba_spark"]

        def of(metric: str) -> tuple[float, float]:
            took = results.curve(metric, series, "Max")
            return took.at[1], took.at[2]

        def both(numbers: tuple[float, float]) -> str:
            return f"{told(numbers[0])} and {told(numbers[1])}"

        cores, took = of("cores busy"), of(EVENT)
        spent = {part: of(f"ns of {part} an event") for part in PARTS}
        java, python = spent["Java"], spent["Python"]
        processor = java[0] + python[0], java[1] + python[1]
        parts = f"Java's compiler {both(spent['compiling'])}"
        if series == "sash":
            parts += f", the Python workers {both(python)}"
        return (
            f"As many events more as cores more are busy, and fewer as an event takes more of "
            f"them. {series.capitalize()}, with one task at a time and with two: "
            f"{both(cores)} cores busy, {both(processor)} ns of processor time an event, "
            f"{both(took)} ns an event. One task is more than one core's work, so that two cores "
            f"are at most {told(2 / cores[0])} x those that it has. Of the processor time take "
            f"{parts} ns an event, and the garbage collector {both(spent['garbage'])}."
        )

    return why


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
    why=_two_cores("sash"),
)
def _(found: Found) -> Verdict:
    return at_least(_growth(found, "sash"), 1.8, in_part=1.2)


@claim(
    "Figure 8",
    "with the engine's own windows too, events a second grow in proportion to the parallelism "
    "while cores are free (twice the tasks: at least 1.8 times as many)",
    why=_two_cores("spark"),
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

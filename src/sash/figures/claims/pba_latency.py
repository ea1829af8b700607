"""The claims of the paper on PBA and SBA (2022) that are about latency."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sash.figures.claims.judging import (
    Claims,
    Found,
    NotMeasuredError,
    Verdict,
    for_each,
    theirs,
)
from sash.figures.drawing.drawn import told

CLAIMS = Claims("pba")
claim = CLAIMS.claim

MAX, SKETCH = "pba_latency_max", "pba_latency_sketch"
ALL = ("min", "max", "avg", "std", "LQ", "med", "HQ")
USUAL = ("min", "avg", "LQ", "med", "HQ")
CLEAR = 1.0
"""Nanoseconds: what differs by less is the same, by a clock that goes in steps of ten."""


def _value(found: Found, experiment: str, metric: str, algorithm: str, panel: str) -> float:
    return found[experiment].curve(metric, algorithm, panel).last


def _panels(found: Found, experiment: str) -> list[str]:
    """From the shorter range to the longer."""
    return found[experiment].panels("avg")


def _pairs(
    found: Found, metrics: Sequence[str], one: str, other: str, experiment: str
) -> dict[str, tuple[float, float]]:
    """The same numbers of two algorithms."""
    return {
        f"{metric} ({panel})": (
            _value(found, experiment, metric, one, panel),
            _value(found, experiment, metric, other, panel),
        )
        for panel in _panels(found, experiment)
        for metric in metrics
    }


def _ratios(
    found: Found, metrics: Sequence[str], above: str, below: str, experiment: str
) -> dict[str, float]:
    """How many times as large numbers are for one algorithm as for another."""
    pairs = _pairs(found, metrics, above, below, experiment)
    return {name: one / other for name, (one, other) in pairs.items()}


def _judged(ratios: dict[str, float], holds: Callable[[float], bool]) -> Verdict:
    said = f"{told(min(ratios.values()))} to {told(max(ratios.values()))} x"
    return for_each({name: holds(ratio) for name, ratio in ratios.items()}, said)


def _no_worse(found: Found, others: Sequence[str], experiment: str) -> Verdict:
    """Whether no summary of PBA is above that of any of the others."""
    fits: dict[str, bool] = {}
    ratios = []
    for other in others:
        for name, (ours, its) in _pairs(found, ALL, "pba", other, experiment).items():
            fits[name] = fits.get(name, True) and ours <= 1.02 * its + CLEAR
            ratios.append(ours / its)
    return for_each(fits, f"{told(min(ratios))} to {told(max(ratios))} x")


def _to_median(found: Found, algorithm: str, experiment: str) -> dict[str, float]:
    return {
        panel: _value(found, experiment, "max", algorithm, panel)
        / _value(found, experiment, "med", algorithm, panel)
        for panel in _panels(found, experiment)
    }


@claim("abstract", "PBA has less latency than TwoStack and SlickDeque (average, Max)")
def _(found: Found) -> Verdict:
    ratios: dict[str, float] = {}
    for other in ("two_stacks", "slick_deque"):
        found_ratios = _ratios(found, ["avg"], "pba", other, MAX)
        ratios |= {f"{name} against {other}": ratio for name, ratio in found_ratios.items()}
    return _judged(ratios, lambda ratio: ratio < 1)


for name, title in (("pba", "PBA"), ("slick_deque", "SlickDeque")):

    @claim("Figure 7 (a)", f"{title} has no spikes: no slide takes over 20 times the median")
    def _(found: Found, name: str = name) -> Verdict:
        return _judged(_to_median(found, name, MAX), lambda ratio: ratio <= 20)


@claim("Figure 7 (b)", "PBA has no spikes: no slide takes over 100 times the median")
def _(found: Found) -> Verdict:
    return _judged(_to_median(found, "pba", SKETCH), lambda ratio: ratio <= 100)


@claim("Table 2", "in every summary PBA is better than SlickDeque (or 1 ns and 2 % worse at most)")
def _(found: Found) -> Verdict:
    return _no_worse(found, ["slick_deque"], MAX)


for label, experiment in (("Table 2", MAX), ("Table 3", SKETCH)):

    @claim(label, "in every summary PBA is the best of all (or 1 ns and 2 % worse at most)")
    def _(found: Found, experiment: str = experiment) -> Verdict:
        others = [name for name in found[experiment].series("avg") if name != "pba"]
        return _no_worse(found, others, experiment)

    @claim(label, "PBA's longest slide and deviation are the smallest of all")
    def _(found: Found, experiment: str = experiment) -> Verdict:
        others = [name for name in found[experiment].series("avg") if name != "pba"]
        ratios: dict[str, float] = {}
        for other in others:
            found_ratios = _ratios(found, ["max", "std"], "pba", other, experiment)
            ratios |= {f"{name} against {other}": ratio for name, ratio in found_ratios.items()}
        return _judged(ratios, lambda ratio: ratio < 1)

    @claim(label, "PBA's average is lower with the longer range")
    def _(found: Found, experiment: str = experiment) -> Verdict:
        shorter, longer = _panels(found, experiment)
        before, after = (_value(found, experiment, "avg", "pba", p) for p in (shorter, longer))
        said = f"{told(after)} ns ({longer}) against {told(before)} ns ({shorter})"
        return for_each({"pba": after < before}, said)

    @claim(label, "but for the longest and the deviation SBA is like PBA (within 1 ns and 20 %)")
    def _(found: Found, experiment: str = experiment) -> Verdict:
        pairs = _pairs(found, USUAL, "sba", "pba", experiment)
        fits = {name: abs(sba - pba) <= 0.2 * pba + CLEAR for name, (sba, pba) in pairs.items()}
        ratios = [sba / pba for sba, pba in pairs.values()]
        return for_each(fits, f"{told(min(ratios))} to {told(max(ratios))} x PBA's")

    @claim(label, "SBA has high latency at times: its longest slide takes 8 times PBA's or more")
    def _(found: Found, experiment: str = experiment) -> Verdict:
        return _judged(_ratios(found, ["max"], "sba", "pba", experiment), lambda ratio: ratio >= 8)

    @claim(label, "TwoStack's longest slide grows with the range (1.6 times or more for twice)")
    def _(found: Found, experiment: str = experiment) -> Verdict:
        shorter, longer = _panels(found, experiment)
        ratio = _value(found, experiment, "max", "two_stacks", longer) / _value(
            found, experiment, "max", "two_stacks", shorter
        )
        return for_each({"two_stacks": ratio >= 1.6}, f"{told(ratio)} x")

    @claim(label, "no entry is above the table's")
    def _(found: Found, experiment: str = experiment, label: str = label) -> Verdict:
        table = theirs(experiment, label)
        shares = {
            f"{metric} of {name} ({panel})": _value(found, experiment, metric, name, panel)
            / table[f"{name}, {panel}"][metric]
            for panel in _panels(found, experiment)
            for name in found[experiment].series("avg")
            for metric in ALL
            if f"{name}, {panel}" in table
        }
        return _judged(shares, lambda share: share <= 1)


@claim("Table 2", "SlickDeque's average is almost TwoStack's (within 20 %)")
def _(found: Found) -> Verdict:
    ratios = _ratios(found, ["avg"], "slick_deque", "two_stacks", MAX)
    return _judged(ratios, lambda ratio: abs(ratio - 1) <= 0.2)


@claim("Table 2", "SlickDeque's longest slide and deviation are far below TwoStack's (10 times)")
def _(found: Found) -> Verdict:
    ratios = _ratios(found, ["max", "std"], "two_stacks", "slick_deque", MAX)
    return _judged(ratios, lambda ratio: ratio >= 10)


@claim(
    "Table 3",
    "SlickDeque with MomentSketch: an average like TwoStack's, the longest slide far below",
)
def _(found: Found) -> Verdict:
    raise NotMeasuredError(
        "SlickDeque needs an operator that picks one of its values or can be taken back, and "
        "MomentSketch is neither"
    )


@claim("Section 5.1.2", "a more complex aggregation takes longer: MomentSketch more than Max")
def _(found: Found) -> Verdict:
    of_max, of_sketch = _panels(found, MAX)[0], _panels(found, SKETCH)[-1]
    ratios = {
        name: _value(found, SKETCH, "avg", name, of_sketch)
        / _value(found, MAX, "avg", name, of_max)
        for name in found[SKETCH].series("avg")
    }
    return _judged(ratios, lambda ratio: ratio > 1)

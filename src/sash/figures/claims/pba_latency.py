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


def _of_the_machine(found: Found) -> str:
    """What the longest slides are, of algorithms that have none that is long by itself."""
    parts = []
    for experiment, names in ((MAX, ("slick_deque", "pba")), (SKETCH, ("pba",))):
        for panel in _panels(found, experiment):
            for name in names:
                longest, middle = (
                    _value(found, experiment, metric, name, panel) for metric in ("max", "med")
                )
                parts.append(f"{name} {told(longest)} ns against {told(middle)} ({panel})")
    return (
        f"A slide takes about as long as one step of the clock, so that a few hundred nanoseconds "
        f"are many times the median: a cache miss, or, with PBA, taking over a chunk from the "
        f"other thread, for which it may have to wait. The longest against the median: "
        f"{', '.join(parts)}."
    )


def _more_combining(found: Found) -> str:
    pairs = _pairs(found, ["avg"], "sba", "pba", SKETCH)
    took = [f"{told(sba)} against {told(pba)} ns" for sba, pba in pairs.values()]
    return (
        f"SBA does the second thread's ⊕ too, about one more for each slide, and MomentSketch's "
        f"takes long: {', '.join(took)} on average."
    )


@claim("abstract", "PBA has less latency than TwoStack and SlickDeque (average, Max)")
def _(found: Found) -> Verdict:
    ratios: dict[str, float] = {}
    for other in ("two_stacks", "slick_deque"):
        found_ratios = _ratios(found, ["avg"], "pba", other, MAX)
        ratios |= {f"{name} against {other}": ratio for name, ratio in found_ratios.items()}
    return _judged(ratios, lambda ratio: ratio < 1)


for name, title, most in (("pba", "PBA", 12), ("slick_deque", "SlickDeque", 9)):

    @claim(
        "Figure 7 (a)",
        f"{title} has no spikes: no slide takes over {most} times the median (Table 2's ratio)",
        why=_of_the_machine,
    )
    def _(found: Found, name: str = name, most: float = most) -> Verdict:
        return _judged(_to_median(found, name, MAX), lambda ratio: ratio <= most)


@claim(
    "Figure 7 (b)",
    "PBA has no spikes: no slide takes over 90 times the median (Table 3's ratio)",
    why=_of_the_machine,
)
def _(found: Found) -> Verdict:
    return _judged(_to_median(found, "pba", SKETCH), lambda ratio: ratio <= 90)


for label, experiment in (("Figure 7 (a)", MAX), ("Figure 7 (b)", SKETCH)):

    @claim(
        label,
        "TwoStack's and SBA's spikes are periodic: one each time a window, which here is also a "
        "chunk of SBA, is slid through (0.8 to 1.2)",
    )
    def _(found: Found, experiment: str = experiment) -> Verdict:
        spikes = {
            f"{name} ({panel})": _value(found, experiment, "spikes a window", name, panel)
            for panel in _panels(found, experiment)
            for name in ("two_stacks", "sba")
        }
        said = f"{told(min(spikes.values()))} to {told(max(spikes.values()))}"
        return for_each({name: 0.8 <= each <= 1.2 for name, each in spikes.items()}, said)


@claim(
    "Table 2",
    "in every summary PBA is better than SlickDeque (or 1 ns and 2 % worse at most)",
    why=_of_the_machine,
)
def _(found: Found) -> Verdict:
    return _no_worse(found, ["slick_deque"], MAX)


for label, experiment, falls, spike, grows in (
    ("Table 2", MAX, "avg", 27, 1.8),
    ("Table 3", SKETCH, "std", 8, 2.2),
):

    @claim(
        label,
        "in every summary PBA is the best of all (or 1 ns and 2 % worse at most)",
        why=_of_the_machine,
    )
    def _(found: Found, experiment: str = experiment) -> Verdict:
        others = [name for name in found[experiment].series("avg") if name != "pba"]
        return _no_worse(found, others, experiment)

    @claim(label, "PBA's longest slide and deviation are the smallest of all", why=_of_the_machine)
    def _(found: Found, experiment: str = experiment) -> Verdict:
        others = [name for name in found[experiment].series("avg") if name != "pba"]
        ratios: dict[str, float] = {}
        for other in others:
            found_ratios = _ratios(found, ["max", "std"], "pba", other, experiment)
            ratios |= {f"{name} against {other}": ratio for name, ratio in found_ratios.items()}
        return _judged(ratios, lambda ratio: ratio < 1)

    said_of = {
        "avg": "PBA's average is lower with the longer range",
        "std": "PBA's deviation is lower with the longer range (its text says so of the average "
        "too, its table does not)",
    }[falls]

    @claim(label, said_of, why=_of_the_machine)
    def _(found: Found, experiment: str = experiment, falls: str = falls) -> Verdict:
        shorter, longer = _panels(found, experiment)
        before, after = (_value(found, experiment, falls, "pba", p) for p in (shorter, longer))
        said = f"{told(after)} ns ({longer}) against {told(before)} ns ({shorter})"
        return for_each({"pba": after < before}, said)

    @claim(
        label,
        "but for the longest and the deviation SBA is like PBA (within 1 ns and 20 %)",
        why=_more_combining,
    )
    def _(found: Found, experiment: str = experiment) -> Verdict:
        pairs = _pairs(found, USUAL, "sba", "pba", experiment)
        fits = {name: abs(sba - pba) <= 0.2 * pba + CLEAR for name, (sba, pba) in pairs.items()}
        ratios = [sba / pba for sba, pba in pairs.values()]
        return for_each(fits, f"{told(min(ratios))} to {told(max(ratios))} x PBA's")

    @claim(
        label,
        f"SBA has high latency at times: its longest slide takes {spike} times PBA's or more",
        why=_of_the_machine,
    )
    def _(found: Found, experiment: str = experiment, spike: float = spike) -> Verdict:
        ratios = _ratios(found, ["max"], "sba", "pba", experiment)
        return _judged(ratios, lambda ratio: ratio >= spike)

    @claim(
        label,
        f"TwoStack's longest slide grows with the range ({grows} times or more for two)",
        why="It turns the whole window over, of which the longer range has twice as many values; "
        "it takes more than twice as long where those no longer fit a cache.",
    )
    def _(found: Found, experiment: str = experiment, grows: float = grows) -> Verdict:
        shorter, longer = _panels(found, experiment)
        ratio = _value(found, experiment, "max", "two_stacks", longer) / _value(
            found, experiment, "max", "two_stacks", shorter
        )
        return for_each({"two_stacks": ratio >= grows}, f"{told(ratio)} x")

    @claim(label, "no entry is above the table's", why=_of_the_machine)
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


for metric, times in (("max", 112), ("std", 34)):
    what = {"max": "longest slide", "std": "deviation"}[metric]

    @claim(
        "Table 2",
        f"SlickDeque's {what} is far below TwoStack's ({times} times or more)",
        why=_of_the_machine,
    )
    def _(found: Found, metric: str = metric, times: float = times) -> Verdict:
        ratios = _ratios(found, [metric], "two_stacks", "slick_deque", MAX)
        return _judged(ratios, lambda ratio: ratio >= times)


for where, says in (
    ("Table 3", "SlickDeque's average is like TwoStack's, its longest slide far below"),
    ("Table 3", "in every summary PBA is better than SlickDeque"),
    ("Figure 7 (b)", "SlickDeque has no spikes"),
):

    @claim(where, f"with MomentSketch: {says}")
    def _(found: Found) -> Verdict:
        raise NotMeasuredError(
            "SlickDeque needs an operator that picks one of its values or can be taken back, and "
            "MomentSketch is neither"
        )


@claim(
    "Section 5.1.2",
    "differences are more obvious with a complex aggregation: TwoStack's average over PBA's is "
    "greater with MomentSketch than with Max",
)
def _(found: Found) -> Verdict:
    simple, complex_ = (
        _ratios(found, ["avg"], "two_stacks", "pba", experiment) for experiment in (MAX, SKETCH)
    )
    said = f"{_ends(simple)} with Max, {_ends(complex_)} with MomentSketch"
    return for_each({"two_stacks": min(complex_.values()) > max(simple.values())}, said)


def _ends(ratios: dict[str, float]) -> str:
    return f"{told(min(ratios.values()))} – {told(max(ratios.values()))} x"


@claim("Section 5.1.2", "a more complex aggregation takes longer: MomentSketch more than Max")
def _(found: Found) -> Verdict:
    of_max, of_sketch = _panels(found, MAX)[0], _panels(found, SKETCH)[-1]
    ratios = {
        name: _value(found, SKETCH, "avg", name, of_sketch)
        / _value(found, MAX, "avg", name, of_max)
        for name in found[SKETCH].series("avg")
    }
    return _judged(ratios, lambda ratio: ratio > 1)

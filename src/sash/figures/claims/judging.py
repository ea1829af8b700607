"""How a claim is judged: from the results alone, always to one of a few verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2
from typing import Any, Literal

import numpy as np

from sash.figures.drawing.drawn import told
from sash.figures.results import Curve, Results
from sash.figures.spec import specs

Kind = Literal["holds", "holds in part", "does not hold here", "not measured"]

HOLDS: Kind = "holds"
IN_PART: Kind = "holds in part"
NOT_HERE: Kind = "does not hold here"
NOT_MEASURED: Kind = "not measured"


@dataclass(frozen=True)
class Verdict:
    """What the numbers say: `measured` tells them, and in which range a claim holds in part."""

    kind: Kind
    measured: str


class Found(dict[str, Results]):
    """Results by the names of their experiments; one that is missing is not measured."""

    def __missing__(self, name: str) -> Results:
        raise NotMeasuredError(f"{name} was not run")


class NotMeasuredError(Exception):
    """What a claim is judged by is not there."""


MISSING = (NotMeasuredError, KeyError, ValueError)
"""Raised where numbers are not there: by a curve without that place, or without any."""


@dataclass(frozen=True)
class Claim:
    """What a paper says in numbers, in our words."""

    paper: str
    where: str
    """`abstract`, `Figure 6`, `Table 3`, `Section 7.2`."""
    says: str
    judge: Callable[[Found], Verdict]
    why: str | Callable[[Found], str] = ""
    """If it does not hold wholly here: why, as far as it was found out."""

    def judged(self, found: Found) -> Judged:
        try:
            verdict = self.judge(found)
        except MISSING as missing:
            return Judged(self, Verdict(NOT_MEASURED, f"not measured here: {missing}"))
        return Judged(self, verdict, "" if verdict.kind == HOLDS else self._told_why(found))

    def _told_why(self, found: Found) -> str:
        """A reason may need more numbers than the verdict; without them it is not told."""
        try:
            return self.why if isinstance(self.why, str) else self.why(found)
        except MISSING:
            return ""


@dataclass(frozen=True)
class Judged:
    """A claim and its verdict; `why` only if it does not hold wholly."""

    claim: Claim
    verdict: Verdict
    why: str = ""


@dataclass
class Claims:
    """The claims of one paper; filled by its decorator."""

    paper: str
    all: list[Claim] = field(default_factory=list)

    def claim(
        self, where: str, says: str, why: str | Callable[[Found], str] = ""
    ) -> Callable[[Callable[[Found], Verdict]], Callable[[Found], Verdict]]:
        def add(judge: Callable[[Found], Verdict]) -> Callable[[Found], Verdict]:
            self.all.append(Claim(self.paper, where, says, judge, why))
            return judge

        return add


def at_least(value: float, claimed: float, said: str = "", in_part: float = 1.0) -> Verdict:
    """Holds from `claimed` on; in part if it is at least more than `in_part`."""
    said = said or f"{told(value)} x"
    if value >= claimed:
        return Verdict(HOLDS, said)
    return Verdict(IN_PART if value > in_part else NOT_HERE, said)


def at_most(value: float, claimed: float, said: str = "", in_part: float = 1.0) -> Verdict:
    """Holds up to `claimed`; in part if it is less than `in_part`."""
    said = said or f"{told(value)} x"
    if value <= claimed:
        return Verdict(HOLDS, said)
    return Verdict(IN_PART if value < in_part else NOT_HERE, said)


def along(
    curve: Curve, holds: Callable[[float, float], bool], said: str, of: str = "windows"
) -> Verdict:
    """Whether something holds at every place of an axis; if at some, at which."""
    if not curve:
        raise NotMeasuredError(f"nothing for {said}")
    true = [x for x, value in curve.at.items() if holds(x, value)]
    if len(true) == len(curve.at):
        return Verdict(HOLDS, said)
    if not true:
        return Verdict(NOT_HERE, said)
    return Verdict(IN_PART, f"{said}; holds for {of} of {spans(true, curve.xs)}")


def along_each(
    curves: Mapping[str, Curve],
    holds: Callable[[float, float], bool],
    said: str,
    of: str = "windows",
) -> Verdict:
    """`along` for several curves by name: in all of them, or in which of them and where.

    Told is where it holds, or where it does not, whichever is shorter.
    """
    curves = {name: curve for name, curve in curves.items() if curve}
    if not curves:
        raise NotMeasuredError(f"nothing for {said}")
    true: dict[str, str] = {}
    false: dict[str, str] = {}
    for name, curve in curves.items():
        answers = {x: holds(x, value) for x, value in curve.at.items()}
        for found, wanted in ((true, True), (false, False)):
            places = [x for x, answer in answers.items() if answer == wanted]
            if places:
                everywhere = len(places) == len(answers)
                found[name] = "all" if everywhere else spans(places, curve.xs)
    if not false:
        return Verdict(HOLDS, said)
    if not true:
        return Verdict(NOT_HERE, said)
    word, parts = ("holds", true) if len(true) <= len(false) else ("does not hold", false)
    where = "; ".join(f"{name}: {places}" for name, places in parts.items())
    return Verdict(IN_PART, f"{said}; {word} for {of} ({where})")


def theirs(experiment: str, label: str) -> Mapping[str, Mapping[str, Any]]:
    """The paper's own entries of a table, by row and column, as the experiment's file has them."""
    drawings = {drawing.label: drawing for drawing in specs()[experiment].drawings}
    found: Mapping[str, Mapping[str, Any]] = drawings[label].options["theirs"]
    return found


def for_each(answers: Mapping[str, bool], said: str) -> Verdict:
    """Whether something holds for each of several, by name; if for some, for which.

    Told are those for which it holds, or those for which it does not, whichever are fewer.
    """
    if not answers:
        raise NotMeasuredError(f"nothing for {said}")
    true = [name for name, holds in answers.items() if holds]
    false = [name for name, holds in answers.items() if not holds]
    if not false:
        return Verdict(HOLDS, said)
    if not true:
        return Verdict(NOT_HERE, said)
    word, names = ("holds", true) if len(true) <= len(false) else ("does not hold", false)
    return Verdict(IN_PART, f"{said}; {word} for {', '.join(names)}")


def spans(true: list[float], all_places: list[float]) -> str:
    """Places as ranges: 8 – 64, 1,024."""
    runs: list[list[float]] = []
    for before, place in zip([None, *all_places], all_places, strict=False):
        if place not in true:
            continue
        if runs and runs[-1][-1] == before:
            runs[-1].append(place)
        else:
            runs.append([place])
    texts = [told(run[0]) if len(run) == 1 else f"{told(run[0])} – {told(run[-1])}" for run in runs]
    return ", ".join(texts)


def is_flat(curve: Curve, within: float) -> bool:
    """Whether the greatest is at most so many times the least."""
    return curve.greatest <= within * curve.least


def bytes_or_not(wide: Sequence[float], narrow: Sequence[float]) -> str:
    """What follows if something grows by these shares with wide partials, and with narrow ones.

    Each is of one round; if not most of them say the same, nothing follows.
    """
    follows = Counter(map(_bytes_or_not, wide, narrow))
    ((said, count),) = follows.most_common(1)
    return said if count > 0.7 * follows.total() else "rounds do not agree on whether it is bytes"


def _bytes_or_not(wide: float, narrow: float) -> str:
    if max(wide, narrow) < 0.1:
        return "here it does not show"
    if narrow < wide / 2:
        return "it is the bytes of partials"
    if narrow < wide:
        return "it is the bytes of partials only in part"
    return "it is not the bytes of partials"


def line(xs: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """The slope and the base of the straight line that fits best."""
    if len(xs) < 2:
        raise NotMeasuredError("there is no line through less than two points")
    slope, base = np.polyfit(xs, values, 1)
    return float(slope), float(base)


def power(curve: Curve) -> float:
    """By which power of x a curve grows: 0 if it is flat, 1 if it is in proportion to x."""
    return line([log2(x) for x in curve.xs], [log2(value) for value in curve.values])[0]


def off_line(curve: Curve, over: Callable[[float], float] = lambda x: x) -> float:
    """How far a curve is from a straight line over x, or over log2(x), at worst: a share of it."""
    xs, values = np.array([over(x) for x in curve.xs]), np.array(curve.values)
    slope, base = line(list(xs), curve.values)
    return float(np.max(np.abs(slope * xs + base - values) / values))


def straightness(curve: Curve, over: Callable[[float], float] = lambda x: x) -> float:
    """How much of a curve's ups and downs a straight line over x, or over log2(x), explains: R²."""
    xs, values = np.array([over(x) for x in curve.xs]), np.array(curve.values)
    slope, base = line(list(xs), curve.values)
    left, spread = np.sum((values - slope * xs - base) ** 2), np.sum((values - values.mean()) ** 2)
    return float(1 - left / spread) if spread else 1.0

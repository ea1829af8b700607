"""How a claim is judged: from the results alone, always to one of a few verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sash.figures.drawing.drawn import told
from sash.figures.results import Curve, Results

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
            if verdict.kind == HOLDS:
                return Judged(self, verdict)
            why = self.why if isinstance(self.why, str) else self.why(found)
            return Judged(self, verdict, why)
        except (NotMeasuredError, KeyError, ValueError) as missing:
            return Judged(self, Verdict(NOT_MEASURED, f"not measured here: {missing}"))


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


def for_each(answers: Mapping[str, bool], said: str) -> Verdict:
    """Whether something holds for each of several, by name; if for some, for which."""
    if not answers:
        raise NotMeasuredError(f"nothing for {said}")
    true = [name for name, holds in answers.items() if holds]
    if len(true) == len(answers):
        return Verdict(HOLDS, said)
    if not true:
        return Verdict(NOT_HERE, said)
    return Verdict(IN_PART, f"{said}; holds for {', '.join(true)}")


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

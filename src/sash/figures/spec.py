"""Experiments as their files tell them: what is measured, at which sizes, and what is drawn of it.

One file of `experiments/` is one experiment. The part that measures reads `measure`, `[settings]`
and `[quick]` or `[full]`; the part that draws reads the `[[draw]]` tables. Neither knows the other.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from sash.figures.papers import PAPERS

SPAN = re.compile(r"2\^(\d+) \.\. 2\^(\d+)(?: by 2\^(\d+))?")
KNOWN = {"paper", "title", "about", "measure", "settings", "quick", "full", "draw"}


@dataclass(frozen=True)
class Drawing:
    """One figure or table: `label` as the paper calls it."""

    experiment: str
    paper: str
    label: str
    title: str
    kind: str
    options: dict[str, Any]

    @property
    def name(self) -> str:
        """For files and links."""
        return f"{self.paper}-{re.sub(r'[^a-z0-9]+', '-', self.label.lower()).strip('-')}"


@dataclass(frozen=True)
class Spec:
    """One experiment."""

    name: str
    paper: str
    title: str
    about: str
    measure: str
    settings: dict[str, dict[str, Any]]
    """By scale, `quick` or `full`: what the measuring function is given."""
    rounds: dict[str, int]
    passes: dict[str, int]
    """By scale, how often all sizes are gone through, with some of the rounds each time."""
    takes: dict[str, float]
    """By scale, about how many seconds it takes here: for what is told of the time left."""
    drawings: tuple[Drawing, ...]

    def rounds_by_pass(self, scale: str) -> list[range]:
        """Which rounds are run at all sizes before others are run at any.

        What slows the machine down for a minute then hits some rounds of many sizes, which their
        medians leave out, and not all rounds of one.
        """
        rounds, passes = self.rounds[scale], self.passes[scale]
        return [range(first, rounds, passes) for first in range(passes)]


def spec_of(name: str, told: dict[str, Any]) -> Spec:
    """A spec, from what its file says."""
    strange = set(told) - KNOWN
    if strange:
        raise ValueError(f"{name}: {sorted(strange)[0]!r} is not known.")
    if told["paper"] not in PAPERS:
        raise ValueError(f"{name}: there is no paper {told['paper']!r}.")
    settings, rounds, passes, takes = {}, {}, {}, {}
    for scale in ("quick", "full"):
        given = {**told.get("settings", {}), **told[scale]}
        rounds[scale] = given.pop("rounds", 1)
        passes[scale] = given.pop("passes", 1)
        if passes[scale] > rounds[scale]:
            raise ValueError(f"{name}: more passes than rounds would measure nothing in some.")
        takes[scale] = given.pop("takes")
        settings[scale] = {key: _spread(value) for key, value in given.items()}
    drawings = []
    for draw in told["draw"]:
        options = dict(draw)
        label, title, kind = (options.pop(key) for key in ("label", "title", "kind"))
        drawings.append(Drawing(name, told["paper"], label, title, kind, options))
    return Spec(
        name,
        told["paper"],
        told["title"],
        " ".join(told["about"].split()),
        told["measure"],
        settings,
        rounds,
        passes,
        takes,
        tuple(drawings),
    )


def _spread(value: Any) -> Any:
    """`"2^3 .. 2^6"` as 8, 16, 32, 64; with `by 2^2` every other one."""
    if isinstance(value, dict):
        return {key: _spread(each) for key, each in value.items()}
    found = SPAN.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    first, last, step = (int(each or 1) for each in found.groups())
    return [1 << power for power in range(first, last + 1, step)]


@cache
def specs() -> dict[str, Spec]:
    """All experiments by name, in the order of the report."""
    folder = files("sash.figures") / "experiments"
    found = [
        spec_of(each.name.removesuffix(".toml"), tomllib.loads(each.read_text("utf-8")))
        for each in folder.iterdir()
        if each.name.endswith(".toml")
    ]
    papers = list(PAPERS)
    found.sort(key=lambda spec: (papers.index(spec.paper), _order(spec.drawings[0].label)))
    return {spec.name: spec for spec in found}


def drawings() -> list[Drawing]:
    """All figures and tables, paper by paper, in the order in which each paper numbers them."""
    found = [each for spec in specs().values() for each in spec.drawings]
    papers = list(PAPERS)
    return sorted(found, key=lambda each: (papers.index(each.paper), _order(each.label)))


def _order(label: str) -> tuple[str, list[int]]:
    """Figures before tables, by number."""
    return label.split()[0], [int(number) for number in re.findall(r"\d+", label)]

"""What was measured, as a file: a CSV for each experiment, with the machine's facts on top.

    # processor: …
    # sash: 0.1.0
    panel,series,x,metric,round,value
    Max,flat_fit,8,ns a slide,0,6.9

Every repetition is there; medians, spread and ratios are formed when they are asked for. A ratio is
one of two numbers of the same round, which were measured one after the other.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from sash.figures.cases import NOT_INSTALLED, Row

TIMES = ("ns ", "µs ", "ms ")
"""How the names of metrics begin that are times."""
LATENCIES = ("min", "max", "avg", "std", "LQ", "med", "HQ", "avg, ticks", "std, ticks")
"""The papers' names of times in their tables of latencies."""
RATES = ("rows/s",)


@dataclass(frozen=True)
class Curve:
    """A number at some places of an axis."""

    at: dict[float, float]

    def __bool__(self) -> bool:
        return bool(self.at)

    @property
    def xs(self) -> list[float]:
        return list(self.at)

    @property
    def values(self) -> list[float]:
        return list(self.at.values())

    def where(self, keep: Callable[[float], bool]) -> Curve:
        """The part of it at places that are to be kept."""
        return Curve({x: value for x, value in self.at.items() if keep(x)})

    @property
    def greatest(self) -> float:
        return max(self.values)

    @property
    def least(self) -> float:
        return min(self.values)

    @property
    def mean(self) -> float:
        return sum(self.values) / len(self.values)

    @property
    def last(self) -> float:
        return self.at[max(self.at)]


class Results:
    """All rows of one experiment."""

    def __init__(self, rows: Iterable[Row], facts: Mapping[str, str]) -> None:
        self.facts = dict(facts)
        self.rounds: dict[tuple[str, str, str], dict[float, dict[int, float]]] = {}
        """By panel, series and metric: by x, by round."""
        for row in rows:
            by_x = self.rounds.setdefault((row.panel, row.series, row.metric), {})
            by_x.setdefault(row.x, {})[row.round] = row.value

    def shortest(self) -> Results:
        """The same with only the shortest round of whatever takes time.

        Whatever else a machine does makes rounds longer, never shorter.
        """
        found = Results((), self.facts)
        for key, by_x in self.rounds.items():
            best = _shortest(key[2])
            found.rounds[key] = {
                x: {0: best(rounds.values())} if best else rounds for x, rounds in by_x.items()
            }
        return found

    def apart(self) -> list[Results]:
        """Each round as results of its own."""
        found: dict[int, Results] = {}
        for key, by_x in self.rounds.items():
            for x, rounds in by_x.items():
                for turn, value in rounds.items():
                    one = found.setdefault(turn, Results((), self.facts))
                    one.rounds.setdefault(key, {})[x] = {turn: value}
        return [found[turn] for turn in sorted(found)]

    @property
    def last_cache(self) -> str:
        """How much the machine's largest cache holds, as `32 MB`."""
        kilobytes = re.search(r"(\d+)K$", self.facts.get("caches", ""))
        return f"{int(kilobytes[1]) >> 10:,} MB" if kilobytes else "an unknown number of bytes"

    @property
    def scale(self) -> str:
        return self.facts.get("scale", "full")

    def panels(self, metric: str | None = None) -> list[str]:
        return _once(p for p, _, m in self.rounds if metric is None or m == metric)

    def series(self, metric: str | None = None, panel: str | None = None) -> list[str]:
        return _once(
            s
            for p, s, m in self.rounds
            if (metric is None or m == metric) and (panel is None or p == panel)
        )

    @property
    def missing(self) -> list[str]:
        """Rivals that were not installed."""
        return self.series(NOT_INSTALLED)

    def curve(self, metric: str, series: str, panel: str) -> Curve:
        """The median of all rounds at each x; nothing if it was not measured."""
        by_x = self.rounds.get((panel, series, metric), {})
        return Curve({x: median(found.values()) for x, found in sorted(by_x.items())})

    def spread(self, metric: str, series: str, panel: str) -> dict[float, tuple[float, float]]:
        """The least and the greatest of all rounds at each x."""
        by_x = self.rounds.get((panel, series, metric), {})
        return {x: (min(f.values()), max(f.values())) for x, f in sorted(by_x.items())}

    def ratio(self, metric: str, above: str, below: str, panel: str, under: str = "") -> Curve:
        """One series over another, round by round, at each x that both have; then the median.

        under: the panel of the other, if it is not the same.
        """
        one = self.rounds.get((panel, above, metric), {})
        other = self.rounds.get((under or panel, below, metric), {})
        found = {}
        for x in sorted(one.keys() & other.keys()):
            both = one[x].keys() & other[x].keys()
            if both and all(other[x][r] for r in both):
                found[x] = median(one[x][r] / other[x][r] for r in both)
        return Curve(found)

    def value(self, metric: str, series: str, panel: str, x: float) -> float:
        """The median at one place; a KeyError if it was not measured."""
        return self.curve(metric, series, panel).at[x]


def _shortest(metric: str) -> Callable[[Iterable[float]], float] | None:
    """Which of several rounds is the shortest, if this is a matter of time."""
    if metric.startswith(TIMES) or metric in LATENCIES:
        return min
    return max if metric in RATES else None


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def write(path: Path, rows: Iterable[Row], facts: Mapping[str, str]) -> None:
    """A file that is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".part")
    with new.open("w", newline="", encoding="utf-8") as file:
        for name, fact in facts.items():
            file.write(f"# {name}: {' '.join(str(fact).split())}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        for row in rows:
            number = f"{row.value:.6g}"
            writer.writerow([row.panel, row.series, f"{row.x:.12g}", row.metric, row.round, number])
    new.replace(path)


def read(path: Path) -> Results:
    """What `write` wrote; a ValueError that names the line if it is something else."""
    facts: dict[str, str] = {}
    rows: list[Row] = []
    with path.open(newline="", encoding="utf-8") as file:
        lines = file.read().splitlines()
    start = 0
    while start < len(lines) and lines[start].startswith("# "):
        name, _, fact = lines[start][2:].partition(": ")
        facts[name] = fact
        start += 1
    if lines[start : start + 1] != [",".join(Row._fields)]:
        raise ValueError(f"{path}: line {start + 1} should be {','.join(Row._fields)}.")
    for number, found in enumerate(csv.reader(lines[start + 1 :]), start + 2):
        try:
            panel, series, x, metric, turn, value = found
            rows.append(Row(panel, series, float(x), metric, int(turn), float(value)))
        except ValueError:
            raise ValueError(f"{path}: line {number} is not a row of results.") from None
    return Results(rows, facts)

"""Figures of which something was promised: whether it is met, and all of them as a file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict
from math import inf
from pathlib import Path


class Promised:
    """A number, and what it must be at least or at most, if anything was promised."""

    value: float
    least: float | None
    most: float | None

    @property
    def met(self) -> bool | None:
        if self.least is None and self.most is None:
            return None
        return (self.least or 0.0) <= self.value <= (inf if self.most is None else self.most)

    @property
    def verdict(self) -> str:
        if self.met is None:
            return ""
        bound = f"at least {self.least:g}" if self.most is None else f"at most {self.most:g}"
        return f"   {bound}: {'met' if self.met else 'NOT MET'}"


def written(found: Sequence[Promised], path: Path) -> None:
    """Write all figures, and say how many promises are not met."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        rows = [asdict(figure) | {"met": figure.met} for figure in found]
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    missed = sum(figure.met is False for figure in found)
    promised = sum(figure.met is not None for figure in found)
    print(f"\n{path} written; {missed} of {promised} promised figures not met.")

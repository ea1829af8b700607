"""A table of how numbers grow, from the first place of the axis to the last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sash.figures.drawing.drawn import NothingToDrawError, Table, told
from sash.figures.drawing.tables import Theirs, with_theirs
from sash.figures.results import Results


def growth(
    results: Results,
    *,
    metrics: Sequence[str],
    theirs: Theirs | None = None,
    corner: str = "",
    **_: Any,
) -> Table:
    """A row for each series, a column for each metric: 4.2 → 4, and at which x these are."""
    rows = []
    for panel in results.panels(metrics[0]):
        for name in results.series(panel=panel):
            row = [name]
            for metric in metrics:
                curve = results.curve(metric, name, panel)
                cell = f"{told(curve.values[0])} → {told(curve.last)}" if curve else "–"
                row.append(with_theirs(cell, theirs, name, metric))
            places = [x for m in metrics for x in results.curve(m, name, panel).xs]
            if places:
                rows.append([*row, f"{told(min(places))} → {told(max(places))}"])
    if not rows:
        raise NothingToDrawError(f"{metrics[0]!r} was not measured.")
    return Table([corner, *metrics, "n"], rows)

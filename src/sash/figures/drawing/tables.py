"""Tables as the papers have them, ours and the paper's own numbers side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from sash.figures.crossing import crossing
from sash.figures.drawing.drawn import NothingToDrawError, Table, told
from sash.figures.drawing.lines import SHOWN
from sash.figures.results import Results

Theirs = Mapping[str, Mapping[str, Any]]
"""By row and column, the paper's own entry."""


def break_even(
    results: Results,
    *,
    metric: str,
    base: str,
    columns: Sequence[Mapping[str, Any]],
    theirs: Theirs | None = None,
    **_: Any,
) -> Table:
    """For each panel, from which window size on an algorithm is as fast as `base`.

    columns: the title, the series, and how many `times` as fast it must be.
    """
    rows = []
    for panel in results.panels(metric):
        row = [panel]
        for column in columns:
            ratio = results.ratio(metric, base, column["series"], panel)
            if not ratio:
                row.append("–")
                continue
            at = crossing(ratio, column.get("times", 1.0))
            row.append(with_theirs(_point(at, ratio.xs), theirs, panel, column["title"]))
        rows.append(row)
    if not rows:
        raise NothingToDrawError(f"{metric!r} was not measured.")
    return Table(["", *(column["title"] for column in columns)], rows)


def _point(at: float, xs: list[float]) -> str:
    if at == inf:
        return f"never (up to {told(max(xs))})"
    if at <= min(xs):
        return f"≤ {told(min(xs))}"
    return f"≈ {told(at, 2)}"


def matrix(
    results: Results,
    *,
    metric: str,
    show: str = "",
    panels: Sequence[str] = (),
    series: Sequence[str] = (),
    second: str = "",
    theirs: Theirs | None = None,
    corner: str = "",
    **_: Any,
) -> Table:
    """A row for each panel, a column for each series; at each x, if there are several.

    second: another metric to show beside the first, as a deviation is.
    """
    convert = SHOWN[show]
    names = list(series) or results.series(metric)
    names += [name for name in results.missing if name not in names]
    shown = list(panels) or results.panels(metric)
    rows = []
    for panel in shown:
        row = [panel]
        for name in names:
            curve = results.curve(metric, name, panel)
            cells = [told(convert(value)) for value in curve.values]
            if name in results.missing:
                cells = ["not installed"]
            if second:
                beside = results.curve(second, name, panel)
                pairs = zip(cells, beside.values, strict=True)
                cells = [f"{cell} (σ {told(convert(value))})" for cell, value in pairs]
            row.append(with_theirs(", ".join(cells) or "–", theirs, panel, name))
        rows.append(row)
    if not any(cell != "–" for row in rows for cell in row[1:]):
        raise NothingToDrawError(f"{metric!r} was not measured.")
    return Table([corner, *names], rows)


def summary(
    results: Results,
    *,
    metrics: Sequence[str],
    show: str = "",
    corner: str = "",
    theirs: Theirs | None = None,
    **_: Any,
) -> Table:
    """A row for each series in each panel, a column for each metric."""
    convert = SHOWN[show]
    rows = []
    shown = results.panels(metrics[0])
    for panel in shown:
        for name in results.series(metrics[0], panel):
            label = f"{name}, {panel}" if len(shown) > 1 else name
            row = [label]
            for metric in metrics:
                curve = results.curve(metric, name, panel)
                cell = told(convert(curve.last)) if curve else "–"
                row.append(with_theirs(cell, theirs, label, metric))
            rows.append(row)
    if not rows:
        raise NothingToDrawError(f"{metrics[0]!r} was not measured.")
    return Table([corner, *metrics], rows)


def ratios(
    results: Results,
    *,
    metric: str,
    above: str | Sequence[str],
    below: str,
    panels: Sequence[str] = (),
    theirs: Theirs | None = None,
    corner: str = "",
    **_: Any,
) -> Table:
    """A column for each x: one series over another. A row for each panel, and each of several."""
    shown = list(panels) or results.panels(metric)
    names = [above] if isinstance(above, str) else list(above)
    curves = {}
    for panel in shown:
        for name in names:
            label = panel if isinstance(above, str) else f"{panel}, {name}"
            curves[label] = results.ratio(metric, name, below, panel)
    xs = sorted({x for curve in curves.values() for x in curve.xs})
    titles = [f"n = {told(x)}" for x in xs]
    rows = []
    for label, curve in curves.items():
        if not curve and not isinstance(above, str):
            continue
        cells = [_times(curve.at[x]) if x in curve.at else "–" for x in xs]
        pairs = zip(cells, titles, strict=True)
        rows.append([label, *(with_theirs(cell, theirs, label, title) for cell, title in pairs)])
    if not xs:
        raise NothingToDrawError(f"{metric!r} was not measured.")
    return Table([corner, *titles], [*rows, *_absent(results, len(xs))])


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 100 else told(ratio)


def _absent(results: Results, cells: int) -> list[list[str]]:
    """A row for each rival that was not installed."""
    return [[f"{name} (not installed)", *["–"] * cells] for name in results.missing]


def with_theirs(cell: str, theirs: Theirs | None, row: str, column: str) -> str:
    """A cell, and what the paper has in its place."""
    entry = (theirs or {}).get(row, {}).get(column)
    if entry is None:
        return cell
    said = f"{entry:,}" if isinstance(entry, int) else str(entry)
    return f"{cell} [{said}]"

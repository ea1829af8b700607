"""How long each of many slides took, one after the other: where the spikes are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sash.figures.drawing.drawn import NothingToDrawError, blank, legend, panels_of, scale
from sash.figures.drawing.lines import SHOWN
from sash.figures.drawing.palette import INK, looks
from sash.figures.results import Results


def trace(
    results: Results,
    *,
    metric: str,
    x: str,
    y: str,
    show: str = "",
    y_scale: str = "log",
    panels: Sequence[str] = (),
    series: Sequence[str] = (),
    **_: Any,
) -> Any:
    """A dot for the longest slide of each bin of slides."""
    shown = panels_of(results, metric, panels)
    names = list(series) or results.series(metric)
    styles = looks(names)
    figure, all_axes = blank(shown)
    handles: dict[str, Any] = {}
    for axes, panel in zip(all_axes, shown, strict=True):
        for name in names:
            curve = results.curve(metric, name, panel)
            if not curve:
                continue
            ys = [SHOWN[show](value) for value in curve.values]
            (dots,) = axes.plot(
                curve.xs,
                ys,
                linestyle="",
                marker=styles[name]["marker"],
                markersize=3,
                markeredgewidth=0,
                color=styles[name]["color"],
                rasterized=True,
            )
            handles.setdefault(name, dots)
        scale(axes, "linear", y_scale)
        axes.set_xlabel(x, fontsize=8, color=INK)
        axes.set_ylabel(y, fontsize=8, color=INK)
    if not handles:
        raise NothingToDrawError(f"{metric!r} was not measured.")
    legend(figure, list(handles.values()), list(handles))
    return figure

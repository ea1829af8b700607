"""Lines over an axis: medians, with the span of all rounds behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.lines import Line2D

from sash.figures.drawing.drawn import NothingToDrawError, absent, blank, legend, panels_of, scale
from sash.figures.drawing.palette import INK, looks
from sash.figures.drawing.theory import NUMBER, THEORIES
from sash.figures.results import Results

SHOWN: dict[str, Callable[[float], float]] = {
    "": lambda value: value,
    "million/s": lambda ns: 1e3 / ns,
    "per second": lambda ns: 1e9 / ns,
    "µs": lambda ns: ns / 1e3,
    "ms": lambda ns: ns / 1e6,
    "numbers": lambda megabytes: megabytes / NUMBER,
}
"""What a metric, most often nanoseconds, is shown as."""


def lines(
    results: Results,
    *,
    metric: str,
    x: str,
    y: str,
    show: str = "",
    x_scale: str = "log2",
    y_scale: str = "linear",
    panels: Sequence[str] = (),
    series: Sequence[str] = (),
    from_x: float = 0,
    upto_x: float = float("inf"),
    theory: str = "",
    fit: str = "",
    merged: bool = False,
    **_: Any,
) -> Any:
    """A line for each series.

    theory: a formula to draw as a line, what was measured being the marks; fit: `log`, a straight
    line through all points over a logarithmic axis; merged: all panels in one, their names before
    those of the series; from_x, upto_x: only what was measured there.
    """
    shown = panels_of(results, metric, panels)
    names = list(series) or results.series(metric)
    labels = [f"{p}, {s}" for p in shown for s in names] if merged else names
    styles = looks(labels)
    figure, all_axes = blank(["all"] if merged else shown)
    convert = SHOWN[show]
    handles: dict[str, Any] = {}
    for place, panel in enumerate(shown):
        axes = all_axes[0 if merged else place]
        for name in names:
            curve = results.curve(metric, name, panel).where(lambda at: from_x <= at <= upto_x)
            if not curve:
                continue
            label = f"{panel}, {name}" if merged else name
            style = dict(styles[label])
            ys = [convert(value) for value in curve.values]
            if theory or fit:
                style["linestyle"] = ""
            (line,) = axes.plot(curve.xs, ys, markersize=4, linewidth=1.4, **style)
            handles.setdefault(label, line)
            if theory:
                ideal = np.array([convert(THEORIES[theory](name, at)) for at in curve.xs], float)
                ideal[ideal <= 0] = np.nan  # a logarithmic axis has no place for it
                axes.plot(curve.xs, ideal, color=style["color"], linewidth=1.2, alpha=0.8)
            elif fit:
                slope, base = np.polyfit(np.log2(np.maximum(curve.xs, 1)), ys, 1)
                fitted = slope * np.log2(np.maximum(curve.xs, 1)) + base
                axes.plot(curve.xs, fitted, color=style["color"], linewidth=1.2, alpha=0.8)
            spread = results.spread(metric, name, panel)
            low, high = ([convert(spread[at][side]) for at in curve.xs] for side in (0, 1))
            axes.fill_between(curve.xs, low, high, color=style["color"], alpha=0.12, linewidth=0)
    for axes in all_axes:  # when all lines are there, for which it makes room
        scale(axes, x_scale, y_scale)
        axes.set_xlabel(x, fontsize=8, color=INK)
        axes.set_ylabel(y, fontsize=8, color=INK)
    if not handles:
        raise NothingToDrawError(f"{metric!r} was not measured.")
    absent(results, handles)
    if theory or fit:
        label = "as the paper computes it" if theory else "a straight line through the points"
        handles[label] = Line2D([], [], color=INK, linewidth=1.2, alpha=0.8)
    if len(handles) > 1 or not merged:
        legend(figure, list(handles.values()), list(handles))
    return figure


def ratio(
    results: Results,
    *,
    metric: str,
    above: str,
    below: str | Sequence[str],
    x: str,
    y: str,
    x_scale: str = "log2",
    panels: Sequence[str] = (),
    **_: Any,
) -> Any:
    """One series over another, or over several, round by round."""
    shown = panels_of(results, metric, panels)
    others = [below] if isinstance(below, str) else list(below)
    figure, all_axes = blank(shown)
    styles = looks(others)
    drawn: dict[str, Any] = {}
    for axes, panel in zip(all_axes, shown, strict=True):
        for other in others:
            curve = results.ratio(metric, above, other, panel)
            if curve:
                style = styles[other]
                (drawn[f"{above} / {other}"],) = axes.plot(
                    curve.xs, curve.values, markersize=4, linewidth=1.4, **style
                )
        axes.axhline(1, color=INK, linewidth=0.8, linestyle=":")
        scale(axes, x_scale, "linear")
        axes.set_xlabel(x, fontsize=8, color=INK)
        axes.set_ylabel(y, fontsize=8, color=INK)
    if not drawn:
        raise NothingToDrawError(f"{metric!r} of {above} was not measured.")
    legend(figure, list(drawn.values()), list(drawn))
    return figure

"""Bars that grow with x, the straight line that fits them, and what would grow in proportion."""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.figures.drawing.drawn import NothingToDrawError, blank, legend, told
from sash.figures.drawing.lines import SHOWN
from sash.figures.drawing.palette import FAINT, INK, looks
from sash.figures.results import Results


def proportion(
    results: Results,
    *,
    metric: str,
    series: str,
    x: str,
    y: str,
    show: str = "",
    crop: float = 1.7,
    **_: Any,
) -> Any:
    """One series; its first value times x is the line in proportion.

    crop: how many times the highest bar the axis goes up, as that line would go much further.
    """
    panel = next(iter(results.panels(metric)), "")
    curve = results.curve(metric, series, panel)
    if len(curve.at) < 2:
        raise NothingToDrawError(f"{metric!r} of {series} was not measured.")
    figure, (axes,) = blank([panel])
    xs, ys = np.array(curve.xs), np.array([SHOWN[show](value) for value in curve.values])
    spread = results.spread(metric, series, panel)
    ends = [[SHOWN[show](each) for each in spread[at]] for at in curve.xs]
    whiskers = np.abs(np.array([[min(e), max(e)] for e in ends]).T - ys)
    colour = looks([series])[series]["color"]
    drawn = axes.bar(
        xs,
        ys,
        0.6 * np.diff(xs).min() if len(xs) < 6 else 0.8,
        yerr=whiskers,
        color=colour,
        ecolor=INK,
        error_kw={"elinewidth": 0.7},
        edgecolor=FAINT,
        linewidth=0.5,
    )
    slope, base = np.polyfit(xs, ys, 1)
    along = np.linspace(0, xs[-1], 2)
    (fitted,) = axes.plot(along, slope * along + base, color=INK, linestyle="--", linewidth=1.2)
    (apart,) = axes.plot(along, ys[0] / xs[0] * along, color=INK, linestyle=":", linewidth=1.2)
    axes.set_axisbelow(True)
    axes.set_xticks(xs, [told(at) for at in xs])
    axes.set_ylim(0, crop * ys.max())
    axes.set_xlabel(x, fontsize=8, color=INK)
    axes.set_ylabel(y, fontsize=8, color=INK)
    fit = f"fit: {base:.3g} + {slope:.3g} k"
    legend(figure, [drawn, fitted, apart], [series, fit, f"k windows: {ys[0] / xs[0]:.3g} k"])
    return figure

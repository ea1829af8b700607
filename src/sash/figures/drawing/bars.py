"""Bars side by side: one group for each panel, one bar for each series."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import Any

from sash.figures.drawing.drawn import (
    NothingToDrawError,
    absent,
    blank,
    legend,
    panels_of,
    short,
    told,
    write_plainly,
)
from sash.figures.drawing.lines import SHOWN
from sash.figures.drawing.palette import FAINT, INK, looks
from sash.figures.results import Results


def bars(
    results: Results,
    *,
    metric: str,
    y: str,
    x: str = "",
    show: str = "",
    y_scale: str = "linear",
    panels: Sequence[str] = (),
    series: Sequence[str] = (),
    **_: Any,
) -> Any:
    """Each x of a panel is a group of bars; medians, with the span of all rounds as a whisker."""
    shown = panels_of(results, metric, panels)
    names = list(series) or results.series(metric)
    styles = looks(names)
    figure, all_axes = blank(shown)
    handles: dict[str, Any] = {}
    for axes, panel in zip(all_axes, shown, strict=True):
        places = sorted({at for name in names for at in results.curve(metric, name, panel).xs})
        present = [name for name in names if results.curve(metric, name, panel)]
        width = 0.8 / max(len(present), 1)
        for k, name in enumerate(present):
            curve = results.curve(metric, name, panel)
            spread = results.spread(metric, name, panel)
            ys = [SHOWN[show](value) for value in curve.values]
            ends = [[SHOWN[show](each) for each in spread[at]] for at in curve.xs]
            whiskers = [[y - min(e) for y, e in zip(ys, ends, strict=True)]]
            whiskers.append([max(e) - y for y, e in zip(ys, ends, strict=True)])
            at = [places.index(each) + (k - (len(present) - 1) / 2) * width for each in curve.xs]
            drawn = axes.bar(
                at,
                ys,
                width * 0.92,
                yerr=whiskers,
                color=styles[name]["color"],
                ecolor=INK,
                error_kw={"elinewidth": 0.7},
                hatch={"-": "", "--": "//", ":": "..", "-.": "xx"}[styles[name]["linestyle"]],
                edgecolor=FAINT,
                linewidth=0.5,
            )
            handles.setdefault(name, drawn)
            axes.bar_label(drawn, [short(each) for each in ys], fontsize=7, color=INK, padding=2)
        axes.set_xticks(range(len(places)), [told(each) for each in places])
        axes.set_axisbelow(True)
        axes.set_yscale(y_scale)
        if y_scale == "log":
            ground, top = _ground(axes), axes.get_ylim()[1]
            axes.set_ylim(ground, top * (top / ground) ** 0.06)  # room for what is written above
        else:
            axes.margins(y=0.12)
        write_plainly(axes.yaxis, y_scale)
        axes.set_xlabel(x, fontsize=8, color=INK)
        axes.set_ylabel(y, fontsize=8, color=INK)
    if not handles:
        raise NothingToDrawError(f"{metric!r} was not measured.")
    absent(results, handles)
    legend(figure, list(handles.values()), list(handles))
    return figure


def _ground(axes: Any) -> float:
    """Where bars stand that have no zero to stand on: a power of ten well below the shortest."""
    shortest = min(bar.get_height() for bar in axes.patches)
    return float(10.0 ** floor(log10(shortest / 1.5)))

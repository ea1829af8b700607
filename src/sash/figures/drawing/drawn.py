"""What a drawing comes to: a picture, or a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from sash.figures.drawing.palette import FAINT, INK
from sash.figures.results import Results


@dataclass(frozen=True)
class Table:
    """Cells as text; all but the first column are aligned right, unless they are words."""

    header: list[str]
    rows: list[list[str]]
    words: bool = False


Drawn = Figure | Table


class NothingToDrawError(Exception):
    """A figure or table would be empty."""


def told(number: float, digits: int = 3) -> str:
    """A number for people: so many digits, thousands apart."""
    if number != number or number in (float("inf"), float("-inf")):
        return "–"
    if 0 < abs(number) < 1e-4:
        return f"{number:.1e}"
    text = f"{number:,.{digits}g}"
    return f"{number:,.0f}" if "e" in text or abs(number) >= 1000 else text


def panels_of(results: Results, metric: str, panels: Sequence[str]) -> list[str]:
    """The panels to draw: those that are named, or all that have this metric."""
    found = list(panels) or results.panels(metric)
    if not found or not results.panels(metric):
        raise NothingToDrawError(f"{metric!r} was not measured.")
    return found


def blank(panels: Sequence[str], height: float = 3.1, width: float = 4.4) -> tuple[Any, list[Axes]]:
    """A figure with an axes for each panel, side by side; at most three in a row."""
    across = 2 if len(panels) == 4 else min(len(panels), 3)
    down = -(-len(panels) // across)
    wide = max(across * width, 6.4)
    figure = Figure(figsize=(wide, down * height + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    all_axes = [figure.add_subplot(down, across, 1 + k) for k in range(len(panels))]
    for axes, panel in zip(all_axes, panels, strict=True):
        axes.set_facecolor("none")
        axes.tick_params(which="both", colors=INK, labelsize=8)
        for side, spine in axes.spines.items():
            spine.set_color(INK)
            spine.set_visible(side in ("left", "bottom"))
        axes.grid(axis="y", color=FAINT, linewidth=0.8)
        if len(panels) > 1:
            axes.set_title(panel, loc="left", fontsize=9, color=INK)
    return figure, all_axes


def scale(axes: Axes, x: str, y: str) -> None:
    """`linear`, `log`, or `log2` with ticks as 1, 16, 256, 4K, …"""
    for kind, axis, setter in ((x, axes.xaxis, axes.set_xscale), (y, axes.yaxis, axes.set_yscale)):
        if kind == "log2":
            setter("log", base=2)
            axis.set_major_locator(LogLocator(base=2, numticks=9))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(FuncFormatter(lambda value, _: binary(value)))
        else:
            setter(kind)
            write_plainly(axis, kind)
    if y == "linear":
        axes.set_ylim(bottom=0)


def write_plainly(axis: Any, kind: str) -> None:
    """Ticks as 20,000 and 2 M; between the powers of ten where these alone would be few."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: plainly(value)))
    if kind == "linear" and axis.axis_name == "x":  # where long numbers stand side by side
        axis.set_major_locator(MaxNLocator(nbins=5))
    if kind == "log":
        low, high = axis.get_view_interval()
        few = high < 300 * low
        axis.set_minor_locator(LogLocator(subs=(2, 5)) if few else NullLocator())
        axis.set_minor_formatter(FuncFormatter(lambda value, _: plainly(value)))


def plainly(value: float) -> str:
    """20000 as 20,000, and 2000000 as 2 M."""
    for power, letter in ((9, "G"), (6, "M")):
        if abs(value) >= 10**power:
            return f"{value / 10**power:,g} {letter}"
    return f"{value:,.6g}"


def binary(value: float) -> str:
    """16384 as 16K."""
    for power, letter in ((30, "G"), (20, "M"), (10, "K")):
        if value >= 1 << power and value % (1 << power) == 0:
            return f"{value / (1 << power):g}{letter}"
    return f"{value:g}"


def short(value: float) -> str:
    """A number above a bar: two digits, or three."""
    return plainly(float(f"{value:.2g}" if value < 1e5 else f"{value:.3g}"))


def absent(results: Results, handles: dict[str, Any]) -> None:
    """Rivals that were not installed have a place in the legend, and no line."""
    for name in results.missing:
        handles[f"{name} (not installed)"] = Line2D([], [], linestyle="")


LETTER, HANDLE = 0.062, 0.55
"""How wide a letter of a legend is, and what stands before a label, in inches."""


def legend(figure: Figure, handles: list[Any], labels: list[str]) -> None:
    """Below all panels, in as many columns as there is room for."""
    column = LETTER * max(map(len, labels), default=0) + HANDLE
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=max(1, min(len(labels), 7, int(figure.get_figwidth() / column))),
        frameon=False,
        fontsize=8,
        labelcolor=INK,
    )

"""The picture of the demo: readings of a few plugs, the windows' answers, and what was refused."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Final, Literal

import matplotlib.dates
import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from sash.demo.colours import FAINT, INK, LATE, MAX, MEAN, READINGS, REFUSED, WINDOW
from sash.demo.page import Table, page

__all__ = ["PlugSeries", "Table", "draw", "page", "save"]

Array = npt.NDArray[Any]
Moment = Any
"""A datetime64, which Matplotlib takes but does not mention in its types."""

HOUR: Final = np.timedelta64(1, "h")

BINS: Final = 1_400
"""Of the time axis, about one for each pixel: more readings than two in each would not be seen."""


@dataclass(frozen=True)
class PlugSeries:
    """What is shown of one plug. Times are datetime64, or seconds since 1970, both in UTC."""

    times: Array
    loads: Array
    """Readings, in W."""
    window_ends: Array
    max_loads: Array
    peak_times: Array
    """The answers for the windows before these ends: the greatest load, and when it was read."""
    recent_times: Array
    recent_mean: Array
    """The mean of the last rows, as of these times."""
    late_times: Array
    """The times of rows that came late."""
    label: str


def draw(
    plugs: list[PlugSeries],
    quarantined: dict[str, int],
    title: str,
    *,
    window: np.timedelta64 = HOUR,
    max_label: str = "max of the last hour, every minute",
    mean_label: str = "mean of the last 1,000 rows",
) -> Figure:
    """One panel for each plug over the same time, and below them the quarantined rows by reason."""
    if not plugs:
        raise ValueError("plugs is empty: the picture shows at least one")
    strip = 0.35 + 0.17 * max(len(quarantined), 1)
    heights = [0.4, *[2.1] * len(plugs), strip]
    figure = Figure(figsize=(11, sum(heights) + 1.4), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, x=0.008, ha="left", color=INK, fontsize=14, fontweight="bold")
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    end = _telling_end(plugs, window)
    _legend(figure.add_subplot(grid[0]), max_label, mean_label, end, window)
    panels: list[Axes] = []
    for number, plug in enumerate(plugs, 1):
        panel = figure.add_subplot(grid[number], sharex=panels[0] if panels else None)
        panel.tick_params(labelbottom=number == len(plugs))
        _panel(panel, plug, end, window)
        panels.append(panel)
    _time_axis(panels[-1], np.concatenate([_moments(plug.times) for plug in plugs]))
    _strip(figure.add_subplot(grid[len(heights) - 1]), quarantined)
    return figure


def save(figure: Figure, png_path: str | os.PathLike[str]) -> None:
    figure.savefig(os.fspath(png_path), dpi=140, facecolor="white", format="png")


def _panel(panel: Axes, plug: PlugSeries, end: Moment | None, window: np.timedelta64) -> None:
    _plain(panel)
    panel.set_title(plug.label, loc="left", fontsize=10, color=INK)
    panel.set_ylabel("load, W", color=INK)
    panel.yaxis.set_major_locator(MaxNLocator(4))
    panel.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    panel.grid(axis="y", color=FAINT, linewidth=0.8)

    times, loads = _in_order(plug.times, plug.loads)
    panel.plot(*_with_gaps(*_thinned(times, loads), _pause(times)), color=READINGS, linewidth=0.7)
    ends, largest = _in_order(plug.window_ends, plug.max_loads)
    panel.plot(
        *_with_gaps(ends, largest, 1.5 * _usual(ends)),
        color=MAX,
        linewidth=1.6,
        drawstyle="steps-post",
    )
    recent, mean = _in_order(plug.recent_times, plug.recent_mean)
    panel.plot(*_with_gaps(*_thinned(recent, mean), _pause(recent)), color=MEAN, linewidth=1.6)
    late = _moments(plug.late_times)
    panel.plot(
        late,
        np.full(len(late), 0.032),
        transform=panel.get_xaxis_transform(),
        linestyle="",
        marker="|",
        markersize=5,
        markeredgewidth=0.9,
        color=LATE,
    )
    highest = np.nanmax(np.concatenate([loads, largest, [1.0]]))
    panel.set_ylim(-0.1 * highest, 1.25 * highest)  # below 0 there is room for the late rows
    if end is not None:
        _one_window(panel, plug, end, window)


def _one_window(panel: Axes, plug: PlugSeries, end: Moment, window: np.timedelta64) -> None:
    """The window before `end`, where its maximum was read, and that this is the answer at `end`."""
    panel.axvspan(end - window, end, color=WINDOW, alpha=0.4, linewidth=0)
    answers = np.flatnonzero(_moments(plug.window_ends) == end)
    if not len(answers):
        return
    load = float(plug.max_loads[answers[0]])
    peak = _moments(plug.peak_times)[answers[0]]
    panel.plot([peak, end], [load, load], color=INK, linewidth=1, linestyle=":")
    panel.plot([peak], [load], "o", markersize=6, color=MAX, markeredgecolor=INK)
    panel.plot([end], [load], ">", markersize=5, color=INK)
    panel.annotate(
        f"{load:,.1f} W at {_clock(peak, 's')}",
        (peak, load),
        xytext=(0, 6),
        textcoords="offset points",
        ha="center",
        fontsize=9,
        color=INK,
    )


def _strip(strip: Axes, quarantined: dict[str, int]) -> None:
    _plain(strip)
    strip.set_title(
        f"rows in quarantine: {sum(quarantined.values()):,}", loc="left", fontsize=10, color=INK
    )
    strip.set_xticks([])
    strip.spines["bottom"].set_visible(False)
    reasons = sorted(quarantined, key=lambda reason: quarantined[reason])
    counts = [quarantined[reason] for reason in reasons]
    bars = strip.barh(reasons, counts, color=REFUSED, height=0.66)
    strip.bar_label(bars, [f"{count:,}" for count in counts], padding=4, fontsize=9, color=INK)
    strip.set_xlim(0, 1.08 * max(counts, default=1) or 1)
    strip.tick_params(axis="y", length=0, labelsize=9)
    if not reasons:
        strip.set_yticks([])


def _legend(
    place: Axes,
    max_label: str,
    mean_label: str,
    end: Moment | None,
    window: np.timedelta64,
) -> None:
    shown: list[Artist] = [
        Line2D([], [], color=READINGS, linewidth=1.2, label="load readings"),
        Line2D([], [], color=MAX, linewidth=2, label=max_label),
        Line2D([], [], color=MEAN, linewidth=2, label=mean_label),
        Line2D([], [], color=LATE, marker="|", linestyle="", label="late rows"),
    ]
    if end is not None:
        label = f"one window, [{_clock(end - window)}, {_clock(end)}), and its max"
        shown.append(Patch(facecolor=WINDOW, alpha=0.5, label=label))
    place.set_axis_off()
    place.legend(
        handles=shown,
        loc="center left",
        bbox_to_anchor=(-0.01, 0.5),
        ncols=3,
        frameon=False,
        fontsize=9,
        labelcolor=INK,
        handlelength=1.5,
        columnspacing=1.3,
    )


def _time_axis(panel: Axes, times: Array) -> None:
    """Of the lowest panel; those above share it."""
    if len(times):
        panel.set_xlim(times.min(), max(times.max(), times.min() + np.timedelta64(1, "s")))
    dates: Any = matplotlib.dates  # which has no types
    locator = dates.AutoDateLocator(minticks=4, maxticks=12)
    panel.xaxis.set_major_locator(locator)
    panel.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    panel.xaxis.get_offset_text().set(color=INK, fontsize=9)
    panel.set_xlabel("time of reading, UTC", color=INK, fontsize=9)


def _plain(axes: Axes) -> None:
    axes.set_facecolor("none")
    axes.tick_params(colors=INK, labelsize=9)
    for side, spine in axes.spines.items():
        spine.set_color(INK)
        spine.set_visible(side in ("left", "bottom"))


def _telling_end(plugs: list[PlugSeries], window: np.timedelta64) -> Moment | None:
    """The end of the window to show: whole, with high maxima that were read well inside of it."""
    times = np.concatenate([_moments(plug.times) for plug in plugs])
    scores: dict[Moment, float] = {}
    for plug in plugs:
        ends, peaks = _moments(plug.window_ends), _moments(plug.peak_times)
        highest = np.nanmax(plug.max_loads, initial=1e-9)
        merits = plug.max_loads / highest - np.abs((ends - peaks) / window - 0.5)
        for end, merit in zip(ends, merits, strict=True):
            whole = times.min() <= end - window and end + window / 2 <= times.max()
            scores[end] = scores.get(end, 0.0) + float(merit) + (10 if whole else 0)
    return max(scores, key=lambda end: scores[end], default=None)


def _clock(moment: Moment, unit: Literal["m", "s"] = "m") -> str:
    return str(np.datetime64(moment, unit)).partition("T")[2]


def _moments(times: Array) -> Array:
    """As datetime64 of milliseconds."""
    if not np.issubdtype(times.dtype, np.datetime64):
        times = (np.asarray(times, np.float64) * 1_000).round().astype("int64")
    return times.astype("datetime64[ms]")


def _in_order(times: Array, values: Array) -> tuple[Array, Array]:
    moments = _moments(times)
    order = np.argsort(moments, kind="stable")
    return moments[order], np.asarray(values, np.float64)[order]


def _thinned(times: Array, values: Array) -> tuple[Array, Array]:
    """The least and the greatest value of each bin of time: what a line through all would show."""
    if len(times) <= 2 * BINS:
        return times, values
    since = (times - times[0]).astype(np.int64)
    bins = since * BINS // (since[-1] + 1)
    order = np.lexsort((values, bins))
    edges = np.flatnonzero(np.diff(bins[order]))
    kept = np.unique(order[np.concatenate([[0], edges, edges + 1, [len(order) - 1]])])
    return times[kept], values[kept]


def _usual(times: Array) -> np.timedelta64:
    steps = np.diff(times)
    return np.median(steps) if len(steps) else np.timedelta64(1, "ms")


def _pause(times: Array) -> np.timedelta64:
    """Longer than this without a row is a gap. Rows come in bursts, so the mean step counts."""
    steps = np.diff(times)
    return max(15 * steps.mean() if len(steps) else HOUR, np.timedelta64(90, "s"))


def _with_gaps(times: Array, values: Array, pause: np.timedelta64) -> tuple[Array, Array]:
    """No line crosses a gap: a NaN follows the last value before it."""
    gaps = np.flatnonzero(np.diff(times) > pause) + 1
    return np.insert(times, gaps, times[gaps - 1]), np.insert(values, gaps, np.nan)

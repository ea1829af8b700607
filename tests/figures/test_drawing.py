"""What is drawn shows what was measured, each algorithm in its own colour; nothing is empty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

import sash
from sash.figures.cases import Row
from sash.figures.drawing.bars import bars
from sash.figures.drawing.drawn import NothingToDrawError, Table, binary, told
from sash.figures.drawing.lines import lines, ratio
from sash.figures.drawing.palette import LOOKS, looks
from sash.figures.drawing.tables import break_even, matrix, ratios, summary
from sash.figures.drawing.traces import trace
from sash.figures.results import Results

RESULTS = Results(
    [
        Row(panel, series, n, "ns", turn, base * n**power + turn)
        for panel in ("Max", "Sum")
        for series, base, power in (("recalc", 1.0, 1.0), ("daba", 8.0, 0.0))
        for n in (1, 4, 16, 64)
        for turn in range(3)
    ],
    {},
)
AXES = {"metric": "ns", "x": "window", "y": "ns"}


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (lines, {}),
        (lines, {"merged": True, "fit": "log", "y_scale": "log"}),
        (lines, {"show": "million/s", "from_x": 4, "panels": ["Sum"]}),
        (ratio, {"above": "recalc", "below": "daba"}),
        (trace, {}),
        (bars, {}),
    ],
)
def test_a_line_for_each_series(kind: Any, options: Any) -> None:
    figure = kind(RESULTS, **AXES, **options)
    panels = 1 if options.get("merged") else len(options.get("panels", ["Max", "Sum"]))
    assert len(figure.axes) == panels
    for axes in figure.axes:
        assert axes.get_xlabel() == "window" and axes.get_ylabel() == "ns"
        assert axes.lines or axes.containers
    (legend,) = figure.legends
    assert legend.get_texts()
    figure.canvas.draw()


@pytest.mark.parametrize(("kind", "more"), [(lines, {}), (trace, {}), (bars, {})])
def test_nothing_is_no_figure(kind: Any, more: Any) -> None:
    with pytest.raises(NothingToDrawError, match="'MB' was not measured"):
        kind(RESULTS, **{**AXES, "metric": "MB"}, **more)


def test_a_formula_has_no_place_on_a_logarithmic_axis_where_it_is_zero() -> None:
    """Computing a window of one value anew takes no ⊕: the line begins at the next window."""
    options = {"series": ["recalc"], "panels": ["Max"], "theory": "one query", "y_scale": "log"}
    figure = lines(RESULTS, **AXES, **options)
    _, formula = figure.axes[0].lines
    assert np.isnan(formula.get_ydata()).tolist() == [True, False, False, False]
    assert formula.get_ydata()[1:].tolist() == [3, 15, 63]
    figure.canvas.draw()


def test_values_are_those_measured() -> None:
    figure = lines(RESULTS, **AXES, panels=["Max"], series=["recalc"], show="µs")
    (line,) = figure.axes[0].lines
    assert line.get_xdata().tolist() == [1, 4, 16, 64]
    assert line.get_ydata().tolist() == pytest.approx([0.002, 0.005, 0.017, 0.065])


def test_the_same_algorithm_has_the_same_colour() -> None:
    figure = lines(RESULTS, **AXES, panels=["Max"])
    colours = {to_hex(line.get_color()) for line in figure.axes[0].lines}
    assert colours == {LOOKS["recalc"][0], LOOKS["daba"][0]}
    found = looks(["amta", "amta, RocksDB", "amta, Redis", "m = 4"])
    assert {found[name]["color"] for name in found if "amta" in name} == {LOOKS["amta"][0]}
    assert len({found[name]["linestyle"] for name in found if "amta" in name}) == 3
    algorithms = [card.name for card in sash.algorithms() if not card.composed]
    assert len({LOOKS[name] for name in algorithms}) == len(algorithms)


def test_break_even() -> None:
    columns = [{"title": "DABA", "series": "daba"}, {"title": "4x", "series": "daba", "times": 4}]
    theirs = {"Max": {"DABA": 64}}
    found = break_even(RESULTS, metric="ns", base="recalc", columns=columns, theirs=theirs)
    assert found.header == ["", "DABA", "4x"]
    name, cell, more = found.rows[0]
    assert name == "Max" and cell == "≈ 7.8 [64]" and more.startswith("≈ 3")


def test_matrix_and_ratios_and_summary() -> None:
    found = matrix(RESULTS, metric="ns", panels=["Max"], second="ns", corner="function")
    assert found.rows[0][2].startswith("9 (σ 9), ")
    table = ratios(RESULTS, metric="ns", above="recalc", below="daba")
    assert table.header == ["", "n = 1", "n = 4", "n = 16", "n = 64"]
    assert table.rows[0][0] == "Max"
    rows = summary(RESULTS, metrics=["ns"], theirs={"daba, Max": {"ns": "7"}}).rows
    assert ["daba, Max", "9 [7]"] in rows
    for make, more in ((matrix, {}), (ratios, {"above": "a", "below": "b"})):
        with pytest.raises(NothingToDrawError):
            make(RESULTS, metric="MB", **more)


@pytest.mark.parametrize(
    ("number", "said"),
    [(0.012345, "0.0123"), (12.345, "12.3"), (1234.5, "1,234"), (2e9, "2,000,000,000")],
)
def test_numbers_for_people(number: float, said: str) -> None:
    assert told(number) == said


def test_sizes_for_people() -> None:
    assert [binary(n) for n in (1, 1000, 1024, 1 << 20, 3 << 10)] == ["1", "1000", "1K", "1M", "3K"]
    assert isinstance(Table([], []), Table)

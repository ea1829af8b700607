"""Rivals answer alike before they are timed; one that is not installed is named, and left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sash.figures.cases import DisagreementError, Row, measured
from sash.figures.drawing.bars import bars
from sash.figures.drawing.lines import lines
from sash.figures.drawing.tables import matrix, ratios
from sash.figures.measures import installed, rivals_on_arrays
from sash.figures.measures.drift import drift, errors
from sash.figures.measures.rivals_by_time import by_time
from sash.figures.measures.rivals_on_arrays import LIBRARIES, on_arrays
from sash.figures.measures.rivals_on_events import on_events
from sash.figures.results import Results

ARRAYS = {"operators": ["Max", "StdDev"], "sizes": [20], "rows": 500}


def rows_of(groups: list[Any]) -> list[Row]:
    return [row for group in groups for row in measured(group, [0])]


def test_all_libraries_are_timed_at_every_size() -> None:
    results = Results(rows_of(on_arrays(**ARRAYS, fewer={"duckdb": 10})), {})
    assert results.series("ns a row", "StdDev") == list(LIBRARIES)
    assert results.series("ns a row", "Max") == [name for name in LIBRARIES if name != "numbagg"]
    assert results.missing == []


def test_windows_of_an_hour_are_the_same_rows_everywhere() -> None:
    results = Results(rows_of(by_time(operators=["Mean"], sizes=[10], rows=300)), {})
    assert results.series("ns a row") == ["sash", "pandas", "polars", "duckdb"]


def test_events_are_the_same_for_everyone() -> None:
    given = {"operators": ["Max", "Var", "Mean over 1h"], "sizes": [5], "events": 60, "work": 300}
    results = Results(rows_of(on_events(**given)), {})
    assert results.series("ns an event", "Max") == ["sash", "sash, aggregator", "river", "python"]
    assert results.series("ns an event", "Mean over 1h") == ["sash", "river"]


def test_one_that_answers_otherwise_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = lambda what, values, size: lambda: np.cumsum(values)  # noqa: E731
    monkeypatch.setitem(rivals_on_arrays.LIBRARIES, "pandas", wrong)
    with pytest.raises(DisagreementError, match="pandas answers otherwise than sash"):
        rows_of(on_arrays(**ARRAYS))


def test_adding_and_subtracting_leaves_a_trace() -> None:
    found = errors("StdDev", size=100, rows=2_000, huge=1e9)
    assert found["sash"] < 1e-13 < 1e-3 < found["bottleneck"]


@pytest.fixture
def without_bottleneck(monkeypatch: pytest.MonkeyPatch) -> None:
    there = installed.find_spec

    def found(name: str) -> Any:
        return None if name == "bottleneck" else there(name)

    monkeypatch.setattr(installed, "find_spec", found)


@pytest.mark.usefixtures("without_bottleneck")
def test_one_that_is_not_installed_is_shown_as_missing() -> None:
    results = Results(rows_of(on_arrays(**ARRAYS)), {})
    assert results.missing == ["bottleneck"]
    assert "bottleneck" not in results.series("ns a row")
    axes = {"metric": "ns a row", "x": "rows", "y": "ns a row"}
    for figure in (lines(results, **axes), bars(results, **axes)):
        (legend,) = figure.legends
        assert legend.get_texts()[-1].get_text() == "bottleneck (not installed)"
    table = ratios(results, metric="ns a row", above=["pandas", "bottleneck"], below="sash")
    assert [row[0] for row in table.rows] == [
        *("Max, pandas", "StdDev, pandas", "bottleneck (not installed)")
    ]


@pytest.mark.usefixtures("without_bottleneck")
def test_its_column_says_so_too() -> None:
    groups = drift(operators=["Mean"], size=10, rows=200, huge=1e6)
    table = matrix(Results(rows_of(groups), {}), metric="worst relative error")
    assert table.header[-1] == "bottleneck" and table.rows[0][-1] == "not installed"

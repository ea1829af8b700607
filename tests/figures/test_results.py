"""Results as files: what is written is read again; medians and ratios are those of rounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from sash.figures import results
from sash.figures.cases import Row
from sash.figures.results import Curve, Results

ROWS = [
    Row("Max", "daba", 8, "ns", 0, 4.0),
    Row("Max", "aba", 8, "ns", 0, 2.0),
    Row("Max", "aba", 8, "ns", 1, 30.0),
    Row("Max", "daba", 8, "ns", 1, 60.0),
    Row("Max", "daba", 8, "ns", 2, 5.0),
    Row("Max", "aba", 8, "ns", 2, 2.0),
    Row("Max", "aba", 1, "ns", 0, 7.0),
    Row("Sum, of all", "aba", 1, "⊕", 0, 0.125),
]


def test_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "some" / "one.csv"
    results.write(path, ROWS, {"processor": "a\nb", "scale": "quick"})
    found = results.read(path)
    assert found.facts == {"processor": "a b", "scale": "quick"}
    assert found.scale == "quick"
    assert found.rounds == Results(ROWS, {}).rounds
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("panel,series,x,metric,round,value\nMax,aba,8,ns,0\n", 2),
        ("panel,series,x,metric,round,value\nMax,aba,8,ns,0,fast\n", 2),
        ("# scale: quick\nseries,x\n", 2),
        ("", 1),
    ],
)
def test_what_is_no_file_of_results(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "one.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"one.csv: line {line} "):
        results.read(path)


def test_medians_and_spread() -> None:
    found = Results(ROWS, {})
    assert found.panels() == ["Max", "Sum, of all"]
    assert found.series("ns") == ["daba", "aba"]
    assert found.curve("ns", "aba", "Max") == Curve({1: 7.0, 8: 2.0})
    assert found.spread("ns", "aba", "Max") == {1: (7.0, 7.0), 8: (2.0, 30.0)}
    assert not found.curve("ns", "pba", "Max")
    assert found.value("ns", "daba", "Max", 8) == 5.0


def test_ratios_are_of_the_same_round() -> None:
    """Round 1 was slow for both: 4/2, 60/30, 5/2, and not 5/2 of the medians' kind."""
    found = Results(ROWS, {})
    assert found.ratio("ns", "daba", "aba", "Max") == Curve({8: 2.0})
    assert not found.ratio("ns", "daba", "pba", "Max")


def test_curves() -> None:
    curve = Curve({1: 4.0, 2: 2.0, 4: 3.0})
    assert (curve.greatest, curve.least, curve.mean, curve.last) == (4.0, 2.0, 3.0, 3.0)
    assert curve.where(lambda x: x > 1) == Curve({2: 2.0, 4: 3.0})


def test_the_shortest_rounds_of_times() -> None:
    rows = [
        Row("Max", "aba", 8, "ns a slide", 0, 2.0),
        Row("Max", "aba", 8, "ns a slide", 1, 1.5),
        Row("Max", "aba", 8, "ns a slide", 2, 9.0),
        Row("Max", "daba", 8, "ns a slide", 0, 3.0),
        Row("Max", "daba", 8, "ns a slide", 1, 7.5),
        Row("Max", "aba", 8, "rows/s", 0, 5.0),
        Row("Max", "aba", 8, "rows/s", 1, 7.0),
        Row("Max", "aba", 8, "max", 0, 60.0),
        Row("Max", "aba", 8, "max", 1, 40.0),
        Row("Max", "aba", 8, "partials held", 0, 11.0),
        Row("Max", "aba", 8, "partials held", 1, 13.0),
    ]
    found = Results(rows, {"scale": "quick"}).shortest()
    assert found.value("ns a slide", "aba", "Max", 8) == 1.5
    assert found.ratio("ns a slide", "daba", "aba", "Max") == Curve({8: 2.0})
    assert found.value("rows/s", "aba", "Max", 8) == 7.0  # the more, the shorter
    assert found.value("max", "aba", "Max", 8) == 40.0  # a latency
    assert found.value("partials held", "aba", "Max", 8) == 12.0  # not a time
    assert found.scale == "quick"


def test_each_round_by_itself() -> None:
    rows = [Row("Max", "aba", x, "ns a slide", turn, x + turn) for x in (8, 16) for turn in (2, 0)]
    found = Results([*rows, Row("Max", "aba", 8, "partials held", 0, 11.0)], {"scale": "full"})
    first, second = found.apart()
    assert first.curve("ns a slide", "aba", "Max") == Curve({8: 8.0, 16: 16.0})
    assert second.curve("ns a slide", "aba", "Max") == Curve({8: 10.0, 16: 18.0})
    assert first.value("partials held", "aba", "Max", 8) == 11.0
    assert not second.curve("partials held", "aba", "Max")
    assert second.scale == "full"


def test_the_last_cache() -> None:
    assert Results([], {"caches": "L1 32K, L2 1024K, L3 32768K"}).last_cache == "32 MB"
    assert Results([], {"caches": "?"}).last_cache == "an unknown number of bytes"

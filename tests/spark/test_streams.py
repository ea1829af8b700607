"""The same question asked of a stream: the same answers as of a batch, as far as they are final."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from spark.engines import END, Asked, Found, locally, on_stream, same
from spark.some_rows import AGGS, NUMBERS, some_rows
from spark.test_same_everywhere import WINDOWS

from sash.windows import cutting
from sash.windows.shapes import Shape

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def few_shards(settings: Callable[..., None]) -> None:
    settings(**{"spark.sql.shuffle.partitions": 2})


def final(expected: Found, found: Found, asked: Asked) -> tuple[Found, Found]:
    """What is comparable: a batch ends windows at its last row, and a stream goes on."""
    shape = Shape(asked.definition)
    if shape.size == cutting.MARKED:  # what no mark has ended is not over
        told = {(*(row[name] for name in asked.by), row[END]) for row in found}
        expected = [row for row in expected if (*(row[n] for n in asked.by), row[END]) in told]
    if shape.trigger == cutting.AT_ENDS and shape.size != cutting.TIME:
        last: dict[Any, Any] = {}
        for row in expected:
            key = tuple(row[name] for name in asked.by)
            last[key] = max(last.get(key, row[END]), row[END])
        found = [row for row in found if row[END] <= last[tuple(row[n] for n in asked.by)]]
    return expected, found


def check_stream(spark: SparkSession, asked: Asked, folder: Path, **options: Any) -> None:
    rows = some_rows(70)
    found = on_stream(spark, rows, asked, folder, **options)
    expected, found = final(locally(rows, asked), found, asked)
    assert expected and found
    same(found, expected, f"{asked.definition!r} by {asked.by}, {options}", exact=asked.chosen)


SOME = (
    "rows",
    "rows, closed left",
    "each third row",
    "rows at marks",
    "rows on a grid",
    "time",
    "time, closed neither",
    "a grid",
    "delta",
    "up to a mark",
    "session",
    "policy",
)


@pytest.mark.parametrize("kind", SOME[::3])
def test_windows(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    aggs = AGGS if kind in ("rows", "session") else NUMBERS
    check_stream(spark, Asked(WINDOWS[kind], aggs, by=("k",)), tmp_path, lateness="12i")


@pytest.mark.full
@pytest.mark.parametrize("kind", WINDOWS)
def test_windows_all_ways(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    for k, aggs in enumerate((AGGS, NUMBERS)):
        for by in (("k",), ()):
            asked = Asked(WINDOWS[kind], aggs, by=by)
            check_stream(spark, asked, tmp_path / f"{k}{len(by)}", lateness="12i")


@pytest.mark.parametrize("kind", ["rows", "time"])
def test_in_order(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    """Without lateness answers come at once."""
    asked = Asked(WINDOWS[kind], NUMBERS, by=("k",), order_by=("t", "id"))
    check_stream(spark, asked, tmp_path)

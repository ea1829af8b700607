"""One question, the same answers: from arrays, and from Spark in all the ways it runs.

Rows have ties, nulls, NaN and gaps, and come in batches of a few rows, so that windows reach over
batches, and parts over parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from cases import Affine
from spark.engines import SPLITS, Asked, check

import sash

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def some_rows(count: int = 90, seed: int = 3) -> pa.Table:
    """By t: an integer, of which several rows have the same."""
    draw = np.random.default_rng(seed)
    t = np.cumsum(draw.choice([0, 0, 1, 1, 2, 3, 9], count)) - 60
    x = draw.integers(-5, 9, count)
    f = draw.choice([-2.5, -0.0, 0.0, 0.25, 1e3, np.nan, 7.0], count)
    return pa.table(
        {
            "k": pa.array(draw.choice(["a", "a", "a", "b", "c", ""], count)),
            "t": pa.array(t),
            "x": pa.array(x, mask=draw.random(count) < 0.1),
            "f": pa.array(f),
            "g": pa.array(draw.normal(size=count)),
            "y": pa.array(draw.choice(["p", "q", "", "ß"], count), mask=draw.random(count) < 0.1),
            "d": pa.array(t + t // 7),
            "e": pa.array((t + t // 7) / 4),
            "mark": pa.array(draw.random(count) < 0.2, mask=draw.random(count) < 0.1),
            "id": pa.array(np.arange(count)),
        }
    )


AGGS = {
    "n": sash.Count(),
    "seen": sash.Count("x"),
    "total": sash.Sum("g"),
    "hi": sash.Max("f"),
    "who": sash.ArgMax("x", "y"),
    "said": sash.Concat("y"),
    "all": sash.Collect("x"),
    "fn": Affine("id"),
}

WINDOWS: dict[str, Any] = {
    "rows": 5,
    "one row": 1,
    "more rows than there are": 1000,
    "rows, closed left": sash.last(4, closed="left"),
    "rows, closed both": sash.last(4, closed="both"),
    "rows, closed neither": sash.last(4, closed="neither"),
    "each third row": sash.last(5, every=3),
    "each third row, open": sash.last(5, every=3, closed="neither"),
    "rows at marks": sash.last(5, every=sash.punctuated("mark")),
    "rows on a grid": sash.last(5, every="7i"),
    "rows on a grid with an offset": sash.last(5, every="4i", offset="3i"),
    "time": "6i",
    "time, closed left": sash.last("6i", closed="left"),
    "time, closed both": sash.last("6i", closed="both"),
    "time, closed neither": sash.last("6i", closed="neither"),
    "more time than there is": "100000i",
    "time at each second row": sash.last("6i", every=2),
    "time at marks": sash.last("6i", every=sash.punctuated("mark")),
    "time at marks, open": sash.last("6i", every=sash.punctuated("mark"), closed="left"),
    "a grid": sash.last("9i", every="4i"),
    "a grid with an offset": sash.last("8i", every="4i", offset="3i"),
    "a grid with gaps": sash.last("3i", every="10i"),
    "tumbling": sash.tumbling("7i"),
    "delta": sash.delta("d", 5),
    "delta of floats": sash.delta("e", 1.25),
    "delta at each second row": sash.delta("d", 5, every=2),
    "delta at marks": sash.delta("d", 5, every=sash.punctuated("mark")),
    "delta on a grid": sash.delta("d", 5, every="4i"),
    "from mark to mark": sash.punctuated("mark"),
    "up to a mark": sash.punctuated("mark", marks="end"),
    "session": sash.session("2i"),
    "policy": sash.slide_while("total.n - old.n >= 4"),
    "policy at each second row": sash.slide_while("total.seen - old.seen >= 3", every=2),
    "policy at marks": sash.slide_while("total.n - old.n >= 4", every=sash.punctuated("mark")),
    "policy on a grid": sash.slide_while("total.n - old.n >= 4", every="5i"),
    "policy of a function": sash.slide_while(lambda total, old: total.n - old.n >= 4),
}
"""All kinds of windows, and when they answer."""


@pytest.fixture(autouse=True)
def small_batches(settings: Callable[..., None]) -> None:
    settings(
        **{"spark.sql.execution.arrow.maxRecordsPerBatch": 7, "spark.sql.shuffle.partitions": 3}
    )


@pytest.mark.parametrize("kind", WINDOWS)
def test_windows(spark: SparkSession, kind: str) -> None:
    check(spark, some_rows(), Asked(WINDOWS[kind], AGGS, by=("k",)), series=SPLITS)

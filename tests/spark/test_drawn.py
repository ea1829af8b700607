"""Rows, windows and cuts as Hypothesis draws them: arrays and Spark answer the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from cases import Affine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spark.engines import Asked, check

import sash

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AGGS = {
    "n": sash.Count(),
    "seen": sash.Count("x"),
    "sum": sash.Sum("x"),
    "first": sash.First("x"),
    "last": sash.Last("f"),
    "hi": sash.Max("f"),
    "fn": Affine("id"),
}
"""Kept in arrays, so that rows may come as totals; `first`, `last` and `fn` show a wrong order."""

COLUMNS = {
    "k": (st.sampled_from(["a", "b", None]), pa.string()),
    "t": (st.integers(-12, 12), pa.int64()),
    "x": (st.none() | st.integers(-9, 9), pa.int64()),
    "f": (st.sampled_from([None, -1.5, -0.0, 0.0, 2.0, float("nan")]), pa.float64()),
    "mark": (st.none() | st.booleans(), pa.bool_()),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Up to thirty rows; `d` goes up with `t`."""
    count = draw(st.integers(0, 30))
    columns = {
        name: pa.array(draw(st.lists(values, min_size=count, max_size=count)), kind)
        for name, (values, kind) in COLUMNS.items()
    }
    columns["d"] = pa.array([t * 2 + t // 3 for t in columns["t"].to_pylist()], pa.int64())
    columns["id"] = pa.array(range(count), pa.int64())
    return pa.table(columns)


MARKS = st.just(sash.punctuated("mark"))
CLOSED = st.sampled_from(["right", "left", "both", "neither"])
LENGTHS = st.integers(1, 30).map("{}i".format)
STEPS = st.integers(1, 5) | MARKS
WINDOWS = st.one_of(
    st.builds(sash.last, st.integers(1, 40), every=STEPS, closed=CLOSED),
    st.builds(sash.last, LENGTHS, every=STEPS, closed=CLOSED),
    st.builds(sash.last, st.integers(1, 9) | LENGTHS, every=LENGTHS),
    st.builds(sash.delta, st.just("d"), st.integers(1, 20), every=STEPS | LENGTHS),
    st.builds(sash.session, LENGTHS),
    st.builds(sash.punctuated, st.just("mark"), marks=st.sampled_from(["start", "end"])),
)


@pytest.fixture
def small_batches(settings: Callable[..., None]) -> None:
    settings(**{"spark.sql.execution.arrow.maxRecordsPerBatch": 4})


@pytest.mark.usefixtures("small_batches")
@settings(
    max_examples=max(settings().max_examples // 6, 1),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rows=tables(), window=WINDOWS, split=st.integers(1, 6), keyed=st.booleans())
def test_drawn(spark: SparkSession, rows: pa.Table, window: Any, split: int, keyed: bool) -> None:
    asked = Asked(window, AGGS, by=("k",) if keyed else ())
    check(
        spark,
        rows,
        asked,
        keyed=(split,) if keyed else (),
        series=() if keyed else (split,),
        one_by_one=True,
    )

"""The answers of pandas, polars and DuckDB, on rows with nulls, NaN, ties and gaps in time."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sash

ROWS = 400
LENGTHS = [1, 2, 7, 64, 500]


def random_rows(nan: bool) -> pa.Table:
    chance = np.random.default_rng(7)
    values = chance.integers(-20, 20, ROWS) / 4
    values[chance.random(ROWS) < 0.02] = np.nan if nan else 0.0
    missing = chance.random(ROWS) < 0.15
    missing[100:110] = True
    gaps = chance.choice([0, 0, 1, 2, 30], ROWS, p=[0.2, 0.1, 0.4, 0.25, 0.05])
    times = np.cumsum(gaps).astype("datetime64[s]")
    x = pa.array(values, mask=missing)
    more = {"y": pa.array(np.abs(values) + 1, mask=missing), "s": x.cast(pa.string())}
    return pa.table({"i": np.arange(ROWS), "x": x, "t": times, **more})


def agree(found: Any, expected: Any) -> None:
    """Null and NaN told apart only where the other library does."""
    one = np.array([np.nan if v is None else float(v) for v in found])
    other = np.array([np.nan if v is None else float(v) for v in expected])
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


PANDAS = {
    "sum": sash.Sum(),
    "mean": sash.Mean(),
    "min": sash.Min(),
    "max": sash.Max(),
    "count": sash.Count(),
    "var": sash.Variance(),
    "std": sash.StdDev(),
    "skew": sash.Skewness(bias=False),
    "kurt": sash.Kurtosis(bias=False),
    "first": sash.First(),
    "last": sash.Last(),
    "nunique": sash.CountDistinct(),
}


@pytest.mark.parametrize("name", PANDAS)
@pytest.mark.parametrize("length", LENGTHS)
def test_pandas_by_count(name: str, length: int) -> None:
    """pandas has no NaN beside null."""
    table = random_rows(nan=False)
    series = table["x"].to_pandas()
    expected = getattr(series.rolling(length, min_periods=0), name)()
    found = sash.rolling(table["x"], length, PANDAS[name])
    if name in ("skew", "kurt"):  # of equal values: ours is NaN, theirs 0 or -3
        level = series.rolling(length, min_periods=0).var().fillna(1.0) < 1e-12
        expected = expected.mask(level.to_numpy())
        found = [v if keep else None for v, keep in zip(found.to_pylist(), ~level, strict=True)]
        agree(found, expected)
    else:
        agree(found.to_pylist(), expected)


@pytest.mark.parametrize("name", ["sum", "mean", "min", "max", "count", "std"])
@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
def test_pandas_by_time(name: str, closed: str) -> None:
    table = random_rows(nan=False)
    series = pd.Series(table["x"].to_numpy(), index=pd.DatetimeIndex(table["t"].to_numpy()))
    for width in ("1s", "10s", "1h"):
        expected = getattr(series.rolling(width, closed=closed, min_periods=0), name)()
        found = sash.rolling(
            table["x"], width, PANDAS[name], times=table["t"], closed=closed, min_size=0
        )
        agree(found.to_pylist(), expected)


POLARS = {
    "sum": sash.Sum(),
    "mean": sash.Mean(),
    "min": sash.Min(),
    "max": sash.Max(),
    "var": sash.Variance(),
    "std": sash.StdDev(),
}


@pytest.mark.parametrize("name", POLARS)
@pytest.mark.parametrize("length", LENGTHS)
def test_polars_by_count(name: str, length: int) -> None:
    table = random_rows(nan=False)
    series = pl.from_arrow(table["x"])
    expected = getattr(series, f"rolling_{name}")(length, min_samples=1).to_list()
    found = sash.rolling(table["x"], length, POLARS[name]).to_pylist()
    if name == "sum":  # theirs is null for a window of nulls, ours 0
        expected = [0.0 if v is None else v for v in expected]
    agree(found, expected)


@pytest.mark.parametrize("length", [7, 64])
def test_polars_skewness(length: int) -> None:
    """Of the population. polars answers where it has seen no null, so there is none here."""
    values = np.random.default_rng(3).normal(size=ROWS)
    expected = pl.Series(values).rolling_skew(length, bias=True).to_numpy()[length - 1 :]
    agree(sash.rolling(values, length, sash.Skewness())[length - 1 :], expected)


@pytest.mark.parametrize("name", POLARS)
def test_polars_by_time(name: str) -> None:
    """polars counts all rows of one time; so do we at the last of them."""
    table = random_rows(nan=False)
    frame = pl.from_arrow(table)
    last = ~frame["t"].shift(-1).eq_missing(frame["t"])
    for width in ("1s", "10s", "1h"):
        rolled = getattr(pl.col("x"), f"rolling_{name}_by")("t", width, closed="right")
        expected = frame.select(rolled).to_series().filter(last).to_list()
        found = sash.rolling(table["x"], width, POLARS[name], times=table["t"])
        found = pl.Series(found.to_pylist(), dtype=pl.Float64).filter(last).to_list()
        if name == "sum":
            expected = [0.0 if v is None else v for v in expected]
        agree(found, expected)


DUCKDB = {
    "sum(x)": sash.Sum("x"),
    "avg(x)": sash.Mean("x"),
    "min(x)": sash.Min("x"),
    "max(x)": sash.Max("x"),
    "count(x)": sash.Count("x"),
    "var_samp(x)": sash.Variance("x"),
    "stddev_pop(x)": sash.StdDev("x", ddof=0),
    "skewness(x)": sash.Skewness("x", bias=False),
    "kurtosis(x)": sash.Kurtosis("x", bias=False),
    "kurtosis_pop(x)": sash.Kurtosis("x"),
    "arg_min(i, x)": sash.ArgMin("x", "i"),
    "arg_max(i, x)": sash.ArgMax("x", "i"),
    "first_value(x ignore nulls)": sash.First("x"),
    "last_value(x ignore nulls)": sash.Last("x"),
    "count(distinct x)": sash.CountDistinct("x"),
    "product(x)": sash.Product("x"),
    "geomean(abs(x) + 1)": sash.GeometricMean("y"),
    "string_agg(s, '')": sash.Concat("s"),
    "list(x) filter (where x is not null)": sash.Collect("x"),
}


@pytest.mark.parametrize("nan", [False, True])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("call", DUCKDB)
def test_duckdb_by_count(call: str, length: int, nan: bool) -> None:
    """SQL's nulls beside NaN, which DuckDB too takes for the greatest."""
    if nan and call.startswith(("skewness", "kurtosis", "var", "stddev")):
        pytest.skip("DuckDB refuses NaN here")
    rows = random_rows(nan)
    over = f"over (order by i rows between {length - 1} preceding and current row)"
    call_over = f"{call} {over}"
    expected = duckdb.sql(f"select {call_over} as a from rows order by i").fetchall()
    expected = [row[0] for row in expected]
    found = sash.rolling(rows, length, DUCKDB[call]).to_pylist()
    if call == "sum(x)":
        expected = [0.0 if v is None else v for v in expected]
    if call == "product(x)":
        expected = [1.0 if v is None else v for v in expected]
    if call.startswith("list"):
        expected = [[] if v is None else v for v in expected]
        assert str(found) == str(expected)
        return
    if call.startswith("string_agg"):
        assert found == expected
        return
    if call.startswith(("skewness", "kurtosis")):  # of equal values: ours is NaN, theirs null
        expected = [None if v is not None and v != v else v for v in expected]
    agree(found, expected)


@pytest.mark.parametrize("call", ["sum(x)", "max(x)", "stddev_pop(x)", "count(x)"])
def test_duckdb_by_time(call: str) -> None:
    """DuckDB's frame holds all rows of one time; so does ours at the last of them."""
    rows = random_rows(nan=False)
    frame = "range between interval 10 seconds preceding and current row"
    query = f"select {call} over (order by t {frame}) as a from rows order by i"
    expected = np.array([row[0] for row in duckdb.sql(query).fetchall()], object)
    found = sash.rolling(rows, "10s", DUCKDB[call], times=rows["t"], closed="both").to_pylist()
    times = rows["t"].to_numpy()
    last = np.append(times[1:] != times[:-1], True)
    if call == "sum(x)":
        expected = np.array([0.0 if v is None else v for v in expected], object)
    agree(np.array(found, object)[last], expected[last])

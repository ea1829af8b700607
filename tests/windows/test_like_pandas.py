"""Per-row windows of time equal those of pandas, whichever ends count, with ties and gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sash

OPERATORS = {"sum": sash.Sum(), "max": sash.Max(), "count": sash.Count(), "mean": sash.Mean()}
CLOSED = ["right", "left", "both", "neither"]


def series(count: int, seed: int) -> pd.Series:
    chance = np.random.default_rng(seed)
    seconds = np.cumsum(chance.choice([0, 0, 1, 1, 2, 5, 20], count)) - 40
    values = chance.integers(-20, 20, count) / 4
    return pd.Series(values, index=pd.to_datetime(seconds, unit="s").as_unit("ns"))


def theirs(given: pd.Series, closed: str, name: str, min_size: int = 1) -> Any:
    rolled = given.rolling("5s", closed=closed, min_periods=min_size)
    return getattr(rolled, name)().to_numpy()


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found, float), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("count", [1, 2, 300, 1_300])
def test_at_each_row(name: str, closed: str, count: int) -> None:
    given = series(count, seed=count)
    values, times = given.to_numpy(), given.index.to_numpy()
    expected = theirs(given, closed, name)
    op, definition = OPERATORS[name], sash.last("5s", closed=closed)
    same(sash.rolling(values, "5s", op, times=times, closed=closed), expected)
    same(sash.Window(op, definition).push_many(values, times), expected)
    window, half = sash.Window(op, definition), count // 2
    parts = [window.push_many(values[p], times[p]) for p in (slice(half), slice(half, None))]
    same(np.concatenate([np.asarray(part, float) for part in parts]), expected)
    if count <= 300:
        window = sash.Window(op, definition)
        found = [window.push(v, t) for v, t in zip(values.tolist(), times, strict=True)]
        same([np.nan if answer is None else answer for answer in found], expected)


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("min_size", [1, 2, 4])
def test_min_periods(closed: str, min_size: int) -> None:
    given = series(200, seed=1)
    values, times = given.to_numpy(), given.index.to_numpy()
    window = sash.Window(sash.Sum(), sash.last("5s", closed=closed), min_size=min_size)
    expected = theirs(given, closed, "sum", min_size)
    same(window.push_many(values, times), expected)
    same(
        sash.rolling(values, "5s", sash.Sum(), times=times, closed=closed, min_size=min_size),
        expected,
    )


@pytest.mark.parametrize("closed", CLOSED)
def test_of_each_group(closed: str) -> None:
    given = series(400, seed=2)
    keys = np.random.default_rng(2).choice(list("abc"), 400)
    values, times = given.to_numpy(), given.index.to_numpy()
    expected = np.empty(400)
    for key in "abc":
        expected[keys == key] = theirs(given[keys == key], closed, "sum")
    window = sash.KeyedWindow(sash.Sum(), sash.last("5s", closed=closed))
    same(window.push_many(values, times, keys=keys), expected)


@pytest.mark.parametrize("length", [1, 2, 7, 500])
def test_by_rows(length: int) -> None:
    given = series(300, seed=3)
    window = sash.Window(sash.Sum(), length)
    expected = given.rolling(length, min_periods=1).sum().to_numpy()
    same(window.push_many(given.to_numpy()), expected)


def test_resampling_is_tumbling() -> None:
    given = series(300, seed=4)
    sums, counts = given.resample("7s").sum(), given.resample("7s").count()
    window = sash.Window(sash.Sum(), sash.tumbling("7s", offset=offset_of(sums.index[0])))
    answers = [*window.push_many(given.to_numpy(), given.index.to_numpy()), *window.finish()]
    same(answers, sums[counts > 0].to_numpy())


def offset_of(begin: pd.Timestamp) -> np.timedelta64:
    """pandas counts the grid from the first midnight; here it is counted from 1970."""
    return np.timedelta64(begin.as_unit("ns").value % (7 * 10**9), "ns")

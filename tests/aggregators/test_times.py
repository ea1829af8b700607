"""Times of any make, and what is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sash

DAY = datetime(2026, 3, 1)


class TestTimes:
    @pytest.mark.parametrize(
        "times",
        [
            [DAY + timedelta(days=k) for k in (1, 0, 2)],
            np.array(["2026-03-02", "2026-03-01", "2026-03-03"], "datetime64[D]"),
            pa.array([DAY + timedelta(days=k) for k in (1, 0, 2)], pa.timestamp("us")),
            pd.Series([pd.Timestamp(2026, 3, d) for d in (2, 1, 3)]),
            [date(2026, 3, 2), date(2026, 3, 1), date(2026, 3, 3)],
        ],
        ids=["datetime", "numpy", "arrow", "pandas", "date"],
    )
    def test_datetimes_of_any_make(self, times: Any) -> None:
        window = sash.aggregator("fiba", sash.Collect())
        window.bulk_insert(["b", "a", "c"], times)
        window.insert("a2", np.datetime64("2026-03-01T12"))
        window.insert("b2", pd.Timestamp("2026-03-02 00:00:00.000000001"))
        assert window.query() == ["a", "a2", "b", "b2", "c"]
        assert window.query(start=DAY, end=datetime(2026, 3, 2)) == ["a", "a2"]
        window.bulk_evict(up_to=date(2026, 3, 2))
        assert window.query() == ["b2", "c"]

    def test_zones(self) -> None:
        window = sash.aggregator("fiba", sash.Collect())
        window.insert("later", datetime(2026, 3, 1, 12, tzinfo=UTC))
        window.insert("earlier", pd.Timestamp("2026-03-01 12:30", tz="Europe/Berlin"))
        window.bulk_insert(["last"], pa.array([10**9 * 2_000_000_000], pa.timestamp("ns", "UTC")))
        assert window.query() == ["earlier", "later", "last"]
        with pytest.raises(TypeError, match="datetimes with a time zone, not datetimes"):
            window.insert("none", datetime(2026, 3, 1))

    @pytest.mark.parametrize(
        ("call", "error", "sentence"),
        [
            (lambda w: w.insert(1), TypeError, "have times, and none was given"),
            (lambda w: w.bulk_insert([1]), TypeError, "have times, and none was given"),
            (lambda w: w.slide([1], 2), TypeError, "have times, and none was given"),
            (lambda w: w.insert(1, datetime(2026, 1, 1)), TypeError, "are integers, not datetimes"),
            (lambda w: w.insert(1, 1.5), TypeError, "must be integers or datetimes, not 1.5"),
            (lambda w: w.insert(1, True), TypeError, "must be integers or datetimes, not True"),
            (lambda w: w.insert(1, 2**63), ValueError, "does not fit 64 bits"),
            (lambda w: w.bulk_insert([1, 2], [3]), ValueError, "there are 2 values and 1 times"),
            (lambda w: w.bulk_insert([1, 2], [3, None]), ValueError, "row 1 has none"),
            (lambda w: w.bulk_insert([1], [0.5]), TypeError, "must be integers or datetimes"),
            (lambda w: w.bulk_insert([1, "x"], [3, 4]), TypeError, "holds int64 values"),
            (lambda w: w.bulk_evict(), TypeError, "either a count or a time"),
            (lambda w: w.bulk_evict(1, up_to=3), TypeError, "either a count or a time"),
            (lambda w: w.query(1, start=3), TypeError, "values or times, not both"),
            (lambda w: w.query(3), IndexError, "the window holds 2"),
        ],
    )
    def test_what_is_refused_changes_nothing(
        self, call: Any, error: type[Exception], sentence: str
    ) -> None:
        window = sash.aggregator("fiba", sash.Sum())
        window.insert(1, 10)
        window.insert(2, 5)
        with pytest.raises(error, match=sentence):
            call(window)
        assert (len(window), window.query(), window.query(start=6)) == (2, 3, 1)

    def test_a_window_without_times(self) -> None:
        window = sash.aggregator("fiba", sash.Sum())
        window.insert(1)
        with pytest.raises(TypeError, match="have no times, and one was given"):
            window.insert(2, 5)
        with pytest.raises(TypeError, match="have no times"):
            window.query(start=5)
        with pytest.raises(TypeError, match="have no times"):
            window.bulk_evict(up_to=5)
        assert window.slide([2, 3], 2) == [3, 5]

    def test_not_a_time(self) -> None:
        window = sash.aggregator("fiba", sash.Sum())
        with pytest.raises(ValueError, match="this is NaT"):
            window.insert(1, np.datetime64("NaT"))
        with pytest.raises(ValueError, match="between 1678 and 2261"):
            window.bulk_insert([1], np.array(["9999-01-01"], "datetime64[D]"))
        with pytest.raises(TypeError, match="lengths of time"):
            window.bulk_insert([1], np.array([1], "timedelta64[s]"))
        assert len(window) == 0

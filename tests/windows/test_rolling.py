"""`sash.rolling` against a plain loop over slices: windows, ends, steps, kinds of input."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cases import CASES, Case, PlainMean, Spread
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash.operators.laws import close

NAN = float("nan")


def by_hand(operator: sash.Operator, rows: list[Any], bounds: list[tuple[int, int]]) -> list[Any]:
    """The one rule, applied to each window anew."""
    answers = []
    for start, end in bounds:
        window = sash.aggregator("recalc", operator)
        for row in rows[:end]:
            window.insert(row)
        window.bulk_evict(start)
        answers.append(window.query())
    return answers


def alike(found: Any, expected: Any) -> bool:
    if isinstance(found, dict):
        return all(alike(found[k], expected[k]) for k in expected)
    if isinstance(found, (list, tuple)):
        return len(found) == len(expected) and all(map(alike, found, expected))
    return close(found, expected)


def columns_of(rows: list[Any]) -> Any:
    """Rows of pairs as two columns."""
    if rows and isinstance(next(r for r in rows if r is not None), tuple):
        filled = [r or (None, None) for r in rows]
        return tuple(list(c) for c in zip(*filled, strict=True))
    return rows


def rows_of(answers: Any) -> list[Any]:
    if isinstance(answers, dict):
        return list(zip(*answers.values(), strict=True))
    return list(answers)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_operator_over_the_last_rows(case: Case) -> None:
    chance = random.Random(5)
    rows = [chance.choice(case.pool) for _ in range(70)]
    for i in (5, 6, 30, 31, 32, 33, 34):
        rows[i] = None
    for length in (1, 3, 4, 17, 70, 100):
        answers = rows_of(sash.rolling(columns_of(rows), length, case.operator))
        bounds = [(max(0, i + 1 - length), i + 1) for i in range(len(rows))]
        for at, (one, other) in enumerate(
            zip(answers, by_hand(case.operator, rows, bounds), strict=True)
        ):
            assert alike(one, other), (length, at, one, other)


#   rows    0 1 2 3 4 5 6 7
#   every 3      ^     ^      answered at rows 2 and 5
@pytest.mark.parametrize("algorithm", ["auto", "daba", "two_stacks", "recalc"])
@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
@pytest.mark.parametrize("every", [1, 3])
def test_ends_and_steps_of_count_windows(algorithm: str, closed: str, every: int) -> None:
    rows = [5, 3, 8, 1, 9, 2, 7, 4]
    answers = sash.rolling(
        rows, 3, sash.Collect(), closed=closed, every=every, algorithm=algorithm, min_size=0
    )
    first = {"right": -2, "left": -3, "both": -3, "neither": -2}[closed]
    last = {"right": 1, "left": 0, "both": 1, "neither": 0}[closed]
    at = range(every - 1, len(rows), every)
    assert answers == [rows[max(0, i + first) : i + last] for i in at]


@given(
    gaps=st.lists(st.integers(0, 3), min_size=1, max_size=60),
    width=st.integers(1, 12),
    closed=st.sampled_from(["right", "left", "both", "neither"]),
    every=st.integers(1, 3),
    algorithm=st.sampled_from(["auto", "daba_lite", "aba"]),
)
def test_time_windows(gaps: list[int], width: int, closed: str, every: int, algorithm: str) -> None:
    times = np.cumsum(gaps)
    values = np.arange(len(times)) + 1
    answers = sash.rolling(
        values,
        f"{width}i",
        sash.Sum(),
        times=times,
        closed=closed,
        every=every,
        min_size=0,
        algorithm=algorithm,
    )
    expected = []
    for i in range(every - 1, len(times), every):
        inside = [
            j
            for j in range(len(times))
            if (
                times[j] > times[i] - width
                or (times[j] == times[i] - width and closed in ("left", "both"))
            )
            and (
                times[j] < times[i]
                or (times[j] == times[i] and j <= i and closed in ("right", "both"))
            )
        ]
        expected.append(sum(values[inside]))
    assert answers.tolist() == expected


MOMENTS = [datetime(2026, 3, 1) + timedelta(minutes=m) for m in (0, 1, 1, 5, 61, 62)]


@pytest.mark.parametrize(
    "times",
    [
        MOMENTS,
        np.array(MOMENTS, "datetime64[s]"),
        np.array(MOMENTS, "datetime64[ns]"),
        np.array(MOMENTS, "datetime64[m]"),
        pa.array(MOMENTS),
        pa.array(MOMENTS, pa.timestamp("ms", tz="UTC")),
        pd.Series(MOMENTS),
        pl.Series(MOMENTS),
    ],
    ids=lambda times: f"{type(times).__module__}-{getattr(times, 'dtype', '')}",
)
@pytest.mark.parametrize("width", ["1h", timedelta(hours=1), np.timedelta64(60, "m"), "60 minutes"])
def test_times_and_widths_of_every_type(times: Any, width: Any) -> None:
    # minute  0 1 1 5 … 61 62;  (t - 1h, t] at 61 leaves out 0 and both 1s
    answers = sash.rolling(np.array([1, 2, 4, 8, 16, 32]), width, sash.Sum(), times=times)
    assert answers.tolist() == [1, 3, 7, 15, 8 + 16, 8 + 16 + 32]


def test_times_coarser_than_the_width() -> None:
    days = np.array(["2026-03-01", "2026-03-02", "2026-03-03"], "datetime64[D]")
    assert sash.rolling(np.arange(3), "36h", sash.Count(), times=days).tolist() == [1, 2, 2]


def test_min_size_holds_answers_back() -> None:
    found = sash.rolling(np.arange(5.0), 3, sash.Sum(), min_size=3)
    np.testing.assert_array_equal(found, [NAN, NAN, 3.0, 6.0, 9.0])
    counted = sash.rolling(pa.array([1, 2, 3]), 2, sash.Count(), min_size=2)
    assert counted.to_pylist() == [None, 2, 2]


def test_an_empty_window() -> None:
    """The row itself is left out, so the first window holds nothing."""
    for operator, answer in [
        (sash.Sum(), 0),
        (sash.Count(), 0),
        (sash.Max(), None),
        (sash.Mean(), None),
        (PlainMean(), None),
        (Spread(), None),
    ]:
        found = sash.rolling([1.0, 2.0], 1, operator, closed="left", min_size=0)
        assert found[0] == answer, operator
        held_back = sash.rolling([1.0, 2.0], 1, operator, closed="left")
        assert held_back[0] is None


@pytest.mark.parametrize("values", [[], np.array([]), pa.array([], pa.int64())])
def test_no_rows(values: Any) -> None:
    assert len(sash.rolling(values, 3, sash.Max())) == 0
    assert len(sash.rolling(values, 3, sash.Collect())) == 0


class TestKinds:
    """What comes in decides what goes out."""

    def test_numpy(self) -> None:
        for dtype in ("int8", "uint16", "int64", "float32", "float64", ">i4"):
            found = sash.rolling(np.array([3, 1, 2], dtype), 2, sash.Max())
            assert isinstance(found, np.ndarray)
            assert found.dtype == np.dtype(dtype).newbyteorder("=")
            assert found.tolist() == [3, 3, 2]

    def test_numpy_times(self) -> None:
        days = np.array(["2026-01-02", "NaT", "2026-01-01"], "datetime64[D]")
        found = sash.rolling(days, 2, sash.Max())
        assert found.tolist() == [days[0].item(), days[0].item(), days[2].item()]
        assert sash.rolling(days[1:2], 1, sash.Max()).tolist() == [None]

    def test_strided_and_read_only(self) -> None:
        values = np.arange(20.0)[::2]
        values.flags.writeable = False
        assert sash.rolling(values, 2, sash.Sum()).tolist()[:3] == [0.0, 2.0, 6.0]

    def test_bool(self) -> None:
        flags = np.array([True, False, False])
        assert sash.rolling(flags, 2, sash.Max()).tolist() == [True, True, False]
        assert sash.rolling(flags, 3, sash.Sum()).tolist() == [1, 1, 1]

    def test_times_of_the_other_byte_order(self) -> None:
        days = np.arange(3).astype(">M8[D]")
        assert sash.rolling(days, 2, sash.Max()).tolist() == days.tolist()

    def test_integers_that_no_float_holds_are_kept(self) -> None:
        found = sash.rolling(np.array([2**53 + 1, 0]), 2, sash.Max(), min_size=2)
        assert found.tolist() == [None, 2**53 + 1]

    def test_pandas_index_and_object_arrays(self) -> None:
        index = pd.date_range("2026-01-01", periods=3, freq="D")
        assert sash.rolling(index, 2, sash.Max())[2] == index[2]
        frame = pd.DataFrame({"x": [1.0, 2.0]}, index=["a", "b"])
        assert sash.rolling(frame, 2, sash.Sum()).to_pylist() == [1.0, 3.0]
        assert sash.rolling(np.array([1.0, None], object), 2, sash.Mean()).tolist() == [1.0, 1.0]

    def test_polars_text(self) -> None:
        frame = pl.DataFrame({"x": [1, 3], "who": ["a", "b"]})
        assert sash.rolling(frame, 2, sash.ArgMax("x", "who")).to_pylist() == ["a", "b"]
        assert sash.rolling(frame["who"].cast(pl.Categorical), 2, sash.First()).to_pylist() == [
            "a",
            "a",
        ]

    def test_half_floats(self) -> None:
        for values in (np.array([1, 2], np.float16), pa.array(np.array([1, 2], np.float16))):
            assert list(sash.rolling(values, 2, sash.Sum()).tolist()) == [1.0, 3.0]

    def test_numpy_has_no_null_among_integers(self) -> None:
        found = sash.rolling(np.array([4, 2]), 2, sash.Max(), min_size=2)
        np.testing.assert_array_equal(found, [NAN, 4.0])

    def test_arrow(self) -> None:
        found = sash.rolling(pa.array([3, None, None, 2]), 2, sash.Max())
        assert found.type == pa.int64()
        assert found.to_pylist() == [3, 3, None, 2]
        chunked = pa.chunked_array([[1.0], [], [2.0, None]])
        assert sash.rolling(chunked, 2, sash.Sum()).to_pylist() == [1.0, 3.0, 2.0]

    def test_arrow_times_and_text(self) -> None:
        moments = pa.array([MOMENTS[1], MOMENTS[0]], pa.timestamp("us", tz="UTC"))
        found = sash.rolling(moments, 2, sash.Min())
        assert found.type == moments.type
        assert found.to_pylist() == [moments[0].as_py(), moments[1].as_py()]
        words = pa.array(["b", None, "a"]).dictionary_encode()
        assert sash.rolling(words, 2, sash.Max()).to_pylist() == ["b", "b", "a"]

    def test_series(self) -> None:
        assert sash.rolling(pl.Series([1.0, None, 3.0]), 2, sash.Mean()).to_pylist() == [1, 1, 3]
        assert sash.rolling(pd.Series([1.0, NAN, 3.0]), 2, sash.Sum()).to_pylist() == [1, 1, 3]

    def test_duckdb(self) -> None:
        duckdb = pytest.importorskip("duckdb")
        relation = duckdb.sql("select i::double as x, 10 - i as y from range(4) t(i) order by i")
        found = sash.rolling(relation, 2, sash.Together(a=sash.Sum("x"), b=sash.Min("y")))
        assert found.to_pydict() == {"a": [0.0, 1.0, 3.0, 5.0], "b": [10, 9, 8, 7]}

    def test_list(self) -> None:
        assert sash.rolling([1, None, 3], 1, sash.Max()) == [1, None, 3]
        assert sash.rolling([1, 2.5], 2, sash.Max()) == [1.0, 2.5]


class TestColumns:
    table = pa.table({"len": [3, 9, 9, 1], "who": ["a", "b", "c", "d"], "at": [1.5, 2.5, 3.5, 4.5]})

    def test_payloads_are_taken_from_other_columns(self) -> None:
        operator = sash.ArgMax("len", "who")
        assert sash.rolling(self.table, 3, operator).to_pylist() == ["a", "b", "b", "b"]
        frame = self.table.to_pandas()
        assert sash.rolling(frame, 3, operator).to_pylist() == ["a", "b", "b", "b"]
        as_numpy = {n: self.table[n].to_numpy() for n in self.table.column_names}
        assert sash.rolling(as_numpy, 3, operator).tolist() == ["a", "b", "b", "b"]

    def test_several_payloads_are_a_struct(self) -> None:
        found = sash.rolling(self.table, 2, sash.ArgMin("len", "who", "at"))
        assert found.to_pylist()[3] == {"who": "d", "at": 4.5}
        as_numpy = {n: self.table[n].to_numpy() for n in ("len", "at")}
        assert sash.rolling(as_numpy, 2, sash.ArgMin("len", "at")).tolist()[3] == 4.5

    def test_together_gives_one_column_for_each(self) -> None:
        operator = sash.Together(longest=sash.Max("len"), who=sash.ArgMax("len", "who"))
        found = sash.rolling(self.table, 2, operator)
        assert found.to_pydict() == {"longest": [3, 9, 9, 9], "who": ["a", "b", "b", "c"]}
        as_numpy = sash.rolling(np.array([1.0, 2.0]), 2, sash.Together(a=sash.Min(), b=sash.Max()))
        assert {name: list(v) for name, v in as_numpy.items()} == {"a": [1.0, 1.0], "b": [1.0, 2.0]}

    def test_a_null_payload_is_not_skipped_and_a_null_key_is(self) -> None:
        table = {"k": [None, 5, 4], "v": ["x", None, "z"]}
        assert sash.rolling(table, 3, sash.ArgMax("k", "v")) == [None, None, None]
        assert sash.rolling(table, 1, sash.ArgMax("k", "v")) == [None, None, "z"]


@given(
    count=st.integers(1, 300),
    length=st.integers(1, 80),
    threads=st.integers(2, 4),
)
def test_threads_give_the_same_answers_to_the_bit(count: int, length: int, threads: int) -> None:
    values = np.random.default_rng(count).normal(size=count) * 1e6
    one = sash.rolling(values, length, sash.Sum())
    assert np.array_equal(one, sash.rolling(values, length, sash.Sum(), threads=threads))
    times = np.cumsum(np.random.default_rng(length).integers(0, 3, count))
    one = sash.rolling(values, f"{length}i", sash.StdDev(), times=times)
    many = sash.rolling(values, f"{length}i", sash.StdDev(), times=times, threads=threads)
    assert np.array_equal(one, many, equal_nan=True)


def test_blocks_of_a_long_window() -> None:
    """Lengths around the block of the bulk loop, and rows around the length."""
    values = np.random.default_rng(0).normal(size=2_100)
    for length in (255, 256, 257, 511, 512, 513, 1_000):
        for rows in (length - 1, length, length + 1, 2 * length, 2_100):
            found = sash.rolling(values[:rows], length, sash.Max())
            expected = pd.Series(values[:rows]).rolling(length, min_periods=1).max()
            np.testing.assert_array_equal(found, expected)

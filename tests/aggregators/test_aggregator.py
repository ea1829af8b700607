"""One window as its users call it: types, nulls, payloads, bulk calls, and errors half-way."""

from __future__ import annotations

import copy
import pickle
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import fits

import sash

ALGORITHMS = [card.name for card in sash.algorithms() if not card.composed]
FOR_MAX = [name for name in ALGORITHMS if fits(name, sash.Max())]


def filled(algorithm: str, operator: sash.Operator, values: Any, **options: Any) -> sash.Aggregator:
    window = sash.aggregator(algorithm, operator, **options)
    for value in values:
        window.insert(value)
    return window


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_error_half_way_leaves_the_window_as_it_was(algorithm: str) -> None:
    window = filled(algorithm, sash.Sum(), [2, 3, 4])
    with pytest.raises(OverflowError):
        window.slide(np.array([5, 6, 7, 2**62, 2**62, 1]), 3)
    assert (len(window), window.query()) == (3, 9)
    assert window.slide(np.array([5, 6]), 3).tolist() == [12, 15]


WIDTHS = ("float32", "int8", "uint64", "float64")
# Each pair takes seconds to compile: one algorithm for each width, all in the full run.
COMPILED = [
    pytest.param(algorithm, width, marks=[pytest.mark.full] if i != k else [])
    for i, algorithm in enumerate(FOR_MAX)
    for k, width in enumerate(WIDTHS)
]


@pytest.mark.parametrize(("algorithm", "dtype"), COMPILED)
def test_every_algorithm_compiles_for_every_width(algorithm: str, dtype: str) -> None:
    values = np.array([3, 1, 4, 1, 5], dtype)
    window = sash.aggregator(algorithm, sash.Max())
    assert window.slide(values, 2).tolist() == [3, 3, 4, 4, 5]
    assert window.slide(values[:1], 2).tolist() == [5]


def test_decimals_have_no_inverse() -> None:
    values = [Decimal(1), Decimal(2), Decimal(3)]
    assert sash.rolling(values, 2, sash.Sum()) == [1, 3, 5]
    with pytest.raises(TypeError, match="Sum of such values has no inverse"):
        sash.rolling(values, 2, sash.Sum(), algorithm="subtract_on_evict")
    with pytest.raises(TypeError, match="has no inverse"):
        filled("subtract_on_evict", sash.Sum(), values)


class TestTypes:
    def test_nulls_before_the_first_value(self) -> None:
        window = filled("daba", sash.Max(), [None, None, "b", "a"])
        assert window.query() == "b"
        window.bulk_evict(3)
        assert window.query() == "a"
        assert filled("daba", sash.Max(), [None]).query() is None
        assert filled("daba", sash.Sum(), [None]).query() == 0

    def test_a_column_that_starts_with_nulls(self) -> None:
        window = sash.aggregator("daba", sash.Together(s=sash.Sum("x"), m=sash.Max("name")))
        window.insert({"x": None, "name": None})
        window.insert({"x": 2**53 + 1, "name": None})
        window.insert({"x": None, "name": "bob"})
        assert window.query() == (2**53 + 1, "bob")

    def test_times_and_flags_stay_what_they_are(self) -> None:
        days = np.array(["2026-01-01", "2026-01-03", "2026-01-02"], "datetime64[D]")
        window = sash.aggregator("daba", sash.Max())
        assert window.slide(days, 2).tolist() == [d.item() for d in days[[0, 1, 1]]]
        window.insert(np.datetime64("NaT"))
        assert window.query() == days[1]
        assert filled("daba", sash.Max(), [True, False]).query() is True

    def test_what_is_too_large_is_refused_when_it_comes(self) -> None:
        window = filled("daba", sash.Max(), [1, 2], dtype="int8")
        with pytest.raises(TypeError, match="holds int8 values and was given 300"):
            window.insert(300)
        assert window.query() == 2

    def test_what_cannot_be_compared_is_refused_when_it_comes(self) -> None:
        for algorithm in FOR_MAX:
            window = filled(algorithm, sash.Max(), [Decimal(1), Decimal(2)])
            with pytest.raises(TypeError, match="cannot take 'x' here"):
                window.insert("x")
            window.evict()
            assert window.query() == 2

    def test_numbers_are_asked_for_where_they_are_needed(self) -> None:
        with pytest.raises(TypeError, match="Mean needs numbers, and was given 'x'"):
            sash.aggregator("daba", sash.Mean()).insert("x")


class TestBulk:
    def test_all_or_nothing(self) -> None:
        window = sash.aggregator("daba", sash.Sum())
        with pytest.raises(TypeError):
            window.bulk_insert([1, 2, "x"])
        assert len(window) == 0

    def test_a_stream_that_can_be_read_once(self) -> None:
        table = pa.table({"x": [1, 2, 3]})
        window = sash.aggregator("daba", sash.Sum("x"))
        window.bulk_insert(table.to_reader())
        assert (len(window), window.query()) == (3, 6)
        assert window.slide(table.to_reader(), 2).to_pylist() == [4, 3, 5]

    def test_rows_of_several_columns(self) -> None:
        rows = {"len": [3, 9, 2], "who": ["a", "b", "c"]}
        operator = sash.Together(hi=sash.Max("len"), who=sash.ArgMax("len", "who"))
        window = sash.aggregator("daba_lite", operator)
        assert window.slide(rows, 2) == {"hi": [3, 9, 9], "who": ["a", "b", "b"]}
        assert window.query() == (9, "b")
        assert window.query().who == "b"

    def test_nulls_in_between(self) -> None:
        window = sash.aggregator("sba", sash.Max())
        assert window.slide([1, None, None, None, 2], 2) == [1, 1, None, None, 2]
        window.insert(None)
        window.bulk_evict(2)
        assert window.query() is None

    def test_sizes_that_change(self) -> None:
        window = filled("daba", sash.Sum(), range(10))
        assert window.slide([100], 3) == [8 + 9 + 100]
        assert len(window) == 3


def test_an_answer_is_the_callers() -> None:
    window = filled("daba", sash.Collect(), "xy")
    window.query().append("z")
    assert window.query() == ["x", "y"]


def test_answers_and_operators_can_be_copied() -> None:
    answers = filled("daba", sash.Together(lo=sash.Min(), hi=sash.Max()), [1, 2]).query()
    assert pickle.loads(pickle.dumps(answers)) == answers == copy.deepcopy(answers)
    for operator in (sash.Max("x"), sash.StdDev(ddof=0), sash.Together(a=sash.Sum("x"))):
        assert pickle.loads(pickle.dumps(operator)) == operator


def test_nanoseconds_are_kept() -> None:
    times = pa.array([1, 2], pa.timestamp("ns"))
    found = sash.rolling(times, 2, sash.Collect())
    assert found.type == pa.list_(pa.timestamp("ns"))
    assert found.cast(pa.list_(pa.int64())).to_pylist() == [[1], [1, 2]]
    as_numpy = np.array([1, 2], "datetime64[ns]")
    assert sash.rolling(as_numpy, 2, sash.TopK(k=1)).tolist()[1] == [np.datetime64(2, "ns")]


@pytest.mark.parametrize(
    ("values", "operator", "kind"),
    [
        (pa.array([Decimal("1.50")], pa.decimal128(38, 2)), sash.Max(), pa.decimal128(38, 2)),
        (pa.array([None, None], pa.large_string()), sash.Max(), pa.large_string()),
        (pa.array([], pa.string()), sash.Max(), pa.string()),
        (pa.array([1, 2], pa.int8()), sash.Collect(), pa.list_(pa.int8())),
        (pa.array([2**63], pa.uint64()), sash.Collect(), pa.list_(pa.uint64())),
        (pa.array(["a"]), sash.CountDistinct(), pa.int64()),
        (pa.array([None], pa.null()), sash.Mean(), pa.float64()),
    ],
)
def test_arrow_answers_have_the_columns_type(values: Any, operator: Any, kind: Any) -> None:
    assert sash.rolling(values, 2, operator).type == kind


def test_a_date_is_a_date() -> None:
    assert sash.rolling([datetime(2026, 1, 2), None], 2, sash.Min()) == [datetime(2026, 1, 2)] * 2

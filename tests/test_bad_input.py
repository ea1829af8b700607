"""The obvious mistakes, and the one sentence that each gets."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash

ROWS = np.arange(5)
SECONDS = ROWS.astype("datetime64[s]")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sash.rolling(ROWS, 0, sash.Max()), "at least 1 row, not 0"),
        (lambda: sash.rolling(ROWS, -3, sash.Max()), "at least 1 row, not -3"),
        (lambda: sash.rolling(ROWS, 2.5, sash.Max()), "such as 1000.*not 2.5"),
        (lambda: sash.rolling(ROWS, True, sash.Max()), "such as 1000.*not True"),
        (lambda: sash.rolling(ROWS, 3, sash.Max), r"write Max\(\)"),
        (lambda: sash.rolling(ROWS, 3, max), r"such as sash.Max\(\)"),
        (lambda: sash.rolling(ROWS, "1h", sash.Max()), "needs the rows' times"),
        (lambda: sash.rolling(ROWS, "1 parsec", sash.Max(), times=SECONDS), "'1 parsec' is not a"),
        (lambda: sash.rolling(ROWS, "1h", sash.Max(), times=ROWS), "write the width '1h' in"),
        (lambda: sash.rolling(ROWS, "9i", sash.Max(), times=SECONDS), "is for integer times"),
        (lambda: sash.rolling(ROWS, "1h", sash.Max(), times=SECONDS[:3]), "5 values and 3 times"),
        (lambda: sash.rolling(ROWS, "1h", sash.Max(), times=ROWS / 2), "datetimes or integers"),
        (lambda: sash.rolling(ROWS, "1h", sash.Max(), times=SECONDS[::-1]), "row 1 .*before row 0"),
        (
            lambda: sash.rolling(
                ROWS[:2], "1h", sash.Max(), times=pa.array([1, None], pa.timestamp("s"))
            ),
            "row 1 has none",
        ),
        (lambda: sash.rolling(ROWS, "0s", sash.Max(), times=SECONDS), "more than nothing"),
        (lambda: sash.rolling(ROWS, "0i", sash.Max(), times=ROWS), "more than nothing"),
        (lambda: sash.rolling(ROWS, "", sash.Max(), times=SECONDS), "length of time is missing"),
        (lambda: sash.rolling(ROWS, 3, sash.Max(), every=0), "every must be at least 1"),
        (lambda: sash.rolling(ROWS, 3, sash.Max(), every="1min"), "every must be a whole number"),
        (lambda: sash.rolling(ROWS, 3, sash.Max(), min_size=-1), "min_size must be at least 0"),
        (lambda: sash.rolling(ROWS, 3, sash.Max(), closed="up"), "closed must be one of right"),
        (lambda: sash.rolling(ROWS, 3, sash.Max(), threads=0), "threads must be at least 1"),
        (
            lambda: sash.rolling(ROWS, 3, sash.Max(), threads=2, algorithm="daba"),
            "runs in one thread",
        ),
        (
            lambda: sash.rolling(ROWS, 3, sash.Max(), algorithm="dabba"),
            "no algorithm 'dabba'",
        ),
        (
            lambda: sash.rolling(ROWS, 3, sash.Max(), algorithm="subtract_on_evict"),
            "Max has no inverse",
        ),
        (lambda: sash.rolling(ROWS, 3, sash.Max("a")), r"one column without a name.*Max\(\)"),
        (lambda: sash.rolling({"a": ROWS}, 3, sash.Max("b")), "no column 'b' among a"),
        (lambda: sash.rolling({"a": ROWS, "b": ROWS}, 3, sash.Max()), "name those it reads"),
        (lambda: sash.rolling(ROWS, 3, sash.ArgMax()), "reads 2 columns and was given 1"),
        (lambda: sash.rolling({"a": ROWS, "b": ROWS[:3]}, 2, sash.Max("a")), "differ in length"),
        (lambda: sash.rolling(["a", "b"], 2, sash.Mean()), "needs numbers"),
        (lambda: sash.rolling(pa.array(["a"]), 2, sash.Mean()), "needs numbers, and was given str"),
        (lambda: sash.rolling(SECONDS, 2, sash.Mean()), r"Mean of datetime64\[s\] values is"),
        (lambda: sash.rolling(ROWS.reshape(5, 1), 2, sash.Mean()), "one dimension"),
        (lambda: sash.rolling(ROWS + 1j, 2, sash.Sum()), "complex128 cannot be aggregated"),
        (lambda: sash.rolling(7, 2, sash.Sum()), "not int"),
        (lambda: sash.rolling("text", 2, sash.Sum()), "not str"),
    ],
)
def test_rolling(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence) as raised:
        call()
    assert str(raised.value).count("\n") == 0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sash.Max(3), "takes column names, not 3"),
        (lambda: sash.Max(k=3), r"no option 'k' \(it has: none\)"),
        (lambda: sash.StdDev(dof=0), r"no option 'dof' \(it has: ddof\)"),
        (lambda: sash.StdDev("a", "b"), "reads 1 column, and got a, b"),
        (lambda: sash.ArgMax("a"), "reads 2 columns or more"),
        (lambda: sash.StdDev(ddof=2), "ddof is 1 or 0, not 2"),
        (lambda: sash.TopK(), "needs a value for its option 'k'"),
        (lambda: sash.TopK(k=0), "k must be an integer of 1 or more"),
        (lambda: sash.Together(), "at least one operator"),
        (lambda: sash.Together(a=sash.Max), r"write Max\(\)"),
        (lambda: sash.Together(a=3), "must be an operator, not 3"),
    ],
)
def test_making_an_operator(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(sash.OperatorError, match=sentence):
        call()


class TestOneWindow:
    def test_evict_from_an_empty_one(self) -> None:
        for card in sash.algorithms():
            if card.composed:
                continue
            window = sash.aggregator(card.name, sash.Count())
            with pytest.raises(IndexError, match="empty window"):
                window.evict()
            window.insert(1)
            window.evict()
            with pytest.raises(IndexError, match="empty window"):
                window.evict()
            assert window.query() == 0

    def test_evict_more_than_there_is(self) -> None:
        window = sash.aggregator("daba", sash.Sum())
        window.insert(1)
        with pytest.raises(IndexError, match="cannot evict 2 values from a window that holds 1"):
            window.bulk_evict(2)
        assert window.query() == 1

    def test_a_value_that_does_not_fit_changes_nothing(self) -> None:
        window = sash.aggregator("daba", sash.Sum())
        for value in (1, 2, 3):
            window.insert(value)
        with pytest.raises(TypeError, match=r"int64 values and was given 2.5.*dtype='float64'"):
            window.insert(2.5)
        with pytest.raises(TypeError, match="given 'x'"):
            window.insert("x")
        with pytest.raises(TypeError, match="was given float64"):
            window.slide(np.arange(600.0), 5)
        assert (len(window), window.query()) == (3, 6)

    def test_a_row_without_the_column(self) -> None:
        window = sash.aggregator("daba", sash.Max("len"))
        with pytest.raises(TypeError, match=r"given rows, as in {'len': …}; not 3"):
            window.insert(3)
        with pytest.raises(TypeError, match="given rows"):
            window.insert({"length": 3})
        with pytest.raises(TypeError, match="tuples of 2 values"):
            sash.aggregator("daba", sash.ArgMax()).insert(3)

    def test_an_operator_that_does_not_fit_the_algorithm(self) -> None:
        with pytest.raises(TypeError, match="Max has no inverse"):
            sash.aggregator("subtract_on_evict", sash.Max())
        with pytest.raises(TypeError, match="Min has no inverse"):
            sash.aggregator("subtract_on_evict", sash.Together(a=sash.Sum(), b=sash.Min()))
        with pytest.raises(TypeError, match=r"picks one of its values .* and Range is neither"):
            sash.aggregator("slick_deque", sash.Range())
        with pytest.raises(TypeError, match="Together of Max, Min is neither"):
            sash.aggregator("slick_deque", sash.Together(hi=sash.Max(), lo=sash.Min()))
        with pytest.raises(TypeError, match="Sum of such values is neither"):
            sash.aggregator("slick_deque", sash.Sum()).insert(Decimal(1))
        with pytest.raises(ValueError, match="no algorithm 'abba'"):
            sash.aggregator("abba", sash.Max())
        with pytest.raises(TypeError, match=r"write Max\(\)"):
            sash.aggregator("daba", sash.Max)

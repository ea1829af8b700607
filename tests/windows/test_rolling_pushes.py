"""Rows one by one, into windows of the last so many: a shorter way through, the same answers."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash.aggregators.registry import MODULES

FLOATS = st.floats(-1e6, 1e6)
INTEGERS = st.integers(-(2**40), 2**40)


def answers(window: sash.Window, rows: list[Any]) -> list[Any]:
    return [window.push(row) for row in rows]


def close(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return one == pytest.approx(other, rel=1e-9, abs=1e-6)


@given(
    size=st.integers(1, 9),
    rows=st.lists(st.one_of(FLOATS, st.none()), max_size=60),
    cut=st.integers(0, 60),
)
def test_pushed_alone_or_together(size: int, rows: list[Any], cut: int) -> None:
    for op in (sash.Sum(), sash.Mean(), sash.Max(), sash.StdDev()):
        one = sash.Window(op, sash.last(size), dtype="float64")
        mixed = sash.Window(op, sash.last(size), dtype="float64")
        expected = answers(one, rows)
        got = answers(mixed, rows[:cut])
        got += list(mixed.push_many(rows[cut : cut + 5]))
        mixed = sash.Window.load(mixed.save())
        got += answers(mixed, rows[cut + 5 :])
        assert all(map(close, got, expected))
        assert len(got) == len(expected)
        assert len(one) == len(mixed) == min(size, len(rows))
        assert one.pushed == len(rows)
        assert mixed.query() == (got[-1] if rows else one.query())


@given(
    width=st.integers(1, 9),
    gaps=st.lists(st.integers(0, 4), max_size=60),
    cut=st.integers(0, 60),
)
def test_by_time_alone_or_together(width: int, gaps: list[int], cut: int) -> None:
    times = list(accumulate(gaps))
    rows = [(float(k * 7 % 11), at) for k, at in enumerate(times)]
    for op in (sash.Sum(), sash.Max(), sash.Concat()):
        values = [str(v) if isinstance(op, sash.Concat) else v for v, _ in rows]
        window = sash.Window(op, sash.last(f"{width}i"))
        got = [window.push(values[k], time=times[k]) for k in range(min(cut, len(rows)))]
        got += list(window.push_many(values[cut:], times=times[cut:])) if cut < len(rows) else []
        expected = []
        for k, now in enumerate(times):
            held = [v for v, at in zip(values[: k + 1], times, strict=False) if now - at < width]
            expected.append("".join(held) if isinstance(op, sash.Concat) else op_of(op)(held))
        assert got == expected


def op_of(op: Any) -> Any:
    return max if isinstance(op, sash.Max) else sum


def test_a_time_that_goes_back_is_refused_and_changes_nothing() -> None:
    window = sash.Window(sash.Sum(), "1h")
    start = datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    assert [window.push(v, time=start + timedelta(minutes=20 * v)) for v in (1, 2, 3, 4)][-1] == 9
    with pytest.raises(ValueError, match="must not go back"):
        window.push(9, time=start)
    assert window.push(5, time=start + timedelta(minutes=100)) == 12
    window.advance(start + timedelta(minutes=110))
    with pytest.raises(ValueError):
        window.push(9, time=start + timedelta(minutes=105))
    assert window.push(1, time=start + timedelta(hours=9)) == 1
    assert len(window) == 1


@pytest.mark.parametrize("algorithm", sorted(MODULES))
@given(size=st.integers(1, 9), rows=st.lists(INTEGERS, max_size=40))
def test_every_algorithm(algorithm: str, size: int, rows: list[int]) -> None:
    window = sash.Window(sash.Sum(), sash.last(size), algorithm=algorithm)
    expected = [sum(rows[max(0, i + 1 - size) : i + 1]) for i in range(len(rows))]
    assert answers(window, rows) == expected


def test_a_sum_that_overflows_is_refused_and_changes_nothing() -> None:
    window = sash.Window(sash.Sum(), sash.last(2))
    answers(window, [1, 2, 2**62])
    with pytest.raises(OverflowError):
        window.push(2**62)
    assert (window.query(), len(window), window.pushed) == (2**62 + 2, 2, 3)
    assert window.push(-1) == 2**62 - 1


def test_what_a_window_does_not_hold_is_refused() -> None:
    window = sash.Window(sash.Max(), sash.last(2))
    answers(window, [1, 5, 2])
    for wrong in (2**63, 0.5, "text"):
        with pytest.raises(TypeError):
            window.push(wrong)
    assert window.push(None) == 2
    assert window.push(None) is None
    assert window.push(1) == 1


def test_a_number_too_large_for_a_float_is_refused_and_changes_nothing() -> None:
    for op in (sash.Mean(), sash.StdDev(), sash.Sum()):
        window = sash.Window(op, sash.last(3), dtype="float64")
        before = answers(window, [1.0, 2.0, 4.0])[-1]
        with pytest.raises(TypeError, match="float64"):
            window.push(10**400)
        assert (window.query(), len(window)) == (before, 3)
    assert window.push(3) == 9


@pytest.mark.parametrize("algorithm", sorted(MODULES))
def test_truths_of_numpy_are_numbers(algorithm: str) -> None:
    window = sash.Window(sash.Mean(), sash.last(3), algorithm=algorithm, dtype="float64")
    rows = [1.0, np.True_, np.True_, np.True_, np.False_, 5.0, 6.0, 7.0]
    expected = [sum(map(float, rows[max(0, i - 2) : i + 1])) / min(i + 1, 3) for i in range(8)]
    assert answers(window, rows) == pytest.approx(expected)


def test_a_row_whose_answer_fails_is_not_in() -> None:
    """`finish` makes an object of an answer, and may fail where no ⊕ does."""

    class Failing(type(sash.Mean())):  # type: ignore[misc]
        finish = staticmethod(lambda answer: 1 / (answer - 2.0))

    window = sash.Window(Failing(), sash.last(2))
    assert answers(window, [1.0, 2.0]) == [-1.0, -2.0]
    with pytest.raises(ZeroDivisionError):
        window.push(2.0)
    assert (len(window), window.query()) == (2, -2.0)
    assert window.push(4.0) == 1.0


def test_rows_with_times_after_rows_without_are_refused() -> None:
    window = sash.Window(sash.Sum(), sash.last(2))
    answers(window, [1, 2])
    with pytest.raises(TypeError, match="times"):
        window.push(3, time=1)
    assert window.push(3) == 5


def test_a_finished_window_takes_no_row() -> None:
    window = sash.Window(sash.Sum(), sash.last(2))
    answers(window, [1, 2])
    window.finish()
    with pytest.raises(ValueError, match="finished"):
        window.push(3)


def test_lists_that_are_answered_are_the_callers() -> None:
    window = sash.Window(sash.TopK(k=2), sash.last(3))
    window.push(1)
    window.push(2).append(99)
    assert window.query() == [2, 1]

"""Rows that are refused, or that an operator or a policy fails on, leave a window as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sash


@sash.operator(partial=object)
class PickyList:
    """Refuses 13 together with anything else."""

    def identity():
        return ()

    def lift(v):
        return (v,)

    def combine(a, b):
        if a and b and 13 in a + b:
            raise ArithmeticError("13")
        return a + b

    def lower(p):
        return list(p)


@sash.operator(partial={"n": "int64", "total": "int64"}, commutative=True)
class PickySum:
    """Answers no total of 1013."""

    def identity():
        return 0, 0

    def lift(v):
        return 1, v

    def combine(a, b):
        return a.n + b.n, a.total + b.total

    def lower(p):
        if p.total > 10_000:
            raise ValueError("too much")
        return p.total


GOOD = [1, 2, 3, 4, 5, 6]


def rows_of(op: sash.Operator, bad: bool, many: bool) -> Any:
    unlucky = 13 if isinstance(op, PickyList) else 1_000_000
    rows = [7, 8, 9, unlucky, *[9] * 8] if bad else [7, 8, 9]
    rows = [7] * 600 + rows if many else rows
    return np.array(rows) if many else rows


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
@pytest.mark.parametrize("keyed", [False, True], ids=["one", "keyed"])
@pytest.mark.parametrize("op", [PickyList(), PickySum()], ids=repr)
@pytest.mark.parametrize(
    "definition",
    [sash.last(3), sash.last("4i"), sash.last("4i", every="2i"), sash.tumbling("4i")],
    ids=repr,
)
def test_an_operator_that_fails(definition: Any, op: Any, keyed: bool, many: bool) -> None:
    windows = [
        (sash.KeyedWindow if keyed else sash.Window)(op, definition, algorithm="two_stacks_lite")
        for _ in range(2)
    ]

    def push(window: Any, values: Any, start: int) -> Any:
        times = list(range(start, start + len(values)))
        keys = {"keys": ["a", "b"] * (len(values) // 2) + ["a"] * (len(values) % 2)}
        return window.push_many(values, times, **(keys if keyed else {}))

    tried, spared = windows
    for window in windows:
        push(window, GOOD, 0)
    with pytest.raises((ArithmeticError, ValueError), match=r"13|too much"):
        push(tried, rows_of(op, True, many), 10)
    fresh = rows_of(op, False, many)
    assert len(tried) == len(spared) and tried.keys() == spared.keys()
    assert list(push(tried, fresh, 10)) == list(push(spared, fresh, 10))
    assert list(tried.finish()) == list(spared.finish())


@pytest.mark.parametrize("op", [sash.Sum(), sash.Collect(), PickySum()], ids=repr)
def test_a_single_row_that_is_refused(op: Any) -> None:
    tried, spared = (sash.Window(op, sash.last("4i")) for _ in range(2))
    for window in (tried, spared):
        for time, value in enumerate(GOOD):
            window.push(value, time)
    with pytest.raises(ValueError, match="must not go back"):
        tried.push(1, 2)
    with pytest.raises((TypeError, ValueError)):
        tried.push(1, "noon")
    if not isinstance(op, sash.Collect):
        with pytest.raises((TypeError, ValueError)):
            tried.push("text", 9)
    if isinstance(op, PickySum):
        with pytest.raises(ValueError, match="too much"):
            tried.push(1_000_000, 9)
    assert len(tried) == len(spared)
    assert tried.push(7, 6) == spared.push(7, 6)


@pytest.mark.parametrize("rows", [3, 600])
def test_a_policy_that_fails(rows: int) -> None:
    slide = sash.slide_while("1 / (total - 1000) > 0 and total - old >= 10")
    tried, spared = (sash.Window(sash.Sum(), slide) for _ in range(2))
    for window in (tried, spared):
        window.push_many([1, 2, 3])
    with pytest.raises(ZeroDivisionError):
        tried.push_many(np.array([0] * rows + [994, 1]))
    assert len(tried) == len(spared) and tried.query() == spared.query()
    assert tried.push(4) == spared.push(4)


def test_a_policy_that_is_none_is_found_in_debug_mode() -> None:
    slide = sash.slide_while("old % 2 < 1")
    window = sash.Window(sash.Sum(), slide, debug=True)
    window.push(1)
    with pytest.raises(ValueError, match=r"True for the 2 oldest values, but False for the 1"):
        window.push(1)
    assert len(window) == 1


def test_the_first_rows_settle_nothing_if_they_are_refused() -> None:
    window = sash.Window(sash.Max(), sash.last("4i"))
    with pytest.raises(ValueError, match="must not go back"):
        window.push_many(np.array([1, 2]), [5, 1])
    times = np.array(["2026-01-01", "2026-01-02"], "datetime64[D]")
    with pytest.raises(ValueError, match="integer times"):
        window.push_many(np.array([1.5, 2.5]), times)
    assert list(window.push_many(np.array([1.5, 2.5]), [1, 2])) == [1.5, 2.5]

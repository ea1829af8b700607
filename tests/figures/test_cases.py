"""Cases run in turn, after a run that does not count; those that answer otherwise are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sash.figures.cases import Case, DisagreementError, Point, alike, measured


def case(
    series: str, order: list[str], answers: Any = None, timed: bool = True, panel: str = "Max"
) -> Case:
    def run() -> list[Point]:
        order.append(series)
        return [Point("ns", len(order)), Point("held", 3, x=16)]

    tell: Callable[[], Any] | None = None if answers is None else lambda: answers
    return Case(panel, series, 8, run, tell, timed)


def test_in_turn_forwards_and_backwards() -> None:
    order: list[str] = []
    cases = [case("a", order), case("b", order), case("counted", order, timed=False)]
    rows = list(measured(lambda: cases, range(3)))
    warm_up, first, second, third = "ab", ["a", "b", "counted"], ["b", "a"], ["a", "b"]
    assert order == [*warm_up, *first, *second, *third]
    assert [row.value for row in rows if row.metric == "ns" and row.series == "a"] == [3, 7, 8]
    assert {row.x for row in rows if row.metric == "ns"} == {8}
    assert {row.x for row in rows if row.metric == "held"} == {16}
    assert {row.round for row in rows if row.series == "counted"} == {0}


def test_answers_are_compared_before_anything_counts() -> None:
    order: list[str] = []
    cases = [case("a", order, np.array([1.0, 2.0])), case("b", order, np.array([1.0, 2.1]))]
    with pytest.raises(DisagreementError, match="b answers otherwise than a"):
        list(measured(lambda: cases, [0]))
    assert order == ["a", "b"]


def test_other_panels_are_other_questions() -> None:
    order: list[str] = []
    cases = [case("a", order, 1.0), case("b", order, 2.0, panel="Sum")]
    assert len(list(measured(lambda: cases, [0]))) == 4


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (np.array([1, 2, 3]), np.array([1.0, 2.0]), True),  # the shorter is the beginning
        (np.array([1, 2, 3]), np.array([]), False),  # nothing is no beginning
        (np.array([np.nan, 1.0]), np.array([np.nan, 1.0]), True),
        (np.array([np.nan, 1.0]), np.array([0.0, 1.0]), False),
        (np.array([1e9]), np.array([1e9 + 1]), True),  # rounding of sums
        ([1, 2.0], [1, 2.0, 3.0], True),
        ([1, "b"], [1, "c"], False),
        ([], [], False),
        (b"x", b"x", True),
    ],
)
def test_alike(one: Any, other: Any, same: bool) -> None:
    assert alike(one, other) is same

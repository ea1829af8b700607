"""Windows of the MTA paper's experiments: however they find what leaves, they answer alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sash.figures.measures.policy_streams import asked, rows_of
from sash.figures.measures.policy_windows import SIZED, Stepping, as_numbers, made


def answers(series: str, question: Any, values: list[Any]) -> Any:
    window = made(series, question)
    found = []
    for value in values:
        window.insert(value)
        window.enforce()
        found.append(window.answer())
    return as_numbers(found)


@pytest.mark.parametrize("series", ["recalc", "daba_cached", "log_mta", "amta"])
def test_the_newest_value_says_how_many_stay(series: str) -> None:
    """
    allows  3  3  3  3  1  2  2  5
    held    1  2  3  3  1  2  2  3
    """
    found = answers(series, SIZED, [3, 3, 3, 3, 1, 2, 2, 5])
    assert found[:, 0].tolist() == [1, 2, 3, 3, 1, 2, 2, 3]
    assert found[:, 1].tolist() == [3, 3, 3, 3, 1, 2, 2, 5]


@pytest.mark.parametrize("operator", ["Sum", "Std. Dev.", "Max", "LIS"])
def test_with_a_tree_or_without(operator: str) -> None:
    values: Any = np.random.default_rng(4).integers(1, 40, 300).astype(float)
    rows = rows_of({"v": values, "t": np.arange(300)} if operator == "LIS" else values)
    expected = answers("recalc", asked(operator, 32), rows)
    assert expected[:, 0].max() == 32
    for series in ("daba_cached", "log_mta", "amta"):
        np.testing.assert_allclose(answers(series, asked(operator, 32), rows), expected)


def test_naive_sums_anew_only_when_something_leaves() -> None:
    window = made("recalc", SIZED)
    assert isinstance(window, Stepping)
    for _ in range(4):
        window.insert(4)
        window.enforce()
    assert window.sum is not None
    window.insert(4)
    assert window.sum == (5, 4)
    window.enforce()
    assert window.sum is None
    assert window.answer() == {"count": 4, "max_size": 4}

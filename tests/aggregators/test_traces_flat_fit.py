"""The worked examples of the FlatFIT paper (its Figure 7), step by step.

A window of 5 first holds -∞ five times; then come 2 4 0 3 7 6 1 8 9 5. Q1 is the maximum of all 5,
Q2 that of the last 2, asked after Q1. The paper writes the first value at index 4 of its circular
arrays and points to index 0 from there. Here the five -∞ stand at positions 0 … 4 and the first
value at position 5: position i is the paper's index (i + 4) modulo 5.
"""

from __future__ import annotations

import pytest

import sash
from sash.testing import Counting

LOW = float("-inf")
VALUES = [2.0, 4.0, 0.0, 3.0, 7.0, 6.0, 1.0, 8.0, 9.0, 5.0]

STEPS = [
    # pointers, partials, Q1, Q2, ⊕ for Q1, ⊕ for Q2
    ([1, 0, 0, 0, 0], [LOW, 2, 2, 2, 2], 2, 2, 4, 0),
    ([1, 0, 0, 0, 0], [4, 2, 2, 2, 2], 4, 4, 1, 1),
    ([2, 2, 0, 0, 0], [4, 0, 2, 2, 2], 4, 4, 2, 0),
    ([3, 2, 3, 0, 0], [4, 0, 3, 2, 2], 4, 3, 2, 1),
    ([4, 2, 3, 4, 0], [7, 0, 3, 7, 2], 7, 7, 2, 1),
    ([4, 2, 3, 4, 0], [7, 0, 3, 7, 6], 7, 7, 1, 1),
    ([1, 2, 1, 1, 1], [1, 0, 7, 7, 6], 7, 6, 4, 0),
    ([1, 2, 1, 1, 1], [1, 8, 7, 7, 6], 8, 8, 1, 1),
    ([1, 3, 3, 1, 1], [1, 9, 9, 7, 6], 9, 9, 2, 0),
    ([1, 4, 3, 4, 1], [1, 9, 9, 5, 6], 9, 9, 2, 1),
]


def filled(operator: sash.Operator) -> sash.Aggregator:
    window = sash.aggregator("flat_fit", operator)
    for _ in range(5):
        window.insert(LOW)
    return window


def as_in_the_paper(window: sash.Aggregator) -> tuple[list[int], list[float]]:
    """The window's pointers and partials by the paper's indexes."""
    F, E = window._kept.state
    partials, pointers = window._kept.rings
    by_index = {(i + 4) % 5: i for i in range(F, E)}
    slots = [by_index[index] & (len(partials) - 1) for index in range(5)]
    return [(pointers[slot] + 4) % 5 for slot in slots], [partials[slot].hi for slot in slots]


@pytest.mark.parametrize("queries", [1, 2])
def test_figure_7(queries: int) -> None:
    """Q2 changes nothing in the table that Q1 has not changed."""
    calls = Counting()
    window = filled(calls.of(sash.Max()))
    spent = [0, 0]
    for at, (value, step) in enumerate(zip(VALUES, STEPS, strict=True), 1):
        pointers, partials, q1, q2, for_q1, for_q2 = step
        window.evict()
        window.insert(value)
        calls.taken()
        assert window.query() == q1, f"step {at}"
        assert calls.count == for_q1, f"step {at}"
        spent[0] += calls.taken()
        if queries == 2:
            assert window.query(2) == q2, f"step {at}"
            assert calls.count == for_q2, f"step {at}"
            spent[1] += calls.taken()
        assert as_in_the_paper(window) == (pointers, partials), f"step {at}"
    assert spent == [21, 6 if queries == 2 else 0]


def test_the_naive_way_of_the_examples() -> None:
    """What the paper compares with: 4 ⊕ for each answer to Q1, 1 for each to Q2."""
    calls = Counting()
    window = sash.aggregator("recalc", calls.of(sash.Max()))
    for value in [LOW] * 5 + VALUES[:1]:
        window.insert(value)
    window.evict()
    calls.taken()
    window.query()
    assert calls.taken() - 1 == 4  # recalc begins with the identity
    window.query(2)
    assert calls.taken() - 1 == 1

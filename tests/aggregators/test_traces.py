"""The trace that the constant-time paper runs through all its algorithms, state by state.

    (a) 2 6 3 5 3   (b) evict 2   (c) insert 1   (d) evict 6   (e) insert 4
    (f) evict 3     (g) insert 2  (h) evict 5    (i) insert 0

The aggregate is max. The states at (a) are those of the paper's figures, reached by what was
inserted and evicted before.
"""

from __future__ import annotations

from typing import Any

import pytest

import sash

STEPS = ["evict", 1, "evict", 4, "evict", 2, "evict", 0]
ANSWERS = [6, 6, 6, 5, 5, 5, 5, 4, 4]


def window_at_a(algorithm: str, before: list[Any]) -> sash.Aggregator:
    window = sash.aggregator(algorithm, sash.Max())
    step(window, *before)
    return window


def step(window: sash.Aggregator, *steps: Any) -> None:
    for this in steps:
        window.evict() if this == "evict" else window.insert(this)


def held(window: sash.Aggregator, ring: int, start: int, end: int) -> list[int]:
    """The numbers at these positions of a ring."""
    slots = window._kept.rings[ring]
    return [slots[i & (len(slots) - 1)].hi for i in range(start, end)]


TO_TWO_IN_FRONT = [9, 2, 6, "evict", 3, 5, 3]


def test_two_stacks() -> None:
    """Stacks from the bottom up; the front one is turned over at (f)."""
    expected = [
        # front values, front sums, back values, back sums
        ([6, 2], [6, 6], [3, 5, 3], [3, 5, 5]),
        ([6], [6], [3, 5, 3], [3, 5, 5]),
        ([6], [6], [3, 5, 3, 1], [3, 5, 5, 5]),
        ([], [], [3, 5, 3, 1], [3, 5, 5, 5]),
        ([], [], [3, 5, 3, 1, 4], [3, 5, 5, 5, 5]),
        ([4, 1, 3, 5], [4, 4, 4, 5], [], []),
        ([4, 1, 3, 5], [4, 4, 4, 5], [2], [2]),
        ([4, 1, 3], [4, 4, 4], [2], [2]),
        ([4, 1, 3], [4, 4, 4], [2, 0], [2, 2]),
    ]
    window = window_at_a("two_stacks", TO_TWO_IN_FRONT)
    for at, (state, answer) in enumerate(zip(expected, ANSWERS, strict=True)):
        NF, NB = window._kept.state
        found = (
            held(window, 0, 0, NF),
            held(window, 1, 0, NF),
            held(window, 2, 0, NB),
            held(window, 3, 0, NB),
        )
        assert found == state, f"state ({'abcdefghi'[at]})"
        assert window.query() == answer
        step(window, *STEPS[at : at + 1])


def test_aba() -> None:
    """Where the back begins, and the sums; turned over at (f)."""
    expected = [
        # values, sums, length of the front
        ([2, 6, 3, 5, 3], [6, 6, 3, 5, 5], 2),
        ([6, 3, 5, 3], [6, 3, 5, 5], 1),
        ([6, 3, 5, 3, 1], [6, 3, 5, 5, 5], 1),
        ([3, 5, 3, 1], [3, 5, 5, 5], 0),
        ([3, 5, 3, 1, 4], [3, 5, 5, 5, 5], 0),
        ([5, 3, 1, 4], [5, 4, 4, 4], 4),
        ([5, 3, 1, 4, 2], [5, 4, 4, 4, 2], 4),
        ([3, 1, 4, 2], [4, 4, 4, 2], 3),
        ([3, 1, 4, 2, 0], [4, 4, 4, 2, 2], 3),
    ]
    window = window_at_a("aba", TO_TWO_IN_FRONT)
    for at, (state, answer) in enumerate(zip(expected, ANSWERS, strict=True)):
        F, E, B = window._kept.state
        found = (held(window, 0, F, E), held(window, 1, F, E), B - F)
        assert found == state, f"state ({'abcdefghi'[at]})"
        assert window.query() == answer
        step(window, *STEPS[at : at + 1])


@pytest.mark.parametrize("algorithm", ["daba", "daba_cached"])
def test_daba(algorithm: str) -> None:
    """Shrinks at (b), (f) and (g), a flip before the one at (f), free rides elsewhere."""
    expected = [
        # values, sums, and L, R, A, B counted from F
        ([2, 6, 3, 5, 3], [6, 6, 3, 5, 3], (1, 2, 3, 5)),
        ([6, 3, 5, 3], [6, 5, 5, 3], (1, 1, 1, 4)),
        ([6, 3, 5, 3, 1], [6, 5, 5, 3, 1], (2, 2, 2, 4)),
        ([3, 5, 3, 1], [5, 5, 3, 1], (2, 2, 2, 3)),
        ([3, 5, 3, 1, 4], [5, 5, 3, 1, 4], (3, 3, 3, 3)),
        ([5, 3, 1, 4], [5, 3, 1, 4], (1, 2, 3, 4)),
        ([5, 3, 1, 4, 2], [5, 4, 4, 4, 2], (2, 2, 2, 4)),
        ([3, 1, 4, 2], [4, 4, 4, 2], (2, 2, 2, 3)),
        ([3, 1, 4, 2, 0], [4, 4, 4, 2, 2], (3, 3, 3, 3)),
    ]
    window = window_at_a(algorithm, [8, 7, 2, 6, 3, 5, 3, "evict", "evict"])
    for at, (state, answer) in enumerate(zip(expected, ANSWERS, strict=True)):
        F, E, L, R, A, B = window._kept.state[:6]
        found = (held(window, 0, F, E), held(window, 1, F, E), (L - F, R - F, A - F, B - F))
        assert found == state, f"state ({'abcdefghi'[at]})"
        assert window.query() == answer
        step(window, *STEPS[at : at + 1])

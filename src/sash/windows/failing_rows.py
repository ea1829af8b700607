"""Which of many rows it is that fails."""

from __future__ import annotations

from collections.abc import Callable


def first_failing(count: int, fails: Callable[[int], Exception | None]) -> tuple[int, Exception]:
    """The row that makes some of the first rows fail; `fails` is asked about so many of them."""
    low, high = 0, count  # the first `low` rows do not fail, the first `high` do
    error = fails(high)
    while high - low > 1:
        middle = (low + high) // 2
        found = fails(middle)
        low, high, error = (middle, high, error) if found is None else (low, middle, found)
    assert error is not None
    return low, error

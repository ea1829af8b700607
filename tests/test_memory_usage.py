"""Made-up readings of a computer's memory: always the same ones, and such as could be."""

from __future__ import annotations

import numpy as np
import pytest

from sash.workloads import memory_usage
from sash.workloads.machine_signals import BLOCK

ROWS = 200_000
"""More than two days, and three blocks."""


@pytest.fixture(scope="module")
def used() -> np.ndarray:
    return memory_usage.in_use(ROWS)


@pytest.mark.parametrize("rows", [0, 1, 1_000, BLOCK, BLOCK + 1])
def test_the_first_rows_are_the_same_however_many(used: np.ndarray, rows: int) -> None:
    np.testing.assert_array_equal(memory_usage.in_use(rows), used[:rows])


def test_another_seed_gives_other_rows() -> None:
    one, again, other = (memory_usage.in_use(1_000, seed) for seed in (1, 1, 2))
    assert (one == again).all()
    assert (one != other).mean() > 0.9


def test_a_part_of_what_is_installed(used: np.ndarray) -> None:
    assert used.dtype == np.int64
    assert 0.25 < used.min() / memory_usage.INSTALLED < 0.35
    assert 0.45 < used.max() / memory_usage.INSTALLED < 0.8


def test_more_by_day_than_by_night(used: np.ndarray) -> None:
    hours = used[: 2 * memory_usage.DAY].reshape(2, 24, -1).mean(axis=2)
    night, day = hours[:, [0, 1, 2, 23]].mean(), hours[:, 10:14].mean()
    assert 1.1 < day / night < 1.6


def test_it_rises_in_runs_and_falls_at_once(used: np.ndarray) -> None:
    """
    used    ╱│ ╱│ ╱│     two steps of three go up; those that go far go down
          ╱  │╱ │╱ │
    """
    steps = np.diff(used)
    assert 0.6 < (steps > 0).mean() < 0.95
    far = steps[np.abs(steps) > 200_000]
    assert len(far) > ROWS / 500
    assert (far < 0).mean() > 0.95
    ends = np.flatnonzero(np.diff(steps > 0, prepend=False, append=False))
    assert 15 < np.diff(ends)[::2].max() < 400


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="rows=-1: there cannot be less than none"):
        memory_usage.in_use(-1)

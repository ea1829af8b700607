"""What a machine does in the course of time: its load, how readings waver, when states switch.

Everything is told in rows, and by blocks of BLOCK rows that are made whole, each from generators
of its own. So a row is the same however many are asked for, and a block needs none before it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

BLOCK: Final = 4**8
"""Rows: eleven minutes."""

Rows = npt.NDArray[np.int64]
Curve = npt.NDArray[np.float64]

_FIRST_STAGE: Final = np.array([3_200.0, 4_300.0, 5_100.0, 6_000.0])
_SECOND_STAGE: Final = np.array([1_500.0, 2_600.0, 1_900.0, 3_300.0])
"""What each recipe draws above rest."""

_CYCLE: Final = (
    (500, 2_500),  # at rest
    (300, 900),  # rises
    (2_000, 4_000),  # first stage
    (200, 600),  # falls
    (3_000, 6_000),  # second stage
    (200, 600),  # falls
)
"""Rows that a part of a cycle takes at least, and up to how many more."""

_IDLE: Final = (0.06, 18_000, 72_000)
"""The share of cycles that are waited for, and for how many rows: at least, and up to more."""

_SPIKE: Final = np.exp(-np.arange(64) / 12)
_QUARTERS: Final = np.arange(4) / 4


class Load(NamedTuple):
    """The cycles, by their corners; between two corners the load goes straight.

     first     ┌──────┐
     second    │      └─────────┐
     rest  ────┘                └────
    corners 0  1 2    3 4       5 0
    """

    at: Rows
    first: Curve
    second: Curve
    recipe: Rows
    """From 1; 0 from corner 0 of a cycle to its corner 1."""

    def near(self, block: int) -> Load:
        """The corners that matter for a block."""
        start, end = np.searchsorted(self.at, [block * BLOCK, (block + 1) * BLOCK], side="right")
        part = slice(start - 1, end + 1)
        return Load(self.at[part], self.first[part], self.second[part], self.recipe[part])


def rows_of(block: int) -> Rows:
    return np.arange(block * BLOCK, (block + 1) * BLOCK)


def load(key: list[int], rows: int) -> Load:
    """Cycles for at least so many rows. The machine begins at rest."""
    shortest = sum(least for least, _ in _CYCLE)
    random = np.random.default_rng(key).random((rows // shortest + 1, 10)).T
    parts = [least + more * part for (least, more), part in zip(_CYCLE, random[:6], strict=True)]
    share, least, more = _IDLE
    parts[0] += np.where(random[6] < share, least + more * random[7], 0)
    ends = np.cumsum(np.stack(parts, axis=1).astype(np.int64).ravel())

    recipe = (random[8] * len(_FIRST_STAGE)).astype(np.int64)
    varies = 0.98 + 0.04 * random[9]
    none = np.zeros(len(recipe))
    first, second = _FIRST_STAGE[recipe] * varies, _SECOND_STAGE[recipe] * varies
    columns = (
        [none, none, first, first, none, none],
        [none, none, none, none, second, second],
        [none, *[recipe + 1] * 5],
    )
    # The end of the last cycle is a corner, too.
    heights = [np.append(np.stack(column, axis=1).ravel(), 0) for column in columns]
    return Load(np.append(0, ends), heights[0], heights[1], heights[2].astype(np.int64))


def spikes(key: list[int], block: int, apart: int) -> Curve:
    """Sudden pulls that die away within 64 rows, one in `apart` rows on average."""
    rng = np.random.default_rng([*key, block])
    curve = np.zeros(BLOCK)
    for at in rng.integers(0, BLOCK - len(_SPIKE), rng.poisson(BLOCK / apart)):
        curve[at : at + len(_SPIKE)] += min(300 + rng.exponential(700), 3_000) * _SPIKE
    return curve


def wander(key: list[int], block: int, steps: tuple[float, ...]) -> Curve:
    """A curve around 0 that goes on where that of the block before has ended.

    It has knots 4⁸ rows apart, between them knots 4⁷ rows apart, and so on down to every row:
    4ᵏ rows apart, they are displaced from the line between those of 4ᵏ⁺¹ by `steps[k]` (as a
    standard deviation). So `steps[0]` is the noise from row to row.
    """
    rng, following = (np.random.default_rng([*key, number]) for number in (block, block + 1))
    edges = np.stack([rng.standard_normal(9), following.standard_normal(9)], axis=1)
    knots: Curve = steps[8] * edges[8]
    for k in range(7, -1, -1):
        finer = np.empty(4 * (len(knots) - 1) + 1)
        finer[:-1].reshape(-1, 4)[:] = knots[:-1, None] + np.diff(knots)[:, None] * _QUARTERS
        finer[-1] = knots[-1]
        finer[1:-1] += steps[k] * rng.standard_normal(len(finer) - 2)
        finer[[0, -1]] += steps[k] * edges[k]
        knots = finer
    return knots[:-1]


def switches(key: list[int], rows: int, off: tuple[int, int], on: tuple[int, int]) -> Rows:
    """When something that is off goes on, off, on, …, for at least so many rows.

    It stays `off` or `on` for so many rows at least, and for how many more on average.
    """
    pairs = rows // (off[0] + on[0]) + 1
    least, more = np.array([off, on]).T
    random = np.random.default_rng(key).standard_exponential((pairs, 2))
    return np.cumsum((least + more * random).astype(np.int64).ravel())


def steps_in(at: Rows, by: Rows, block: int) -> Rows:
    """The sum of `by` so far, at each row of the block, where `by[i]` is added at row `at[i]`."""
    start, end = np.searchsorted(at, [block * BLOCK, (block + 1) * BLOCK])
    added = np.zeros(BLOCK, np.int64)
    added[at[start:end] - block * BLOCK] = by[start:end]
    added[0] += by[:start].sum()
    return np.cumsum(added)

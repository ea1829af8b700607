"""A batch that fails half-way leaves windows as they were, though not all of them is copied for it.

amta and log_mta put a node once, so only slots that new values come to, around the ring, are kept:

    window      F . . . . . . . E             slots 2F < s < 2E of a ring of 16 or more
    the batch   . . . . . . . . E + + + X     slots from 2E on, around the ring those of F …
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from pools import leaves_of

import sash
from sash.aggregators.plan import Plan
from sash.aggregators.pool import Pool
from sash.aggregators.registry import named
from sash.aggregators.slide_policies import SlidePolicy

BOTH = ["amta", "log_mta"]
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65]
BIG = 2**62
"""Two of these are too much for a sum."""
BASE = 1000


@sash.operator(
    partial={"count": "int64", "size": "int64", "total": "int64"},
    answer={"count": "int64", "total": "int64"},
)
class Sized:
    """A sum of v // BASE, in a window as long as the newest v % BASE tells."""

    def identity():
        return 0, 0, 0

    def lift(v):
        return 1, v % 1000, v // 1000

    def combine(a, b):
        return a.count + b.count, b.size if b.count > 0 else a.size, a.total + b.total

    def lower(p):
        return p.count, p.total


# A value that allows a window of 0 divides by zero.
POLICY = SlidePolicy(
    "def policy(total, old): return total.count - old.count >= total.size + 0 // total.size", True
)


class Keys:
    """A pool, and of each key how long its window is to be, and what it holds."""

    def __init__(self, algorithm: str, operator: sash.Operator, seed: int) -> None:
        self.chance = random.Random(seed)
        self.operator = operator
        self.pool = Pool(named(algorithm), operator, [("int64",)])
        self.sizes = self.chance.sample(SIZES, 6)
        self.pool.add(len(self.sizes))
        self.windows: list[list[int]] = [[] for _ in self.sizes]
        self.came = [0] * len(self.sizes)

    def rows(self) -> dict[int, list[int]]:
        """A few rows, or more than a window is long, for some keys."""
        some = self.chance.sample(range(len(self.sizes)), self.chance.randint(1, len(self.sizes)))
        most = [(0, 1, 2, n // 3, n, 3 * n) for n in self.sizes]
        return {k: [self.value(k) for _ in range(self.chance.choice(most[k]))] for k in some}

    def value(self, k: int) -> int:
        return self.chance.randrange(10**6)

    def spoil(self, rows: dict[int, list[int]]) -> bool:
        """Let the batch fail at some row of a key, if it can."""
        raise NotImplementedError

    def send(self, pool: Pool, rows: dict[int, list[int]]) -> Any:
        raise NotImplementedError

    def slide(self, k: int, value: int) -> None:
        self.windows[k].append(value)
        del self.windows[k][: -self.sizes[k]]

    def begin(self, k: int) -> tuple[int, int]:
        return self.came[k] - len(self.windows[k]), self.came[k]

    def check(self) -> None:
        lift = self.pool.monoid.lift_cells
        assert self.pool.held.tolist() == [len(window) for window in self.windows]
        for k, window in enumerate(self.windows):
            self.pool.single(k).check_invariants([lift(iter([(v,)]), 0) for v in window])

    def live(self, steps: int) -> int:
        """Good batches and bad ones; how many have failed."""
        failed = 0
        for _ in range(steps):
            bad = self.rows()
            if self.spoil(bad):
                untouched = self.pool.copy()
                with pytest.raises((OverflowError, ZeroDivisionError)):
                    self.send(self.pool, bad)
                failed += 1
                self.check()
            else:
                untouched = self.pool.copy()
            good = self.rows()
            found, expected = self.send(self.pool, good), self.send(untouched, good)
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
            for k, values in good.items():
                self.came[k] += len(values)
                for value in values:
                    self.slide(k, value)
            self.check()
        return failed


class Following(Keys):
    """Windows of the last rows of each key, whose sum may overflow."""

    def spoil(self, rows: dict[int, list[int]]) -> bool:
        able = [k for k, values in rows.items() if len(values) > 1 and self.sizes[k] > 1]
        if able:
            k = self.chance.choice(able)
            at = self.chance.randrange(len(rows[k]) - 1)
            rows[k][at : at + 2] = BIG, BIG
        return bool(able)

    def send(self, pool: Pool, rows: dict[int, list[int]]) -> Any:
        groups, asked, flat = [], [], [0]
        for k, values in rows.items():
            S, E = self.begin(k)
            bounds = [(max(S, i - self.sizes[k]), i) for i in range(E + 1, E + len(values) + 1)]
            then = bounds[-1] if bounds else (S, E)
            groups.append((k, len(flat), S, E, len(asked), len(asked) + len(bounds), *then))
            asked += bounds
            flat += values
        bounds = np.array([*asked, (0, 0)], np.int64)[:-1]
        plan = Plan(*np.array(groups, np.int64).T, *bounds.T)
        found = pool.follow(leaves_of(self.operator, np.array(flat)), plan)
        return list(found[0].fields.values())


class ByPolicy(Keys):
    """Windows as long as their newest value allows; most values leave that as it is."""

    def value(self, k: int) -> int:
        if self.chance.random() < 0.02:
            self.sizes[k] = self.chance.choice(SIZES)
        return super().value(k) * BASE + self.sizes[k]

    def slide(self, k: int, value: int) -> None:
        self.windows[k].append(value)
        del self.windows[k][: -(value % BASE)]

    def spoil(self, rows: dict[int, list[int]]) -> bool:
        able = [k for k, values in rows.items() if values]
        if able:
            k = self.chance.choice(able)
            rows[k][self.chance.randrange(len(rows[k]))] = 0
        return bool(able)

    def send(self, pool: Pool, rows: dict[int, list[int]]) -> Any:
        counts = np.array([len(values) for values in rows.values()])
        S, E = np.array([self.begin(k) for k in rows]).T
        plan = Plan(list(rows), np.cumsum(counts) - counts, S, E, count=counts)
        flat = np.array([value for values in rows.values() for value in values], np.int64)
        found, starts = pool.follow_policy(leaves_of(self.operator, flat), plan, POLICY)
        return [*found[0].fields.values(), starts]


@pytest.mark.parametrize("algorithm", BOTH)
def test_sums_that_overflow(algorithm: str) -> None:
    assert sum(Following(algorithm, sash.Sum(), seed).live(40) for seed in range(8)) > 100


@pytest.mark.parametrize("algorithm", BOTH)
def test_policies_that_fail(algorithm: str) -> None:
    assert sum(ByPolicy(algorithm, Sized(), seed).live(40) for seed in range(8)) > 100


@pytest.mark.parametrize("algorithm", BOTH)
@pytest.mark.parametrize("size", SIZES[1:])
def test_one_window(algorithm: str, size: int) -> None:
    chance = random.Random(size)
    window, held = sash.aggregator(algorithm, sash.Sum(), dtype="int64"), []
    for _ in range(12):
        values = [chance.randrange(100) for _ in range(chance.choice([1, 2, size // 3, 3 * size]))]
        bad = np.array([*values, BIG, BIG])
        if held:
            with pytest.raises(OverflowError):
                window.slide(bad, size)
            window.check_invariants(held)
        window.slide(np.array(values, np.int64), size)
        held = [*held, *values][-size:]
        window.check_invariants(held)


@pytest.mark.parametrize("algorithm", BOTH)
def test_little_is_copied_for_few_rows(algorithm: str) -> None:
    """A batch of a few rows for a long window; what it can write over is no more than they need."""
    keys = Following(algorithm, sash.Sum(), seed=0)
    keys.sizes = [1 << 12] * len(keys.sizes)
    for _ in range(3):
        rows = {k: [1] * 3000 for k in range(len(keys.sizes))}
        keys.send(keys.pool, rows)
        for k, values in rows.items():
            keys.came[k] += len(values)
            keys.windows[k] = [1] * min(keys.came[k], 1 << 12)
    some = np.array([1, 3])
    _, sizes = keys.pool.segments._at_risk(0, some, np.array([5, 0]))
    assert sizes.sum() == 2 * 5

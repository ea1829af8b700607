"""The examples that the paper on monoid trees runs, state by state; and windows of all sizes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from cases import Affine

import sash

BOTH = ["amta", "log_mta"]


def window_of(algorithm: str, operator: sash.Operator, values: list[Any]) -> sash.Aggregator:
    window = sash.aggregator(algorithm, operator)
    for value in values:
        window.insert(value)
    return window


def result_pair(window: sash.Aggregator) -> tuple[int, int]:
    lower = window._kept.monoid.lower
    R0, R1 = window._kept.state[-2:]
    return lower(R0), lower(R1)


def stack(window: sash.Aggregator) -> list[int]:
    """From the bottom up, without the identity that it stands on."""
    D = window._kept.state[4]
    return [window._kept.monoid.lower(p) for p in window._kept.rings[2][1 : D + 1]]


@pytest.mark.parametrize("before", [4, 8, 12, 100, 1024])
def test_the_stack_and_the_result_pair(before: int) -> None:
    """Figure 5, for a window that begins at a multiple of four.

    level 0  (1 3) (2 1) (2 1) (1 0) (3 1)
    level 1  (4     3)   (3     1)
    level 2  (7           )
    """
    window = window_of("amta", sash.Sum(), [50] * before + [1, 3, 2, 1, 2, 1, 1, 0, 3, 1])
    window.bulk_evict(before)
    assert (window.query(), result_pair(window), stack(window)) == (15, (7, 8), [3, 6])
    window.evict()
    assert (window.query(), result_pair(window), stack(window)) == (14, (6, 8), [3])
    window.evict()
    assert (window.query(), result_pair(window), stack(window)) == (11, (3, 8), [1])
    window.evict()
    assert (window.query(), result_pair(window), stack(window)) == (9, (1, 8), [])
    # The leftmost tree is used up. The next one is that of (3 1), on level 1; all is formed anew.
    window.evict()
    assert (window.query(), result_pair(window), stack(window)) == (8, (4, 4), [1, 2])
    window.evict()
    assert (window.query(), result_pair(window), stack(window)) == (6, (2, 4), [1])


def test_what_is_inserted_goes_to_the_right_of_the_pair() -> None:
    window = window_of("amta", sash.Sum(), [9, 9, 9, 9, 1, 2, 1, 2, 1, 2, 1, 2])
    window.bulk_evict(4)
    assert (result_pair(window), stack(window)) == ((6, 6), [3, 5])  # Figure 4
    window.insert(1)
    assert (result_pair(window), stack(window)) == ((6, 7), [3, 5])
    window.evict()
    assert (result_pair(window), stack(window)) == ((5, 7), [3])


def test_until_something_leaves_all_is_on_the_right() -> None:
    window = window_of("amta", sash.Sum(), list(range(100)))
    assert result_pair(window) == (0, 4950)
    window.evict()
    assert sum(result_pair(window)) == 4950


@pytest.mark.parametrize("algorithm", BOTH)
def test_the_updates_that_add_up_to_ten(algorithm: str) -> None:
    """Section 3.2: a value leaves if it and all younger ones add up to more than 10."""
    operator = sash.Together(sum=sash.Sum(), max=sash.Max(), last=sash.Last())
    window = window_of(algorithm, operator, [2, 2, 3, 3])

    def too_much(total: Any, old: Any) -> bool:
        return total.sum - old.sum + old.last > 10

    assert window.evict_while(too_much) == 0
    assert window.query().max == 3
    window.insert(4)
    assert window.evict_while(too_much) == 2
    assert (len(window), window.query().max, window.query().sum) == (3, 4, 10)
    assert [window.query(last).sum for last in (1, 2, 3)] == [4, 7, 10]


@pytest.mark.parametrize("algorithm", BOTH)
def test_the_values_of_the_last_four_time_units(algorithm: str) -> None:
    """Figure 2: max of timestamps. The last one leaves all others four or more behind it."""
    window = sash.aggregator(algorithm, sash.Max())
    left = []
    for time in (1, 2, 3, 4, 8):
        window.insert(time)
        left.append(window.evict_while(lambda total, old: total - old >= 4))
    assert left == [0, 0, 0, 0, 4]
    assert (len(window), window.query()) == (1, 8)


def test_log_mta_sums_its_way_up_both_edges() -> None:
    """Figure 1, and one value more; the nodes of the top are [0, 4) and [4, 8)."""
    window = window_of("log_mta", sash.Sum(), [1, 2, 1, 2, 1, 2])
    lower = window._kept.monoid.lower

    def top() -> tuple[int, int, int]:
        _, E, H, left = window._kept.state
        right = window._kept.rings[1][2 * H + ((E - 1) >> H & 1)]
        return H, lower(left), lower(right)

    assert top() == (2, 6, 3)
    window.insert(1)
    assert top() == (2, 6, 4)
    window.evict()
    assert top() == (2, 5, 4)
    window.bulk_evict(3)  # 1 2 1: within two nodes of level 1, which are a pair
    assert top() == (1, 3, 1)
    window.bulk_evict(2)
    assert top() == (0, 0, 1)


@pytest.mark.parametrize("algorithm", BOTH)
def test_windows_that_begin_anywhere(algorithm: str) -> None:
    """Compiled, at sizes around powers of two, for so long that the rings are filled many times."""
    values = np.random.default_rng(4).integers(0, 1000, 20_000)
    for size in (1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025):
        found = sash.aggregator(algorithm, Affine()).slide(values, size)
        expected = sash.aggregator("sba", Affine()).slide(values, size)
        assert np.array_equal(found, expected), size


@pytest.mark.parametrize("algorithm", BOTH)
def test_windows_that_grow_and_shrink(algorithm: str) -> None:
    """From nothing to hundreds of values and back, several times."""
    chance = random.Random(5)
    window = sash.aggregator(algorithm, sash.Collect())
    first = end = 0
    for round_ in range(1_500):
        growing = round_ // 250 % 2 == 0
        if chance.random() < (0.75 if growing else 0.25):
            for _ in range(chance.choice([1, 1, 5])):
                window.insert(end)
                end += 1
        elif first < end:
            count = min(chance.choice([1, 1, 2, 9]), end - first)
            window.bulk_evict(count)
            first += count
        assert window.query() == list(range(first, end))
        last = chance.randint(0, end - first)
        assert window.query(last) == list(range(end - last, end))
        if round_ % 10 == 0:
            window.check_invariants(list(range(first, end)))
    assert first > 0


@pytest.mark.parametrize("algorithm", BOTH)
def test_an_empty_window_has_nothing_to_evict(algorithm: str) -> None:
    window = sash.aggregator(algorithm, sash.Sum())
    for value in range(3):
        with pytest.raises(IndexError, match="empty window"):
            window.evict()
        for k in range(value + 1):
            window.insert(k)
        window.bulk_evict(value + 1)
        assert (len(window), window.query()) == (0, 0)

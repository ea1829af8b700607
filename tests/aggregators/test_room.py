"""Windows that shrink give room back: not while values leave, which may be many at once."""

from __future__ import annotations

import numpy as np
import pytest

import sash

LEFT = 1000


@pytest.mark.parametrize(
    ("algorithm", "by_policy"),
    [
        ("amta", False),
        ("amta", True),
        ("log_mta", False),
        ("log_mta", True),
        ("daba", False),
        ("two_stacks_lite", False),
    ],
)
def test_the_next_value_pays_for_many_that_have_left(algorithm: str, by_policy: bool) -> None:
    window = sash.aggregator(algorithm, sash.Count())
    window.bulk_insert(range(16 * LEFT))
    kept = window._kept
    kept.to_lists()
    room, rings = kept.capacity, [id(ring) for ring in kept.rings]
    if by_policy:
        gone = window.evict_while(lambda total, old: total - old >= LEFT)
        assert gone == 15 * LEFT
    else:
        window.bulk_evict(15 * LEFT)
    assert (kept.capacity, [id(ring) for ring in kept.rings]) == (room, rings)
    assert window.query() == len(window) == LEFT
    window.insert(7)
    assert kept.capacity < room / 4
    assert window.query() == len(window) == LEFT + 1


@pytest.mark.parametrize("algorithm", ["amta", "log_mta", "daba", "two_stacks_lite"])
def test_many_values_at_once_find_smaller_rings_too(algorithm: str) -> None:
    window = sash.aggregator(algorithm, sash.Max())
    window.bulk_insert(np.arange(200 * LEFT, dtype=float))
    window.bulk_evict(199 * LEFT)
    window.bulk_insert(np.arange(600.0))
    assert window._kept.capacity <= 4 * (LEFT + 600)
    assert (len(window), window.query()) == (LEFT + 600, 200 * LEFT - 1)


@pytest.mark.parametrize("algorithm", ["amta", "log_mta", "flat_fat"])
def test_a_window_that_was_loaded_grows_and_shrinks(algorithm: str) -> None:
    window = sash.Window(sash.Max(), "5000i", algorithm=algorithm)
    rows = np.arange(4096)
    window.push_many(rows.astype(float), times=rows)
    window = sash.Window.load(window.save())
    assert window.push(1.0, time=4096) == 4095
    window = sash.Window.load(window.save())
    assert window.push(2.0, time=9000) == 4095  # 4001 and later are left
    assert len(window) == 97


@pytest.mark.parametrize(("rows", "left"), [(16 * LEFT, 0), (700, 3)])
def test_one_that_is_empty_or_was_short_gives_room_back_at_once(rows: int, left: int) -> None:
    window = sash.aggregator("amta", sash.Max())
    window.bulk_insert(range(rows))
    window.bulk_evict(rows - left)
    assert window._kept.capacity <= 16
    assert window.query() == (rows - 1 if left else None)

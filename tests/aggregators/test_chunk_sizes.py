"""The theorems on chunk sizes, by hand."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

import sash
from sash.aggregators.chunk_sizes import measure_call, optimal_chunk, optimal_chunk_of_time
from sash.aggregators.measuring import measure_unit

BY_HAND = [
    # r, s, b
    (1, 1, 1),  # q = 1 ≤ 1 + 0 + 1: b = q
    (2, 1, 2),  # q = 2 ≤ 2
    (3, 1, 2),  # ⌊(1·4 + 0 + 1) / 2⌋
    (4, 1, 3),  # ⌊6 / 2⌋
    (32, 1, 17),  # ⌊34 / 2⌋, as the paper says
    (65_536, 1, 32_769),
    (1 << 20, 1, 524_289),
    (10, 2, 4),  # q = 5 > 3: ⌊(2·6 + 0 + 1) / 3⌋
    (11, 2, 4),  # q = 5 > 4: ⌊(2·6 + 1 + 1) / 3⌋
    (6, 2, 3),  # q = 3 ≤ 3
    (9, 2, 4),  # q = 4 ≤ 2 + 1 + 1
    (10, 3, 3),  # q = 3 ≤ 3 + 1 + 1
    (100, 10, 10),  # q = 10 ≤ 11
    (120, 10, 11),  # q = 12 > 11: ⌊(10·13 + 1) / 11⌋
    (129, 10, 12),  # q = 12 ≤ 10 + 9 + 1
    (1_000, 7, 126),  # q = 142 > 7 + 6 + 1: ⌊(7·143 + 6 + 1) / 8⌋ = 1008 / 8
]


@pytest.mark.parametrize(("reach", "slide", "chunk"), BY_HAND)
def test_theorem_1(reach: int, slide: int, chunk: int) -> None:
    assert optimal_chunk(reach, slide) == chunk


def test_with_the_best_chunk_a_window_covers_one_whole_chunk() -> None:
    for slide in range(1, 12):
        for reach in range(slide, 200):
            assert (reach // slide) // optimal_chunk(reach, slide) == 1, (reach, slide)


def test_the_best_chunk_is_the_longest_whose_sums_are_there_in_time() -> None:
    """b - 2 sums from the right, in the ⊕ that come between its end and a window inside it."""
    for slide in range(1, 9):
        for reach in range(slide, 120):
            q, rest = divmod(reach, slide)
            in_time = [b for b in range(1, q + 1) if b - 2 <= slide * (q + 1 - b) + rest - 1]
            assert optimal_chunk(reach, slide) == max([*in_time, 1])


@pytest.mark.parametrize(
    ("reach", "slide", "unit", "chunk"),
    [
        (3_600, 1, 1e-6, 3_600),  # q = 3600 ≤ (1 + 2e-6) / 1e-6
        (100, 1, 1, 67),  # q > 3: ⌊(100·2 + 1 + 2) / 3⌋
        (1_000, 1, 2, 601),  # ⌊(1000·3 + 1 + 4) / 5⌋
        (1_000, 10, 1, 92),  # ⌊(100·11 + 10 + 2) / 12⌋ = ⌊1112 / 12⌋
    ],
)
def test_theorem_2_where_the_slide_divides_the_range(
    reach: float, slide: float, unit: float, chunk: int
) -> None:
    assert optimal_chunk_of_time(reach, slide, unit) == chunk


@pytest.mark.parametrize(
    ("reach", "slide", "unit", "chunk"),
    [
        (1_005, 10, 1, 93),  # C = 5 + 1 = 6; q = 100 > 18: ⌊(1100 + 12 + 6) / 12⌋
        (201, 2, 1, 76),  # C = 1 + 1 = 2; q = 100 > 6: ⌊(300 + 4 + 2) / 4⌋
        (65, 10, 1, 6),  # q = 6 ≤ 10 + 2 + 6
    ],
)
def test_theorem_2_where_it_does_not(reach: int, slide: int, unit: int, chunk: int) -> None:
    assert optimal_chunk_of_time(reach, slide, unit) == chunk


def test_with_the_best_chunk_of_time_a_window_covers_one_whole_chunk() -> None:
    for slide in range(1, 12):
        for reach in range(slide, 200, 3):
            for unit in (0.01, 0.5, 1, 3, 20):
                b = optimal_chunk_of_time(reach, slide, unit)
                assert (reach // slide) // b == 1, (reach, slide, unit)


@pytest.mark.parametrize(("reach", "slide"), [(0, 1), (5, 0), (5, 6), (-3, -4)])
def test_ranges_and_slides_that_are_none(reach: int, slide: int) -> None:
    with pytest.raises(ValueError, match="slides by"):
        optimal_chunk(reach, slide)
    with pytest.raises(ValueError, match="slides by"):
        optimal_chunk_of_time(reach, slide, 1.0)


def chosen(**options: object) -> list[int]:
    return sash.aggregator("pba", sash.Max(), **options)._settings["chosen"]


def test_options_choose_the_chunk() -> None:
    assert chosen() == [0, 1]
    assert chosen(range=1_000) == [501, 1]
    assert chosen(range=1_000, slide=10) == [optimal_chunk(1_000, 10), 10]
    assert chosen(chunk=7) == [7, 1]


@pytest.mark.parametrize(
    ("reach", "slide"),
    [
        ("1ms", "1us"),
        (timedelta(milliseconds=1), timedelta(microseconds=1)),
        (np.timedelta64(1, "ms"), np.timedelta64(1_000, "ns")),
        ("1ms", timedelta(microseconds=1)),
    ],
)
def test_lengths_of_time_choose_the_chunk(reach: object, slide: object) -> None:
    assert chosen(range=reach, slide=slide, unit=100) == [
        optimal_chunk_of_time(1_000_000, 1_000, 100),
        10,
    ]


def test_the_unit_is_measured_if_it_is_not_given() -> None:
    chunk, steps = chosen(range="1h", slide="1us")
    assert 1 <= steps <= 1_000  # a ⊕ takes between a nanosecond and a microsecond, or longer
    assert 3_600_000_000 // 2 < chunk <= 3_600_000_000  # more than half the window, as ever
    assert measure_call(sash.Collect()) > 1


def test_a_window_of_time_answers_as_any_other() -> None:
    window = sash.aggregator("pba", sash.Sum(), range="20ms", slide="1ms", unit=1_000_000)
    oracle = sash.aggregator("recalc", sash.Sum())
    for value in range(200):
        for one in (window, oracle):
            if len(one) == 20:
                one.evict()
            one.insert(value)
        assert window.query() == oracle.query()


@pytest.mark.parametrize(
    "operator", [sash.Max(), sash.Sum("x"), sash.Together(a=sash.Max("x"), b=sash.Mean("y"))]
)
def test_a_unit_is_some_nanoseconds(operator: sash.Operator) -> None:
    assert 0 < measure_unit(operator) < 1_000_000


def test_a_unit_of_objects() -> None:
    assert measure_unit(sash.Collect()) > 0

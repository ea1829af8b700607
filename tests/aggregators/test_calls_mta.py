"""How often log_mta and amta call ⊕: per slide, and for a bulk eviction of any length."""

from __future__ import annotations

import random
from math import log2
from typing import Any

import numpy as np
import pytest

import sash
from sash.testing import Counting

SIZES = [*range(1, 35), 63, 64, 65, 100, 127, 128, 129, 255, 256, 257]


def filled(algorithm: str, values: range, calls: Counting) -> sash.Aggregator:
    window = sash.aggregator(algorithm, calls.of(sash.Sum()))
    for value in values:
        window.insert(value)
    calls.taken()
    return window


@pytest.mark.parametrize("size", SIZES)
def test_amta_does_few_per_slide_whatever_the_size(size: int) -> None:
    calls = Counting()
    window = filled("amta", range(size), calls)
    slides = 8 * size + 100
    spent = {"evict": 0, "insert": 0, "query": 0}
    most = 0
    for value in range(slides):
        for step in spent:
            window.insert(value) if step == "insert" else getattr(window, step)()
            count = calls.taken()
            spent[step] += count
            most = max(most, count)
    assert sum(spent.values()) <= 5 * slides
    assert spent["insert"] <= 2 * slides
    assert spent["query"] <= slides
    assert most <= 3 * log2(size) + 2


@pytest.mark.parametrize("size", SIZES)
def test_log_mta_does_no_more_than_the_height_of_its_tree(size: int) -> None:
    calls = Counting()
    window = filled("log_mta", range(size), calls)
    slides = 4 * size + 100
    evicts = inserts = 0
    for value in range(slides):
        window.evict()
        count = calls.taken()
        assert count <= log2(size)
        evicts += count
        window.insert(value)
        count = calls.taken()
        assert count <= log2(size) + 1
        inserts += count
        window.query()
        assert calls.taken() <= 1
    assert evicts + inserts <= slides * (log2(size) + 1)


@pytest.mark.parametrize("algorithm", ["amta", "log_mta"])
@pytest.mark.parametrize("size", [2, 3, 8, 9, 31, 64, 1024])
def test_a_bulk_eviction_of_any_length_is_logarithmic(algorithm: str, size: int) -> None:
    """Wherever the window begins, and whatever was evicted before."""
    chance = random.Random(size)
    calls = Counting()
    for count in range(1, size + 1, 1 if size <= 64 else 97):
        window = filled(algorithm, range(size), calls)
        moved = chance.randrange(2 * size)
        for value in range(size, size + moved):
            window.evict()
            window.insert(value)
        calls.taken()
        window.bulk_evict(count)
        assert calls.taken() <= 4 * log2(size)
        expected = sum(range(moved + count, moved + size))
        assert window.query() == expected
        for value in range(3):
            window.insert(value)
            expected += value
            assert window.query() == expected


@pytest.fixture(scope="module", params=[("amta", 20), ("log_mta", 16)], ids=lambda p: p[0])
def large(request: Any) -> tuple[sash.Aggregator, Counting, int]:
    """A window of 2^height values: inserted by compiled code, to go on in plain Python."""
    algorithm, height = request.param
    calls = Counting()
    window = sash.aggregator(algorithm, calls.of(sash.Max()))
    window.bulk_insert(np.arange(2**height, 0, -1))
    window._kept.to_lists()
    return window, calls, height


def test_of_a_million_values(large: tuple[sash.Aggregator, Counting, int]) -> None:
    """The oldest value is the greatest, and each is one less than the one before."""
    window, calls, height = large
    n, kept = 2**height, window._kept
    run, lower = kept.run, kept.monoid.lower
    for count in (1, 2, 3, 1000, n // 2 - 1, n // 2, n - 2, n - 1):
        rings = [kept.rings[0], *(list(ring) for ring in kept.rings[1:])]  # only these are written
        calls.taken()
        state = run.bulk_evict(rings, kept.state, count)
        assert calls.taken() <= 4 * height
        assert run.size(state) == n - count
        assert lower(run.query(rings, state)) == n - count
        for last in {1, (n - count) // 3 + 1, n - count}:
            calls.taken()
            assert lower(run.query_last(rings, state, last)) == last
            assert calls.taken() <= 3 * height
        state = run.evict(rings, state)
        assert calls.taken() <= 4 * height
        if count < n - 1:
            assert lower(run.query(rings, state)) == n - count - 1


@pytest.mark.parametrize("algorithm", ["amta", "log_mta"])
def test_a_slide_policy_asks_a_logarithmic_number_of_questions(algorithm: str) -> None:
    size = 1024
    calls = Counting()
    for kept in (1, 2, 3, 100, 511, 512, 513, 900, 1023, 1024):
        window = sash.aggregator(algorithm, calls.of(sash.Sum()))
        for _ in range(size + 300):
            if len(window) == size:
                window.evict()
            window.insert(1)
        asked = 0
        calls.taken()

        def too_old(total: int, old: int, kept: int = kept) -> bool:
            nonlocal asked
            asked += 1
            return total - old >= kept

        assert window.evict_while(too_old) == size - kept
        assert asked <= 3 * log2(size)
        assert calls.taken() <= 6 * log2(size)
        assert window.query() == kept


@pytest.mark.parametrize("algorithm", ["amta", "log_mta"])
def test_a_slide_policy_that_lets_few_values_go_asks_few_questions(algorithm: str) -> None:
    calls = Counting()
    window = sash.aggregator(algorithm, calls.of(sash.Sum()))
    window.bulk_insert([1] * 5000)
    asked = []
    for _ in range(100):
        window.insert(1)
        questions = 0

        def too_old(total: int, old: int) -> bool:
            nonlocal questions
            questions += 1
            return total - old >= 5000

        assert window.evict_while(too_old) == 1
        asked.append(questions)
    assert max(asked) <= 14
    assert sum(asked) <= 4 * len(asked)


@pytest.mark.parametrize("algorithm", ["amta", "log_mta"])
def test_two_partials_per_value_and_a_logarithm(algorithm: str) -> None:
    """In `levels` two for each value there is room for, at most; what is at hand grows slowly."""
    window = sash.aggregator(algorithm, sash.Sum())
    for value in range(1024):
        window.insert(value)
    levels, *at_hand = window._kept.rings
    assert len(levels) == 2 * 1024
    assert sum(map(len, at_hand)) <= 3 * 10 + 8

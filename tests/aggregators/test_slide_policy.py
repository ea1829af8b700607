"""Eviction by a slide policy, against a loop that tries one value more at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cases import Affine
from hypothesis import given
from hypothesis import strategies as st

import sash

BOTH = ["amta", "log_mta"]


def leaving(operator: sash.Operator, values: list[Any], policy: Callable[[Any, Any], bool]) -> int:
    """The most of the oldest values for which the policy is True, by trying."""

    def answer(some: list[Any]) -> Any:
        window = sash.aggregator("recalc", operator, dtype="int64")
        for value in some:
            window.insert(value)
        return window.query()

    total = answer(values)
    count = 0
    while count < len(values) and policy(total, answer(values[: count + 1])):
        count += 1
    return count


@pytest.mark.parametrize("algorithm", BOTH)
@given(data=st.data())
def test_any_window_and_limit(algorithm: str, data: st.DataObject) -> None:
    """A window that grows, shrinks, and keeps what adds up to a limit."""
    operator = sash.Together(sum=sash.Sum(), n=sash.Count(), own=Affine())
    window = sash.aggregator(algorithm, operator, dtype="int64")
    values: list[Any] = []
    for _ in range(data.draw(st.integers(1, 6))):
        more = data.draw(st.lists(st.one_of(st.none(), st.integers(0, 4)), max_size=40))
        for value in more:
            window.insert(value)
        values += more
        alone = data.draw(st.integers(0, min(3, len(values))))
        for _ in range(alone):
            window.evict()
        values = values[alone:]
        limit = data.draw(st.integers(0, 60))
        by = data.draw(st.sampled_from(["sum", "n"]))

        def beyond(total: Any, old: Any, by: str = by, limit: int = limit) -> bool:
            return getattr(total, by) - getattr(old, by) >= limit

        expected = leaving(operator, values, beyond)
        assert window.evict_while(beyond) == expected
        values = values[expected:]
        assert len(window) == len(values)
        oracle = sash.aggregator("recalc", operator, dtype="int64")
        for value in values:
            oracle.insert(value)
        assert window.query() == oracle.query()
        window.check_invariants(values)


@pytest.mark.parametrize("algorithm", BOTH)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 9, 31, 32, 33])
def test_every_number_of_values_to_keep(algorithm: str, size: int) -> None:
    for start in range(9):
        for keep in range(size + 2):
            window = sash.aggregator(algorithm, sash.Collect())
            for value in range(start + size):
                window.insert(value)
            window.bulk_evict(start)
            count = window.evict_while(lambda total, old, keep=keep: len(total) - len(old) >= keep)
            assert count == max(0, size - keep)
            assert window.query() == list(range(start + count, start + size))


@pytest.mark.parametrize("algorithm", BOTH)
def test_none_and_all_of_a_window(algorithm: str) -> None:
    window = sash.aggregator(algorithm, sash.Max())
    assert window.evict_while(lambda total, old: True) == 0
    window.insert(None)
    assert window.evict_while(lambda total, old: old is not None) == 0
    assert window.evict_while(lambda total, old: old is None) == 1
    for value in (5, 3, 4):
        window.insert(value)
    assert window.evict_while(lambda total, old: False) == 0
    assert window.query() == 5
    assert window.evict_while(lambda total, old: True) == 3
    assert (len(window), window.query()) == (0, None)
    window.insert(1)
    assert window.query() == 1


@pytest.mark.parametrize("algorithm", BOTH)
def test_nulls_have_no_answer(algorithm: str) -> None:
    window = sash.aggregator(algorithm, sash.Max())
    seen = []
    for value in (None, None, 3, None, 7):
        window.insert(value)
    assert window.evict_while(lambda total, old: seen.append(old) or old is None) == 2
    assert None in seen
    assert window.query() == 7
    window.bulk_evict(2)
    assert window.query() == 7
    window.evict()
    assert window.query() is None


@pytest.mark.parametrize("algorithm", BOTH)
def test_answers_taken_from_rows(algorithm: str) -> None:
    """A session by hand: rows leave up to the last one that is marked."""
    operator = sash.Together(mark=sash.Last("mark"), who=sash.ArgMax("len", "who"))
    window = sash.aggregator(algorithm, operator)
    for k, mark in enumerate("aabbb"):
        window.insert({"mark": mark, "len": 10 - k, "who": f"w{k}"})
    assert window.query() == ("b", "w0")
    assert window.evict_while(lambda total, old: old.mark != total.mark) == 2
    assert window.query() == ("b", "w2")


@pytest.mark.parametrize("algorithm", BOTH)
def test_after_a_bulk_insert(algorithm: str) -> None:
    window = sash.aggregator(algorithm, sash.Max())
    window.bulk_insert(np.arange(5_000))
    assert window.evict_while(lambda total, old: total - old >= 100) == 4_900
    assert (len(window), window.query(), window.query(1)) == (100, 4_999, 4_999)
    window.insert(4_999)
    assert len(window._kept.rings[0]) <= 8 * 101  # the room of those that left is given back
    window.bulk_insert(np.arange(5_000, 6_000))
    assert window.evict_while(lambda total, old: total - old >= 100) == 1_001


@pytest.mark.parametrize("algorithm", BOTH)
def test_a_policy_that_fails_leaves_the_window_whole(algorithm: str) -> None:
    window = sash.aggregator(algorithm, sash.Sum())
    for value in range(20):
        window.insert(value)

    def fails(total: int, old: int) -> bool:
        if old > 30:
            raise RuntimeError("as written")
        return True

    with pytest.raises(RuntimeError, match="as written"):
        window.evict_while(fails)
    assert (len(window), window.query()) == (20, 190)
    window.check_invariants(list(range(20)))


def test_an_algorithm_without_it_names_those_that_have_it() -> None:
    window = sash.aggregator("daba", sash.Sum())
    with pytest.raises(TypeError, match=r"daba does not evict by a slide policy.*log_mta.*amta"):
        window.evict_while(lambda total, old: True)

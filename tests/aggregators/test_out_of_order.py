"""Rows by time, in any order of arrival: fiba and what is made of it, against a sorted list."""

from __future__ import annotations

import random
from bisect import insort
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from cases import CASES, Affine, Case
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from oracle import alike, answer_for

import sash
from sash.aggregators import (
    fiba,
    fiba_checks,
    fiba_growing,
    fiba_nodes,
    fiba_ranges,
    fiba_shrinking,
)

FILES = (fiba, fiba_checks, fiba_growing, fiba_nodes, fiba_ranges, fiba_shrinking)
NAMES = (
    *("Collect()", "Affine()", "ArgMax()", "Max()", "Sum()", "First()", "Last()", "Mean()"),
    *("Concat()", "Together(n=Count(), lo=Min(), sd=StdDev())"),
)
SOME = [case for case in CASES if case.name in NAMES]
SOME_ORDER = next(case for case in SOME if case.name == "Collect()")


@contextmanager
def nodes_of(width: int) -> Iterator[None]:
    """Narrow nodes make a high tree of few entries."""
    before = fiba_nodes.WIDTH
    set_width(width)
    try:
        yield
    finally:
        set_width(before)


def set_width(width: int) -> None:
    for file in FILES:
        for name, number in (("WIDTH", width), ("HALF", width // 2)):
            if hasattr(file, name):
                setattr(file, name, number)


def machine(case: Case) -> type[RuleBasedStateMachine]:
    values = st.one_of(st.none(), case.values, case.values, case.values)
    times = st.integers(-12, 12)

    class Window(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.window = sash.aggregator("fiba", case.operator)
            self.entries: list[tuple[int, int, Any]] = []
            self.rows = 0
            self.newest = 0

        def note(self, value: Any, time: int) -> None:
            insort(self.entries, (time, self.rows, value), key=lambda entry: entry[:2])
            self.rows += 1

        @rule(more=st.lists(st.tuples(values, times), min_size=1, max_size=12))
        def insert(self, more: list[tuple[Any, int]]) -> None:
            for value, behind in more:
                self.newest = max(self.newest, self.newest - behind)
                self.window.insert(value, self.newest - abs(behind))
                self.note(value, self.newest - abs(behind))

        @rule(more=st.lists(values, min_size=1, max_size=9), step=st.integers(0, 2))
        def insert_in_order(self, more: list[Any], step: int) -> None:
            for value in more:
                self.newest += step
                self.window.insert(value, self.newest)
                self.note(value, self.newest)

        @rule(more=st.lists(st.tuples(case.values, times), min_size=1, max_size=9))
        def bulk_insert(self, more: list[tuple[Any, int]]) -> None:
            given = [value for value, _ in more]
            at = [self.newest + ahead for _, ahead in more]
            if isinstance(given[0], tuple):
                given = tuple(list(column) for column in zip(*given, strict=True))
            self.window.bulk_insert(given, times=at)
            for (value, _), time in zip(more, at, strict=True):
                self.note(value, time)
            self.newest = max(self.newest, *at)

        @precondition(lambda self: self.entries)
        @rule(times=st.integers(1, 9))
        def evict(self, times: int) -> None:
            for _ in range(min(times, len(self.entries))):
                self.window.evict()
                del self.entries[0]

        @precondition(lambda self: self.entries)
        @rule(share=st.sampled_from([0.1, 0.3, 0.7, 0.95, 1.0]))
        def bulk_evict(self, share: float) -> None:
            count = int(share * len(self.entries))
            self.window.bulk_evict(count)
            del self.entries[:count]

        @rule(behind=st.integers(-1, 40))
        def evict_up_to(self, behind: int) -> None:
            if self.rows:
                cut = self.newest - behind
                self.window.bulk_evict(up_to=cut)
                self.entries = [entry for entry in self.entries if entry[0] > cut]

        @precondition(lambda self: self.entries)
        @rule(ends=st.tuples(st.integers(-30, 5), st.integers(-30, 5)))
        def query_a_range(self, ends: tuple[int, int]) -> None:
            start, end = (self.newest + end for end in ends)
            within = [value for time, _, value in self.entries if start <= time < end]
            since = [value for time, _, value in self.entries if start <= time]
            found = self.window.query(start=start, end=end)
            assert alike(found, answer_for(case.operator, within))
            assert alike(self.window.query(start=start), answer_for(case.operator, since))

        @precondition(lambda self: self.entries)
        @rule(share=st.floats(0, 1))
        def query_the_last(self, share: float) -> None:
            count = int(share * len(self.entries))
            values = [value for _, _, value in self.entries[len(self.entries) - count :]]
            assert alike(self.window.query(count), answer_for(case.operator, values))

        @invariant()
        def answers_as_the_oracle(self) -> None:
            values = [value for _, _, value in self.entries]
            assert len(self.window) == len(values)
            self.window.check_invariants(values)
            assert alike(self.window.query(), answer_for(case.operator, values))

    return Window


# Every operator in high trees; in those of the real width, one that shows every slip of order.
@pytest.mark.parametrize(
    ("case", "width"),
    [
        *[pytest.param(case, 4, id=case.name) for case in SOME],
        *[pytest.param(SOME_ORDER, width, id=f"width {width}") for width in (6, 16)],
    ],
)
def test_any_order(case: Case, width: int) -> None:
    default = settings()
    with nodes_of(width):
        run_state_machine_as_test(
            machine(case),
            settings=settings(
                default, max_examples=max(6, default.max_examples // 5), stateful_step_count=25
            ),
        )


@pytest.mark.parametrize("width", [4, 16])
@pytest.mark.parametrize("spread", [1, 30, 3_000])
def test_a_long_run(width: int, spread: int) -> None:
    """Trees of several levels, which grow, slide and shrink."""
    chance = random.Random(spread)
    with nodes_of(width):
        window = sash.aggregator("fiba", Affine())
        entries: list[tuple[int, int, int]] = []
        for row in range(4_000):
            time = row - chance.randrange(spread)
            window.insert(row % 97, time)
            insort(entries, (time, row, row % 97))
            target = 300 + 250 * (row // 1_000 % 2)
            while len(entries) > target:
                many = chance.choice([1, 1, 1, 20, 200])
                window.bulk_evict(many)
                del entries[:many]
            if row % 40 == 0:
                values = [value for _, _, value in entries]
                window.check_invariants(values)
                assert window.query() == answer_for(Affine(), values)


def test_partials_stay_with_their_rows_when_they_leave_by_time() -> None:
    """The newest arrival is the oldest row: its payload and its null go first."""
    window = sash.aggregator("fiba", sash.ArgMax())
    for key, who, time in ((2, "b", 20), (3, "c", 30), (9, "a", 10)):
        window.insert((key, who), time)
    assert window.query() == "a"
    window.evict()
    assert window.query() == "c"
    nulls = sash.aggregator("fiba", sash.Max())
    for value, time in ((7, 20), (None, 30), (None, 10)):
        nulls.insert(value, time)
    assert (nulls.query(start=25), nulls.query(start=15), nulls.query(1)) == (None, 7, None)
    nulls.bulk_evict(up_to=20)
    assert (len(nulls), nulls.query()) == (1, None)


class TestNullsBeforeTheFirstValue:
    def test_they_keep_their_times(self) -> None:
        window = sash.aggregator("fiba", sash.Collect())
        window.insert(None, 30)
        window.insert(None, 10)
        window.evict()
        window.insert("x", 20)
        assert (len(window), window.query()) == (2, ["x"])
        window.evict()
        assert (len(window), window.query()) == (1, [])

    def test_they_leave_by_time_and_count_for_nothing(self) -> None:
        window = sash.aggregator("fiba", sash.Max())
        for time in (30, 10, 20):
            window.insert(None, time)
        assert window.query(start=15) is None
        window.bulk_evict(up_to=20)
        assert len(window) == 1


@pytest.mark.parametrize(("operator", "nulls"), [(sash.Max(), True), (Affine(), False)], ids=repr)
def test_compiled_and_single_calls(operator: sash.Operator, nulls: bool) -> None:
    """Many rows at once, late and not, with single calls between, in a window that stays long."""
    chance = random.Random(7)
    window = sash.aggregator("fiba", operator)
    entries: list[tuple[int, int, Any]] = []
    row, newest = 0, 0
    for spread in (0, 50, 20_000, 300, 5, 20_000, 50):
        values: list[Any] = [chance.randrange(100) for _ in range(700)]
        if nulls:
            values[3:700:9] = [None] * len(values[3:700:9])
        times = [newest + i - chance.randrange(spread + 1) for i in range(700)]
        window.bulk_insert(values, times)
        newest = max(newest, *times)
        for value, time in zip(values, times, strict=True):
            insort(entries, (time, row, value), key=lambda entry: entry[:2])
            row += 1
        for _ in range(3):
            window.insert(5, newest - spread)
            insort(entries, (newest - spread, row, 5), key=lambda entry: entry[:2])
            row += 1
            window.evict()
            del entries[0]
        count = chance.choice([10, 200])
        window.bulk_evict(count)
        del entries[:count]
        start, end = newest - 400, newest - 100
        within = [value for time, _, value in entries if start <= time < end]
        assert window.query(start=start, end=end) == answer_for(operator, within)
        held = [value for _, _, value in entries]
        assert window.query(400) == answer_for(operator, held[-400:])
        assert window.query() == answer_for(operator, held)
    window.check_invariants([value for _, _, value in entries])


def test_an_error_half_way_through_a_batch_leaves_the_window_as_it_was() -> None:
    @sash.operator(partial={"total": "int64"}, commutative=True)
    class Small:
        def identity():
            return 0

        def lift(v):
            return v

        def combine(a, b):
            if a.total + b.total > 10_000:
                raise ValueError("too much")
            return a.total + b.total

        def lower(p):
            return p.total

    window = sash.aggregator("fiba", Small())
    window.bulk_insert(np.ones(600, np.int64), np.arange(600))
    for times in (np.arange(600) + 50, np.arange(600) + 600):
        with pytest.raises(ValueError, match="too much"):
            window.bulk_insert(np.full(600, 100), times)
    assert (len(window), window.query()) == (600, 600)
    window.check_invariants([1] * 600)

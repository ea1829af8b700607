"""FlatFAT: the tree by itself, values removed and replaced anywhere, and how often ⊕ is called."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from cases import CASES, Case
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import sash
from sash.aggregators import flat_fat
from sash.aggregators.binding import Rows, bind
from sash.aggregators.rings import as_lists
from sash.operators.laws import close
from sash.testing import Counting


class Tree:
    """A FlatFAT of n leaves, and the ⊕ it takes."""

    def __init__(self, values: list[int]) -> None:
        self.calls = Counting()
        monoid = self.calls.of(sash.Collect()).bind("object")
        self.lift, self.lower = monoid.lift, monoid.lower
        self.run = bind(flat_fat, monoid)
        self.rings = as_lists(flat_fat, monoid, len(values))
        self.n = len(values)
        for i, value in enumerate(values):
            self.write(i, value)
        self.run.update_between(self.rings[0], self.n, 2 * self.n - 1)

    def write(self, i: int, value: int) -> None:
        self.rings[0][self.n + i] = self.lift(value)

    def values(self, p: Any) -> list[int]:
        found: list[int] = self.lower(p)
        return found


@pytest.mark.parametrize("n", [1, 2, 4, 8, 64, 1024])
def test_a_new_tree_takes_n_minus_1(n: int) -> None:
    tree = Tree(list(range(n)))
    assert tree.calls.taken() == n - 1
    assert tree.values(tree.rings[0][1]) == list(range(n))
    assert tree.calls.taken() == 0  # aggregate reads the root


@pytest.mark.parametrize("n", [1, 2, 8, 64, 1024])
def test_m_writes_take_at_most_m_times_1_plus_log_n_over_m(n: int) -> None:
    chance = random.Random(n)
    for m in [m for m in (1, 2, 3, 5, 8, 17, 64, 100, 1000, 1024) if m <= n]:
        for _ in range(5):
            tree = Tree(list(range(n)))
            tree.calls.taken()
            places = sorted(chance.sample(range(n), m))
            expected = list(range(n))
            for k, place in enumerate(places):
                tree.write(place, -place - 1)
                expected[place] = -place - 1
                tree.rings[2][k] = n + place
            tree.run.propagate(tree.rings, m)
            assert tree.calls.taken() <= m * (1 + math.ceil(math.log2(n / m)))
            assert tree.values(tree.rings[0][1]) == expected


class Bounded:
    """A window of so many slots that `slide_bounds` and its kin move over rows, in plain Python."""

    def __init__(self, operator: Any, slots: int, rows: int) -> None:
        self.calls = Counting()
        self.monoid = self.calls.of(operator).bind("object")
        self.run = bind(flat_fat, self.monoid)
        self.rings = as_lists(flat_fat, self.monoid, slots)
        self.rows = Rows([[list(range(rows))]])
        self.answered: list[int] = []
        """The ⊕ of each answer."""

    def out(self, count: int) -> Any:
        calls, answered = self.calls, self.answered

        class Out(list[Any]):
            def __setitem__(self, j: Any, value: Any) -> None:
                answered.append(calls.taken())
                super().__setitem__(j, value)

        return Out([None] * count)


@pytest.mark.parametrize("size", [1, 2, 8, 64, 256])
def test_m_rows_between_two_answers_take_at_most_m_times_1_plus_log_n_over_m(size: int) -> None:
    for m in [m for m in (1, 2, 3, 4, 7, 16, 50, 64, 100, 256) if m <= size]:
        ends = [size + m * k for k in range(3 * size // m + 2)]
        starts = [end - size for end in ends]
        window = Bounded(sash.Sum(), size, ends[-1])
        out = window.out(len(ends))
        bounds = (starts, ends, 0, len(ends))
        window.run.slide_bounds(window.rings, window.run.new(), window.rows, *bounds, out)
        assert list(out) == [sum(range(s, e)) for s, e in zip(starts, ends, strict=True)]
        filling, *slides = window.answered
        assert filling == size - 1
        # Rows that enter a full window are written where those that leave stood: m writes.
        assert max(slides) <= m * (1 + math.ceil(math.log2(size / m)))


@pytest.mark.parametrize("slots", [8, 16])
def test_rows_that_leave_and_enter_together_update_each_node_once(slots: int) -> None:
    sizes = (slots // 2 + 1, slots - 3, slots - 1, slots)
    for size, m in [(n, m) for n in sizes for m in range(1, n + 1)]:
        ends = [size + m * k for k in range(20)]
        starts = [end - size for end in ends]
        window = Bounded(sash.Sum(), slots, ends[-1])
        out = window.out(len(ends))
        bounds = (starts, ends, 0, len(ends))
        window.run.slide_bounds(window.rings, window.run.new(), window.rows, *bounds, out)
        for start, calls in zip(starts[:-1], window.answered[1:], strict=True):
            changed = {
                p % slots
                for p in (*range(start, start + m), *range(start + size, start + size + m))
            }
            above: set[int] = set()
            level = {slots + leaf for leaf in changed}
            while max(level) > 1:
                level = {h >> 1 for h in level}
                above |= level
            assert calls == len(above)


@st.composite
def all_bounds(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Windows that only go forwards; some empty, some beyond all that was before."""
    bounds, start, end = [], 0, 0
    for _ in range(draw(st.integers(1, 12))):
        start += draw(st.integers(0, 9))
        end = max(start, end + draw(st.integers(0, 9)))
        start = max(start, end - 16)
        bounds.append((start, end))
    return bounds


@given(all_bounds(), st.integers(0, 3), st.integers(0, 3))
def test_windows_of_any_bounds(bounds: list[tuple[int, int]], more: int, less: int) -> None:
    starts, ends = map(list, zip(*bounds, strict=True))
    window = Bounded(sash.Collect(), 16, ends[-1] + more)
    expected = [list(range(s, e)) for s, e in bounds]
    count = len(bounds)
    first = starts[0]
    S_then, E_then = min(starts[-1] + less + more, ends[-1] + more), ends[-1] + more
    for entry, given_bounds, then in (
        ("slide_bounds", (starts, ends, 0, count), bounds[-1]),
        ("timed_bounds", (starts, ends, count), bounds[-1]),
        ("follow", (first, first, first, starts, ends, 0, count, S_then, E_then), (S_then, E_then)),
    ):
        rings, out = as_lists(flat_fat, window.monoid, 32), [None] * count
        ticks = ([0] * count,) if entry == "timed_bounds" else ()
        run = getattr(window.run, entry)
        state = run(rings, window.run.new(), window.rows, *given_bounds, out, *ticks)
        assert out == expected
        held = [window.monoid.lift(value) for value in range(*then)]
        window.run.check_invariants(rings, state, held)


def test_the_writes_of_figure_4_update_each_node_above_them_once() -> None:
    tree = Tree([1, 2, 3, 4, 5, 6, 7, 8])
    tree.calls.taken()
    for k, place in enumerate([0, 1, 3, 6]):
        tree.write(place, 0)
        tree.rings[2][k] = 8 + place
    tree.run.propagate(tree.rings, 4)
    assert tree.calls.taken() == 6  # a, b, d; e, f; g
    assert tree.values(tree.rings[0][1]) == [0, 0, 3, 0, 5, 6, 0, 8]


@pytest.mark.parametrize("n", [1, 2, 8, 64])
def test_prefix_and_suffix_take_at_most_log_n(n: int) -> None:
    tree = Tree(list(range(n)))
    tree.calls.taken()
    for i in range(n):
        assert tree.values(tree.run.prefix(tree.rings[0], i)) == list(range(i + 1))
        assert tree.calls.taken() <= math.log2(n)
        assert tree.values(tree.run.suffix(tree.rings[0], i)) == list(range(i, n))
        assert tree.calls.taken() <= math.log2(n)


def test_the_inverted_buffer_of_figure_5() -> None:
    """4 7 3 2 arrive, 4 leaves, 9 arrives: the slots are 9 7 3 2, and the answer starts at 7."""
    window = sash.aggregator("flat_fat", sash.Collect())

    def slots() -> list[Any]:
        return [window._kept.monoid.lower(leaf) for leaf in window._kept.rings[0][4:]]

    for value in (4, 7, 3, 2):
        window.insert(value)
    assert (slots(), window.query()) == ([[4], [7], [3], [2]], [4, 7, 3, 2])
    window.evict()
    assert (slots(), window.query()) == ([[], [7], [3], [2]], [7, 3, 2])
    window.insert(9)
    assert (slots(), window.query()) == ([[9], [7], [3], [2]], [7, 3, 2, 9])
    root = window._kept.monoid.lower(window._kept.rings[0][1])
    assert root == [9, 7, 3, 2]  # what the root alone would say


def test_a_full_buffer_with_a_quarter_of_holes_is_compacted_and_else_doubled() -> None:
    window = sash.aggregator("flat_fat", sash.Collect())
    handles = [window.insert(i) for i in range(16)]
    assert window._kept.capacity == 16
    for handle in handles[5:9]:
        window.evict(handle)
    window.insert(16)  # 12 of 16: the holes are closed
    assert window._kept.capacity == 16
    assert window._kept.used() == len(window) == 13
    for i in range(17, 20):
        window.insert(i)
    window.evict(handles[3])
    window.insert(20)  # 15 of 16: there is little to gain
    assert window._kept.capacity == 32
    assert window.query() == [0, 1, 2, 4, *range(9, 21)]


def test_a_buffer_that_is_less_than_a_quarter_full_shrinks_by_half() -> None:
    window = sash.aggregator("flat_fat", sash.Collect())
    for i in range(64):
        window.insert(i)
    assert window._kept.capacity == 64
    while len(window) > 16:
        window.evict()
    assert window._kept.capacity == 64
    window.evict()
    assert window._kept.capacity == 32
    assert window.query() == list(range(49, 64))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 64, 100])
def test_a_slide_takes_two_ways_up_the_tree(size: int) -> None:
    calls = Counting()
    window = sash.aggregator("flat_fat", calls.of(sash.Sum()))
    for value in range(size):
        window.insert(value)
    height = int(math.log2(window._kept.capacity))
    calls.taken()
    for value in range(3 * size):
        window.insert(value)
        window.evict()
        window.query()
        assert calls.taken() <= 2 * (height + 1) + 2 ** (height + 1)  # it grows at most once
        height = int(math.log2(window._kept.capacity))
    for value in range(3 * size):
        window.evict()
        assert calls.taken() <= height
        window.insert(value)
        assert calls.taken() <= height
        window.query()
        assert calls.taken() == 0  # a sum does not mind the order


def handled(case: Case) -> type[RuleBasedStateMachine]:
    values = st.one_of(st.none(), case.values, case.values, case.values)

    class Window(RuleBasedStateMachine):
        """Against a dict, which is in the order of insertion whatever leaves it."""

        def __init__(self) -> None:
            super().__init__()
            self.window = sash.aggregator("flat_fat", case.operator)
            self.held: dict[int, object] = {}

        @rule(more=st.lists(values, min_size=1, max_size=8))
        def insert(self, more: list[object]) -> None:
            for value in more:
                self.held[self.window.insert(value)] = value

        @precondition(lambda self: self.held)
        @rule(at=st.integers(0, 10**6))
        def evict_any(self, at: int) -> None:
            handle = list(self.held)[at % len(self.held)]
            self.window.evict(handle)
            del self.held[handle]
            with pytest.raises(IndexError, match="handle"):
                self.window.evict(handle)

        @precondition(lambda self: self.held)
        @rule(share=st.sampled_from([0.0, 0.5, 1.0]))
        def evict_oldest(self, share: float) -> None:
            count = max(1, int(share * len(self.held)))
            self.window.bulk_evict(count)
            for handle in list(self.held)[:count]:
                del self.held[handle]

        @precondition(lambda self: self.held)
        @rule(picked=st.lists(st.tuples(st.integers(0, 10**6), values), min_size=1, max_size=6))
        def update(self, picked: list[tuple[int, object]]) -> None:
            handles = list(self.held)
            changed = {handles[at % len(handles)]: value for at, value in picked}
            self.window.update(changed)
            self.held.update(changed)

        @invariant()
        def answers_as_the_oracle(self) -> None:
            values = list(self.held.values())
            assert len(self.window) == len(values)
            self.window.check_invariants(values)
            assert close(self.window.query(), answer(case, values))
            for at in {0, len(values) // 2, len(values) - 1} if values else ():
                handle = list(self.held)[at]
                assert close(self.window.prefix(handle), answer(case, values[: at + 1]))
                assert close(self.window.suffix(handle), answer(case, values[at:]))
                assert close(self.window.query(at), answer(case, values[len(values) - at :]))

    return Window


def answer(case: Case, values: list[object]) -> object:
    oracle = sash.aggregator("recalc", case.operator)
    for value in values:
        oracle.insert(value)
    return oracle.query()


NON_FIFO = ("Collect()", "Concat()", "Sum()", "ArgMax()", "Affine()", "Mean()", "First()")


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name in NON_FIFO], ids=lambda case: case.name
)
def test_values_leave_and_change_anywhere(case: Case) -> None:
    run_state_machine_as_test(
        handled(case), settings=settings(settings(), max_examples=20, stateful_step_count=20)
    )


def test_holes_do_not_reach_compiled_loops() -> None:
    window = sash.aggregator("flat_fat", sash.Sum())
    handles = [window.insert(i) for i in range(20)]
    for handle in handles[1:18:2]:
        window.evict(handle)
    held = [i for i in range(20) if i not in handles[1:18:2]]
    answers = window.slide(list(range(100, 140)), 15)
    expected = [*held, *range(100, 140)]
    for k, found in enumerate(answers):
        assert found == sum(expected[max(0, len(held) + k + 1 - 15) : len(held) + k + 1])
    assert window.insert(1) == 60
    assert window.query() == sum(range(125, 140)) + 1
    window.evict(58)
    assert window.query() == sum(range(125, 140)) + 1 - 138


def test_a_handle_is_refused_by_other_algorithms() -> None:
    window = sash.aggregator("daba", sash.Sum())
    assert window.insert(1) is None
    with pytest.raises(TypeError):
        window.evict(0)

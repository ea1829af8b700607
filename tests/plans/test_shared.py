"""Queries that are computed together answer as each of them alone: all operators, all windows."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from cases import CASES, Case
from hypothesis import given
from hypothesis import strategies as st
from plans.alone import Alone, assert_same

import sash
from sash.plans.slicing import TECHNIQUES, Technique

counted = st.builds(
    lambda size, every: sash.last(size, every=every), st.integers(1, 12), st.integers(1, 7)
)
timed = st.builds(
    lambda size, every, offset: sash.last(f"{size}i", every=f"{every}i", offset=f"{offset}i"),
    *(st.integers(1, 12), st.integers(1, 7), st.integers(0, 6)),
)
at_rows = st.builds(
    lambda size, every: sash.last(f"{size}i", every=every), st.integers(1, 12), st.integers(1, 3)
)
others = st.sampled_from(
    [
        sash.session("2i"),
        sash.last(3, every="4i"),
        sash.last("5i", closed="both"),
        sash.tumbling(4),
        sash.tumbling("5i"),
    ]
)
windows = st.one_of(counted, timed, at_rows, others)


@st.composite
def batches(draw: Any, values: Any) -> list[tuple[list[Any], list[int]]]:
    """Rows in order, some at the same time, some after a long while; in some batches."""
    count = draw(st.integers(0, 40))
    steps = draw(
        st.lists(st.sampled_from([0, 0, 1, 1, 1, 2, 3, 30]), min_size=count, max_size=count)
    )
    times = np.cumsum(steps).astype(int).tolist()
    given = draw(
        st.lists(st.one_of(values, values, values, st.none()), min_size=count, max_size=count)
    )
    cuts = sorted(draw(st.lists(st.integers(0, count), max_size=4)))
    edges = [0, *cuts, count]
    return [(given[a:b], times[a:b]) for a, b in pairwise(edges)]


def as_given(case: Case, values: list[Any]) -> Any:
    if not isinstance(case.pool[0], tuple):
        return values
    pairs = [value or (None, None) for value in values]
    return {"k": [pair[0] for pair in pairs], "v": [pair[1] for pair in pairs]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@given(data=st.data())
def test_as_alone(case: Case, data: st.DataObject) -> None:
    asked = data.draw(st.lists(windows, min_size=1, max_size=6))
    sizes = st.sampled_from([1, 1, 1, 2, 3])
    emits = st.sampled_from(["every", "every", "changes"])
    queries = {
        f"q{k}": sash.query(case.operator, window, min_size=data.draw(sizes), emit=data.draw(emits))
        for k, window in enumerate(asked)
    }
    plan = sash.share(queries, slicing=data.draw(st.sampled_from(TECHNIQUES)))
    alone = Alone(queries)
    for values, times in data.draw(batches(case.values)):
        rows = as_given(case, values)
        assert_same(plan.push_many(rows, times), alone.push_many(rows, times))
    assert_same(plan.finish(), alone.finish())


@given(data=st.data())
def test_many_operators_over_a_column(data: st.DataObject) -> None:
    """One partial serves several of them, whatever they are asked with."""
    operators = st.sampled_from(
        [
            *(sash.Sum(), sash.Count(), sash.Mean(), sash.Variance(), sash.StdDev(ddof=0)),
            *(sash.Min(), sash.Max(), sash.Range(), sash.MaxCount(), sash.MinCount()),
            *(sash.Skewness(), sash.Kurtosis(), sash.Collect(), sash.First()),
            sash.Together(mean=sash.Mean(), most=sash.Max(), n=sash.Count()),
        ]
    )
    pairs = data.draw(st.lists(st.tuples(operators, windows), min_size=1, max_size=20))
    queries = {f"q{k}": sash.query(op, window) for k, (op, window) in enumerate(pairs)}
    numbers = data.draw(st.sampled_from([[-2, 0, 1, 5], [-2.5, 0.0, 1.5, 1e3]]))
    lateness = data.draw(st.sampled_from([None, "3i"]))
    plan, alone = sash.share(queries, lateness=lateness), Alone(queries, lateness)
    for values, times in data.draw(batches(st.sampled_from(numbers))):
        if lateness is not None and len(times) > 2:
            times = [t - (i % 3) for i, t in enumerate(times)]
        assert_same(plan.push_many(values, times), alone.push_many(values, times))
    assert plan.late == max((each.late for each in alone.windows.values()), default=0)
    assert_same(plan.finish(), alone.finish())


@given(data=st.data())
def test_queries_that_come_and_go(data: st.DataObject) -> None:
    """The others answer as if nothing had happened, and a new one as if rows began with it."""
    operators = [sash.Max(), sash.Mean(), sash.Sum(), sash.Count(), sash.Collect(), sash.Range()]
    plan, alone = sash.share({}), Alone({})
    number = 0
    for values, times in data.draw(batches(st.sampled_from([1.0, 2.0, 5.0]))):
        for _ in range(data.draw(st.integers(0, 3))):
            query = sash.query(data.draw(st.sampled_from(operators)), data.draw(windows))
            for each in (plan, alone):
                each.add(f"q{number}", query)
            number += 1
        names = list(plan.queries)
        if names and data.draw(st.booleans()):
            gone = data.draw(st.sampled_from(names))
            for each in (plan, alone):
                each.remove(gone)
        assert_same(plan.push_many(values, times), alone.push_many(values, times))
    assert_same(plan.finish(), alone.finish())


def many_queries(draw: random.Random, count: int) -> dict[str, sash.Query]:
    operators = [sash.Max("x"), sash.Mean("x"), sash.Sum("x"), sash.StdDev("x"), sash.Count("x")]
    operators += [sash.ArgMax("x", "y"), sash.Sum("y"), sash.Max("y")]
    found = {}
    for k in range(count):
        size, every = draw.randint(1, 400), draw.randint(1, 100)
        window: Any = draw.choice(
            [
                sash.last(size, every=every),
                sash.last(f"{size}i", every=f"{every}i"),
                sash.last(size),
                sash.last(f"{size}i"),
            ]
        )
        found[f"q{k}"] = sash.query(draw.choice(operators), window)
    return found


@pytest.mark.parametrize(
    "technique",
    ["cutty", *(pytest.param(each, marks=pytest.mark.full) for each in ("pairs", "panes"))],
)
def test_fifty_queries_in_compiled_loops(technique: Technique) -> None:
    draw, numbers = random.Random(7), np.random.default_rng(7)
    queries = many_queries(draw, 50)
    plan, alone = sash.share(queries, slicing=technique), Alone(queries)
    begin = 0
    for count in (3000, 1, 700, 0, 2000):
        times = begin + np.cumsum(numbers.integers(0, 3, count))
        begin = int(times[-1]) if count else begin
        x = numbers.normal(size=count)
        rows = {"x": x, "y": numbers.integers(-50, 50, count)}
        assert_same(plan.push_many(rows, times), alone.push_many(rows, times))
    assert_same(plan.finish(), alone.finish())

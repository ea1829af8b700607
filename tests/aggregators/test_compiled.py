"""Compiled loops against the same algorithm in plain Python.

A covering set of shapes of partials here; every operator in the full run.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from cases import CASES, COMPILED, Affine, Case, fits
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash.aggregators.registry import named
from sash.operators.laws import close

ALGORITHMS = [card.name for card in sash.algorithms() if not card.composed]
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 40)


def rows(case: Case, count: int, nulls: bool) -> list[Any]:
    chance = random.Random(count)
    values = [chance.choice(case.pool) for _ in range(count)]
    if nulls:
        values = [None if chance.random() < 0.4 else value for value in values]
        values[:3] = [case.pool[0], None, None]
    return values


def one_by_one(algorithm: str, case: Case, values: list[Any], size: int) -> list[Any]:
    window = sash.aggregator(algorithm, case.operator)
    answers = []
    for value in values:
        if len(window) == size:
            window.evict()
        window.insert(value)
        answers.append(window.query())
    return answers


def as_columns(values: list[Any]) -> Any:
    """Rows of pairs as two columns, as bulk calls take them."""
    if not any(isinstance(value, tuple) for value in values):
        return values
    return tuple(list(column) for column in zip(*(v or (None, None) for v in values), strict=True))


def as_rows(case: Case, answers: Any) -> list[Any]:
    """Answers in bulk as they come one by one."""
    members = getattr(case.operator, "members", None)
    if members is None:
        return list(answers)
    return list(zip(*answers.values(), strict=True))


def alike(found: Any, expected: Any) -> bool:
    if isinstance(found, dict):
        return close(tuple(found.values()), tuple(expected.values()))
    if isinstance(found, list):
        return close(tuple(found), tuple(expected))
    return close(found, expected)


def check(algorithm: str, case: Case, nulls: bool) -> None:
    values = rows(case, 90, nulls)
    for size in SIZES:
        found = as_rows(
            case, sash.aggregator(algorithm, case.operator).slide(as_columns(values), size)
        )
        expected = one_by_one(algorithm, case, values, size)
        for at, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert alike(one, other), (size, at, one, other)


def pairs(algorithms: list[str], cases: list[Case]) -> list[Any]:
    return [
        pytest.param(algorithm, case, id=f"{algorithm}-{case.name}")
        for algorithm in algorithms
        for case in cases
        if fits(algorithm, case.operator)
    ]


# Each pair takes seconds to compile. Every algorithm is tried with a few shapes of partials that
# differ most, and every shape with one algorithm that keeps partials in all the ways there are.
FEW = [case for case in COMPILED if case.shape.split(",")[0] in ("one field", "not commutative")]
COVERING = [
    *pairs(ALGORITHMS, FEW),
    *pairs(["daba_lite"], [case for case in COMPILED if case not in FEW]),
]


@pytest.mark.parametrize(("algorithm", "case"), COVERING)
def test_slide(algorithm: str, case: Case) -> None:
    check(algorithm, case, nulls=False)


# Those that take longest to compile, and differ least from others where nulls are.
LONG = ("LongestRise", "Kurtosis", "Together")
WITH_NULLS = [
    pytest.param(case, marks=[pytest.mark.full] if case.name.startswith(LONG) else [], id=case.name)
    for case in COMPILED
]


@pytest.mark.parametrize("case", WITH_NULLS)
def test_slide_over_nulls(case: Case) -> None:
    check("daba_lite", case, nulls=True)


OWN_LOOPS = [name for name in ALGORITHMS if hasattr(named(name), "slide")]
"""Those that read rows, and so nulls, in loops of their own."""


@pytest.mark.full
@pytest.mark.parametrize(("algorithm", "case"), pairs(ALGORITHMS, CASES))
def test_every_operator(algorithm: str, case: Case) -> None:
    check(algorithm, case, nulls=False)


@pytest.mark.full
@pytest.mark.parametrize(("algorithm", "case"), pairs([*OWN_LOOPS, "daba_lite", "pba"], CASES))
def test_every_operator_over_nulls(algorithm: str, case: Case) -> None:
    check(algorithm, case, nulls=True)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_single_calls_and_bulk_calls_may_be_mixed(algorithm: str) -> None:
    operator = sash.Sum()
    window, oracle = sash.aggregator(algorithm, operator), sash.aggregator("recalc", operator)
    chance = random.Random(3)
    for step in range(40):
        if step % 4 == 0:
            values = [chance.randint(-9, 9) for _ in range(600)]
            window.bulk_insert(values)
            for value in values:
                oracle.insert(value)
        elif step % 4 == 1:
            count = chance.randint(0, len(window))
            window.bulk_evict(count)
            oracle.bulk_evict(count)
        elif step % 4 == 2:
            window.insert(step)
            oracle.insert(step)
        else:
            values = [chance.randint(-9, 9) for _ in range(100)]
            size = chance.choice([1, 50, 700])
            answers = window.slide(values, size)
            for value, answer in zip(values, answers, strict=True):
                while len(oracle) >= size:
                    oracle.evict()
                oracle.insert(value)
                assert oracle.query() == answer
        assert len(window) == len(oracle)
        assert window.query() == oracle.query()


SOME_ROWS = st.integers(0, 80)
SOME_LENGTH = st.sampled_from([1, 2, 3, 7, 8, 9, 31, 32, 33, 64])


@pytest.mark.parametrize("algorithm", sorted({*OWN_LOOPS, "sba", "pba"}))
@given(parts=st.lists(st.tuples(SOME_ROWS, SOME_LENGTH), min_size=1, max_size=6))
def test_a_slide_goes_on_where_the_last_one_ended(
    algorithm: str, parts: list[tuple[int, int]]
) -> None:
    """Rows in parts of any length, through windows of another length each time."""
    window, oracle = sash.aggregator(algorithm, Affine()), sash.aggregator("recalc", Affine())
    at = 0
    for rows, length in parts:
        values = np.arange(at, at + rows) % 97
        assert window.slide(values, length).tolist() == oracle.slide(values, length).tolist()
        at += rows

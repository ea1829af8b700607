"""Many windows in shared arrays, against the values that each of them holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import COMPILED, Affine, Case, fits
from pools import Keys, leaves_of

import sash
from sash.aggregators.plan import Plan
from sash.aggregators.pool import Pool
from sash.aggregators.registry import named

ALGORITHMS = [card.name for card in sash.algorithms() if not card.composed]
SUM, MAX = COMPILED[0], COMPILED[2]
AFFINE = next(case for case in COMPILED if isinstance(case.operator, Affine))
SHAPES = ("composite", "several answers", "mixed types, null answers", "a user's, guarded")
# Each pair takes seconds to compile: every algorithm with an operator that minds the order, and
# the shapes of partials that differ most with one algorithm.
COVERING = [
    *[
        # Each takes seconds to compile: every second one here, all in the full run.
        pytest.param(
            name,
            AFFINE if fits(name, AFFINE.operator) else SUM,
            marks=[pytest.mark.full] if k % 2 else [],
        )
        for k, name in enumerate(ALGORITHMS)
    ],
    ("slick_deque", MAX),
    *[("two_stacks_lite", case) for case in COMPILED if case.shape in SHAPES],
]


def ids(given: Any) -> str:
    return given.name if isinstance(given, Case) else given


def live_a_while(keys: Keys) -> None:
    """Keys that come and go; windows that grow, shrink, jump, run empty and wrap around."""
    for step in range(25):
        keys.add(step % 3)
        if keys.values:
            keys.batch()
        if step % 7 == 6:
            gone = keys.chance.sample(range(len(keys.values)), 3)
            keys.forget(gone)
            keys.batch(among=gone)
    few = [0, 1, 2]
    keys.batch(most=200, longest=150, among=few)
    for longest in (150, 40, 3):
        keys.batch(most=10, longest=longest, among=few)
    keys.send({k: [keys.value() for _ in range(50)] for k in range(len(keys.values))}, 60)
    for _ in range(12):
        keys.batch(longest=4)
    keys.check_queries()


@pytest.mark.parametrize(("algorithm", "case"), COVERING, ids=ids)
def test_any_batches(algorithm: str, case: Case) -> None:
    live_a_while(Keys(algorithm, case, seed=1))


@pytest.mark.parametrize("case", [SUM, pytest.param(MAX, marks=pytest.mark.full)], ids=ids)
def test_any_batches_with_nulls(case: Case) -> None:
    live_a_while(Keys("daba_lite", case, seed=2, nulls=True))


@pytest.mark.full
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("case", COMPILED, ids=ids)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_pair(algorithm: str, case: Case, nulls: bool) -> None:
    if fits(algorithm, case.operator):
        for seed in range(5):
            live_a_while(Keys(algorithm, case, seed, nulls))


def lasting(keys: list[int], counts: list[int], S: Any, E: Any, size: int) -> Plan:
    """Windows of the last `size` rows, answered at each."""
    many = np.array(counts)
    rows = np.cumsum(many) - many
    ends = np.arange(many.sum()) - np.repeat(rows - E, many) + 1
    then = np.asarray(E) + many
    starts = np.maximum(ends - size, 0)
    return Plan(
        *(keys, rows, S, E, rows, rows + many, np.maximum(then - size, 0), then), starts, ends
    )


def test_the_row_that_lift_is_given_is_the_values_number() -> None:
    """ArgMax of the key's own rows, whatever stands before them in the batch."""
    operator = sash.ArgMax()
    values = [5, 1, 2, 9, 3, 3, 8]
    leaves = leaves_of(operator, (values, values))
    pool = Pool(named("two_stacks_lite"), operator, [("int64",)])
    pool.add(3)
    plan = lasting([2, 0], [3, 4], [0, 0], [0, 0], 2)
    assert pool.follow(leaves, plan)[0].fields[""].tolist() == [0, 0, 2, 0, 0, 1, 3]
    again = lasting([0], [7], plan.S_then[1:], plan.E_then[1:], 2)
    assert pool.follow(leaves, again)[0].fields[""].tolist() == [3, 4, 6, 7, 7, 8, 10]


def test_room_follows_what_windows_need() -> None:
    pool = Pool(named("two_stacks_lite"), sash.Sum(), [("int64",)])
    pool.add(1000)
    leaves = leaves_of(sash.Sum(), [1] * 100_000)
    plan = lasting(list(range(1000)), [100] * 1000, np.zeros(1000), np.zeros(1000), 100)
    pool.follow(leaves, plan)
    assert pool.segments.used.sum() >= 100_000
    more = lasting(list(range(1000)), [100] * 1000, plan.S_then, plan.E_then, 100)
    E_then = more.E_then
    short = Plan(
        *(more.keys, more.rows, more.S, more.E, more.first, more.last, E_then - 2, E_then),
        *(more.starts, more.ends),
    )
    pool.follow(leaves, short)
    assert pool.held.tolist() == [2] * 1000
    ones = np.arange(1000)
    S, E = short.S_then, short.E_then
    for _ in range(130):  # looked for when it has been used for as long as looking takes
        plan = Plan(ones, ones, S, E, ones, ones + 1, S + 1, E + 1, S + 1, E + 1)
        assert pool.follow(leaves, plan)[0].fields[""].tolist() == [2] * 1000
        S, E = S + 1, E + 1
    assert pool.segments.used.sum() <= 10_000
    pool.forget(np.arange(1000))
    for _ in range(3):
        pool.forget(np.arange(1000))
    assert (pool.held.sum(), len(pool)) == (0, 1000)


def test_an_error_leaves_everything_as_it_was() -> None:
    """The first key's sum is fine, and its window has moved on, when the second's overflows."""
    big = 2**62
    pool = Pool(named("flat_fit"), sash.Sum(), [("int64",)])
    pool.add(500)
    plan = lasting(list(range(500)), [2] * 500, np.zeros(500), np.zeros(500), 3)
    pool.follow(leaves_of(sash.Sum(), [big, 1] * 500), plan)
    before = pool.content()
    for keys in ([3, 7], list(range(500))):
        many = len(keys)
        values = [1] * (2 * many - 2) + [big, big]
        bad = lasting(keys, [2] * many, [0] * many, [2] * many, 3)
        with pytest.raises(OverflowError, match="does not fit"):
            pool.follow(leaves_of(sash.Sum(), values), bad)
        after = pool.content()
        assert all(np.array_equal(after[name], before[name]) for name in before)
    good = lasting([3, 7], [2, 2], [0, 0], [2, 2], 3)
    found = pool.follow(leaves_of(sash.Sum(), [1, 1, 2, 2]), good)
    assert found[0].fields[""].tolist() == [big + 2, 3, big + 3, 5]


def test_a_copy_goes_its_own_way() -> None:
    keys = Keys("amta", SUM, seed=3)
    keys.add(5)
    keys.batch()
    copied = keys.pool.copy()
    before = copied.content()
    for _ in range(5):
        keys.batch()
    after = copied.content()
    assert all(np.array_equal(after[name], before[name]) for name in before)


def test_plans_that_cannot_be() -> None:
    pool = Pool(named("two_stacks_lite"), sash.Max(), [("float64",)])
    pool.add(2)
    leaves = leaves_of(sash.Max(), [1.0, 2.0, 3.0])
    good = lasting([0, 1], [2, 1], [0, 0], [0, 0], 2)
    pool.follow(leaves, good)
    S, E = good.S_then, good.E_then
    follow: dict[str, Any] = dict(vars(lasting([0, 1], [2, 1], S, E, 2)))
    wrong = {
        "keys": [0, 2],
        "rows": [0, 3],
        "S": S + 1,
        "E": E + 1,
        "E_then": E + 9,
        "last": [2, 4],
        "starts": follow["starts"] - 5,
        "ends": follow["ends"][::-1],
    }
    for name, values in wrong.items():
        with pytest.raises(ValueError, match=r"group \d of the plan is at odds with its window"):
            pool.follow(leaves, Plan(**{**follow, name: np.array(values)}))
    pool.follow(leaves, Plan(**follow))


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match="objects for partials"):
        Pool(named("two_stacks_lite"), sash.Collect(), [("float64",)])
    with pytest.raises(TypeError, match="neither"):
        Pool(named("slick_deque"), sash.Kurtosis(), [("float64",)])
    pool = Pool(named("two_stacks_lite"), sash.Max(), [("float64",)])
    pool.add(1)
    plan = lasting([0], [1], [0], [0], 1)
    with pytest.raises(TypeError, match="hold values of float64, and were given int64"):
        pool.follow(leaves_of(sash.Max(), [1]), plan)
    with pytest.raises(IndexError, match="there are 1 keys"):
        pool.forget(np.array([0, 1]))

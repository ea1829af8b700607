"""What a pool holds, taken out and put back, and refused where it cannot have been so."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from cases import COMPILED, Affine, Case, fits
from pools import Keys

import sash
from sash.aggregators.pool import Pool

ALGORITHMS = [card.name for card in sash.algorithms() if not card.composed]
# Each takes seconds to compile: one ring and several, laid out and not, rebuilt of its values.
BY_DEFAULT = ("two_stacks_lite", "daba", "flat_fit", "amta", "fiba")
SOME = [
    name if name in BY_DEFAULT else pytest.param(name, marks=pytest.mark.full)
    for name in ALGORITHMS
]
SUM, MAX = COMPILED[0], COMPILED[2]
AFFINE = next(case for case in COMPILED if isinstance(case.operator, Affine))


def case_for(algorithm: str) -> Case:
    return AFFINE if fits(algorithm, AFFINE.operator) else SUM


def some_keys(algorithm: str, case: Case, seed: int = 5) -> Keys:
    keys = Keys(algorithm, case, seed)
    keys.add(9)
    for _ in range(6):
        keys.batch()
    keys.batch(most=40, longest=30, among=[1, 2])
    keys.forget([4, 5])
    return keys


def fresh(keys: Keys) -> Pool:
    return Pool(keys.module, keys.case.operator, keys.pool.types)


@pytest.mark.parametrize("algorithm", SOME)
def test_windows_go_on_where_they_were(algorithm: str) -> None:
    keys = some_keys(algorithm, case_for(algorithm))
    content = keys.pool.content()
    assert all(isinstance(array, np.ndarray) for array in content.values())
    pool = fresh(keys)
    pool.restore(content)
    assert pool.held.tolist() == keys.pool.held.tolist()
    again = pool.content()
    assert all(np.array_equal(again[name], content[name]) for name in content)
    keys.pool = pool
    for _ in range(4):
        keys.add(1)
        keys.batch()
    keys.batch(most=100, longest=90, among=[1, 7])
    keys.check_queries()


def test_only_what_is_held_is_saved() -> None:
    keys = Keys("two_stacks_lite", SUM, seed=1)
    keys.add(100)
    keys.send({k: [1, 2, 3] for k in range(10)}, 3)
    content = keys.pool.content()
    held = int(content["held"].sum())
    assert len(content["held"]) == 100
    assert len(content["ring_0_0"]) == held
    assert len(content["state_0"]) == np.count_nonzero(content["held"])


def test_nothing_at_all() -> None:
    keys = Keys("amta", SUM, seed=1)
    pool = fresh(keys)
    pool.restore(keys.pool.content())
    assert len(pool) == 0
    keys.add(3)
    pool.restore(keys.pool.content())
    assert pool.held.tolist() == [0, 0, 0]


def damaged(content: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The same with one number, one length, one type or one name that is another."""
    name = chance.choice(sorted(content))
    array = content[name].copy()
    how = chance.choice(["number", "number", "number", "length", "type", "name"])
    if how == "number" and len(array):
        at = chance.randrange(len(array))
        numbers = [0, 1, 2, 3, 7, 8, 9, 15, 16, 100]
        if array.dtype == np.int64:
            numbers += [-1, -2, -100, 2**40, 2**61, 2**62, 2**63 - 1, -(2**63)]
        array[at] = chance.choice([*numbers, int(array[at]) + 1, int(array[at]) - 1])
    elif how == "length":
        array = np.concatenate([array, array[:1]]) if chance.random() < 0.5 else array[:-1]
    elif how == "type":
        array = array.astype(np.float32)
    elif how == "name":
        return {k: v for k, v in content.items() if k != name}
    return {**content, name: array}


@pytest.mark.parametrize("algorithm", SOME)
def test_damage_is_refused_or_does_no_harm(algorithm: str) -> None:
    """Whatever is changed, it is refused, or the windows can be used, if with wrong answers."""
    keys = some_keys(algorithm, case_for(algorithm))
    content = keys.pool.content()
    chance = random.Random(7)
    refused = 0
    for _ in range(150):
        pool = fresh(keys)
        try:
            pool.restore(damaged(content, chance))
        except ValueError as error:
            refused += 1
            assert "saved" in str(error)
            assert len(pool) == 0
            continue
        keys.use(pool)
    assert refused > 50


def test_refusals_say_what_is_wrong() -> None:
    keys = some_keys("two_stacks_lite", SUM)
    content = keys.pool.content()
    pool = fresh(keys)
    state = content["state_2"].copy()
    state[0] = content["state_1"][0] + 1
    for change, why in (
        ({"held": content["held"].astype(np.int32)}, "held .* must be an array of int64"),
        ({"held": -content["held"]}, "held .* has values that cannot be"),
        ({"state_1": content["state_1"][:-1]}, "state_1 .* has 3 values, not 4"),
        ({"state_2": state}, "the window of key \\d cannot have been saved so"),
        ({"ring_0_1": content["ring_0_1"][:-1]}, "ring_0_1 .* values, not"),
        ({"more": content["held"]}, "nothing is known of 'more'"),
        ({"held": [1, 2]}, "held .* must be an array of int64"),
    ):
        with pytest.raises(ValueError, match=why):
            pool.restore({**content, **change})
    pool.restore(content)
    assert len(pool) == 9

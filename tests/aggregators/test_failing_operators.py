"""An operator that fails half-way leaves a window as it was, whatever keeps it."""

from __future__ import annotations

import random
from typing import Any

import pytest

import sash

ALGORITHMS = [
    card.name
    for card in sash.algorithms()
    if not card.composed and card.name not in ("subtract_on_evict", "slick_deque")
]
LEFT = [-1]
"""How many ⊕ are left until one fails; none does if it is negative."""


class FailedError(Exception):
    pass


@sash.operator(partial=object)
class Failing:
    """A list of values, whose ⊕ fails when it is told to."""

    def identity():
        return ()

    def lift(v):
        return (v,)

    def combine(a, b):
        LEFT[0] -= 1
        if LEFT[0] == 0:
            raise FailedError
        return a + b

    def lower(p):
        return list(p)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_single_calls(algorithm: str) -> None:
    draw = random.Random(5)
    failed = 0
    for _ in range(60):
        window, held = sash.aggregator(algorithm, Failing()), []
        for step in range(25):
            LEFT[0] = draw.choice([-1, 1, 2, 3, 4, 6])
            try:
                call(draw, window, held, step)
            except FailedError:
                failed += 1
            LEFT[0] = -1
            assert window.query() == held and len(window) == len(held)
    assert failed > 20 or algorithm in ("recalc", "flat_fit")  # which ⊕ only when asked


def call(draw: random.Random, window: Any, held: list[int], step: int) -> None:
    """One call, which also happens to the list if it succeeds."""
    kind = draw.randrange(4)
    if kind == 0 and held:
        window.evict()
        del held[0]
    elif kind == 1 and len(held) > 2:
        window.bulk_evict(2)
        del held[:2]
    elif kind == 2:
        window.query()
    else:
        window.insert(step)
        held.append(step)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("keyed", [False, True], ids=["one", "keyed"])
def test_windows(algorithm: str, keyed: bool) -> None:
    draw = random.Random(6)
    kind = sash.KeyedWindow if keyed else sash.Window
    window, twin = (kind(Failing(), sash.last(4), algorithm=algorithm) for _ in range(2))
    failed = 0
    for step in range(80):
        values = [step * 10 + i for i in range(draw.randrange(1, 6))]
        keys = {"keys": [draw.randrange(3) for _ in values]} if keyed else {}
        LEFT[0] = draw.choice([-1, 1, 3, 5, 9])
        try:
            found = window.push_many(values, **keys)
        except FailedError:
            failed += 1
            LEFT[0] = -1
            assert len(window) == len(twin)
            continue
        LEFT[0] = -1
        assert list(found) == list(twin.push_many(values, **keys))
    assert failed > 10

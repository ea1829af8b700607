"""Every algorithm keeps every kind of window: the answers are those of the default."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from cases import fits

import sash

ALGORITHMS = [card.name for card in sash.algorithms() if not card.composed]
DEFINITIONS = [
    sash.last(1),
    sash.last(4),
    sash.last(5, every=3),
    sash.last(5, closed="left"),
    sash.last("9i"),
    sash.last("9i", closed="both"),
    sash.last("9i", every="4i", offset="1i"),
    sash.last("3i", every="8i"),
    sash.last(3, every="5i"),
    sash.tumbling("6i"),
    sash.session("2i"),
    sash.delta("d", 6),
    sash.punctuated("flag"),
    sash.last("9i", every=sash.punctuated("flag")),
]


def table(rows: int, seed: int) -> tuple[dict[str, Any], list[int]]:
    draw = random.Random(seed)
    times = sorted(draw.randrange(rows * 2) for _ in range(rows))
    values = [None if draw.random() < 0.1 else draw.randrange(-50, 50) for _ in times]
    return {
        "v": values,
        "d": [t + 1 for t in times],
        "flag": [draw.random() < 0.2 for _ in times],
    }, times


def operator_for(algorithm: str) -> sash.Operator:
    return next(op for op in (sash.Max("v"), sash.Sum("v")) if fits(algorithm, op))


def given(answers: Any) -> list[Any]:
    return [None if a != a else a for a in list(answers)]


@pytest.mark.parametrize("definition", DEFINITIONS, ids=repr)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_window(algorithm: str, definition: Any) -> None:
    op = operator_for(algorithm)
    rows, times = table(60, 1)
    expected = sash.Window(op, definition)
    window = sash.Window(op, definition, algorithm=algorithm)
    for cut in (slice(0, 25), slice(25, 26), slice(26, 60)):
        part = {name: column[cut] for name, column in rows.items()}
        wanted = expected.push_many(part, times[cut])
        assert given(window.push_many(part, times[cut])) == given(wanted)
        assert len(window) == len(expected) and window.query() == expected.query()
    assert given(window.finish()) == given(expected.finish())


@pytest.mark.parametrize("algorithm", ["two_stacks_lite", "amta", "slick_deque"])
@pytest.mark.parametrize("definition", [DEFINITIONS[1], DEFINITIONS[4], DEFINITIONS[6]], ids=repr)
def test_many_keys(algorithm: str, definition: Any) -> None:
    check_keys(algorithm, definition)


@pytest.mark.full
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("definition", DEFINITIONS, ids=repr)
def test_many_keys_with_every_algorithm(algorithm: str, definition: Any) -> None:
    check_keys(algorithm, definition)


def check_keys(algorithm: str, definition: Any) -> None:
    op = operator_for(algorithm)
    rows, times = table(300, 2)
    keys = [random.Random(row).randrange(7) for row in range(300)]
    window = sash.KeyedWindow(op, definition, algorithm=algorithm)
    expected = sash.KeyedWindow(op, definition)
    for cut in (slice(0, 100), slice(100, 103), slice(103, 300)):
        part = {name: column[cut] for name, column in rows.items()}
        found = window.push_many(part, times[cut], keys=keys[cut])
        wanted = expected.push_many(part, times[cut], keys=keys[cut])
        assert given(found) == given(wanted)
    for key in set(keys):
        assert window.query(key) == expected.query(key)


@pytest.mark.full
@pytest.mark.parametrize("definition", DEFINITIONS, ids=repr)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_window_in_compiled_loops(algorithm: str, definition: Any) -> None:
    op = operator_for(algorithm)
    rows, times = table(3_000, 3)
    wide = {
        name: np.array([0 if v is None else v for v in column]) for name, column in rows.items()
    }
    window = sash.Window(op, definition, algorithm=algorithm)
    found = [
        window.push_many({n: c[at : at + 700] for n, c in wide.items()}, times[at : at + 700])
        for at in range(0, 3_000, 700)
    ]
    expected = sash.Window(op, definition)
    wanted = [
        expected.push({n: c[i].item() for n, c in wide.items()}, times[i]) for i in range(3_000)
    ]
    flat = [a for part in wanted for a in (part if isinstance(part, sash.Answers) else [part])]
    held = [a for part in found for a in given(part)]
    per_row = isinstance(found[0], np.ndarray) and definition.every == 1
    assert held == [a for a in flat if a is not None or per_row]

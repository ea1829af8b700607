"""Any window over any rows, however they are pushed, against the naive interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import Affine
from hypothesis import given, settings
from hypothesis import strategies as st
from windows import naive
from windows.drawn_rows import OPERATORS, TYPES, cuts, definitions, rows, shuffled, smallest
from windows.naive import Row
from windows.ways import SECOND, Event, Run, assert_same, missing

import sash


def events(found: list[naive.Answer]) -> list[Event]:
    return [Event(a.value, a.time, a.start, a.key) for a in found]


def pushed(run: Run, given: list[Row], pieces: list[tuple[int, int, bool]]) -> list[Any]:
    """What the rows give, some of them pushed one by one and some together."""
    found: list[Any] = []
    for start, end, alone in pieces:
        found += run.batch(given[start:end], "one by one" if alone else "whole")
    return found


def compare(data: st.DataObject, op: sash.Operator, keyed: bool, late: bool, kind: str) -> None:
    unit = data.draw(st.sampled_from([1, SECOND]))
    definition = data.draw(definitions(op, unit))
    min_size = smallest(definition, data.draw(st.integers(0, 4)))
    given = data.draw(rows(unit, keyed))
    lateness = None
    options: dict[str, Any] = {"min_size": min_size}
    if late:
        steps = data.draw(st.integers(1, 9))
        lateness = steps * unit
        options["lateness"] = f"{steps}{'i' if unit == 1 else 's'}"
        given = data.draw(shuffled(given, lateness, late=data.draw(st.booleans())))
    options |= {"kind": kind, "types": TYPES, "datetimes": unit == SECOND}
    run = Run(definition, op, keyed=keyed, **options)
    found = pushed(run, given, data.draw(cuts(len(given))))
    end = run.events(run.window.finish())
    if run.plain:
        assert_same(found, naive.per_row(definition, op, given, min_size=min_size))
        assert end == []
        return
    expected = naive.answers(
        definition, op, given, min_size=min_size, lateness=lateness, finish=True
    )
    assert_same([*found, *end], events(expected), bare=run.bare)
    assert run.window.late == (len(naive.late(given, lateness)) if lateness else 0)


@pytest.mark.parametrize("op", OPERATORS, ids=repr)
@pytest.mark.parametrize("late", [False, True], ids=["in order", "out of order"])
@given(data=st.data())
def test_one_window(op: sash.Operator, late: bool, data: st.DataObject) -> None:
    compare(data, op, keyed=False, late=late, kind=data.draw(st.sampled_from(["list", "arrow"])))


# A window of many keys is compiled, whatever its rows: few operators.
@pytest.mark.parametrize("op", [sash.Sum("x"), Affine("x"), sash.Collect("y")], ids=repr)
@pytest.mark.parametrize("late", [False, True], ids=["in order", "out of order"])
@given(data=st.data())
def test_a_window_for_each_key(op: sash.Operator, late: bool, data: st.DataObject) -> None:
    compare(data, op, keyed=True, late=late, kind="list")


@pytest.mark.parametrize("op", [sash.Sum("x"), sash.Collect("y")], ids=repr)
@pytest.mark.parametrize("late", [False, True], ids=["in order", "out of order"])
@settings(max_examples=25)
@given(data=st.data())
def test_when_answers_come(op: sash.Operator, late: bool, data: st.DataObject) -> None:
    """Each as soon as it can be known, and not before."""
    keyed = data.draw(st.booleans())
    definition = data.draw(definitions(op, 1))
    given = data.draw(rows(keyed=keyed, most=12))
    lateness = data.draw(st.integers(1, 9)) if late else None
    options: dict[str, Any] = {}
    if lateness is not None:
        options["lateness"] = f"{lateness}i"
        given = data.draw(shuffled(given, lateness, late=True))
    run = Run(definition, op, keyed=keyed, **options)
    before: set[Any] = set()
    for count in range(1, len(given) + 1):
        found = run.batch(
            given[count - 1 : count], data.draw(st.sampled_from(["whole", "one by one"]))
        )
        told = list(naive.every_answer(definition, op, given[:count], lateness=lateness))
        new = [a for a in told if (a.key, a.time, a.row) not in before]
        before |= {(a.key, a.time, a.row) for a in told}
        if run.plain:
            assert_same(found, [a.value if a.holds else None for a in new])
        else:
            assert_same(found, events([a for a in new if a.holds]), bare=run.bare)


MANY = [
    sash.last(17),
    sash.last(8, every=3, closed="both"),
    sash.last("20i"),
    sash.last("20i", every=4, closed="left"),
    sash.last("30i", every="7i"),
    sash.last("5i", every="9i", offset="2i"),
    sash.tumbling("16i"),
    sash.last(9, every="7i"),
    sash.last("20i", every=sash.punctuated("mark")),
    sash.delta("d", 20),
    sash.delta("d", 9, every="5i"),
    sash.punctuated("mark"),
    sash.punctuated("mark", marks="end"),
    sash.session("4i"),
    sash.slide_while(lambda total, old: total - old >= 60),
]


def many_rows(count: int, keys: int = 0) -> list[Row]:
    chance = np.random.default_rng(count)
    times = np.cumsum(chance.choice([0, 0, 1, 1, 2, 3, 9], count)) - 500
    return [
        Row(
            {"x": int(x), "d": int(t + t // 7), "mark": bool(m)},
            int(t),
            f"k{k}" if keys else None,
        )
        for x, t, m, k in zip(
            chance.integers(0, 10, count),
            times,
            chance.random(count) < 0.1,
            chance.integers(0, max(keys, 1), count),
            strict=True,
        )
    ]


@pytest.mark.parametrize("definition", MANY, ids=repr)
@pytest.mark.parametrize("op", [sash.Sum("x"), Affine("x")], ids=repr)
def test_many_rows_at_a_time(definition: Any, op: sash.Operator) -> None:
    """Enough of them for the compiled loops, twice, and some one by one in between."""
    if hasattr(definition, "policy") and op != sash.Sum("x"):
        pytest.skip("the policy is one for sums")
    given = many_rows(1_260)
    run = Run(definition, op, kind="numpy")
    found = pushed(run, given, [(0, 630, False), (630, 640, True), (640, 1_260, False)])
    found += run.events(run.window.finish())
    if run.plain:
        expected = [missing(v, "numpy") for v in naive.per_row(definition, op, given)]
        assert_same(found, expected)
    else:
        assert_same(found, events(naive.answers(definition, op, given, finish=True)), bare=run.bare)


@pytest.mark.parametrize("definition", [d for d in MANY if not hasattr(d, "policy")], ids=repr)
def test_many_rows_of_many_keys(definition: Any) -> None:
    given = many_rows(1_260, keys=5)
    op = sash.Sum("x")
    run = Run(definition, op, kind="numpy", keyed=True)
    found = pushed(run, given, [(0, 630, False), (630, 640, True), (640, 1_260, False)])
    found += run.events(run.window.finish())
    if run.plain:
        expected = [missing(v, "numpy") for v in naive.per_row(definition, op, given)]
        assert_same(found, expected)
    else:
        assert_same(found, events(naive.answers(definition, op, given, finish=True)), bare=run.bare)


@pytest.mark.parametrize("definition", MANY[:8], ids=repr)
def test_many_rows_out_of_order(definition: Any) -> None:
    given = many_rows(1_260)
    chance = np.random.default_rng(3)
    waits = [row.time + 10 * chance.random() for row in given]  # none is late, and some do pass
    order = sorted(range(len(given)), key=lambda at: waits[at])
    given = [given[at] for at in order]
    op = sash.Sum("x")
    run = Run(definition, op, kind="numpy", lateness="10i")
    found = pushed(run, given, [(0, 630, False), (630, 640, True), (640, 1_260, False)])
    found += run.events(run.window.finish())
    expected = naive.answers(definition, op, given, lateness=10, finish=True)
    assert_same(found, events(expected))
    assert run.window.late == 0

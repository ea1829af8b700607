"""Saved windows go on as those that were not, and what is damaged is refused."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from cases import CASES, COMPILED, Case, Spread, fits
from oracle import alike

import sash
from sash.aggregators.saving import SavedError, pack

ALGORITHMS = [card.name for card in sash.algorithms() if not card.composed]


def shown(answer: Any) -> Any:
    """An answer that can be compared: filters and counts by what they say."""
    if isinstance(answer, tuple) and hasattr(answer, "_asdict"):
        return {name: shown(part) for name, part in answer._asdict().items()}
    if hasattr(answer, "count") and not isinstance(answer, (list, tuple, str)):
        return [answer.count(v) for v in range(-5, 9)]
    if isinstance(answer, (list, tuple, str, int, float, dict, set, frozenset)) or answer is None:
        return answer
    return [v in answer for v in range(-5, 9)]


def again(window: sash.Window, op: sash.Operator) -> sash.Window:
    ours = type(op).__module__.startswith("sash.")
    return type(window).load(window.save(), op=None if ours else op)


def agree(one: Any, other: Any) -> None:
    assert alike(shown(one), shown(other)), (one, other)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.pool[0]!r}")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_and_operator(case: Case, algorithm: str) -> None:
    if not fits(algorithm, case.operator):
        return
    draw = random.Random(7)
    pool = [*case.pool, None]
    window = sash.Window(case.operator, sash.last(6), algorithm=algorithm)
    for _ in range(draw.choice([0, 1, 5, 6, 17])):
        window.push(draw.choice(pool))
    other = again(window, case.operator)
    assert len(other) == len(window)
    agree(other.query(), window.query())
    for _ in range(14):
        value = draw.choice(pool)
        agree(other.push(value), window.push(value))


@pytest.mark.parametrize("case", COMPILED[:3], ids=lambda case: case.name)
@pytest.mark.parametrize("algorithm", ["two_stacks_lite", "amta", "fiba"])
def test_windows_that_compiled_loops_have_filled(case: Case, algorithm: str) -> None:
    values = np.array([case.pool[i % len(case.pool)] for i in range(2_000)])
    window = sash.Window(case.operator, sash.last(700), algorithm=algorithm)
    window.push_many(values[:1_200])
    other = again(window, case.operator)
    np.testing.assert_array_equal(other.push_many(values[1_200:]), window.push_many(values[1_200:]))
    agree(other.push(values[0].item()), window.push(values[0].item()))


DEFINITIONS = [
    sash.last("10i"),
    sash.last("10i", closed="left"),
    sash.last(5, closed="neither"),
    sash.last("10i", every="4i", offset="1i"),
    sash.last(7, every="4i"),
    sash.tumbling(3),
    sash.session("2i"),
    sash.delta("v", 5),
    sash.punctuated("flag"),
    sash.punctuated("flag", marks="end"),
    sash.slide_while("total - old >= 20"),
]


def rows(count: int, start: int = 0) -> dict[str, Any]:
    draw = random.Random(start)
    times = sorted(start + draw.randrange(count * 2) for _ in range(count))
    return {
        "v": [None if draw.random() < 0.1 else time // 2 for time in times],
        "flag": [draw.random() < 0.2 for _ in times],
        "who": [draw.choice(["ann", "bob", "cid"]) for _ in times],
        "time": times,
    }


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("options", [{}, {"lateness": "6i"}, {"emit": "changes"}], ids=str)
@pytest.mark.parametrize("definition", DEFINITIONS, ids=str)
def test_every_kind_of_window(definition: Any, options: Any, keyed: bool) -> None:
    op = sash.Sum("v")
    kind = sash.KeyedWindow if keyed else sash.Window
    more = {"by": "who"} if keyed else {}
    window = kind(op, definition, **options, **more)

    def feed(window: sash.Window, table: dict[str, Any]) -> Any:
        given = {name: values for name, values in table.items() if name != "time"}
        if isinstance(definition, type(sash.delta("v", 5))):
            given["v"] = [time // 2 for time in table["time"]]
        return window.push_many(given, table["time"])

    feed(window, rows(40))
    other = again(window, op)
    assert (len(other), other.late, other.keys()) == (len(window), window.late, window.keys())
    for start in (80, 160):
        one, two = feed(window, rows(40, start)), feed(other, rows(40, start))
        assert list(one) == list(two)
        if isinstance(one, sash.Answers):
            assert list(one.times) == list(two.times)
            assert one.keys is None or list(one.keys) == list(two.keys)
    one, two = window.finish(), other.finish()
    assert list(one) == list(two) and list(one.times) == list(two.times)
    with pytest.raises(ValueError, match="finished"):
        again(other, op).push({"v": 1, "flag": True, "who": "ann"}, 10_000)


def test_early_answers_go_on_with_their_revisions() -> None:
    window = sash.Window(sash.Sum(), sash.last("10i"), lateness="5i", emit="early")
    window.push_many([1, 2], times=[10, 12])
    other = sash.Window.load(window.save())
    found = other.push(5, 11)
    assert list(found) == [6, 8] and list(found.revisions) == [0, 1]


def test_rows_that_answers_are_taken_from_are_saved() -> None:
    for kind, keys in ((sash.Window, {}), (sash.KeyedWindow, {"keys": ["k", "k"]})):
        window = kind(sash.ArgMax("len", "who"), sash.last(3))
        window.push_many({"len": [9, 1], "who": ["ann", "bob"]}, **keys)
        other = kind.load(window.save())
        found = other.push_many({"len": [2, 3], "who": ["cid", "dan"]}, **keys)
        assert list(found) == ["ann", "dan"]


def test_an_operator_of_ones_own_is_given_again() -> None:
    window = sash.Window(Spread(), 3)
    window.push(1.0)
    data = window.save()
    with pytest.raises(SavedError, match=r"Spread is not an operator of sash: give it, as in op="):
        sash.Window.load(data)
    assert sash.Window.load(data, op=Spread()).push(4.0) == 3.0


def test_another_operator_is_refused() -> None:
    data = sash.Window(sash.StdDev(ddof=0), 3).save()
    with pytest.raises(SavedError, match=r"saved of StdDev\(ddof=0\), not of StdDev\(\)"):
        sash.Window.load(data, op=sash.StdDev())
    with pytest.raises(SavedError, match=r"saved of StdDev\(ddof=0\), not of Max\('x'\)"):
        sash.Window.load(data, op=sash.Max("x"))


def test_another_window_is_refused() -> None:
    data = sash.Window(sash.Max(), sash.last("1h")).save()
    with pytest.raises(SavedError, match=r"saved of last\('1h'\), not of last\('2h'\)"):
        sash.Window.load(data, window=sash.last("2h"))
    assert sash.Window.load(data, window="1h").window == sash.last("1h")


def test_a_window_without_keys_is_none_with_keys() -> None:
    with pytest.raises(SavedError, match=r"has no keys; load it with sash\.Window\.load"):
        sash.KeyedWindow.load(sash.Window(sash.Max(), 3).save())


def test_a_policy_that_is_a_function_is_given_again() -> None:
    limits = {"most": 10}
    policy = sash.slide_while(lambda total, old: total - old >= limits["most"])
    window = sash.Window(sash.Sum(), policy)
    window.push_many([4, 2, 3])
    with pytest.raises(SavedError, match="is a function, which is not saved"):
        sash.Window.load(window.save())
    other = sash.Window.load(window.save(), window=policy)
    assert other.push(9) == 12


def test_what_is_not_a_window_is_refused() -> None:
    for data, reason in (
        (b"", "not"),
        (b"hello", "not"),
        (pack("other", {}), "other"),
        (pack("window", {"layout": 99}), "another version"),
        (pack("window", [1, 2]), "another version"),
    ):
        with pytest.raises(SavedError, match=reason):
            sash.Window.load(data)


def test_a_thousand_damages() -> None:
    window = sash.KeyedWindow(sash.Mean(), sash.last("10i", every="3i"), lateness="4i")
    window.push_many([1.5, 2.0, None, 4.0] * 20, np.arange(80), keys=["a", "b", "c", "d"] * 20)
    data = window.save()
    draw = random.Random(3)
    for _ in range(1_000):
        damaged = bytearray(data)
        kind = draw.randrange(4)
        at = draw.randrange(len(data))
        if kind == 0:
            damaged[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del damaged[at:]
        elif kind == 2:
            damaged[at:at] = draw.randbytes(draw.randrange(1, 9))
        else:
            other = draw.randrange(len(data))
            damaged[at], damaged[other] = damaged[other], damaged[at]
        if bytes(damaged) == data:
            continue
        with pytest.raises(SavedError):
            sash.KeyedWindow.load(bytes(damaged))

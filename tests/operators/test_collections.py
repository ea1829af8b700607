"""Operators that keep values: against plain Python, in every grouping of ⊕."""

from __future__ import annotations

import math
import pickle
from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.operators.base import Operator
from sash.operators.collections import (
    BottomK,
    Collect,
    CollectDistinct,
    Concat,
    CountDistinct,
    FirstN,
    LastN,
    TopK,
)
from sash.operators.errors import OperatorError
from sash.operators.laws import check_operator, close
from sash.operators.rope import BLOCK, Rope

NAN = float("nan")
VALUES = [3.0, 1.0, NAN, 3.0, -math.inf, 2.0, float("nan"), 1.0]

numbers = st.one_of(
    st.integers(-5, 5),
    st.sampled_from([0.5, -0.0, math.inf, -math.inf]),
    st.builds(lambda: float("nan")),  # each time another object
)


def key(v: float) -> tuple[bool, float]:
    """Orders numbers with NaN above all, and equal to itself."""
    return (v != v, 0.0 if v != v else v)


def in_order(values: list[Any]) -> list[Any]:
    seen: dict[Any, Any] = {}
    for v in values:
        seen.setdefault(key(v), v)
    return list(seen.values())


def grouped(op: Operator, values: list[Any], cut: Any) -> Any:
    """lower(lift(v1) ⊕ … ⊕ lift(vn)), with parentheses where `cut` puts them."""
    monoid = op.bind(object)

    def total(partials: list[Any]) -> Any:
        if not partials:
            return monoid.identity()
        if len(partials) == 1:
            return partials[0]
        at = cut(len(partials))
        return monoid.combine(total(partials[:at]), total(partials[at:]))

    return monoid.lower(total([monoid.lift(v) for v in values]))


def same(a: Any, b: Any) -> bool:
    return close(tuple(a), tuple(b)) if isinstance(a, list) else bool(a == b)


EXPECTED = [
    (Collect(), list),
    (FirstN(n=1), lambda vs: vs[:1]),
    (FirstN(n=3), lambda vs: vs[:3]),
    (LastN(n=1), lambda vs: vs[-1:]),
    (LastN(n=3), lambda vs: vs[-3:]),
    (CollectDistinct(), in_order),
    (CountDistinct(), lambda vs: len(in_order(vs))),
    (TopK(k=1), lambda vs: sorted(vs, key=key, reverse=True)[:1]),
    (TopK(k=3), lambda vs: sorted(vs, key=key, reverse=True)[:3]),
    (BottomK(k=1), lambda vs: sorted(vs, key=key)[:1]),
    (BottomK(k=3), lambda vs: sorted(vs, key=key)[:3]),
]
each = pytest.mark.parametrize(("op", "expected"), EXPECTED, ids=lambda p: repr(p)[:24])


@each
@settings(deadline=None)
@given(values=st.lists(numbers, max_size=12), data=st.data())
def test_any_grouping_gives_what_plain_python_gives(op, expected, values, data):
    def cut(size: int) -> int:
        return data.draw(st.integers(1, size - 1))

    assert same(grouped(op, values, cut), expected(values))


@each
def test_laws(op, expected):
    check_operator(op, VALUES)


@each
def test_empty_and_single(op, expected):
    monoid = op.bind(object)
    assert monoid.empty_answer() == expected([])
    assert same(monoid.lower(monoid.lift(7.0)), expected([7.0]))


@each
def test_combine_leaves_its_arguments_alone(op, expected):
    monoid = op.bind(object)
    partials = [monoid.lift(v) for v in VALUES]
    a, b = reduce(monoid.combine, partials[:4]), reduce(monoid.combine, partials[4:])
    before = pickle.dumps((a, b))
    monoid.combine(a, b)
    monoid.combine(b, a)
    monoid.lower(a)
    assert pickle.dumps((a, b)) == before


@each
def test_partials_survive_pickling(op, expected):
    """NaN is another object then, and is still one value."""
    monoid = op.bind(object)
    half = reduce(monoid.combine, [monoid.lift(v) for v in VALUES[:4]])
    rest = reduce(monoid.combine, [monoid.lift(v) for v in VALUES[4:]])
    whole = monoid.combine(pickle.loads(pickle.dumps(half)), pickle.loads(pickle.dumps(rest)))
    assert same(monoid.lower(whole), expected(VALUES))


def test_answers_do_not_share_state():
    """A caller may change the list it was given."""
    for op in (Collect(), FirstN(n=2), CollectDistinct(), TopK(k=2)):
        monoid = op.bind(object)
        partial = monoid.combine(monoid.lift(2), monoid.lift(1))
        monoid.lower(partial).append("changed")
        assert monoid.lower(partial) == [2, 1]


@pytest.mark.parametrize(
    ("pieces", "sep", "whole"),
    [
        (["a"], ", ", "a"),
        (["a", "", "b"], ", ", "a, , b"),
        (["", ""], "-", "-"),
        (["a", "b"], "", "ab"),
        ([b"a", b"b"], "", b"ab"),
        ([b"a", b"b"], b"-", b"a-b"),
        ([b"a", b"b"], "-", b"a-b"),
        ([[1], [], [2, 3]], "", [1, 2, 3]),
        ([[1], [2]], [0], [1, 0, 2]),
        ([(1,), (2, 3)], "", (1, 2, 3)),
    ],
)
def test_concat(pieces, sep, whole):
    for at in range(1, len(pieces) + 1):
        answer = grouped(Concat(sep=sep), pieces, lambda size, at=at: min(at, size - 1))
        assert answer == whole
        assert type(answer) is type(whole)


def test_concat_of_nothing_is_null_and_the_identity_adds_no_separator():
    check_operator(Concat(sep="-"), ["", "a", "bc"])
    assert Concat(sep="-").bind(object).empty_answer() is None


@pytest.mark.parametrize(
    ("op", "values", "sentence"),
    [
        (Concat(), [1], "Concat joins strings, bytes, lists or tuples, not int"),
        (Concat(), ["a", b"b"], "the first is str, one value is bytes"),
        (Concat(sep=", "), [[1], [2]], "the first is list, its sep is str"),
        (CollectDistinct(), [[1]], "CollectDistinct tells values apart by their hash, and list"),
        (CountDistinct(), [{}], "CountDistinct tells values apart by their hash, and dict"),
    ],
)
def test_values_that_do_not_fit_get_a_sentence(op, values, sentence):
    with pytest.raises(OperatorError, match=sentence):
        grouped(op, values, lambda size: 1)


@pytest.mark.parametrize("made", [FirstN, LastN])
@pytest.mark.parametrize("n", [0, -1, 1.5, "3", True])
def test_n_is_a_positive_integer(made, n):
    with pytest.raises(OperatorError, match=f"{made.__name__}: n must be an integer of 1 or more"):
        made(n=n)


@pytest.mark.parametrize("made", [TopK, BottomK])
def test_k_is_a_positive_integer(made):
    with pytest.raises(OperatorError, match=f"{made.__name__}: k must be an integer of 1 or more"):
        made(k=0)
    with pytest.raises(OperatorError, match="needs a value for its option 'k'"):
        made()


def test_values_need_not_be_numbers():
    words = ["pear", "fig", "apple", "fig"]
    assert grouped(TopK(k=2), words, lambda size: 1) == ["pear", "fig"]
    assert grouped(BottomK(k=2), words, lambda size: 1) == ["apple", "fig"]
    assert grouped(CollectDistinct(), words, lambda size: 1) == ["pear", "fig", "apple"]
    assert grouped(CountDistinct(), words, lambda size: 1) == 3


@settings(deadline=None)
@given(sizes=st.lists(st.integers(0, 3 * BLOCK), max_size=12), data=st.data())
def test_ropes_are_sequences(sizes, data):
    ropes, expected, start = [], [], 0
    for size in sizes:
        ropes.append(Rope(range(start, start + size)))
        expected += range(start, start + size)
        start += size
    while len(ropes) > 1:
        at = data.draw(st.integers(0, len(ropes) - 2))
        ropes[at : at + 2] = [ropes[at] + ropes[at + 1]]
    whole = ropes[0] if ropes else Rope()
    assert whole.values() == expected
    assert len(whole) == len(expected)
    assert whole == Rope(expected)
    assert whole != Rope([*expected, 0])
    assert pickle.loads(pickle.dumps(whole)) == whole


@pytest.mark.parametrize("grow", [lambda r, v: r + Rope((v,)), lambda r, v: Rope((v,)) + r])
def test_a_long_rope_has_few_parts(grow):
    rope = Rope()
    for v in range(50 * BLOCK):
        rope = grow(rope, v)
    parts, waiting = 0, [rope]
    while waiting:
        part = waiting.pop()
        parts += 1
        if isinstance(part, Rope):
            waiting += [part.left, part.right]
    assert parts <= 2 * 50 + 1

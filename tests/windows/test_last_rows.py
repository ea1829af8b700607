"""The last so many rows, answered at each row or each so-many-th."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import Affine
from windows import naive
from windows.naive import Row
from windows.timelines import check
from windows.ways import assert_same, run_all_ways

import sash

NAN = float("nan")


@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
def test_a_partial_window_answers_for_what_it_holds(kind: str) -> None:
    check(
        """
        rows    a   b   c   d   e   f
        gives   a   ab  abc bcd cde def
        """,
        sash.last(3),
        sash.Concat(),
        kind=kind,
    )


@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
def test_numbers(kind: str) -> None:
    check(
        """
        rows    3   1   4   1   5
        gives   3   4   8   6   10
        """,
        sash.last(3),
        sash.Sum(),
        kind=kind,
    )


def test_one_row_and_two() -> None:
    check(
        """
        rows    a   b   c
        gives   a   b   c
        """,
        sash.last(1),
        sash.Concat(),
    )
    check(
        """
        rows    a   b   c   d
        gives   a   ab  bc  cd
        """,
        sash.last(2),
        sash.Concat(),
    )


def test_more_than_there_are() -> None:
    check(
        """
        rows    a   b   c
        gives   a   ab  abc
        """,
        sash.last(2**62),
        sash.Concat(),
    )
    check(
        """
        rows    a
        gives   a
        """,
        sash.last(5),
        sash.Concat(),
    )


def test_no_row() -> None:
    assert run_all_ways(sash.last(3), sash.Sum(), [], finish=True) == []
    assert list(sash.Window(sash.Sum(), 3).push_many(np.array([], np.int64))) == []


CLOSED = {
    "right": """
        rows    a   b   c   d   e
        gives   a   ab  abc bcd cde
        """,
    "left": """
        rows    a   b   c   d   e
        gives   .   a   ab  abc bcd     ← the row itself is not yet in
        """,
    "both": """
        rows    a   b   c   d    e
        gives   a   ab  abc abcd bcde
        """,
    "neither": """
        rows    a   b   c   d   e
        gives   .   a   ab  bc  cd
        """,
}


@pytest.mark.parametrize("closed", CLOSED)
def test_which_ends_count(closed: str) -> None:
    check(CLOSED[closed], sash.last(3, closed=closed), sash.Concat())


def test_one_row_with_no_end_holds_nothing() -> None:
    drawing = """
        rows    a   b   c
        gives   {}   {}   {}
        """
    definition = sash.last(1, closed="neither")
    check(drawing.format(*"..."), definition, sash.Count())
    check(drawing.format(*"000"), definition, sash.Count(), min_size=0)


MIN_SIZE = {
    0: "0   1   2   3   3",
    1: ".   1   2   3   3",
    2: ".   .   2   3   3",
    3: ".   .   .   3   3",
    4: ".   .   .   .   .",
}


@pytest.mark.parametrize("min_size", MIN_SIZE)
def test_min_size_holds_answers_back(min_size: int) -> None:
    check(
        f"""
        rows    a   b   c   d   e
        gives   {MIN_SIZE[min_size]}
        """,
        sash.last(3, closed="left"),
        sash.Count(),
        min_size=min_size,
    )


EVERY = {
    1: "a   ab  abc bcd cde def efg",
    2: "    ab      bcd     def    ",
    3: "        abc         def    ",
    4: "            bcd            ",  # of a, nothing is ever told
    7: "                        efg",
    8: "                           ",
}


@pytest.mark.parametrize("every", EVERY)
def test_each_so_many_th_row(every: int) -> None:
    check(
        f"""
        rows    a   b   c   d   e   f   g
        gives   {EVERY[every]}
        finish
        """,
        sash.last(3, every=every),
        sash.Concat(),
    )


def test_each_so_many_th_row_with_open_ends() -> None:
    check(
        """
        rows    a   b   c   d   e   f   g
        gives       .       bc      de
        """,
        sash.last(3, every=2, closed="neither"),
        sash.Concat(),
        min_size=2,
    )


def test_a_null_takes_a_place() -> None:
    check(
        """
        rows    1    null null 4    5
        gives   1    1    1    4    9
        """,
        sash.last(3),
        sash.Sum(),
    )
    check(
        """
        rows    null 1    null null null 2
        gives   null 1    1    1    null 2      ← three nulls have no greatest
        """,
        sash.last(3),
        sash.Max(),
    )
    check(
        """
        rows    null null null 1
        gives   .    0    0    1                ← rows count for min_size, null or not
        """,
        sash.last(2),
        sash.Count(),
        min_size=2,
    )


@pytest.mark.parametrize("kind", ["list", "arrow"])
def test_nan_is_a_value_and_leaves(kind: str) -> None:
    check(
        """
        rows    1.0  nan  2.0  4.0  5.0
        gives   1.0  nan  nan  6.0  9.0
        """,
        sash.last(2),
        sash.Sum(),
        kind=kind,
    )
    check(
        """
        rows    1.0  nan  2.0  4.0  null
        gives   1.0  nan  nan  4.0  4.0         ← NaN is the greatest
        """,
        sash.last(2),
        sash.Max(),
        kind=kind,
    )


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33])
@pytest.mark.parametrize("op", [Affine(), sash.Collect(), sash.Max()], ids=repr)
def test_around_powers_of_two(size: int, op: sash.Operator) -> None:
    rows = [Row(i * 37 % 101) for i in range(70)]
    for every, closed in [(1, "right"), (1, "both"), (size, "right"), (size + 1, "left")]:
        definition = sash.last(size, every=every, closed=closed)
        found = run_all_ways(definition, op, rows, ways=("whole", "one by one", "in three"))
        assert_same(found, naive.per_row(definition, op, rows))


def test_a_number_is_short_for_the_last_rows() -> None:
    for window in (3, np.int64(3), sash.last(3)):
        assert sash.Window(sash.Sum(), window).push_many([1, 2, 3, 4]) == [1, 3, 6, 9]


def test_answers_come_in_kind() -> None:
    def pushed(values: Any, **options: Any) -> Any:
        return sash.Window(sash.Sum(), 2, **options).push_many(values)

    assert pushed([1, 2, 3]) == [1, 3, 5]
    assert pushed([1, 2, 3], min_size=2) == [None, 3, 5]
    found = pushed(np.array([1, 2, 3]))
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.int64
    assert found.tolist() == [1, 3, 5]
    np.testing.assert_array_equal(pushed(np.array([1.0, 2.0]), min_size=2), [NAN, 3.0])
    assert pushed(pa.array([1, None, 3])).equals(pa.array([1, 1, 3]))
    assert pushed(pa.array([1, None, 3]), min_size=2).equals(pa.array([None, 1, 3]))


def test_several_columns() -> None:
    rows = [Row({"x": x, "who": who}) for x, who in zip([3, 1, None, 2], "abcd", strict=True)]
    ops = {
        sash.ArgMax("x", "who"): ["a", "a", "b", "d"],
        sash.Together(n=sash.Count("x"), who=sash.ArgMin("x", "who")): [
            (1, "a"),
            (2, "b"),
            (1, "b"),
            (1, "d"),
        ],
    }
    for op, expected in ops.items():
        assert run_all_ways(sash.last(2), op, rows) == expected
        assert run_all_ways(sash.last(2), op, rows, kind="arrow") == expected


def test_a_batch_of_nothing_settles_nothing() -> None:
    window = sash.Window(sash.Concat(), 2)
    assert window.push_many([]) == []
    assert window.push("a") == "a"
    assert window.push_many([]) == []
    assert window.push_many(["b", "c"]) == ["ab", "bc"]


def test_what_it_holds_now() -> None:
    window = sash.Window(sash.Sum(), 3)
    assert len(window) == 0
    for value, size, answer in [(1, 1, 1), (2, 2, 3), (3, 3, 6), (4, 3, 9)]:
        assert window.push(value) == answer
        assert len(window) == size
        assert window.query() == answer


def test_no_rows_after_the_end() -> None:
    window = sash.Window(sash.Sum(), 3)
    window.push(1)
    assert len(window.finish()) == 0
    for refused in (lambda: window.push(2), lambda: window.push_many([2])):
        with pytest.raises((ValueError, RuntimeError)):
            refused()

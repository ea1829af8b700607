"""Windows from one marked row to the next."""

from __future__ import annotations

import pytest
from cases import Affine
from windows import naive
from windows.naive import Row
from windows.timelines import check
from windows.ways import Event, assert_same, run_all_ways

import sash

STARTS, ENDS = sash.punctuated("mark"), sash.punctuated("mark", marks="end")


@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
def test_a_mark_begins_a_window(kind: str) -> None:
    check(
        """
        rows    a    b    c    d    e    f
        mark         !              !
        gives        a              bcd         ← given when the next begins
        finish
        gives                                 ef
        """,
        STARTS,
        sash.Concat("x"),
        kind=kind,
    )


@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
def test_a_mark_ends_a_window(kind: str) -> None:
    check(
        """
        rows    a    b    c    d    e    f
        mark         !              !
        gives        ab             cde         ← given at once
        finish                                  ← f waits for a mark that never comes
        """,
        ENDS,
        sash.Concat("x"),
        kind=kind,
    )


def test_the_first_row_is_marked() -> None:
    check(
        """
        rows    a    b    c
        mark    !         !
        gives             ab
        finish
        gives                  c
        """,
        STARTS,
        sash.Concat("x"),
    )
    check(
        """
        rows    a    b    c
        mark    !         !
        gives   a         bc
        finish
        """,
        ENDS,
        sash.Concat("x"),
    )


def test_every_row_is_marked() -> None:
    check(
        """
        rows    a    b    c
        mark    !    !    !
        gives        a    b
        finish
        gives                  c
        """,
        STARTS,
        sash.Concat("x"),
    )
    check(
        """
        rows    a    b    c
        mark    !    !    !
        gives   a    b    c
        finish
        """,
        ENDS,
        sash.Concat("x"),
    )


def test_no_row_is_marked() -> None:
    check(
        """
        rows    a    b    c
        mark
        finish
        """,
        ENDS,
        sash.Concat("x"),
    )
    check(
        """
        rows    a    b    c
        mark
        finish
        gives                  abc
        """,
        STARTS,
        sash.Concat("x"),
    )


def test_one_row() -> None:
    for mark in ("!", "null"):
        drawing = f"""
        rows    a
        mark    {mark}
        finish
        gives        a
        """
        check(drawing, STARTS, sash.Concat("x"))


def test_null_is_no_mark_and_numbers_are() -> None:
    check(
        """
        rows    a    b    c    d    e
        mark    null !    null null !
        gives        a              bcd
        finish
        gives                            e
        """,
        STARTS,
        sash.Concat("x"),
    )
    check(
        """
        rows    a    b    c    d    e
        mark    0    1    0    0    -2
        gives        a              bcd
        finish
        gives                            e
        """,
        STARTS,
        sash.Concat("x"),
    )


def test_short_windows_are_held_back() -> None:
    check(
        """
        rows    a    b    c    d    e    f    g
        mark         !              !    !
        gives                       3               ← one row before b, and one from e to f
        finish
        gives                                      2
        """,
        STARTS,
        sash.Count("x"),
        min_size=2,
    )
    check(
        """
        rows    a    b    c    d    e    f    g
        mark         !              !    !
        gives                       3
        """,
        ENDS,
        sash.Count("x"),
        min_size=3,
    )


def test_nulls() -> None:
    check(
        """
        rows    null null 1    null 2    null
        mark         !         !         !
        gives        null      1         2
        finish
        gives                                    null
        """,
        STARTS,
        sash.Max("x"),
    )


def test_times_are_those_of_the_marked_rows() -> None:
    check(
        """
        time    -5   0    5    10   15   20   25
        rows      a  b      c     d e         f
        mark         !              !
        gives        a              bcd
        """,
        STARTS,
        sash.Concat("x"),
    )
    check(
        """
        time    -5   0    5    10   15   20   25
        rows      a  b      c     d e         f
        mark         !              !
        gives        ab             cde
        finish
        """,
        ENDS,
        sash.Concat("x"),
        ways=("whole", "in two", "in three"),
    )


def test_push_gives_an_answer_or_none() -> None:
    rows = [{"x": x, "mark": x % 3 == 0} for x in range(1, 8)]
    window = sash.Window(sash.Sum("x"), STARTS)
    assert [window.push(row) for row in rows] == [None, None, 3, None, None, 12, None]
    assert list(window.finish()) == [13]
    window = sash.Window(sash.Sum("x"), ENDS)
    assert [window.push(row) for row in rows] == [None, None, 6, None, None, 15, None]
    assert list(window.finish()) == []


@pytest.mark.parametrize("definition", [STARTS, ENDS], ids=repr)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 64])
def test_around_powers_of_two(definition: object, size: int) -> None:
    rows = [Row({"x": i * 37 % 101, "mark": i % size == 0}) for i in range(50)]
    for op in (Affine("x"), sash.Collect("x")):
        ways = ("whole", "one by one", "in three")
        found = run_all_ways(definition, op, rows, finish=True, ways=ways)
        expected = naive.answers(definition, op, rows, finish=True)
        assert_same(found, [Event(a.value, a.time) for a in expected])


def test_a_mark_of_another_type_is_refused() -> None:
    window = sash.Window(sash.Sum("x"), STARTS)
    with pytest.raises((TypeError, ValueError), match="mark"):
        window.push_many({"x": [1, 2], "mark": ["yes", "no"]})
    with pytest.raises((TypeError, ValueError, KeyError), match="mark"):
        window.push_many({"x": [1, 2]})
    with pytest.raises((TypeError, ValueError, KeyError), match="mark"):
        window.push({"x": 1})

"""Rows whose column is within some width of the newest one's."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from cases import Affine
from windows import naive
from windows.naive import Row
from windows.timelines import check
from windows.ways import assert_same, run_all_ways

import sash


@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
def test_both_ends_count(kind: str) -> None:
    check(
        """
        rows    a    b    c    d    e    f    g
        km      0    2    3    5    5    9    30
        gives   a    ab   abc  bcd  bcde f    g
        """,
        sash.delta("km", 3),
        sash.Concat("x"),
        kind=kind,
    )


def test_no_width_at_all() -> None:
    check(
        """
        rows    a    b    c    d    e
        km      1    1    2    2    2
        gives   a    ab   c    cd   cde
        """,
        sash.delta("km", 0),
        sash.Concat("x"),
    )


def test_parts_of_a_unit_and_below_zero() -> None:
    check(
        """
        rows    a    b    c    d    e    f
        km      -2.5 -2.0 -0.5 0.0  0.25 3.0
        gives   a    ab   abc  bcd  cde  f
        """,
        sash.delta("km", 2.0),
        sash.Concat("x"),
    )
    check(
        """
        rows    a    b    c    d
        km      -7   -5   0    2
        gives   a    ab   bc   cd
        """,
        sash.delta("km", 5),
        sash.Concat("x"),
    )


def test_wider_than_all_there_is_and_one_row() -> None:
    check(
        """
        rows    a    b    c
        km      0    500  999
        gives   a    ab   abc
        finish
        """,
        sash.delta("km", 1_000_000),
        sash.Concat("x"),
    )
    check(
        """
        rows    a
        km      7
        gives   a
        """,
        sash.delta("km", 1),
        sash.Concat("x"),
    )


MIN_SIZE = {
    0: "1    2    3    3    1",
    1: "1    2    3    3    1",
    2: ".    2    3    3    .",
    3: ".    .    3    3    .",
    4: ".    .    .    .    .",
}


@pytest.mark.parametrize("min_size", MIN_SIZE)
def test_min_size_holds_answers_back(min_size: int) -> None:
    check(
        f"""
        rows    a    b    c    d    e
        km      0    2    3    5    9
        gives   {MIN_SIZE[min_size]}
        """,
        sash.delta("km", 3),
        sash.Count("x"),
        min_size=min_size,
    )


def test_each_so_many_th_row() -> None:
    check(
        """
        rows    a    b    c    d    e    f    g
        km      0    2    3    5    5    9    30
        gives             abc            f
        """,
        sash.delta("km", 3, every=3),
        sash.Concat("x"),
    )


def test_at_marks() -> None:
    check(
        """
        rows    a    b    c    d    e    f    g
        km      0    2    3    5    5    9    30
        mark    !         !         !    !
        gives   a         abc       bcde f
        """,
        sash.delta("km", 3, every=sash.punctuated("mark")),
        sash.Concat("x"),
    )


def test_at_ends_on_a_grid() -> None:
    """The newest row before an end tells how far back its window goes."""
    check(
        """
        time    0         5         10        15        20        25
        rows      a   b   c   d                       e   f
        km        0   2   3   7                       8   9
        gives             ab        d         d         de
        finish
        gives                                                     def
        """,
        sash.delta("km", 3, every="5i"),
        sash.Concat("x"),
    )
    check(
        """
        time    0         5         10        15        20        25
        rows      a   b   c   d                       e   f
        km        0   2   3   7                       8   9
        gives               abc       d         d         de
        finish
        gives                                                       def
        """,
        sash.delta("km", 3, every="5i", offset="1i"),
        sash.Concat("x"),
    )


def test_a_value_may_be_missing_where_its_distance_is_not() -> None:
    check(
        """
        rows    null 1    null null 2
        km      0    1    2    4    9
        gives   null 1    1    1    2
        """,
        sash.delta("km", 3),
        sash.Max("x"),
    )


def test_of_the_column_itself() -> None:
    window = sash.Window(sash.Count("km"), sash.delta("km", 3))
    assert window.push_many({"km": [0, 2, 3, 5, 5, 9, 30]}) == [1, 2, 3, 3, 4, 1, 1]


def test_a_column_of_times() -> None:
    moments = np.array([0, 2, 3, 5, 5, 9, 30], "datetime64[s]")
    rows = [Row({"x": x, "at": at}) for x, at in zip("abcdefg", moments, strict=True)]
    definition = sash.delta("at", "3s")
    expected = ["a", "ab", "abc", "bcd", "bcde", "f", "g"]
    assert naive.per_row(definition, sash.Concat("x"), rows) == expected
    window = sash.Window(sash.Concat("x"), definition)
    table = pa.table({"x": list("abcdefg"), "at": moments})
    assert window.push_many(table).to_pylist() == expected
    window = sash.Window(sash.Concat("x"), definition)
    assert [window.push(row.value) for row in rows] == expected


def test_what_goes_back_is_refused_and_changes_nothing() -> None:
    window = sash.Window(sash.Sum("x"), sash.delta("km", 3))
    assert window.push_many({"x": [1, 2], "km": [0, 5]}) == [1, 2]
    with pytest.raises(ValueError, match="km"):
        window.push({"x": 4, "km": 4})
    with pytest.raises(ValueError, match="km"):
        window.push_many({"x": [4, 8], "km": [6, 5]})
    assert window.push({"x": 16, "km": 5}) == 18


@pytest.mark.parametrize("distance", [None, float("nan")])
def test_a_row_without_a_distance_is_refused(distance: float | None) -> None:
    window = sash.Window(sash.Sum("x"), sash.delta("km", 3.0))
    assert window.push({"x": 1, "km": 0.0}) == 1
    with pytest.raises((ValueError, TypeError), match="km"):
        window.push({"x": 2, "km": distance})
    with pytest.raises((ValueError, TypeError), match="km"):
        window.push_many({"x": [2, 4], "km": [1.0, distance]})
    assert window.push({"x": 8, "km": 2.0}) == 9


@pytest.mark.parametrize("width", [0, 1, 2, 3, 4, 7, 8, 9, 16, 17])
def test_around_powers_of_two(width: int) -> None:
    gaps = [1, 0, 2, 1, 1, 0, 0, 5, 1, 1, 16, 1, 3, 0, 1, 8] * 2
    rows = [
        Row({"x": i * 37 % 101, "km": km - 20}, i) for i, km in enumerate(np.cumsum(gaps).tolist())
    ]
    for every in (1, 3):
        definition = sash.delta("km", width, every=every)
        for op in (Affine("x"), sash.Collect("x")):
            found = run_all_ways(definition, op, rows, ways=("whole", "one by one", "in three"))
            assert_same(found, naive.per_row(definition, op, rows))

"""Windows of one kind answered by another: rows per minute, time per row, either at marks."""

from __future__ import annotations

import pytest
from windows.timelines import check

import sash

AT_MARKS = sash.punctuated("mark")


@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
@pytest.mark.parametrize("seconds", [False, True])
def test_the_last_rows_at_each_end_on_the_grid(kind: str, seconds: bool) -> None:
    check(
        """
        time    0         5         10        15        20        25
        rows      a   b   c d e                           f
        gives             ab        de        de        de              ← c, at 5, is not before 5
        finish
        gives                                                     ef    ← the one end after the last
        """,
        sash.last(2, every="5s" if seconds else "5i"),
        sash.Concat(),
        kind=kind,
        seconds=seconds,
    )


def test_the_last_rows_on_a_shifted_grid() -> None:
    check(
        """
        time    0         5         10        15        20        25
        rows      a   b   c d e                           f
        gives               bc        de        de        de            ← ends at 6, 11, 16 …
        finish
        gives                                                       ef
        """,
        sash.last(2, every="5i", offset="1i"),
        sash.Concat(),
    )


def test_each_row_gives_the_ends_that_it_passes() -> None:
    check(
        """
        time    -10       -5        0         5         10        15
        rows          a
        rows                  b                                         ← -5 has passed
        gives             a
        rows                        c
        gives                       ab
        rows                          d
        rows                                            e
        gives                                 bcd       bcd
        finish
        gives                                                     cde
        """,
        sash.last(3, every="5i"),
        sash.Concat(),
    )


def test_too_few_rows_at_an_end() -> None:
    check(
        """
        time    -10       -5        0         5         10        15
        rows          a         b         c                 d
        gives                       2         3         3               ← one row at -5 is too few
        finish
        gives                                                     3
        """,
        sash.last(3, every="5i"),
        sash.Count(),
        min_size=2,
    )
    check(
        """
        time    -10       -5        0         5         10        15
        rows          a         b         c                 d
        finish
        """,
        sash.last(3, every="5i"),
        sash.Count(),
        min_size=4,
    )


def test_nulls_at_ends() -> None:
    check(
        """
        time    0         5         10        15        20        25
        rows      1   null      2         null      null      3
        gives             1         2         2         null
        finish
        gives                                                     3
        """,
        sash.last(2, every="5i"),
        sash.Max(),
    )


def test_time_that_passes_without_rows() -> None:
    check(
        """
        time    0         5         10        15        20
        rows      a   b
        advance           ^
        gives             ab
        advance                               ^
        gives                       ab        ab
        """,
        sash.last(2, every="5i"),
        sash.Concat(),
    )


def test_time_at_each_so_many_th_row() -> None:
    check(
        """
        time    0    1    2    3    4    5    6    7    8    9
        rows    a    b    c         d    e              f    g
        gives             abc                           ef      ← d, at 4, has just left
        finish
        """,
        sash.last("4i", every=3),
        sash.Concat(),
    )


ROWS_AT_MARKS = {
    "right": """
        rows    a   b   c   d   e
        mark        !       !
        gives       ab      bcd
        """,
    "left": """
        rows    a   b   c   d   e
        mark        !       !
        gives       a       abc
        """,
    "both": """
        rows    a   b   c   d   e
        mark        !       !
        gives       ab      abcd
        """,
    "neither": """
        rows    a   b   c   d   e
        mark        !       !
        gives       a       bc
        """,
}


@pytest.mark.parametrize("closed", ROWS_AT_MARKS)
def test_the_last_rows_at_marks(closed: str) -> None:
    check(ROWS_AT_MARKS[closed], sash.last(3, every=AT_MARKS, closed=closed), sash.Concat("x"))


@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
def test_time_at_marks(kind: str) -> None:
    check(
        """
        time    0    1    2    3    4    5    6    7    8    9
        rows    a    b    c         d    e              f    g
        mark    !         !              !                   !
        gives   a         abc            cde                 fg
        finish
        """,
        sash.last("4i", every=AT_MARKS),
        sash.Concat("x"),
        kind=kind,
    )


def test_marks_among_rows_of_one_time() -> None:
    check(
        """
        time    0    1    2    3    4
        rows    a         b         c
        mark    !
        also              B
        mark              !
        also              X
        gives   a         abB               ← at B, X has not come
        """,
        sash.last("3i", every=AT_MARKS),
        sash.Concat("x"),
    )
    check(
        """
        time    0    1    2    3    4
        rows    a         b         c
        also              B
        mark              !
        gives             a                 ← nothing of its own time
        """,
        sash.last("3i", every=AT_MARKS, closed="left"),
        sash.Concat("x"),
    )


def test_nothing_at_a_mark() -> None:
    """An open window at the first row holds nothing."""
    check(
        """
        rows    a   b   c
        mark    !       !
        gives           2
        """,
        sash.last(3, every=AT_MARKS, closed="left"),
        sash.Count("x"),
    )
    check(
        """
        rows    a   b   c
        mark    !       !
        gives   0       2
        """,
        sash.last(3, every=AT_MARKS, closed="left"),
        sash.Count("x"),
        min_size=0,
    )


def test_null_is_no_mark() -> None:
    check(
        """
        rows    a    b    c    d
        mark    null !    null !
        gives        ab        bcd
        """,
        sash.last(3, every=AT_MARKS),
        sash.Concat("x"),
    )
    check(
        """
        rows    a    b    c    d
        mark    0    1    0    2
        gives        ab        bcd
        """,
        sash.last(3, every=AT_MARKS),
        sash.Concat("x"),
    )

"""Windows side by side: by rows, and by time."""

from __future__ import annotations

import pytest
from windows.naive import Row
from windows.timelines import check
from windows.ways import run_all_ways

import sash


def test_it_is_the_last_answered_as_often_as_it_is_long() -> None:
    assert sash.tumbling(3) == sash.last(3, every=3)
    assert sash.tumbling("1h", offset="5min") == sash.last("1h", every="1h", offset="5min")


ROWS = {
    1: "a   b   c   d   e   f   g",
    2: "    ab      cd      ef   ",
    3: "        abc         def  ",
    4: "            abcd         ",
    7: "                        abcdefg",
    8: "                         ",
}


@pytest.mark.parametrize("size", ROWS)
def test_by_rows(size: int) -> None:
    check(
        f"""
        rows    a   b   c   d   e   f   g
        gives   {ROWS[size]}
        finish                              ← a window that is not full is never answered
        """,
        sash.tumbling(size),
        sash.Concat(),
    )


@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
@pytest.mark.parametrize("seconds", [False, True])
def test_by_time(kind: str, seconds: bool) -> None:
    check(
        """
        time    0    5    10   15   20   25   30
        rows    a b  c   d           e
                |-ab-|-cd-|
        finish
                                    |-e--|
        """,
        sash.tumbling("5s" if seconds else "5i"),
        sash.Concat(),
        kind=kind,
        seconds=seconds,
    )


def test_an_offset_and_times_before_1970() -> None:
    check(
        """
        time    -8  -7  -6  -5  -4  -3  -2  -1  0   1   2   3   4   5   6   7   8   9
        rows            a
        rows                        b
                    |-------a-------|
        rows                                    c
        rows                                        d
                                    |------bc-------|
        rows                                                    e
        rows                                                        f
                                                    |------de-------|
        finish
                                                                    |-------f-------|
        """,
        sash.tumbling("4i", offset="1i"),
        sash.Concat(),
    )


def test_as_narrow_and_as_wide_as_can_be() -> None:
    check(
        """
        time    0   1   2   3   4
        rows    a   b       c
        also        B
                |-a-|-bB|
        finish
                            |-c-|
        """,
        sash.tumbling("1i"),
        sash.Concat(),
    )
    check(
        """
        time    0    100  200  300  400  500  600  700  800  900  1000
        rows    a    b                   c         d
        finish
                |-----------------------abcd----------------------|
        """,
        sash.tumbling("1000i"),
        sash.Concat(),
    )


def test_empty_windows() -> None:
    drawing = """
        time    0    5    10   15   20   25   30
        rows    a b  c   d           e
                {}
        finish
                                    {}
        """
    told = {0: ("|-2--|-2--|-0--|-0--|", "|-1--|"), 1: ("|-2--|-2--|", "|-1--|")}
    told |= {2: ("|-2--|-2--|", ""), 3: ("", "")}
    for min_size, windows in told.items():
        check(drawing.format(*windows), sash.tumbling("5i"), sash.Count(), min_size=min_size)


def test_a_burst_at_the_edge() -> None:
    """Rows at the end of a window are all in the next."""
    check(
        """
        time    0    5    10   15
        rows        ab
        also         B
        also         X
                |-a--|
        finish
                     |bBX-|
        """,
        sash.tumbling("5i"),
        sash.Concat(),
    )


def test_nulls() -> None:
    check(
        """
        time    0    5    10   15   20
        rows    null 4  null
                |null|
        finish
                     |-4--|
        """,
        sash.tumbling("5i"),
        sash.Max(),
    )


def test_push_gives_the_one_answer_there_can_be() -> None:
    window = sash.Window(sash.Sum(), sash.tumbling("5i"))
    rows = [(1, 0), (2, 4), (4, 5), (8, 31)]
    assert [window.push(value, time) for value, time in rows] == [None, None, 3, 4]
    (last,) = window.finish()
    assert last == 8


def test_push_gives_all_of_them_where_empty_ones_are_told() -> None:
    window = sash.Window(sash.Sum(), sash.tumbling("5i"), min_size=0)
    assert list(window.push(1, 0)) == []
    answers = window.push(2, 17)
    assert list(answers) == [1, 0, 0]
    assert list(answers.times) == [5, 10, 15]
    assert list(answers.starts) == [0, 5, 10]


def test_no_row() -> None:
    assert run_all_ways(sash.tumbling("5i"), sash.Sum(), [], finish=True) == []
    assert run_all_ways(sash.tumbling(5), sash.Sum(), [], finish=True) == []


def test_time_may_stand_still() -> None:
    rows = [Row(1, 7)] * 40
    (found,) = run_all_ways(sash.tumbling("5i"), sash.Sum(), rows, finish=True)
    assert found == (40, 10, 5, None, None)

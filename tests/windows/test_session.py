"""Sessions: rows each at most a gap after the one before, as Spark's session_window()."""

from __future__ import annotations

import numpy as np
import pytest
from cases import Affine
from windows import naive
from windows.naive import Row
from windows.timelines import check
from windows.ways import Event, assert_same, run_all_ways

import sash


@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
@pytest.mark.parametrize("seconds", [False, True])
def test_a_row_more_than_a_gap_later_begins_a_new_one(kind: str, seconds: bool) -> None:
    check(
        """
        time    0         5         10        15        20        25        30
        rows    a     b         c           d   e                               ← c is 5 after b
                [-----------abc-----------)                                     ← d 6 after c
        finish
                                            [------de-----)
        """,
        sash.session("5s" if seconds else "5i"),
        sash.Concat(),
        kind=kind,
        seconds=seconds,
    )


def test_each_row_by_itself() -> None:
    check(
        """
        time    -15       -10       -5        0         5         10
        rows          a
        rows                    b
        rows                                c                           ← it closes what was open
                      [---------ab--------)
        rows                                  d
        rows                                            e
        finish
                                            [---------cde---------)
        """,
        sash.session("5i"),
        sash.Concat(),
    )


def test_the_narrowest_gap() -> None:
    check(
        """
        time    0   1   2   3   4   5
        rows    a   b       c
        also        B
                [--abB--)
        finish
                            [-c-)
        """,
        sash.session("1i"),
        sash.Concat(),
    )


def test_a_gap_that_never_comes() -> None:
    check(
        """
        time    0    100  200  300  400  500
        rows    a    b         c
        finish
                [-----------abc-----------)
        """,
        sash.session("220i"),
        sash.Concat(),
    )


def test_one_row_and_none() -> None:
    check(
        """
        time    0    5    10
        rows       a
        finish
                   [-a--)
        """,
        sash.session("5i"),
        sash.Concat(),
    )
    assert run_all_ways(sash.session("5i"), sash.Sum(), [], finish=True) == []


def test_short_ones_are_held_back() -> None:
    check(
        """
        time    0         5         10        15        20        25        30
        rows    a     b           c         d               e
                [-------2-------)
                                  [---------2---------)
        finish
        """,
        sash.session("5i"),
        sash.Count(),
        min_size=2,
    )
    for min_size in (0, 1):
        check(
            """
            time    0         5         10        15        20        25        30
            rows    a     b           c         d               e
                    [-------2-------)
                                      [---------2---------)
            finish
                                                                [----1----)
            """,
            sash.session("5i"),
            sash.Count(),
            min_size=min_size,
        )


def test_a_session_of_nulls() -> None:
    check(
        """
        time    0         5         10        15        20        25        30
        rows    null  3           null  null              4
                [-------3-------)
                                  [------null-----)
        finish
                                                          [----4----)
        """,
        sash.session("5i"),
        sash.Max(),
    )


def test_nan() -> None:
    check(
        """
        time    0         5         10        15        20        25        30
        rows    nan   3.0         1.0                   4.0
                [------nan------)
                                  [---1.0---)
        finish
                                                        [---4.0---)
        """,
        sash.session("5i"),
        sash.Sum(),
    )


def test_time_that_passes_closes_it() -> None:
    check(
        """
        time    0         5         10        15        20
        rows    a     b
        advance                 ^                       ← a row at 8 would still belong to it
        advance                   ^
                [-------ab------)
        advance                         ^
        rows                              c
        finish
                                          [----c----)
        """,
        sash.session("5i"),
        sash.Concat(),
    )


def test_push_gives_an_answer_or_none() -> None:
    window = sash.Window(sash.Sum(), sash.session("5i"))
    rows = [(1, 0), (2, 5), (4, 11), (8, 12), (16, 40)]
    assert [window.push(value, time) for value, time in rows] == [None, None, 3, None, 12]
    answers = window.finish()
    assert list(answers) == [16]
    assert list(answers.starts) == [40]
    assert list(answers.times) == [45]


def test_what_it_holds_now() -> None:
    window = sash.Window(sash.Sum(), sash.session("5i"))
    for value, time, size, answer in [(1, 0, 1, 1), (2, 5, 2, 3), (4, 11, 1, 4), (8, 12, 2, 12)]:
        window.push(value, time)
        assert len(window) == size
        assert window.query() == answer


@pytest.mark.parametrize("gap", [1, 2, 3, 4, 5, 8, 9, 16, 17])
def test_around_powers_of_two(gap: int) -> None:
    gaps = [1, 0, 2, 1, 1, 0, 0, 5, 1, 1, 16, 1, 3, 0, 1, 8] * 3
    rows = [Row(i * 37 % 101, t - 50) for i, t in enumerate(np.cumsum(gaps).tolist())]
    definition = sash.session(f"{gap}i")
    for op in (Affine(), sash.Collect()):
        ways = ("whole", "one by one", "in three")
        found = run_all_ways(definition, op, rows, finish=True, ways=ways)
        expected = naive.answers(definition, op, rows, finish=True)
        assert_same(found, [Event(a.value, a.time, a.start) for a in expected])

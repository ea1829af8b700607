"""Rows that come out of order: what waits, what is late, and what early answers become."""

from __future__ import annotations

import pytest
from windows.naive import Row
from windows.timelines import check
from windows.ways import run_all_ways

import sash


@pytest.mark.parametrize("seconds", [False, True])
def test_a_row_is_answered_once_nothing_can_come_before_it(seconds: bool) -> None:
    check(
        """
        time    0         5         10        15        20
        rows    a
        rows                  c                             ← the watermark is 7 - 5, and a done
        gives   a
        rows            b                                   ← not late, and not yet done
        rows                            d
        gives           ab
        rows                e~                              ← before 12 - 5: late
        rows                  f                             ← at 12 - 5: not late
        rows                              g
        gives                 abc
        gives                 abcf                          ← those of one time as they came
        finish
        gives                           bcfd
        gives                             bcfdg
        """,
        sash.last("10s" if seconds else "10i"),
        sash.Concat(),
        lateness=5,
        seconds=seconds,
    )


def test_the_last_rows_are_the_last_by_time() -> None:
    check(
        """
        time    0         5         10        15        20
        rows          b
        rows    a
        rows                  c
        gives   a
        rows          B
        rows                      d
        gives         ab
        gives         bB
        rows                                            e
        gives                 Bc  cd
        finish
        gives                                           de
        """,
        sash.last(2),
        sash.Concat(),
        lateness=5,
    )


def test_each_second_row_by_time() -> None:
    check(
        """
        time    0         5         10        15        20
        rows          b
        rows    a                                           ← b is now the second
        rows                  d
        rows            c
        rows                                            e
        gives         ab      cd
        finish
        """,
        sash.last(2, every=2),
        sash.Concat(),
        lateness=5,
    )


def test_tumbling() -> None:
    check(
        """
        time    0         5         10        15        20        25
        rows      a
        rows                c
        rows          b
        rows                      d                         ← the watermark is 4
        rows                        e                       ← 5, and the first window is over
                [----ab---)
        rows            f~
        rows              g
        rows                                              h
                          [---gcd---)
                                    [----e----)
        finish
                                                        [----h----)
        """,
        sash.tumbling("5i"),
        sash.Concat(),
        lateness=5,
    )


def test_overlapping_windows() -> None:
    check(
        """
        time    -10       -5        0         5         10        15        20        25        30
        rows                          a
        rows                                    c
        rows                              b
        rows                                          d
        rows                                            e
                          [---------ab--------)
        rows                                f~
        rows                                  g
        rows                                                                  h
                                    [-------abgcd-------)
                                              [--------gcde-------)
        finish
                                                        [---------e---------)
                                                                  [---------h---------)
                                                                            [---------h---------)
        """,
        sash.last("10i", every="5i"),
        sash.Concat(),
        lateness=5,
    )


def test_the_last_rows_at_each_end() -> None:
    check(
        """
        time    0         5         10        15        20        25
        rows      a
        rows                c
        rows          b
        rows                      d
        rows                        e
        gives             ab
        rows            f~
        rows              g
        rows                                              h
        gives                       cd        de
        finish
        gives                                           de        eh
        """,
        sash.last(2, every="5i"),
        sash.Concat(),
        lateness=5,
    )


def test_a_session_is_whole_once_its_gap_has_passed() -> None:
    check(
        """
        time    0         5         10        15        20        25        30
        rows    a
        rows                c
        rows          b                                     ← it joins what seemed to be two
        rows                              d
        rows                          e
        rows                                    h           ← the watermark is 10: not past its end
        rows                                      i
                [--------abc--------)
        rows                        g~
        finish
                                      [-------edhi--------)
        """,
        sash.session("4i"),
        sash.Concat(),
        lateness=6,
    )


def test_marks_by_time() -> None:
    check(
        """
        time    0         5         10        15        20
        rows      b
        mark      !
        rows    a
        mark
        rows                d
        mark                !
        rows          c
        mark
        rows                                    e
        mark
        gives     a         bc
        """,
        sash.punctuated("mark"),
        sash.Concat("x"),
        lateness=5,
    )


def test_distances_by_time() -> None:
    check(
        """
        time    0         5         10        15        20
        rows      b
        km        2
        rows    a
        km      0
        rows                d
        km                  7
        gives   a
        rows          c
        km            3
        rows                                    e
        km                                      8
        gives     ab
        gives         abc   d
        finish
        gives                                   de
        """,
        sash.delta("km", 3),
        sash.Concat("x"),
        lateness=5,
    )


def test_a_policy_by_time() -> None:
    check(
        """
        time    0         5         10        15        20
        rows      5
        rows    9
        rows                7
        gives   9
        rows          4
        rows                                    1
        gives     14
        gives         18    11                              ← 9 + 5 + 4, of which none may leave
        finish
        gives                                   12
        """,
        sash.slide_while(lambda total, old: total - old >= 10),
        sash.Sum(),
        lateness=5,
    )


def test_too_few_rows() -> None:
    check(
        """
        time    0         5         10        15        20
        rows      b
        rows    a
        rows                        c
        gives     2                                         ← a alone is too little
        finish
        gives                       2
        """,
        sash.last("10i"),
        sash.Count(),
        lateness=5,
        min_size=2,
    )


def test_nulls_wait_too() -> None:
    check(
        """
        time    0         5         10        15        20
        rows      null
        rows    3
        rows                        1
        gives   3 3
        finish
        gives                       1
        """,
        sash.last("10i"),
        sash.Max(),
        lateness=5,
    )


def test_time_that_passes_makes_rows_late() -> None:
    check(
        """
        time    0         5         10        15        20
        rows          b
        rows      a
        advance         ^                                   ← the watermark is 4
        gives     a   ab
        rows          c~
        rows            d
        rows              e
        advance             ^
        gives           bd
        gives             de
        finish
        """,
        sash.last(2),
        sash.Concat(),
        lateness=5,
    )
    check(
        """
        time    0         5         10        15        20
        rows          b
        rows      a
        advance           ^
                [----ab---)
        rows            c~
        rows              d
        finish
                          [----d----)
        """,
        sash.tumbling("5i"),
        sash.Concat(),
        lateness=5,
    )


def test_before_1970() -> None:
    check(
        """
        time    -20       -15       -10       -5        0
        rows          b
        rows      a
        rows                c
        gives     a
        gives         ab
        rows        x~
        rows                                    d
        gives               bc
        finish
        gives                                   cd
        """,
        sash.last(2),
        sash.Concat(),
        lateness=2,
    )


def test_nothing_is_late_where_all_may_be() -> None:
    rows = [Row(value, time) for value, time in zip("dbca", [30, 10, 20, 0], strict=True)]
    window = sash.Window(sash.Concat(), 2, lateness="1000i")
    for row in rows:
        assert len(window.push(row.value, row.time)) == 0
    answers = window.finish()
    assert list(answers) == ["a", "ab", "bc", "cd"]
    assert list(answers.times) == [0, 10, 20, 30]
    assert window.late == 0


def test_late_rows_are_counted() -> None:
    window = sash.Window(sash.Sum(), sash.tumbling("10i"), lateness="5i")
    assert window.late == 0
    window.push_many([1, 2, 4, 8], [20, 14, 15, 16])
    assert window.late == 1
    assert window.watermark == 15
    window.push(16, 0)
    assert window.late == 2
    window.push_many([32, 64], [100, 94])
    assert window.late == 3
    assert window.watermark == 95
    assert list(window.finish()) == [32]


def test_one_row_and_none() -> None:
    check(
        """
        time    0         5         10
        rows          a
        finish
        gives         a
        """,
        sash.last("10i"),
        sash.Concat(),
        lateness=5,
    )
    assert run_all_ways(sash.last("10i"), sash.Sum(), [], finish=True, lateness="5i") == []


class TestEarly:
    """Answers at once, and corrections as rows land between others."""

    def test_at_rows(self) -> None:
        check(
            """
            time    0         5         10        15        20
            rows    a
            gives   a
            rows                    d
            gives                   ad
            rows          b                                     ← it is in the window of d
            gives         ab
            gives                   abd#1
            rows              c
            gives             abc   abcd#2
            rows      x~
            rows                                f
            gives                               cdf
            rows                            e
            gives                           bcde
            gives                               cdef#1
            finish
            """,
            sash.last("10i"),
            sash.Concat(),
            lateness=6,
            emit="early",
        )

    def test_each_second_row(self) -> None:
        check(
            """
            time    0         5         10        15        20
            rows    a
            rows                c
            gives               ac
            rows          b                                     ← now b is the second, and c is not
            gives         ab    null#1
            rows                      d
            gives                     cd
            finish
            """,
            sash.last(2, every=2),
            sash.Concat(),
            lateness=9,
            emit="early",
        )

    def test_tumbling(self) -> None:
        check(
            """
            time    0         5         10        15        20
            rows      a
                    [----a----)
            rows          b
                    [--ab#1---)
            rows                c
                              [----c----)
            rows              d
                              [--dc#1---)
            rows      x~
            finish
            """,
            sash.tumbling("5i"),
            sash.Concat(),
            lateness=3,
            emit="early",
        )

    def test_an_answer_that_stays_the_same_is_not_given_again(self) -> None:
        check(
            """
            time    0         5         10        15        20
            rows      7
                    [----7----)
            rows          3
            rows        9
                    [---9#1---)
            rows            9
            rows                  1
                              [----1----)
            rows      2~
            finish
            """,
            sash.tumbling("5i"),
            sash.Max(),
            lateness=4,
            emit="early",
        )

    def test_sessions_that_turn_out_to_be_one(self) -> None:
        """A session is known by its begin and end: both are gone, and another is there."""
        check(
            """
            time    0         5         10        15        20
            rows    a
                    [---a---)
            rows                c
                                [---c---)
            rows          b
                    [null#1-)
                                [null#1-)
                    [-------abc---------)
            rows                                            d
                                                            [---d---)
            finish
            """,
            sash.session("4i"),
            sash.Concat(),
            lateness=9,
            emit="early",
        )

    def test_a_batch_is_told_once(self) -> None:
        """Corrections within a batch are nobody's business: only what is new after it."""
        window = sash.Window(sash.Sum(), sash.tumbling("10i"), lateness="10i", emit="early")
        answers = window.push_many([1, 2, 4], [3, 1, 12])
        assert list(answers) == [3, 4]
        assert list(answers.times) == [10, 20]
        assert list(answers.revisions) == [0, 0]
        answers = window.push_many([8, 16], [5, 6])
        assert list(answers) == [27]
        assert list(answers.times) == [10]
        assert list(answers.revisions) == [1]

    def test_early_answers_need_lateness(self) -> None:
        with pytest.raises(ValueError, match="lateness"):
            sash.Window(sash.Sum(), 3, emit="early")

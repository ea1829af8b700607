"""Windows of time that start on a grid: [start, start + size), as Spark's window()."""

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
def test_windows_overlap(kind: str, seconds: bool) -> None:
    check(
        """
        time    -10  -5   0    5    10   15   20   25   30   35
        rows                a  b    c d         e
                     [----a----)
                          [----ab---)                       ← c, at 10, is past its end
                               [---bcd---)                  ← b, at 5, is at its begin
                                    [----cd---)
        finish
                                         [----e----)
                                              [----e----)
        """,
        sash.last("10s", every="5s") if seconds else sash.last("10i", every="5i"),
        sash.Concat(),
        kind=kind,
        seconds=seconds,
    )


def test_an_end_is_answered_once_it_has_come() -> None:
    """Rows one by one, and what each of them gives."""
    check(
        """
        time    -5   0    5    10   15   20   25   30
        rows           a                               ← 5 has not come
        rows             b
        rows              c
                [---ab----)
        rows              d                            ← nothing new: time is where it was
        rows                   e
                     [--abcd---)
        rows                             f             ← two ends have passed at once
                          [--cde----)
                               [----e----)
        finish
                                    [----f----)
                                         [----f----)
        """,
        sash.last("10i", every="5i"),
        sash.Concat(),
    )


def test_a_size_that_is_no_multiple() -> None:
    """Starts lie on the grid, and ends do not."""
    check(
        """
        time    -6    -3    0     3     6     9     12    15    18    21    24
        rows                a         b c   d             e
                [------a------)
                      [------a------)
                            [-----abc-----)
                                  [-----bcd-----)
                                        [------cd-----)
        finish
                                              [------e------)
                                                    [------e------)
                                                          [------e------)
        """,
        sash.last("7i", every="3i"),
        sash.Concat(),
    )


@pytest.mark.parametrize("offset", ["2i", "7i", "-3i", "1002i"])
def test_an_offset_shifts_the_grid(offset: str) -> None:
    check(
        """
        time    -10  -5   0    5    10   15   20   25   30   35
        rows                a  b c    d         e
                       [----ab---)                          ← ends at 7, 12, 17 …
                            [---abc---)
                                 [----cd---)
                                      [----d----)
        finish
                                           [----e----)
                                                [----e----)
        """,
        sash.last("10i", every="5i", offset=offset),
        sash.Concat(),
    )


def test_gaps_between_windows() -> None:
    """A size below the step: some rows are in no window."""
    check(
        """
        time    0         5         10        15        20
        rows      a b   c d e               f g
                [-a-)
                          [-de)
        finish
                                              [-g-)
        """,
        sash.last("2i", every="5i"),
        sash.Concat(),
    )


def test_every_unit_of_time() -> None:
    check(
        """
        time    -4 -3 -2 -1 0  1  2  3  4  5  6  7  8
        rows                a  b     c
                   [-----a-----)
                      [-----ab----)
                         [-----ab----)
        finish
                            [----abc----)
                               [-----bc----)
                                  [-----c-----)
                                     [-----c-----)
        """,
        sash.last("4i", every="1i"),
        sash.Concat(),
    )


def test_empty_windows_are_told_if_wanted() -> None:
    """From the first window of the first row on; none that lies after the last row."""
    drawing = """
        time    -15  -10  -5   0    5    10   15   20   25   30
        rows            a b   cd               e
                [----1----)
                     [----3----)
                          [----3----)
                               [----1----)
                                    [----0----)
        finish
                                         [----1----)
                                              [----1----)
        """
    definition = sash.last("10i", every="5i")
    check(drawing, definition, sash.Count(), min_size=0)
    without = "\n".join(line for line in drawing.splitlines() if "-0-" not in line)
    check(without, definition, sash.Count(), min_size=1)
    check(without, definition, sash.Count())


@pytest.mark.parametrize(
    ("op", "answer", "nothing"),
    [(sash.Sum(), 7, 0), (sash.Max(), 7, None), (sash.Collect(), [7], [])],
    ids=repr,
)
def test_what_an_empty_window_answers(op: sash.Operator, answer: object, nothing: object) -> None:
    rows = [Row(7, 0), Row(7, 15)]
    found = run_all_ways(sash.last("5i", every="5i"), op, rows, min_size=0)
    expected = [Event(answer, 5, 0), Event(nothing, 10, 5), Event(nothing, 15, 10)]
    assert_same(found, expected)


def test_min_size_counts_rows() -> None:
    check(
        """
        time    -30       -20       -10       0         10        20        30        40
        rows                   a    b        cd                           e
                          [---------3---------)
                                    [---------3---------)
        finish
        """,
        sash.last("20i", every="10i"),
        sash.Count(),
        min_size=2,
    )
    check(
        """
        time    0    5    10   15   20
        rows    1    null null null         ← nulls are rows, and count as such
                |----1----|
        finish
                          |----0----|
        """,
        sash.last("10i", every="10i"),
        sash.Sum(),
        min_size=2,
    )


@pytest.mark.parametrize("kind", ["list", "arrow"])
def test_nulls_and_nan(kind: str) -> None:
    check(
        """
        time    -10  -5   0    5    10   15   20   25   30   35
        rows            null nan  1.0           2.0
                [---null--)                                 ← a row without a value: null is told
                     [---nan---)
                          [---nan---)                       ← the greatest there is
                               [---1.0---)
        finish
                                         [---2.0---)
                                              [---2.0---)
        """,
        sash.last("10i", every="5i"),
        sash.Max(),
        kind=kind,
    )


def test_one_row_and_none() -> None:
    check(
        """
        time    -10  -5   0    5    10   15   20   25   30   35   40
        rows                           a
        finish
                     [---------a---------)
                          [---------a---------)
                               [---------a---------)
                                    [---------a---------)
        """,
        sash.last("20i", every="5i"),
        sash.Concat(),
    )
    for min_size in (0, 1):
        definition = sash.last("20i", every="5i")
        found = run_all_ways(definition, sash.Sum(), [], finish=True, min_size=min_size)
        assert found == []


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33])
@pytest.mark.parametrize("every", [1, 2, 3, 8])
def test_around_powers_of_two(size: int, every: int) -> None:
    gaps = [1, 0, 2, 1, 1, 0, 0, 5, 1, 1, 16, 1, 3, 0, 1, 8]
    rows = [Row(i * 37 % 101, t - 20) for i, t in enumerate(np.cumsum(gaps).tolist())]
    definition = sash.last(f"{size}i", every=f"{every}i", offset="1i")
    for op, min_size in [(Affine(), 1), (sash.Collect(), 2)]:
        ways = ("whole", "one by one", "in three")
        found = run_all_ways(definition, op, rows, min_size=min_size, finish=True, ways=ways)
        expected = naive.answers(definition, op, rows, min_size=min_size, finish=True)
        assert_same(found, [Event(a.value, a.time, a.start) for a in expected])


def test_what_answers_tell() -> None:
    window = sash.Window(sash.Sum(), sash.last("10i", every="5i"))
    assert len(window.push(1, 2)) == 0
    answers = window.push_many([2, 4], [7, 18])
    assert isinstance(answers, sash.Answers)
    assert len(answers) == 3
    assert list(answers) == [1, 3, 2]
    assert [answers[0], answers[1], answers[-1]] == [1, 3, 2]
    assert np.asarray(answers).tolist() == [1, 3, 2]
    assert list(answers.times) == [5, 10, 15]
    assert list(answers.starts) == [-5, 0, 5]
    assert answers.keys is None
    assert list(window.finish()) == [4, 4]


def test_time_that_passes_without_rows() -> None:
    check(
        """
        time    -5   0    5    10   15   20   25
        rows           a
        advance           ^
                [----a----)
        advance               ^                    ← 10 has not come yet
        advance                ^
                     [----a----)
        rows                    b
        advance                       ^
                          [----b----)
        finish
                               [----b----)
        """,
        sash.last("10i", every="5i"),
        sash.Concat(),
    )

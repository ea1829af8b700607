"""emit="changes": only answers that differ from the one before."""

from __future__ import annotations

from typing import Any

import pytest
from windows import naive
from windows.naive import Row
from windows.timelines import check
from windows.ways import Event, assert_same, run_all_ways

import sash


@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
def test_only_what_changes(kind: str) -> None:
    check(
        """
        time    0    1    2    3    4    5    6    7
        rows    3    1    3    5    2    2    1    1
        gives   3              5              2         ← 3 is still the greatest at 1 and 2
        finish
        """,
        sash.last(3),
        sash.Max(),
        emit="changes",
        kind=kind,
    )


def test_without_times() -> None:
    check(
        """
        rows    3    1    3    5    2    2    1    1
        gives   3              5              2
        """,
        sash.last(3),
        sash.Max(),
        emit="changes",
    )


def test_to_nothing_and_back() -> None:
    check(
        """
        time    0    1    2    3    4    5    6    7
        rows    3    null null null 3    3    null 4
        gives   3         null      3              4
        """,
        sash.last(2),
        sash.Max(),
        emit="changes",
        ways=("whole", "in two", "in three"),  # where push says None, it has nothing to tell
    )


def test_push_gives_an_answer_or_none() -> None:
    window = sash.Window(sash.Max(), 3, emit="changes")
    found = [window.push(value) for value in (3, 1, 3, 5, 2, 2, 1, 1)]
    assert found == [3, None, None, 5, None, None, 2, None]
    window = sash.Window(sash.Max(), 3, emit="changes")
    answers = window.push_many([3, 1, 3, 5, 2, 2, 1, 1])
    assert isinstance(answers, sash.Answers)
    assert list(answers) == [3, 5, 2]
    assert answers.times is None


def test_answers_that_are_held_back_are_no_change() -> None:
    check(
        """
        time    0    1    2    3    4    5    6
        rows    3    1    3    2    2    2    0
        gives             3              2
        """,
        sash.last(3),
        sash.Max(),
        emit="changes",
        min_size=3,
    )


def test_each_so_many_th_row() -> None:
    check(
        """
        time    0    1    2    3    4    5    6    7
        rows    3    1    3    5    2    2    1    1
        gives        3         5                   2
        """,
        sash.last(3, every=2),
        sash.Max(),
        emit="changes",
    )


def test_overlapping_windows() -> None:
    check(
        """
        time    -5   0    5    10   15   20   25   30
        rows         1 2    2  1           2
                [----2----)                             ← the next two are 2 as well
                               [----1----)
        finish
                                    [----2----)         ← so is [20, 30)
        """,
        sash.last("10i", every="5i"),
        sash.Max(),
        emit="changes",
    )


def test_tumbling_with_empty_windows() -> None:
    check(
        """
        time    0    5    10   15   20   25   30
        rows    ab   cd                    e
                |-2--|
                          |-0--|
        finish
                                         |-1--|
        """,
        sash.tumbling("5i"),
        sash.Count(),
        emit="changes",
        min_size=0,
    )


def test_sessions() -> None:
    check(
        """
        time    0    5    10   15   20   25   30
        rows    1 2    2    1         2
                [--2--)
                            [-1-)
        finish
                                      [-2-)
        """,
        sash.session("4i"),
        sash.Max(),
        emit="changes",
    )


def test_marks() -> None:
    check(
        """
        time    0    1    2    3    4    5    6    7
        rows    1    1    2    1    1    2    1    1
        mark         !    !              !    !
        gives        1                   2
        """,
        sash.punctuated("mark"),
        sash.Max("x"),
        emit="changes",
    )


def test_of_each_key() -> None:
    check(
        """
        time    0    1    2    3    4    5    6    7
        rows    3    3    1    4    3    1    1    1
        key     a    b    a    b    a    b    a    b
        gives   3    3         4                   1
        """,
        sash.last(2),
        sash.Max(),
        emit="changes",
    )


def test_with_lateness() -> None:
    check(
        """
        time    0         5         10        15        20
        rows    3
        rows            4
        rows        3
        rows                                  2
        gives   3
        gives           4
        finish
        gives                                 2
        """,
        sash.last("10i"),
        sash.Max(),
        emit="changes",
        lateness=6,
    )


def test_several_answers_change_together() -> None:
    op = sash.Together(hi=sash.Max(), lo=sash.Min())
    window = sash.Window(op, 2, emit="changes")
    found = [window.push(value) for value in (3, 3, 1, 3, 3)]
    assert [answer is not None for answer in found] == [True, False, True, False, True]


@pytest.mark.parametrize(
    "definition",
    [
        sash.last(3),
        sash.last("7i"),
        sash.last("8i", every="3i"),
        sash.last(2, every="3i"),
        sash.session("4i"),
    ],
    ids=repr,
)
def test_the_same_as_leaving_out_what_repeats(definition: Any) -> None:
    rows = [Row(i * i % 7 // 2, i + i // 5 * 3, "ab"[i % 3 // 2]) for i in range(60)]
    for keyed in (False, True):
        given = rows if keyed else [row._replace(key=None) for row in rows]
        found = run_all_ways(
            definition, sash.Max(), given, keyed=keyed, finish=True, emit="changes"
        )
        expected = naive.only_changes(naive.answers(definition, sash.Max(), given, finish=True))
        assert_same(found, [Event(a.value, a.time, a.start, a.key) for a in expected])


def test_an_emit_that_is_none() -> None:
    with pytest.raises(ValueError, match="emit"):
        sash.Window(sash.Sum(), 3, emit="sometimes")

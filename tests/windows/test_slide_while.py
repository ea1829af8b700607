"""Windows that slide by a policy: the oldest rows leave while it says that they must."""

from __future__ import annotations

from typing import Any

import pytest
from windows import naive
from windows.naive import Row
from windows.timelines import check
from windows.ways import assert_same, run_all_ways

import sash

# The shortest window of the newest rows that adds up to 10, if there is one.
ENOUGH = sash.slide_while(lambda total, old: total - old >= 10)


@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
def test_keep_what_adds_up_to_ten(kind: str) -> None:
    check(
        """
        rows    4   2   3   3   4   1   0   20  9   1
        gives   4   6   9   12  10  11  11  20  29  10
        """,  # 4+2+3+3 lose nothing: 2+3+3 are 8. With 4 more, 3+3+4 are enough
        ENOUGH,
        sash.Sum(),
        kind=kind,
    )


def test_written_as_text() -> None:
    check(
        """
        rows    4   2   3   3   4   1   0   20  9   1
        gives   4   6   9   12  10  11  11  20  29  10
        """,
        sash.slide_while("total - old >= 10"),
        sash.Sum(),
    )


def test_text_reads_the_fields_of_an_answer() -> None:
    """What rises by two rows less than the longest rise leaves.

    rows    5 1 2 3 0 4      3 makes 1 2 3 the longest; 5 1 rises by one row, 5 1 2 by two
    leave         5 1
    """
    text = sash.slide_while("total.length - old.length >= 2")
    function = sash.slide_while(lambda total, old: total["length"] - old["length"] >= 2)
    one, other = (sash.Window(sash.LongestRise(), policy) for policy in (text, function))
    values = [5, 1, 2, 3, 0, 4] * 3
    found = [one.push(value) for value in values]
    assert found[3] == {"start": 2, "end": 3, "length": 2}
    assert found == [other.push(value) for value in values]
    assert len(one) == len(other)


def by_length(most: int) -> Any:
    return sash.slide_while(lambda total, old: len(total) - len(old) >= most)


def test_a_policy_that_counts_is_the_last_rows() -> None:
    for most in (1, 2, 3, 4, 7, 8, 9):
        rows = [Row(i) for i in range(20)]
        found = run_all_ways(by_length(most), sash.Collect(), rows)
        assert found == naive.per_row(sash.last(most), sash.Collect(), rows)


def test_all_of_the_window_may_leave() -> None:
    """A full basket is emptied: it holds nothing until the next row."""
    basket = sash.slide_while(lambda total, old: total >= 10)
    check(
        """
        rows    4   5   3   1   9   2   10  7
        gives   4   9   .   1   .   2   .   7
        """,
        basket,
        sash.Sum(),
    )
    check(
        """
        rows    4   5   3   1   9   2   10  7
        gives   4   9   0   1   0   2   0   7
        """,
        basket,
        sash.Sum(),
        min_size=0,
    )


def test_nothing_leaves() -> None:
    check(
        """
        rows    a   b   c   d
        gives   a   ab  abc abcd
        finish
        """,
        sash.slide_while(lambda total, old: False),
        sash.Concat(),
    )


def test_everything_leaves() -> None:
    check(
        """
        rows    a   b   c
        gives   0   0   0
        """,
        sash.slide_while(lambda total, old: True),
        sash.Count(),
        min_size=0,
    )


def test_several_answers_by_name() -> None:
    """At most four rows, and no more than it takes to have 10."""
    op = sash.Together(n=sash.Count(), sum=sash.Sum(), all=sash.Collect())
    rows = [Row(v) for v in (1, 2, 3, 1, 2, 9, 1, 12, 4)]

    def policy(total: Any, old: Any) -> bool:
        return total.n - old.n >= 4 or total.sum - old.sum >= 10

    expected = [[1], [1, 2], [1, 2, 3], [1, 2, 3, 1], [2, 3, 1, 2], [2, 9], [9, 1], [12], [12, 4]]
    found = run_all_ways(sash.slide_while(policy), op, rows)
    assert found == [(len(held), sum(held), held) for held in expected]


def test_partials_instead_of_answers() -> None:
    """Mean answers one number; its partial has the count and the sum."""
    rows = [Row(v) for v in (4, 2, 3, 3, 4, 1, 0, 20, 9, 1)]

    def by_sum(total: Any, old: Any) -> bool:
        return total.total - old.total >= 10

    expected = [4, 3, 3, 3, 10 / 3, 11 / 4, 11 / 5, 20, 29 / 2, 5]
    definition = sash.slide_while(by_sum, raw=True)
    assert_same(run_all_ways(definition, sash.Mean(), rows), expected)
    assert_same(naive.per_row(definition, sash.Mean(), rows), expected)
    text = sash.slide_while("total.n - old.n >= 2", raw=True)
    assert_same(run_all_ways(text, sash.Mean(), rows[:4]), [4, 3, 2.5, 3])

    both = sash.Together(m=sash.Mean(), n=sash.Count())
    definition = sash.slide_while(lambda total, old: total.m.n - old.m.n >= 2, raw=True)
    found = run_all_ways(definition, both, rows[:4])
    assert_same(found, [(4.0, 1), (3.0, 2), (2.5, 2), (3.0, 2)])


def test_each_so_many_th_row() -> None:
    check(
        """
        rows    4   2   3   3   4   1   0   20  9   1
        gives           9           11          29
        """,
        sash.slide_while(lambda total, old: total - old >= 10, every=3),
        sash.Sum(),
    )


def test_it_slides_at_rows_that_are_not_answered_too() -> None:
    """The basket is emptied at the third row, though only each second one is answered."""
    check(
        """
        rows    4   5   3   1   9   2   1   1
        gives       9       1       2       4
        """,
        sash.slide_while(lambda total, old: total >= 10, every=2),
        sash.Sum(),
    )


def test_at_marks() -> None:
    check(
        """
        rows    4   2   3   3   4   1   0   20  9   1
        mark    !           !       !           !   !
        gives   4           12      11          29  10
        """,
        sash.slide_while(lambda total, old: total - old >= 10, every=sash.punctuated("mark")),
        sash.Sum("x"),
    )


def test_at_ends_on_a_grid() -> None:
    check(
        """
        time    0         5         10        15        20        25
        rows    4   2   3 3         4     1             20
        gives             9         12        11        11
        finish
        gives                                                     20
        """,
        sash.slide_while(lambda total, old: total - old >= 10, every="5i"),
        sash.Sum(),
    )


def test_min_size_and_nulls() -> None:
    check(
        """
        rows    4    null null 8    null 3    20
        gives   .    4    4    12   12   11   .
        """,
        ENOUGH,
        sash.Sum(),
        min_size=2,
    )


def test_one_row_and_none() -> None:
    check(
        """
        rows    7
        gives   7
        """,
        ENOUGH,
        sash.Sum(),
    )
    assert run_all_ways(ENOUGH, sash.Sum(), [], finish=True) == []


def test_a_policy_that_fails_is_heard() -> None:
    def careful(total: Any, old: Any) -> bool:
        if total > 100:
            raise ArithmeticError("more than I can count")
        return bool(total - old >= 10)

    window = sash.Window(sash.Sum(), sash.slide_while(careful))
    assert [window.push(v) for v in (4, 2, 3)] == [4, 6, 9]
    with pytest.raises(ArithmeticError, match="more than I can count"):
        window.push(1000)

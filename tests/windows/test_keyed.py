"""A window for each key.

Without lateness each key's rows are in order by themselves, and tell nothing of another's time.
With it there is one watermark for all.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from windows import naive
from windows.naive import Row
from windows.timelines import check
from windows.ways import Event, assert_same, run_all_ways

import sash


@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
def test_each_key_has_rows_of_its_own(kind: str) -> None:
    check(
        """
        rows    1    10   2    20   30   4    8
        key     a    b    a    b    b    a    c
        gives   1    10   3    30   50   6    8
        """,
        sash.last(2),
        sash.Sum(),
        kind=kind,
    )
    check(
        """
        rows    u    v    w    x    y    z
        key     a    b    a    b    b    a
        gives   u    v    uw   vx   xy   wz
        """,
        sash.last(2),
        sash.Concat(),
        kind=kind,
    )


def test_which_ends_count_and_min_size() -> None:
    check(
        """
        rows    u    v    w    x    y    z
        key     a    b    a    b    b    a
        gives   .    .    .    .    vx   uw
        """,
        sash.last(2, closed="left"),
        sash.Concat(),
        min_size=2,
    )


def test_each_second_row_of_each_key() -> None:
    check(
        """
        time    0    1    2    3    4    5    6
        rows    u    v    w    x    y    z    q
        key     a    b    a    b    b    a    b
        gives             uw   vx             xyq
        """,
        sash.last(3, every=2),
        sash.Concat(),
    )


def test_time_per_key() -> None:
    check(
        """
        time    0    1    2    3    4    5    6    7
        rows    1    10   2    20             30   4
        key     a    b    a    b              b    a
        also         100
        key          a
        gives   1    10   103  30             30   4
        gives        101
        """,
        sash.last("3i"),
        sash.Sum(),
    )


def test_without_lateness_each_key_is_in_order_by_itself() -> None:
    window = sash.KeyedWindow(sash.Sum(), "10i")
    keys = ["a", "a", "b", "b"]
    assert window.push_many([1, 2, 4, 8], [100, 105, 3, 9], keys=keys) == [1, 3, 4, 12]
    assert window.push(16, 110, key="a") == 18
    assert window.push(32, 10, key="b") == 44
    with pytest.raises(ValueError, match="lateness"):
        window.push(64, 109, key="a")
    with pytest.raises(ValueError, match="lateness"):
        window.push_many([64, 64], [200, 9], keys=["c", "b"])
    assert window.push(128, 13, key="b") == 8 + 32 + 128
    assert sorted(window.keys()) == ["a", "b"]


@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
def test_tumbling(kind: str) -> None:
    check(
        """
        time    0    5    10   15   20   25
        rows    u v
        key     a b
        rows          w                         ← past 5 for b; where a is, nobody knows
        key           b
        b       |-v--|
        rows                  x
        key                   c
        rows                       y
        key                        a
        a       |-u--|
        finish
        a                      |-y--|
        b            |-w--|
        c                 |-x--|
        """,
        sash.tumbling("5i"),
        sash.Concat(),
        kind=kind,
    )


def test_tumbling_by_one_watermark() -> None:
    check(
        """
        time    0    5    10   15   20   25
        rows    u v
        key     a b
        rows           w                        ← the watermark is 5 for all
        key            b
        a       |-u--|
        b       |-v--|
        rows                  x
        key                   c
        b            |-w--|
        rows                       y
        key                        a
        c                 |-x--|
        finish
        a                      |-y--|
        """,
        sash.tumbling("5i"),
        sash.Concat(),
        lateness=2,
    )


def test_time_that_passes_does_so_for_all() -> None:
    check(
        """
        time    0    5    10   15
        rows    u v
        key     a b
        advance      ^
        a       |-u--|
        b       |-v--|
        rows           w
        key            b
        finish
        b            |-w--|
        """,
        sash.tumbling("5i"),
        sash.Concat(),
    )


@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
def test_overlapping_windows(kind: str) -> None:
    check(
        """
        time    -5   0    5    10   15   20   25   30   35
        rows         u v    wx   y            z
        key          a b    ab   a            b
        a       [----u----)
        a            [----uw---)
        b       [----v----)
        b            [----vx---)
        b                 [----x----)
        finish
        a                 [----wy---)
        a                      [----y----)
        b                                [----z----)
        b                                     [----z----)
        """,
        sash.last("10i", every="5i"),
        sash.Concat(),
        kind=kind,
    )


def test_numbers_in_overlapping_windows() -> None:
    check(
        """
        time    -5   0    5    10   15   20   25   30   35
        rows         1 2    4  8 16           32
        key          a b    a  b a            b
        a       [----1----)
        a            [----5----)
        b       [----2----)
        b            [----2----)
        b                 [----8----)
        b                      [----8----)
        finish
        a                 [----20---)
        a                      [----16---)
        b                                [----32---)
        b                                     [----32---)
        """,
        sash.last("10i", every="5i"),
        sash.Sum(),
    )


def test_the_last_rows_at_each_end() -> None:
    check(
        """
        time    0         5         10        15        20
        rows      u v         w                     x
        key       a b         b                     a
        gives/a           u         u         u
        gives/b           v
        finish
        gives/a                                         ux
        gives/b                     vw
        """,
        sash.last(2, every="5i"),
        sash.Concat(),
    )
    check(
        """
        time    0         5         10        15        20
        rows      u v
        key       a b
        rows                  w
        key                   b
        gives/a           u
        gives/b           v
        rows                                        x       ← the watermark is 16
        key                                         a
        gives/a                     u         u
        gives/b                     vw        vw
        finish
        gives/a                                         ux
        gives/b                                         vw
        """,
        sash.last(2, every="5i"),
        sash.Concat(),
        lateness=2,
    )


def test_sessions() -> None:
    check(
        """
        time    0    5    10   15   20   25
        rows    u v w     x y
        key     a b a     c a
        a       [---uw---)
        finish
        a                   [-y--)
        b         [-v--)
        c                 [-x--)
        """,
        sash.session("5i"),
        sash.Concat(),
    )


def test_marks_of_each_key() -> None:
    check(
        """
        rows    u    v    w    x    y    z
        key     a    b    a    b    a    b
        mark              !         !    !
        gives             u         w    vx
        """,
        sash.punctuated("mark"),
        sash.Concat("x"),
    )


def test_distances_of_each_key() -> None:
    check(
        """
        rows    u    v    w    x    y    z
        key     a    b    a    b    a    b
        km      100  0    101  2    105  5
        gives   u    v    uw   vx   y    xz
        """,
        sash.delta("km", 3),
        sash.Concat("x"),
    )


def test_a_policy_for_each_key() -> None:
    check(
        """
        rows    4    9    3    3    4    9    1
        key     a    b    a    b    a    a    b
        gives   4    9    7    12   11   13   13
        """,
        sash.slide_while(lambda total, old: total - old >= 10),
        sash.Sum(),
    )


def test_late_is_late_for_all() -> None:
    check(
        """
        time    0    5    10   15   20   25
        rows    u
        key     a
        rows          v
        key           b
        gives/a u
        rows        w
        key         a
        rows    W~                              ← b's row is late by what time it is for all
        key     b
        rows             x
        key              b
        rows        V
        key         a
        rows                        y
        key                         a
        gives/a     uw
        gives/a     uwV
        gives/b       v  vx
        finish
        gives/a                     y
        """,
        sash.last("10i"),
        sash.Concat(),
        lateness=5,
    )
    check(
        """
        time    0    5    10   15   20   25
        rows    u
        key     a
        rows           v
        key            b
        rows        w
        key         a
        rows      W                             ← just the gap before v
        key       b
        rows             x
        key              c
        rows       V~
        key        b
        rows                        y
        key                         a
        a       [---uw---)
        b         [----Wv---)
        c                [-x--)
        finish
        a                           [-y--)
        """,
        sash.session("5i"),
        sash.Concat(),
        lateness=5,
    )


def test_keys_from_columns() -> None:
    table = {"x": [1, 2, 4, 8], "device": ["a", "b", "a", "b"], "port": [1, 1, 2, 1]}
    window = sash.KeyedWindow(sash.Sum("x"), 2, by="device")
    assert window.push_many(table) == [1, 2, 5, 10]
    assert sorted(window.keys()) == ["a", "b"]
    window = sash.KeyedWindow(sash.Sum("x"), 2, by=["device", "port"])
    assert window.push_many(pa.table(table)).to_pylist() == [1, 2, 4, 10]
    assert sorted(window.keys()) == [("a", 1), ("a", 2), ("b", 1)]


@pytest.mark.parametrize(
    "keys",
    [
        [7, -1, 7, -1],
        np.array([7, -1, 7, -1]),
        np.array(["x", "y", "x", "y"]),
        pa.array(["x", "y", "x", "y"]),
        [True, False, True, False],
    ],
    ids=lambda keys: f"{type(keys).__name__}-{keys[0]}",
)
def test_keys_of_every_type(keys: Any) -> None:
    window = sash.KeyedWindow(sash.Sum(), 2)
    assert window.push_many([1, 2, 4, 8], keys=keys) == [1, 2, 5, 10]
    window = sash.KeyedWindow(sash.Sum(), sash.tumbling("5i"))
    window.push_many([1, 2, 4, 8], [0, 1, 2, 3], keys=keys)
    answers = window.finish()
    plain = [k.as_py() if isinstance(k, pa.Scalar) else k for k in keys]
    told = dict(zip(list(answers.keys), answers, strict=True))
    assert told == {plain[0]: 5, plain[1]: 10}


def test_rows_without_keys_are_refused() -> None:
    window = sash.KeyedWindow(sash.Sum(), 2)
    with pytest.raises((TypeError, ValueError), match="key"):
        window.push_many([1, 2])
    with pytest.raises((TypeError, ValueError), match="key"):
        window.push_many([1, 2], keys=["a"])
    assert window.push(4, key="a") == 4


class TestIdle:
    """A key that has had no row for long is closed and forgotten."""

    def test_its_window_is_answered(self) -> None:
        window = sash.KeyedWindow(sash.Sum(), sash.session("50i"), idle="20i")
        window.push_many([1, 2], [0, 5], keys=["a", "a"])
        assert list(window.keys()) == ["a"]
        answers = window.push_many([4], [40], keys=["b"])
        assert list(zip(answers.keys, answers, strict=True)) == [("a", 3)]
        assert list(window.keys()) == ["b"]
        last = window.finish()
        assert list(zip(last.keys, last, strict=True)) == [("b", 4)]

    def test_and_it_begins_anew(self) -> None:
        window = sash.KeyedWindow(sash.Sum(), 3, idle="20i")
        assert window.push_many([1, 2], [0, 5], keys=["a", "a"]) == [1, 3]
        assert window.push_many([4], [40], keys=["b"]) == [4]
        assert window.push_many([8], [41], keys=["a"]) == [8]
        assert window.push_many([16], [42], keys=["b"]) == [20]
        assert sorted(window.keys()) == ["a", "b"]

    def test_a_key_that_keeps_coming_stays(self) -> None:
        window = sash.KeyedWindow(sash.Sum(), 100, idle="20i")
        for time in range(0, 100, 10):
            window.push_many([1], [time], keys=["a"])
        assert window.push_many([1], [100], keys=["a"]) == [11]


def random_rows(seed: int, count: int, keys: int) -> list[Row]:
    chance = random.Random(seed)
    time, rows = -40, []
    for _ in range(count):
        time += chance.choice([0, 0, 1, 1, 2, 7])
        value = None if chance.random() < 0.1 else chance.randrange(100)
        rows.append(Row(value, time, f"k{chance.randrange(keys)}"))
    return rows


@pytest.mark.parametrize("keys", [1, 3, 30])
@pytest.mark.parametrize("op", [sash.Sum(), sash.Max(), sash.Collect()], ids=repr)
def test_few_keys_and_many(op: sash.Operator, keys: int) -> None:
    rows, ways = random_rows(keys, 70, keys), ("whole", "one by one", "in three")
    for definition in (sash.last(4), sash.last("9i"), sash.last("9i", closed="left")):
        found = run_all_ways(definition, op, rows, keyed=True, ways=ways)
        assert_same(found, naive.per_row(definition, op, rows))
    for definition in (
        sash.last(3, every=2),
        sash.last("9i", every="4i"),
        sash.tumbling("6i"),
        sash.session("5i"),
        sash.last(3, every="4i"),
    ):
        found = run_all_ways(definition, op, rows, keyed=True, finish=True, ways=ways)
        expected = naive.answers(definition, op, rows, finish=True)
        assert_same(found, [Event(a.value, a.time, a.start, a.key) for a in expected])

"""The rows of the last so long, answered at each row or each so-many-th."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cases import Affine
from windows import naive
from windows.naive import Row
from windows.timelines import check
from windows.ways import assert_same, run_all_ways

import sash

CLOSED = {
    "right": """
        time    0    1    2    3    4    5    6    7    8
        rows    a         b         c    d              e
        gives   a         ab        bc   bcd            de
        """,
    "left": """
        time    0    1    2    3    4    5    6    7    8
        rows    a         b         c    d              e
        gives   .         a         ab   bc             cd
        """,
    "both": """
        time    0    1    2    3    4    5    6    7    8
        rows    a         b         c    d              e
        gives   a         ab        abc  bcd            cde
        """,
    "neither": """
        time    0    1    2    3    4    5    6    7    8
        rows    a         b         c    d              e
        gives   .         a         b    bc             d
        """,
}


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("kind", ["list", "numpy", "arrow"])
def test_which_ends_count(closed: str, kind: str) -> None:
    check(CLOSED[closed], sash.last("4i", closed=closed), sash.Concat(), kind=kind)
    check(CLOSED[closed], sash.last("4s", closed=closed), sash.Concat(), kind=kind, seconds=True)


TIES = {
    "right": """
        time    0    1    2    3    4
        rows    a    b         c    d
        also    A              C
        also                   X
        gives   a    aAb       bc   cCXd    ← up to the row itself
        gives   aA             bcC
        gives                  bcCX
        """,
    "left": """
        time    0    1    2    3    4
        rows    a    b         c    d
        also    A              C
        also                   X
        gives   .    aA        aAb  bcCX    ← none of those that come at its own time
        gives   .              aAb
        gives                  aAb
        """,
    "both": """
        time    0      1      2      3      4
        rows    a      b             c      d
        also    A                    C
        also                         X
        gives   a      aAb           aAbc   bcCXd
        gives   aA                   aAbcC
        gives                        aAbcCX
        """,
    "neither": """
        time    0    1    2    3    4
        rows    a    b         c    d
        also    A              C
        also                   X
        gives   .    aA        b    cCX
        gives   .              b
        gives                  b
        """,
}


@pytest.mark.parametrize("closed", TIES)
def test_rows_of_one_time(closed: str) -> None:
    check(TIES[closed], sash.last("3i", closed=closed), sash.Concat())


def test_a_burst_and_a_gap() -> None:
    check(
        """
        time    0     5     10    15    20    25    30    35
        rows    a     b                                   e
        also    A                                         E
        also    X
        gives   a     aAXb                                e
        gives   aA                                        eE
        gives   aAX
        """,
        sash.last("10i"),
        sash.Concat(),
    )


@pytest.mark.parametrize("seconds", [False, True])
def test_before_1970(seconds: bool) -> None:
    check(
        """
        time    -6   -5   -4   -3   -2   -1   0    1    2
        rows    a    b         c              d    e    f
        gives   a    ab        abc            cd   de   def
        """,
        sash.last("4s" if seconds else "4i"),
        sash.Concat(),
        seconds=seconds,
    )


MIN_SIZE = {
    0: "0    1    2         1         1    1    2",
    1: ".    1    2         1         1    1    2",
    2: ".    .    2         .         .    .    2",
    3: ".    .    .         .         .    .    .",
}


@pytest.mark.parametrize("min_size", MIN_SIZE)
def test_min_size_holds_answers_back(min_size: int) -> None:
    check(
        f"""
        time    0    1    2    3    4    5    6    7    8
        rows    a    b    c         d         e    f    g
        gives   {MIN_SIZE[min_size]}
        """,
        sash.last("2i", closed="left"),
        sash.Count(),
        min_size=min_size,
    )


def test_empty_windows_in_the_middle() -> None:
    check(
        """
        time    0    5    10   15   20   25
        rows    1    2              3    4
        gives   0    1              0    3      ← the sum of nothing is 0
        """,
        sash.last("5i", closed="left"),
        sash.Sum(),
        min_size=0,
    )
    check(
        """
        time    0    5    10   15   20   25
        rows    1    2              3    4
        gives   null 1              null 3      ← the greatest of nothing is null
        """,
        sash.last("5i", closed="left"),
        sash.Max(),
        min_size=0,
    )


def test_each_so_many_th_row() -> None:
    check(
        """
        time    0    1    2    3    4    5    6    7    8
        rows    a    b    c         d    e              f
        also         B                                  F
        gives        ab   abBc           de
        gives                                           fF
        finish
        """,
        sash.last("3i", every=2),
        sash.Concat(),
    )


def test_the_narrowest_window() -> None:
    check(
        """
        time    0    1    2    3
        rows    a    b         c
        also         B
        gives   a    b         c
        gives        bB
        """,
        sash.last("1i"),
        sash.Concat(),
    )


def test_wider_than_all_there_is() -> None:
    check(
        """
        time    -4   -2   0    2    4
        rows    a    b         c    d
        gives   a    ab        abc  abcd
        finish
        """,
        sash.last("1000000i"),
        sash.Concat(),
    )


def test_one_row_and_none() -> None:
    check(
        """
        time    0    5
        rows         a
        gives        a
        """,
        sash.last("5i"),
        sash.Concat(),
    )
    assert run_all_ways(sash.last("5i"), sash.Sum(), [], finish=True) == []


def test_nulls_and_nan() -> None:
    check(
        """
        time    0    1    2    3    4    5    6    7    8
        rows    1.0  null nan  2.0       null           null
        gives   1.0  1.0  nan  nan       2.0            null
        """,
        sash.last("3i"),
        sash.Max(),
    )
    check(
        """
        time    0    1    2    3    4    5    6    7    8
        rows    1.0  null nan  2.0       null           null
        gives   1    1    2    2         1              0
        """,
        sash.last("3i"),
        sash.Count(),
    )


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 40, 64])
@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
def test_around_powers_of_two(width: int, closed: str) -> None:
    gaps = [1, 0, 2, 1, 1, 0, 0, 5, 1, 1, 16, 1, 3, 0, 1, 8] * 3
    times = np.cumsum(gaps).tolist()
    rows = [Row(i * 37 % 101, time - 50) for i, time in enumerate(times)]
    for every in (1, 3):
        definition = sash.last(f"{width}i", every=every, closed=closed)
        for op in (Affine(), sash.Collect()):
            found = run_all_ways(definition, op, rows, ways=("whole", "one by one", "in three"))
            assert_same(found, naive.per_row(definition, op, rows))


MOMENTS = [datetime(2026, 3, 1) + timedelta(minutes=m) for m in (0, 1, 1, 5, 61, 62)]


@pytest.mark.parametrize(
    "times",
    [
        MOMENTS,
        np.array(MOMENTS, "datetime64[s]"),
        np.array(MOMENTS, "datetime64[ns]"),
        pa.array(MOMENTS),
        pa.array(MOMENTS, pa.timestamp("ms", tz="UTC")),
        pd.Series(MOMENTS),
    ],
    ids=lambda times: f"{type(times).__module__}-{getattr(times, 'dtype', '')}",
)
@pytest.mark.parametrize("width", ["1h", timedelta(hours=1), np.timedelta64(60, "m"), "60 minutes"])
def test_times_and_widths_of_every_type(times: Any, width: Any) -> None:
    # minute  0 1 1 5 … 61 62;  (t - 1h, t] at 61 leaves out 0 and both 1s
    window = sash.Window(sash.Sum(), width)
    expected = [1, 3, 7, 15, 8 + 16, 8 + 16 + 32]
    assert window.push_many([1, 2, 4, 8, 16, 32], times) == expected
    if isinstance(times, (list, np.ndarray, pd.Series)):
        window = sash.Window(sash.Sum(), sash.last(width))
        pairs = zip([1, 2, 4, 8, 16, 32], times, strict=True)
        assert [window.push(value, time) for value, time in pairs] == expected


def test_what_it_holds_now() -> None:
    window = sash.Window(sash.Sum(), "10i")
    for time, size, answer in [(0, 1, 1), (5, 2, 2), (9, 3, 3), (10, 3, 3), (30, 1, 1)]:
        assert window.push(1, time) == answer
        assert len(window) == size
        assert window.query() == answer


def test_times_that_go_back_change_nothing() -> None:
    window = sash.Window(sash.Sum(), "10i")
    assert window.push_many([1, 2], [0, 5]) == [1, 3]
    with pytest.raises(ValueError, match="lateness"):
        window.push(4, 3)
    with pytest.raises(ValueError, match="lateness"):
        window.push_many([4, 8], [6, 5])
    with pytest.raises(ValueError, match="lateness"):
        window.push_many([4, 8], [4, 5])
    assert window.push(16, 5) == 19
    assert window.push(32, 12) == 2 + 16 + 32


def test_rows_without_a_time_are_refused() -> None:
    window = sash.Window(sash.Sum(), "10i")
    with pytest.raises((TypeError, ValueError), match="time"):
        window.push(1)
    with pytest.raises((TypeError, ValueError), match="time"):
        window.push_many([1, 2])
    assert window.push(4, 0) == 4

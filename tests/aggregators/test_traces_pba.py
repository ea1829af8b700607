"""The buffers of PBA against their definitions, on windows as the paper's figures draw them."""

from __future__ import annotations

import pytest

import sash


def lcs(chunk: list[int]) -> list[int]:
    """The maximum from each value to the end of the chunk."""
    return [max(chunk[i:]) for i in range(len(chunk))]


def csa(chunk: list[int]) -> list[int]:
    """The maximum from the start of the chunk to each value."""
    return [max(chunk[: i + 1]) for i in range(len(chunk))]


def held(window: sash.Aggregator, start: int, end: int) -> list[int]:
    slots = window._kept.rings[0]
    return [slots[i & (len(slots) - 1)].hi for i in range(start, end)]


ROWS = [3, 5, 2, 8, 6, 1, 4, 7, 2, 3, 1, 6, 4, 2, 9, 5, 3, 8, 7, 2]
"""
slices of 2   5   8   6   7   3 | 6   4   9   8   7
c0            5   8   6   7   3   lcs0  8 8 7 7 3
c1                                csa1  6 6 9 9 9   ca1 = 9
w0            [               ]
w1                [               ]
w2                    [               ]
w3                        [               ]
w4                            [               ]
"""


def test_figure_2() -> None:
    """W[10, 2] of max, in chunks of 5 slices: two sub-aggregations to a window."""
    saa = [max(ROWS[i : i + 2]) for i in range(0, len(ROWS), 2)]
    c0, c1 = saa[:5], saa[5:]
    assert (lcs(c0), csa(c1)) == ([8, 8, 7, 7, 3], [6, 6, 9, 9, 9])
    window = sash.aggregator("pba", sash.Max(), chunk=5)
    for slice_ in c0:
        window.insert(slice_)
    F, E, B, A, C, N, ca, _ = window._kept.state
    assert (F, E, B, C, ca.hi) == (0, 5, 0, 5, csa(c0)[-1])
    answers = [window.query()]
    for k, slice_ in enumerate(c1[:4]):
        window.evict()
        window.insert(slice_)
        F, E, B, A, C, N, _, last = window._kept.state
        assert (k + 1, k + 6, 5, 5) == (F, E, B, C)
        assert held(window, F, B) == lcs(c0)[k + 1 :]
        assert last.hi == csa(c1)[k]
        assert window.query() == max(lcs(c0)[k + 1], csa(c1)[k])
        answers.append(window.query())
    assert answers == [8, 8, 7, 9, 9]
    window.evict()
    window.insert(c1[4])
    *_, ca, last = window._kept.state
    assert ca.hi == csa(c1)[4] == 9
    assert answers == sash.rolling(ROWS, 10, sash.Max(), every=2, algorithm="pba")[4:9]


LONG = [5, 2, 7, 1, 3, 9, 4, 6, 2, 8, 1, 3, 7, 5, 2, 6, 4, 8, 1, 9]


def test_figure_3() -> None:
    """W[16, 1] in chunks of 4, k = 4: a window of five sub-parts.

    Sash lets no chunk end while there is a whole one between, so it keeps the last four of the five
    as one sum.
    """
    k = (16 // 1) // 4
    assert k == 4
    c = [LONG[i : i + 4] for i in range(0, 20, 4)]
    parts = [lcs(c[0])[1], *(csa(c[i])[-1] for i in (1, 2, 3)), csa(c[4])[0]]
    assert len(parts) == k + 1
    window = sash.aggregator("pba", sash.Max(), chunk=4)
    for value in LONG[:16]:
        window.insert(value)
    window.evict()
    window.insert(LONG[16])
    F, E, B, A, C, N, ca, last = window._kept.state
    assert (F, B) == (1, 4)
    assert held(window, 1, 4) == lcs(c[0])[1:]
    assert (C, ca.hi) == (17, max(parts[1:]))
    assert window.query() == max(parts) == max(LONG[1:17])


def test_two_or_three_chunks_with_the_best_length() -> None:
    """A window of 8 in chunks of 5: lcs of the oldest, ca between, csa of this one."""
    window = sash.aggregator("pba", sash.Max(), range=8)
    values = [(7 * i) % 23 for i in range(60)]
    seen = set()
    for i, value in enumerate(values):
        if len(window) == 8:
            window.evict()
        window.insert(value)
        F, E, B, A, C, N, ca, last = window._kept.state
        assert C % 5 == 0
        assert E - C <= 5
        seen.add((F < B) + (B < C) + (C < E))
        if F < B:
            assert held(window, F, B) == lcs(values[B - 5 : B])[F - B :]
        assert window.query() == max(values[max(0, i - 7) : i + 1])
    assert max(seen) == 3


def test_lcs_are_formed_from_the_right_one_at_each_insert() -> None:
    window = sash.aggregator("pba", sash.Max(), chunk=5)
    chunk = [4, 8, 2, 6, 3]
    for value in chunk:
        window.insert(value)
    assert held(window, 0, 5) == [4, 8, 2, 6, 3]
    for done, expected in enumerate(
        ([4, 8, 2, 6, 3], [4, 8, 6, 6, 3], [4, 8, 6, 6, 3], [4, 8, 6, 6, 3])
    ):
        window.insert(0)
        assert held(window, 0, 5) == expected
        assert window._kept.state[3] == max(3 - done, 1)
    window.evict()
    assert window.query() == 8


def test_a_chunk_that_is_not_ready_is_finished_at_once() -> None:
    window = sash.aggregator("pba", sash.Max(), chunk=6)
    for value in (9, 1, 5, 2, 4, 3):
        window.insert(value)
    window.evict()
    assert held(window, 1, 6) == [5, 5, 4, 4, 3]
    assert window.query() == 5


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"slide": 2}, TypeError),
        ({"range": 10, "chunk": 3}, TypeError),
        ({"range": "1h", "slide": 10}, TypeError),
        ({"range": 10, "slide": "1s"}, TypeError),
        ({"range": "1h"}, TypeError),
        ({"range": 5, "slide": 10}, ValueError),
        ({"chunk": -1}, ValueError),
        ({"range": "1h", "slide": "1s", "unit": 0}, ValueError),
        ({"size": 3}, TypeError),
    ],
)
def test_options_that_make_no_chunk(options: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        sash.aggregator("pba", sash.Max(), **options)

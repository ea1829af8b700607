"""Where windows are cut into slices, and into how many."""

from __future__ import annotations

import numpy as np
import pytest

from sash.plans.slicing import (
    TECHNIQUES,
    Edges,
    Sliding,
    Technique,
    all_edges,
    composite_slide,
    cuts_between,
    slices_in,
)

TABLE = [
    # range, slide: slices a window of panes, pairs and cutty, as the papers count them
    (6, 2, 3, 3, 3),
    (8, 4, 2, 2, 2),
    (10, 3, 10, 7, 4),
    (9, 6, 3, 3, 2),
    (1, 1, 1, 1, 1),
    (5, 1, 5, 5, 5),
    (100, 30, 10, 7, 4),
    (7, 7, 1, 1, 1),
    (3, 5, 3, 1, 1),
    (1000, 999, 1000, 3, 2),
    (1024, 1, 1024, 1024, 1024),
    (1025, 2, 1025, 1025, 513),
]


@pytest.mark.parametrize(("size", "slide", "panes", "pairs", "cutty"), TABLE)
def test_slices_of_a_window(size: int, slide: int, panes: int, pairs: int, cutty: int) -> None:
    window = Sliding(size, slide)
    expected = dict(zip(("panes", "pairs", "cutty"), (panes, pairs, cutty), strict=True))
    for technique in TECHNIQUES:
        assert window.slices(technique) == expected[technique]
        # And so many there are, wherever a window ends.
        for end in range(0, 5 * slide * size, slide * max(1, size // 4)):
            edges = window.edges(technique)
            assert slices_in(window, edges, end) == expected[technique]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_every_window_begins_at_a_cut(technique: Technique) -> None:
    for size in range(1, 20):
        for slide in range(1, 20):
            for offset in (0, 1, slide - 1):
                window = Sliding(size, slide, offset)
                cuts = set(cuts_between(window.edges(technique), -100, 400).tolist())
                ends = range(offset, 300, slide)
                assert all(end - size in cuts for end in ends)
                assert technique == "cutty" or all(end in cuts for end in ends)


def test_the_papers_two_queries() -> None:
    """Slides 2 and 4, ranges 6 and 8: partials of 2; three of them for one, four for the other."""
    windows = [Sliding(6, 2), Sliding(8, 4)]
    assert composite_slide(windows) == 4
    for technique in TECHNIQUES:
        edges = all_edges(windows, technique)
        assert edges == (Edges(2, 0),)
        assert [slices_in(window, edges, 8) for window in windows] == [3, 4]
    assert cuts_between(all_edges(windows, "pairs"), 0, 4).tolist() == [0, 2]


def test_common_edges_are_cut_once() -> None:
    windows = [Sliding(4, 2), Sliding(9, 3), Sliding(6, 6)]
    edges = all_edges(windows, "pairs")
    assert composite_slide(windows) == 6
    assert cuts_between(edges, 0, 6).tolist() == [0, 2, 3, 4]
    assert edges == (Edges(2, 0), Edges(3, 0))  # what the third cuts, the first does, too


def test_a_composite_slide_without_end_is_no_matter() -> None:
    """Cuts are made where they are asked for; the composite slide is never gone through."""
    primes = [10**9 + 7, 10**9 + 9, 998244353, 2**31 - 1, 10**8 + 7]
    windows = [Sliding(3 * p, p) for p in primes]
    assert composite_slide(windows) > 10**40
    cuts = cuts_between(all_edges(windows, "pairs"), 10**15, 10**15 + 10**10)
    wanted = [np.arange(-(-(10**15) // p) * p, 10**15 + 10**10, p) for p in primes]
    assert cuts.tolist() == np.unique(np.concatenate(wanted)).tolist()

"""Windows over slices answer as windows over their rows do."""

from __future__ import annotations

import numpy as np
import pytest

from sash.figures.asked import ASKED, values_of
from sash.figures.measures.first_thread import FirstThread
from sash.figures.measures.slices import Sliced
from sash.figures.measures.two_threads import TwoThreads
from sash.operators.extremes import Max
from sash.testing import Counting


@pytest.mark.parametrize("algorithm", ["two_stacks", "pba"])
def test_slices_of_several_rows_and_of_none(algorithm: str) -> None:
    #   rows    0 1 2 | 3 | | 4 5 | 6 7 8 9 | 10 11
    edges = np.array([0, 3, 4, 4, 6, 10, 12])
    values = np.array([3, 9, 1, 4, 8, 2, 5, 7, 6, 0, 2, 1])
    sliced = Sliced(algorithm, ASKED["Max"], values, (edges[:-1], edges[1:]), 3)
    for _ in range(2):  # the second run slides over the same slices again
        sliced.run()
    # The window of three slices when each of the last three has come.
    assert sliced.answers()[:, 0].tolist() == [8, 8, 8]
    assert sliced.rows == 8


def test_two_threads_answer_at_any_window() -> None:
    values = values_of("uniform", 5_000)
    slider = TwoThreads("pba", ASKED["Max"], values, 8, 4_000)
    slider.run()
    windows = np.lib.stride_tricks.sliding_window_view(values[: 4_000 + 8], 8)
    assert slider.answers()[:, 0].tolist() == windows[1:].max(axis=1).tolist()


def test_the_first_thread_does_at_most_three() -> None:
    counting = Counting()
    window = FirstThread(Max(), counting, 16)
    values = values_of("uniform", 100).tolist()
    for place, value in enumerate(values):
        if place >= 16:
            window.evict()
        window.insert(value)
        assert window.query() == max(values[max(place - 15, 0) : place + 1])
        assert counting.taken() <= 3

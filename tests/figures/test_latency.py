"""What is left of times when interruptions are taken out, and what is told of them."""

from __future__ import annotations

import numpy as np

from sash.figures.measures.latency import (
    LONGEST,
    PAGE,
    at_few_places,
    spikes,
    summary,
    trace,
    undisturbed,
)


def test_an_interrupted_time_does_not_count() -> None:
    runs = [np.array([10.0, 10.0, 9_000.0]), np.array([0.0, 5_000.0, 9_200.0])]
    assert undisturbed(runs).tolist() == [5.0, 10.0, 9_100.0]


def test_each_bin_tells_its_longest_slide() -> None:
    ns = np.array([1.0, 7.0, 2.0, 3.0, 9.0, 4.0])
    points = list(trace(ns, 2))
    assert [(point.metric, point.x, point.value) for point in points] == [
        (LONGEST, 1.0, 7.0),
        (LONGEST, 4.0, 9.0),
    ]
    assert len(list(trace(ns, 100))) == len(ns)


def test_a_spike_for_each_window() -> None:
    ns = np.ones(100)
    ns[[9, 29, 49, 69, 89]] = 500, 450, 510, 490, 505
    assert spikes(ns, 20) == 1.0
    found = {point.metric: point.value for point in summary(ns)}
    assert (found["min"], found["max"], found["med"]) == (1.0, 510.0, 1.0)


def test_the_places_of_the_longest() -> None:
    ns = np.ones(32_768)  # the thousandth is 32 slides
    ns[[5 + PAGE * page for page in range(64)]] = 2.0
    assert at_few_places(ns) == 1.0
    ns = np.ones(32_768)
    ns[[page * (PAGE + 1) for page in range(32)]] = 2.0  # each at another place
    assert at_few_places(ns) == 4 / 32

"""The ladder: each rung can be reached, and what it picks can do what was asked."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from cases import CASES, Case

import sash
from sash.aggregators.choose import LADDER, MEANING, choose, measured, need_of
from sash.aggregators.registry import for_operator, named

ASKED = [
    {
        "order": order,
        "shape": shape,
        "latency": latency,
        "ranges": ranges,
        "threads": threads,
        "arrays": arrays,
    }
    for order, shape, latency, ranges, threads, arrays in itertools.product(
        ("fifo", "bounded", "any"),
        ("fixed", "variable", "bulk", "policy"),
        ("throughput", "worst_case"),
        (1, 5, "any"),
        (1, 2),
        (True, False),
    )
    if shape != "policy" or order == "fifo"
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_chosen_can_do_what_was_asked(case: Case) -> None:
    dtype = "int64" if isinstance(case.pool[0], int) else None
    for asked in ASKED:
        choice = choose(need_of(case.operator, dtype, **asked))
        module = for_operator(choice.algorithm, case.operator)
        if asked["shape"] == "policy":
            assert hasattr(module, "evict_while")
        elif asked["order"] != "fifo":
            assert hasattr(module, "insert_at")
        elif asked["ranges"] != 1:
            assert hasattr(module, "query_last")


def test_every_rung_is_reached_by_some_need() -> None:
    reached = {
        choose(need_of(case.operator, "int64", **asked)).rung
        for case in CASES
        for asked in ASKED
        if isinstance(case.pool[0], int)
    }
    assert reached == set(LADDER)


@pytest.mark.parametrize(
    ("operator", "asked", "expected"),
    [
        (sash.Max(), {}, "sba"),
        (sash.Collect(), {}, "sba"),
        (sash.Max(), {"arrays": False}, "two_stacks_lite"),
        (sash.Count(), {"arrays": False}, "subtract_on_evict"),
        (sash.Sum(), {"arrays": False}, "two_stacks_lite"),  # of floats: it would drift
        (sash.Sum(), {"arrays": False, "dtype": "int64"}, "subtract_on_evict"),
        (sash.Max(), {"latency": "worst_case"}, "daba_lite"),
        (sash.Max(), {"latency": "worst_case", "shape": "bulk"}, "amta"),
        (sash.Max(), {"order": "any"}, "fiba"),
        (sash.Sum(), {"shape": "policy"}, "amta"),
        (sash.Max(), {"ranges": 3}, "slick_deque"),
        (sash.Mean(), {"ranges": 3}, "slide_side"),
        (sash.Mean(), {"ranges": "any"}, "flat_fit"),
        (sash.MomentSketch(), {"latency": "worst_case", "threads": 2}, "pba"),
        (sash.Collect(), {"latency": "worst_case", "threads": 2}, "daba_lite"),
    ],
    ids=lambda value: repr(value),
)
def test_the_ladder(operator: sash.Operator, asked: dict[str, Any], expected: str) -> None:
    assert choose(need_of(operator, **asked)).algorithm == expected


def test_the_figures_that_reasons_quote_were_measured() -> None:
    known = measured()
    for rung in LADDER:
        assert rung.figure in MEANING
        assert named(rung.algorithm)
        assert (rung.figure, rung.algorithm) in known
        assert all((rung.figure, rival) in known for rival in rung.against)


def test_explain_prints_the_choice_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    choice = sash.explain(sash.Max(), "1h", latency="worst_case")
    printed = capsys.readouterr().out
    assert choice.algorithm == "amta"
    assert printed == f"{choice}\n"
    assert "measured" in printed
    assert "slide policy" in printed  # what was passed over


@pytest.mark.parametrize(
    ("window", "asked", "said"),
    [
        (0, {}, "more than nothing"),
        (True, {}, "a number of rows"),
        ([], {}, "no window at all"),
        ("1 fortnight", {}, "fortnight"),
        (10, {"latency": "fast"}, "throughput, worst_case"),
        (10, {"lateness": "soon"}, "soon"),
        (10, {"ranges": [3]}, "ranges is 'any'"),
        (lambda total, old: True, {"lateness": "any"}, "for rows in order"),
    ],
)
def test_explain_says_what_is_wrong(window: Any, asked: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        sash.explain(sash.Max(), window, **asked)


def test_auto_takes_what_the_ladder_says() -> None:
    window = sash.aggregator("auto", sash.Sum(), dtype="int64")
    assert window.algorithm == "subtract_on_evict"
    window = sash.aggregator("auto", sash.Sum(), latency="worst_case")
    assert window.algorithm == "daba_lite"
    window = sash.aggregator("auto", sash.Mean(), ranges=[2, 3])
    assert window.algorithm == "slide_side"
    assert window.slide([1, 2, 6], [2, 3]) == [[1, 1.5, 4], [1, 1.5, 3]]
    assert sash.aggregator("auto", sash.Mean(), ranges="any").algorithm == "flat_fit"
    assert sash.aggregator("auto", sash.Mean(), ranges=[10]).algorithm == "slide_side"
    assert sash.aggregator("auto", sash.Mean(), ranges=[10], order="any").algorithm == "fiba"
    with pytest.raises(TypeError, match="a list of sizes"):
        sash.aggregator("auto", sash.Mean(), ranges=5)
    with pytest.raises(TypeError, match="an operator such as"):
        sash.aggregator("auto", 3)
    with pytest.raises(ValueError, match="throughput, worst_case"):
        sash.aggregator("auto", sash.Sum(), latency="fast")

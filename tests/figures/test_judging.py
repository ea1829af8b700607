"""Verdicts come from numbers: all, some, none, or not measured."""

from __future__ import annotations

import pytest

from sash.figures.cases import Row
from sash.figures.claims.judging import (
    HOLDS,
    IN_PART,
    NOT_HERE,
    NOT_MEASURED,
    Claims,
    Found,
    NotMeasuredError,
    Verdict,
    along,
    at_least,
    at_most,
    bytes_or_not,
    for_each,
    spans,
)
from sash.figures.results import Curve, Results


def test_at_least_and_at_most() -> None:
    assert at_least(17.2, 17) == Verdict(HOLDS, "17.2 x")
    assert at_least(12, 17) == Verdict(IN_PART, "12 x")
    assert at_least(0.9, 17) == Verdict(NOT_HERE, "0.9 x")
    assert at_most(0.5, 0.6).kind == HOLDS
    assert at_most(0.7, 0.6).kind == IN_PART
    assert at_most(1.1, 0.6).kind == NOT_HERE


def test_along_an_axis() -> None:
    curve = Curve({1: 0.5, 2: 1.5, 4: 2.0, 8: 0.9, 16: 3.0})
    assert along(curve, lambda n, ratio: ratio > 0, "said").kind == HOLDS
    assert along(curve, lambda n, ratio: ratio > 5, "said") == Verdict(NOT_HERE, "said")
    some = along(curve, lambda n, ratio: ratio > 1, "said")
    assert some == Verdict(IN_PART, "said; holds for windows of 2 – 4, 16")
    with pytest.raises(NotMeasuredError):
        along(Curve({}), lambda n, ratio: True, "said")


def test_for_each() -> None:
    assert for_each({"Max": True, "Sum": True}, "said").kind == HOLDS
    assert for_each({"Max": False}, "said").kind == NOT_HERE
    assert for_each({"Max": True, "Sum": False}, "said").measured == "said; holds for Max"


def test_spans() -> None:
    assert spans([1, 2, 8], [1, 2, 4, 8]) == "1 – 2, 8"
    assert spans([1024], [512, 1024]) == "1,024"


def test_bytes_or_not() -> None:
    """By how much something grows with wide partials, and with narrow ones, round by round."""
    assert bytes_or_not([0.5], [0.1]) == "it is the bytes of partials"
    assert bytes_or_not([0.5], [0.3]) == "it is the bytes of partials only in part"
    assert bytes_or_not([0.05], [0.3]) == "it is not the bytes of partials"
    assert bytes_or_not([0.05], [-0.1]) == "here it does not show"
    agreed = [0.5, 0.6, 0.5, 0.05], [0.1, 0.1, 0.2, 0.0]
    assert bytes_or_not(*agreed) == "it is the bytes of partials"
    divided = [0.5, 0.6, 0.5, 0.05, 0.05], [0.1, 0.1, 0.2, 0.0, 0.3]
    assert bytes_or_not(*divided) == "rounds do not agree on whether it is bytes"


def test_judged() -> None:
    claims = Claims("flat_fit")

    @claims.claim("Figure 1", "twice as fast", why="It is not.")
    def _(found: Found) -> Verdict:
        return at_least(found["some"].value("ns", "a", "Max", 8), 2)

    @claims.claim("Figure 2", "thrice", why=lambda found: f"of {len(found)}")
    def _(found: Found) -> Verdict:
        return at_least(found["some"].value("ns", "a", "Max", 8), 3)

    twice, thrice = claims.all
    found = Found({"some": Results([Row("Max", "a", 8, "ns", 0, 2.5)], {})})
    assert (twice.judged(found).verdict.kind, twice.judged(found).why) == (HOLDS, "")
    assert (thrice.judged(found).verdict.kind, thrice.judged(found).why) == (IN_PART, "of 1")
    assert twice.judged(Found()).verdict.kind == NOT_MEASURED
    other = Found({"some": Results([Row("Max", "a", 4, "ns", 0, 2.5)], {})})
    assert twice.judged(other).verdict.kind == NOT_MEASURED

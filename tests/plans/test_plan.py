"""A plan as its users call it: what is shared, what is refused, how it is explained."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from plans.alone import Alone, assert_same

import sash
from sash.plans.explaining import work
from sash.plans.slicing import TECHNIQUES
from sash.testing import Counting


def groups(plan: sash.Plan) -> list[set[str]]:
    """The names of the operators that share a partial."""
    return [{operator.name for operator in group.asks} for group in plan._shared.groups]


def test_the_papers_two_queries() -> None:
    """Slides 2 and 4, ranges 6 and 8: one partial for each 2 rows, which both read."""
    queries = {
        "q1": sash.query(sash.Max(), sash.last(6, every=2)),
        "q2": sash.query(sash.Max(), sash.last(8, every=4)),
    }
    values = [5, 1, 4, 2, 9, 3, 6, 8, 7, 0, 2, 1]
    for technique in TECHNIQUES:
        plan = sash.share(queries, slicing=technique)
        assert plan.push_many(values) == {"q1": [5, 5, 9, 9, 9, 8], "q2": [5, 9, 9]}
        (group,) = plan._shared.groups
        told = plan.explain()
        assert "cut every 2 rows; this repeats after 4 rows, with 2 cuts" in told
        assert "q1  last(6, every=2)  3 slices a window" in told
        assert "q2  last(8, every=4)  4 slices a window (2 if it were alone)" in told
        # Of 12 rows there are 6 slices; the longest window needs four of them.
        assert group.slices.closed == 5 + (technique != "cutty") * 0
        assert group.slices.closed - group.slices.left <= 5


def test_what_shares_a_partial() -> None:
    def shared(values: Any, *operators: sash.Operator) -> list[set[str]]:
        plan = sash.share({f"q{k}": sash.query(op, 3) for k, op in enumerate(operators)})
        alone = Alone(plan.queries)
        assert_same(plan.push_many(values), alone.push_many(values))
        return sorted(groups(plan), key=sorted)

    floats, whole = [1.5, 2.5, -3.5, 4.0], [1, 2, -3, 4]
    assert shared(floats, sash.Sum(), sash.Count(), sash.Mean()) == [
        {"CountOfMean", "Mean", "SumOfMean"}
    ]
    assert shared(whole, sash.Sum(), sash.Count(), sash.Mean()) == [
        {"CountOfWhole", "MeanOfWhole", "SumOfWhole"}
    ]
    assert shared(floats, sash.Variance(), sash.Mean(), sash.StdDev(ddof=0)) == [
        {"MeanOfSpread", "StdDevOfSpread", "VarianceOfSpread"}
    ]
    assert shared(floats, sash.Min(), sash.Max(), sash.Range()) == [
        {"MaxOfRange", "MinOfRange", "Range"}
    ]
    assert shared(whole, sash.MaxCount(), sash.Max()) == [{"MaxCount", "MaxOfCount"}]
    assert shared(whole, sash.Variance(), sash.StdDev()) == [{"StdDev", "Variance"}]
    assert shared(floats, sash.Max(), sash.Mean()) == [{"Max"}, {"Mean"}]


def test_integers_that_are_too_large() -> None:
    """A sum that does not fit is refused, also where a mean stands in for it; nothing is lost."""
    plan = sash.share({"sum": sash.query(sash.Sum(), 2), "mean": sash.query(sash.Mean(), 2)})
    plan.push_many([2**62, 1])
    with pytest.raises(OverflowError, match="does not fit in 64 bits"):
        plan.push_many([2**62, 2**62])
    assert plan.push_many([3]) == {"sum": [4], "mean": [2.0]}


def test_rows_that_are_refused_have_not_come() -> None:
    queries = {
        "max": sash.query(sash.Max("x"), sash.last(4, every=2)),
        "all": sash.query(sash.Collect("y"), 3),
        "session": sash.query(sash.Sum("x"), sash.session("5i")),
    }
    plan, alone = sash.share(queries), Alone(queries)
    rows = [{"x": [1.0, 2.0, 3.0], "y": ["a", "b", "c"]}, {"x": [4.0, 5.0], "y": ["d", "e"]}]
    assert_same(plan.push_many(rows[0], [1, 2, 3]), alone.push_many(rows[0], [1, 2, 3]))
    refused: list[tuple[Any, Any]] = [
        ({"x": ["?"], "y": ["d"]}, [4]),
        ({"x": [1.0]}, [4]),
        ({"x": [1.0], "y": ["d"]}, [2]),
        ({"x": [1.0, 2.0], "y": ["d", "e"]}, [9, 4]),
        ({"x": [1.0], "y": ["d"]}, None),
    ]
    for values, times in refused:
        with pytest.raises((TypeError, ValueError)):
            plan.push_many(values, times)
    assert_same(plan.push_many(rows[1], [4, 20]), alone.push_many(rows[1], [4, 20]))
    assert_same(plan.finish(), alone.finish())


def test_an_operator_that_fails_half_way() -> None:
    @sash.operator(partial=object)
    class Fragile:
        def identity() -> int:
            return 0

        def lift(v: int) -> int:
            return v

        def combine(a: int, b: int) -> int:
            if a + b > 100:
                raise ArithmeticError("too much")
            return a + b

        def lower(p: int) -> int:
            return p

    queries = {
        "sum": sash.query(sash.Sum(), sash.last(4, every=2)),
        "fragile": sash.query(Fragile(), sash.last(3, every=2)),
    }
    plan, alone = sash.share(queries), Alone(queries)
    assert_same(plan.push_many([1, 2, 3]), alone.push_many([1, 2, 3]))
    with pytest.raises(ArithmeticError, match="too much"):
        plan.push_many([4, 90, 90])
    assert_same(plan.push_many([4, 5, 6]), alone.push_many([4, 5, 6]))


def test_a_query_that_comes_later_joins_those_that_did() -> None:
    plan = sash.share({"a": sash.query(sash.Mean(), sash.last(4, every=2))})
    plan.push_many([1.0, 2.0, 3.0])
    plan.add("b", sash.query(sash.Mean(), sash.last(6, every=3)))
    plan.push_many([1.0, 2.0, 3.0])
    plan.add("c", sash.query(sash.Sum(), sash.last(6, every=2)))
    plan.push_many([1.0])
    assert groups(plan) == [{"Mean"}, {"Mean", "SumOfMean"}]
    plan.remove("b")
    assert groups(plan) == [{"Mean"}, {"SumOfMean"}]
    plan.remove("a")
    plan.remove("c")
    assert groups(plan) == []
    assert plan.push_many([1.0]) == {}


def test_arrow_and_numpy() -> None:
    queries = {"mean": sash.query(sash.Mean("x"), sash.last(2, every=2))}
    queries["who"] = sash.query(sash.ArgMax("x", "name"), 2)
    table = pa.table({"x": [1.0, 5.0, 2.0, None], "name": ["a", "b", "c", "d"]})
    found = sash.share(queries).push_many(table)
    assert found["mean"].equals(pa.array([3.0, 2.0]))
    assert found["who"].to_pylist() == ["a", "b", "b", "c"]
    again = sash.share({"mean": sash.query(sash.Mean(), 2)}).push_many(np.array([1.0, 3.0]))
    assert again["mean"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sash.share({"q": sash.Max()}), r"q: write sash.query\(op, window\), not Max\(\)."),
        (lambda: sash.share([1]), "queries are given by name"),
        (lambda: sash.share({1: sash.query(sash.Max(), 1)}), "the name of a query is text, not 1"),
        (lambda: sash.share({}, slicing="pane"), "slicing is one of cutty, pairs, panes; not"),
        (lambda: sash.share({}, lateness=5), "lateness"),
        (lambda: sash.query(sash.Max(), 1, emit="early"), "emit is one of every, changes; not"),
        (lambda: sash.query(sash.Max(), 1, min_size=-1), "min_size must be at least 0, not -1"),
        (lambda: sash.query(max, 1), "operator"),
        (
            lambda: sash.share({"q": sash.query(sash.Max(), "1h")}).push_many([1.0]),
            "needs the rows' times",
        ),
        (
            lambda: sash.share({"q": sash.query(sash.Max(), "1h")}).push_many([1.0], [1]),
            "integer times have no unit",
        ),
        (lambda: sash.share({}).remove("q"), "there is no query 'q'"),
    ],
)
def test_refused(call: Any, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError, KeyError, sash.OperatorError), match=sentence):
        call()


def test_the_same_name_twice_and_a_plan_that_is_over() -> None:
    plan = sash.share({"q": sash.query(sash.Max(), 1)})
    with pytest.raises(ValueError, match="there is a query 'q' already: remove it first"):
        plan.add("q", sash.query(sash.Min(), 1))
    plan.finish()
    with pytest.raises(ValueError, match="this plan is finished"):
        plan.push_many([1])


@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize(
    "windows",
    [
        [(6, 2), (8, 4)],
        [(10, 3), (20, 5), (30, 7)],
        [(64, 8), (128, 8), (256, 8), (512, 16)],
        [(50, 50)],
        [(100, 2), (90, 3), (81, 9), (64, 5), (77, 7), (60, 4)],
    ],
)
def test_the_estimate_of_work(windows: list[tuple[int, int]], technique: Any) -> None:
    """How many ⊕ a row costs is foretold within a factor of two, for both sides."""
    calls = Counting()
    operator = calls.of(sash.GeometricMean())  # whose partial nothing else can give
    queries = {f"q{k}": sash.query(operator, sash.last(*each)) for k, each in enumerate(windows)}
    plan = sash.share(queries, slicing=technique)
    rows, together, apart = 0, 0, 0
    for _ in range(20):
        rows += 200
        plan.push_many([1.0] * 200)
        together += calls.taken()
    for query in queries.values():
        single = sash.share({"q": query}, slicing=technique)
        for _ in range(20):
            single.push_many([1.0] * 200)
        apart += calls.taken()
    (group,) = plan._shared.groups
    cost = work(group, technique, None)
    assert cost is not None
    assert cost.shared / 2 <= together / rows <= cost.shared * 2
    assert cost.apart / 2 <= apart / rows <= cost.apart * 2

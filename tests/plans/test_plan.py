"""A plan as its users call it: what is shared, what is refused, how it is explained."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from plans.alone import Alone, assert_same, assert_same_calls

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


class Twice(sash.Sum):
    """Of integers it does not do as Sum does, which has a way of its own for them."""

    def lower(p):
        return 2 * (p.total + p.error)


LATER = np.random.default_rng(3).normal(size=600)
MANY = np.arange(600)
CALLS: dict[str, tuple[dict[str, sash.Query], list[Any]]] = {
    "compiled, and another is refused": (
        {
            "x": sash.query(sash.Max("x"), 100),
            "longer": sash.query(sash.Max("x"), 300),
            "y": sash.query(sash.Max("y"), 10),
            "session": sash.query(sash.Sum("y"), sash.session("2i")),
        },
        [
            ({"x": LATER, "y": MANY}, MANY),
            ({"x": LATER + 100.0, "y": MANY + 0.5}, MANY + 600),
            ({"x": LATER[:3], "y": MANY[:3]}, MANY[:3] + 600),
        ],
    ),
    "a sum overflows beside a mean": (
        {"s": sash.query(sash.Sum(), 4), "m": sash.query(sash.Mean(), 4)},
        [([1, 2, 3, 4, 5, 6], None), ([7, 8, 2**62, 2**62, 2**62, 9], None), ([10], None)],
    ),
    "objects with two options": (
        {
            "a": sash.query(sash.ApproxQuantile(q=0.5), sash.last(4, every=2)),
            "b": sash.query(sash.ApproxQuantile(q=0.9), sash.last(4, every=2)),
        },
        [([1.0, 2.0, 3.0, 4.0], None)],
    ),
    "text among numbers": (
        {"a": sash.query(sash.Max(), sash.last(2, every=2)), "b": sash.query(sash.Max(), 2)},
        [([1.5, 2.5], None), (["a", "b"], None), ([3.5, 1.0], None)],
    ),
    "times": (
        {"a": sash.query(sash.Max(), 2), "b": sash.query(sash.MinCount(), 3)},
        [
            (pa.array([1, 5, 2], pa.timestamp("us")), None),
            (pa.array([4], pa.timestamp("us")), None),
        ],
    ),
    "one window, two sizes at least": (
        {"a": sash.query(sash.Sum(), 3), "b": sash.query(sash.Sum(), 3, min_size=2)},
        [([1.0, 2.0, 3.0], None), (LATER, None)],
    ),
    "truths, and then nothing": (
        {"a": sash.query(sash.Max(), 2), "b": sash.query(sash.Count(), 3)},
        [([True, False], None), ([], None), ([None], None), ([True], None)],
    ),
    "rows are counted from a query's first": (
        {"a": sash.query(sash.LongestRise(), 3), "b": sash.query(sash.LongestRise(), 5)},
        [([5.0] * 8, None), ([1.0, 2.0], None)],
    ),
    "a subclass that sums otherwise": (
        {
            "a": sash.query(sash.Sum(), sash.last(4, every=2)),
            "b": sash.query(Twice(), sash.last(4, every=2)),
        },
        [([2**33, -(2**33), 3, 4, 2**33, 2**33], None)],
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_as_alone(case: str) -> None:
    assert_same_calls(*CALLS[case])


def test_rows_that_wait_are_such_as_can_go_in() -> None:
    queries = {"a": sash.query(sash.Mean("x"), 2)}
    calls = [
        ({"x": ["?"], "z": [1]}, [0]),
        ({"x": [1], "z": [3]}, [10]),
        ({"x": [2], "z": [4]}, [20]),
    ]
    plan = assert_same_calls(queries, calls, lateness="5i")
    plan.add("z", sash.query(sash.Max("z"), 2))
    found = plan.push_many({"x": [3], "z": [5]}, [30])
    assert (list(found["a"]), list(found["z"])) == ([1.5], [4])


def test_a_new_query_is_of_its_own_types() -> None:
    queries = {f"q{n}": sash.query(sash.Sum(), sash.last(n, every=2)) for n in (4, 6)}
    plan = sash.share(queries)
    plan.push_many(LATER)
    plan.add("new", sash.query(sash.Sum(), sash.last(2, every=2)))
    assert plan.push_many([2**53, 1])["new"] == [2**53 + 1]


def test_what_nobody_asks_for_leaves() -> None:
    plan = sash.share({"a": sash.query(sash.Last(), sash.tumbling("10i"), min_size=2)})
    for at in range(0, 3000, 100):
        plan.push_many([1.0, 2.0], [at, at + 50])
    (group,) = plan._shared.groups
    assert len(group.slices.rows) <= 3
    assert len(group.payload) <= 3


def test_a_query_whose_first_rows_are_refused() -> None:
    plan = sash.share({"a": sash.query(sash.Max("x"), 2), "b": sash.query(sash.Max("z"), 2)})
    with pytest.raises(ValueError, match="no column 'z'"):
        plan.push_many({"x": [1.0]})
    plan.remove("b")
    assert plan.push_many({"x": [1.0]}) == {"a": [1.0]}
    assert plan.explain().startswith("1 query,")


@pytest.mark.parametrize("rows", [4, 600])
@pytest.mark.parametrize("window", [sash.last(3), sash.last(3, every=2)], ids=repr)
def test_the_same_query_twice_has_arrays_of_its_own(window: Any, rows: int) -> None:
    query = sash.query(sash.Max(), window)
    found = sash.share({"a": query, "b": query}).push_many(np.arange(float(rows)))
    wanted = found["b"].copy()
    found["a"][:] = -1.0
    assert np.array_equal(found["b"], wanted)


@pytest.mark.parametrize("window", [sash.session("3i"), sash.last("3i"), sash.last(2)], ids=repr)
def test_a_query_of_a_column_that_no_one_has_read(window: Any) -> None:
    """It may never see a row."""
    plan = sash.share({"a": sash.query(sash.Sum("x"), sash.last(2))})
    plan.push_many({"x": pa.array([1.0, 2.0]), "s": pa.array(["p", "q"])}, [1, 2])
    plan.add("b", sash.query(sash.Concat("s"), window))
    assert len(plan.advance(5)["b"]) == 0
    assert len(plan.finish()["b"]) == 0


@pytest.mark.parametrize(
    ("none", "text"),
    [
        (np.array([None, None], object), np.array(["a", "b"], object)),
        (pa.array([None, None]), pa.array(["a", "b"])),
        ([None, None], ["a", "b"]),
    ],
    ids=["numpy", "arrow", "list"],
)
def test_nothing_but_null_tells_no_type(none: Any, text: Any) -> None:
    queries = {
        "last": sash.query(sash.Last("s"), 3),
        "all": sash.query(sash.Concat("s"), sash.last(4, every=4)),
        "n": sash.query(sash.Count("s"), 3),
    }
    plan = sash.share(queries)
    plan.push_many({"s": none})
    found = plan.push_many({"s": text})
    assert [list(map(str, each)) for each in found.values()] == [["a", "b"], ["ab"], ["1", "2"]]


def test_many_ranges_at_every_row() -> None:
    """By the loop for many ranges, whose answers lie side by side; ranges go as well."""
    draw = np.random.default_rng(3)
    windows = {f"{size}": sash.last(size) for size in (1, 7, 64, 300)}
    queries = {
        f"{op.name} {name}": sash.query(op, window)
        for name, window in windows.items()
        for op in (sash.Max("x"), sash.Mean("x"), sash.Count("x"))
    }
    plan = sash.share(queries)
    alone = {name: sash.Window(each.operator, each.window) for name, each in queries.items()}
    for rows in (5, 700, 0, 1, 400):
        values = np.where(draw.random(rows) < 0.2, None, draw.normal(size=rows).round(3))
        table = {"x": pa.array(values.tolist(), pa.float64())}
        found = plan.push_many(table)
        for name, window in alone.items():
            one, other = found[name].to_pylist(), window.push_many(table).to_pylist()
            assert one == pytest.approx(other, nan_ok=True), name
        if rows == 700:
            for name in ("Max 300", "Mean 300", "Count 300"):
                plan.remove(name)
                del alone[name]

"""A row that something fails on is named: by what failed, its key and its order value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from spark.engines import spread

import sash
from sash.windows.definitions import Delta, definition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = pa.table(
    {
        "k": ["a"] * 20 + ["b"] * 20,
        "t": [*range(20), *range(20)],
        "x": [1] * 33 + [7] + [1] * 6,  # at t = 13 of b
        "big": [2**62] * 40,
    }
)


@sash.operator(partial=object, answer="int64")
class FailsToLift:
    def identity():
        return None

    def lift(v):
        if v == 7:
            raise ValueError("seven is not allowed")
        return v

    def combine(a, b):
        return a if b is None else b

    def lower(p):
        return p


@sash.operator(partial=object, answer="int64")
class FailsToCombine:
    def identity():
        return None

    def lift(v):
        return v

    def combine(a, b):
        if a is not None and b == 7:
            raise ValueError("seven is not allowed")
        return a if b is None else b

    def lower(p):
        return p


@sash.operator(partial=object, answer="int64")
class FailsToLower:
    def identity():
        return 0

    def lift(v):
        return v

    def combine(a, b):
        return max(a, b)

    def lower(p):
        if p == 7:
            raise ValueError("seven is not allowed")
        return p


@sash.operator(partial={"v": "int64"}, commutative=True)
class CompiledAndFails:
    def identity():
        return 0

    def lift(v):
        if v == 7:
            raise ValueError("seven is not allowed")
        return v

    def combine(a, b):
        return max(a.v, b.v)

    def lower(p):
        return p.v


@sash.operator(partial=object, answer="string")
class AnswersANumber:
    def identity():
        return None

    def lift(v):
        return v

    def combine(a, b):
        return a if b is None else b

    def lower(p):
        return p


def said(spark: SparkSession, window: Any, aggs: dict[str, sash.Operator], **options: Any) -> str:
    """The last line of what is raised: what a user reads."""
    df = spread(spark, ROWS)
    asked = {"order_by": "t", **options}
    with pytest.raises(Exception, match=r"Error") as caught:
        sash.spark.sliding(df, window, aggs, **asked).collect()
    lines = re.findall(r"^\S*Error: .*$", str(caught.value), re.MULTILINE)
    return lines[-1].partition("Error: ")[2]


WHERE = "failed at the row with t = 13 of k = 'b'"
FAILING = [FailsToLift, FailsToCombine, FailsToLower, CompiledAndFails]


@pytest.mark.parametrize("failing", FAILING)
def test_operators(spark: SparkSession, failing: Any) -> None:
    aggs = {"n": sash.Count(), "bad": failing("x"), "hi": sash.Max("x")}
    expected = f"bad = {failing.__name__}('x') {WHERE}: seven is not allowed."
    assert said(spark, 3, aggs, by="k") == expected


def test_operators_in_parts(spark: SparkSession) -> None:
    expected = f"bad = FailsToCombine('x') {WHERE}: seven is not allowed."
    assert said(spark, 3, {"bad": FailsToCombine("x")}, by="k", split=3) == expected


def test_without_keys(spark: SparkSession) -> None:
    text = said(spark, 3, {"bad": FailsToLift("x")}, order_by=["k", "t"], split=False)
    assert text == "bad = FailsToLift('x') failed at the row with k = 'b': seven is not allowed."


@pytest.mark.parametrize("window", [sash.tumbling("5i"), sash.session("1i")], ids=repr)
def test_answers_of_windows(spark: SparkSession, window: Any) -> None:
    """They fail when the window ends: with the row after it, or the last one of the key."""
    text = said(spark, window, {"n": sash.Count(), "bad": FailsToLower("x")}, by="k")
    assert text.startswith("bad = FailsToLower('x') failed at the row with t = 1")
    assert text.endswith(" of k = 'b': seven is not allowed.")


@pytest.mark.parametrize(
    ("window", "options"),
    [(3, {"by": "k"}), (3, {"by": "k", "split": 2}), (25, {"split": 3})],
    ids=["by key", "by key in parts", "long windows in parts"],
)
def test_sums_that_do_not_fit(spark: SparkSession, window: Any, options: dict[str, Any]) -> None:
    aggs = {"n": sash.Count(), "s": sash.Sum("big"), "hi": sash.Max("big")}
    of = r" of k = '[ab]'" if "by" in options else ""
    assert re.fullmatch(
        rf"s = Sum\('big'\) failed at the row with t = \d+{of}: OverflowError: a sum of integers "
        r"does not fit in 64 bits; sum them as floats\.",
        said(spark, window, aggs, **options),
    )


def test_policies(spark: SparkSession) -> None:
    def policy(total: int, old: int) -> bool:
        if total > 13:
            raise RuntimeError("too much")
        return False

    text = said(spark, sash.slide_while(policy), {"n": sash.Count()}, by="k")
    assert re.fullmatch(
        r"slide_while\(\S*policy\) failed at the row with t = 13 of k = '[ab]': "
        r"RuntimeError: too much\.",
        text,
    )


def test_answers_of_another_type(spark: SparkSession) -> None:
    text = said(spark, 3, {"n": sash.Count(), "bad": AnswersANumber("x")}, by="k")
    assert text.startswith("bad = AnswersANumber('x') answered 1, of type int")
    assert "which does not fit the column of string" in text


@pytest.mark.parametrize(
    ("window", "changed", "sentence"),
    [
        ("5i", "nullif(t, 13)", "every row needs a value of 't', and this row has none"),
        (sash.session("5i"), "t + (1L << 62)", "the values of 't' must be within 62 bits"),
        (sash.delta("d", 5), "nullif(t, 13)", "every row needs a value of 'd', and this row has"),
        (sash.delta("d", 5), "-t", "the column 'd' must not go back, and does at this row"),
        (sash.delta("d", 5.0), "double('NaN')", "a value of 'd', and that of this row is NaN"),
        (sash.last(5, every="1i"), "t * 100000000", "lie more than 16,777,216 ends of last(5"),
    ],
    ids=repr,
)
def test_rows_that_windows_cannot_take(
    spark: SparkSession, window: Any, changed: str, sentence: str
) -> None:
    """It is the window that fails then, not what is aggregated."""
    column = "d" if isinstance(window, Delta) else "t"
    others = ["t"] if column == "d" else []
    df = spread(spark, ROWS).selectExpr("k", "x", *others, f"{changed} as {column}")
    aggs = {"n": sash.Count(), "hi": sash.Max("x")}
    with pytest.raises(Exception, match="RowError") as caught:
        sash.spark.sliding(df, window, aggs, by="k", order_by="t").collect()
    shown = re.escape(repr(definition(window)))
    found = re.search(rf"RowError: {shown} failed at the row with t = .*", str(caught.value))
    assert found and sentence in found[0] and " of k = '" in found[0]

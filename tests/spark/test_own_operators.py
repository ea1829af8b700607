"""Operators and policies that users write: in a module, in a script, with numbers or objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from spark.engines import Asked, check
from spark.some_rows import some_rows

import sash

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STEP = 3


def rounded(value: float) -> float:
    """A helper that an operator below needs."""
    return round(value * STEP) / STEP


@sash.operator(partial={"lo": "float64", "hi": "float64"}, commutative=True, empty=None)
class Spread:
    """Numbers, compiled."""

    def identity():
        return float("inf"), float("-inf")

    def lift(v):
        return v, v

    def combine(a, b):
        return min(a.lo, b.lo), max(a.hi, b.hi)

    def lower(p):
        return p.hi - p.lo


@sash.operator(partial=object, answer=pa.list_(pa.string()))
class Path:
    """Objects in order, without what repeats; Python's own."""

    def identity():
        return ()

    def lift(v):
        return (v,)

    def combine(a, b):
        return a + b[1:] if a and b and a[-1] == b[0] else a + b

    def lower(p):
        return list(p)


@sash.operator(partial=object, answer="double")
class Rounded:
    """With a helper, and a constant, of the module."""

    def identity():
        return 0.0

    def lift(v):
        return rounded(v)

    def combine(a, b):
        return a + b

    def lower(p):
        return p / STEP


@pytest.fixture(autouse=True)
def small_batches(settings: Callable[..., None]) -> None:
    settings(**{"spark.sql.execution.arrow.maxRecordsPerBatch": 7})


@pytest.mark.parametrize("window", [5, 60, sash.tumbling("7i")], ids=repr)
def test_in_a_module(spark: SparkSession, window: Any) -> None:
    """Workers do not have this module, and need not."""
    for aggs in ({"spread": Spread("g")}, {"path": Path("y"), "rounded": Rounded("g")}):
        check(spark, some_rows(), Asked(window, aggs, by=("k",)), keyed=("auto",), series=(5,))


def test_policies(spark: SparkSession) -> None:
    enough = 4

    def policy(total: Any, old: Any) -> bool:
        return bool(len(total.path) - len(old.path) >= enough)

    aggs = {"path": sash.Collect("y"), "spread": Spread("g")}
    check(spark, some_rows(), Asked(sash.slide_while(policy), aggs), keyed=(), series=("auto",))


SCRIPT = """
    import sash

    LIMIT = 2

    def short(text):
        return text[:LIMIT]

    @sash.operator(partial={"n": "int64", "total": "float64"}, commutative=True)
    class Mean:
        def identity():      return 0, 0.0
        def lift(v):         return 1, v
        def combine(a, b):   return a.n + b.n, a.total + b.total
        def lower(p):        return p.total / p.n

    @sash.operator(partial=object, answer="string")
    class Shortened:
        def identity():      return ""
        def lift(v):         return short(v)
        def combine(a, b):   return a + b
        def lower(p):        return p

    def policy(total, old):
        return total.said.count("x") - old.said.count("x") >= LIMIT

    if __name__ == "__main__":
        spark = sash.spark.session("local[1]", progress=False)
        rows = [("a", t, float(t), "x" * t) for t in range(5)]
        df = spark.createDataFrame(rows, "k string, t long, v double, s string")
        asked = {"mean": Mean("v"), "said": Shortened("s")}
        for window in (2, sash.slide_while(policy)):
            found = sash.spark.sliding(df, window, asked, by="k", order_by="t")
            print([(row["mean"], row["said"]) for row in found.orderBy("t").collect()])
        spark.stop()
"""


def test_in_a_script(run: Callable[..., Any]) -> None:
    done = run(SCRIPT)
    assert done.returncode == 0, done.stderr[-2000:]
    by_two, by_policy = done.stdout.splitlines()
    assert by_two == str([(0.0, ""), (0.5, "x"), (1.5, "xxx"), (2.5, "xxxx"), (3.5, "xxxx")])
    # Rows leave for as long as two x would remain.
    assert by_policy == str([(0.0, ""), (0.5, "x"), (2.0, "xx"), (3.0, "xx"), (4.0, "xx")])

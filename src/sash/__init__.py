"""Incremental aggregation over sliding windows.

The answer for a window holding v1 … vn, in order, is `lower(lift(v1) ⊕ … ⊕ lift(vn))`. Everything
else decides which ⊕ not to do again.
"""

from typing import TYPE_CHECKING as _FOR_TYPES

from sash import stores, testing
from sash.aggregators.aggregator import Aggregator
from sash.aggregators.making import aggregator
from sash.aggregators.registry import algorithms
from sash.aggregators.saving import SavedError
from sash.operators.base import Operator, operator
from sash.operators.collections import (
    BottomK,
    Collect,
    CollectDistinct,
    Concat,
    CountDistinct,
    FirstN,
    LastN,
    TopK,
)
from sash.operators.errors import OperatorError
from sash.operators.extremes import ArgMax, ArgMin, Max, MaxCount, Min, MinCount, Range
from sash.operators.moments import Kurtosis, Skewness, StdDev, Variance
from sash.operators.positions import First, Last
from sash.operators.runs import LongestRise
from sash.operators.sketches import (
    ApproxCountDistinct,
    ApproxQuantile,
    Bloom,
    BloomFilter,
    CountMin,
    Frequencies,
    MomentSketch,
)
from sash.operators.sums import Count, GeometricMean, Mean, Product, Sum
from sash.operators.together import Together
from sash.plans import Plan, Query, query, share
from sash.windows.answers import Answers
from sash.windows.definitions import delta, last, punctuated, session, slide_while, tumbling
from sash.windows.explaining import explain
from sash.windows.rolling import rolling
from sash.windows.window import KeyedWindow, Window

__version__ = "0.1.0"


if _FOR_TYPES:
    from sash import spark as spark
else:

    def __getattr__(name: str) -> object:
        """`sash.spark` is imported when it is first asked for: PySpark is an extra, and large."""
        if name == "spark":
            from importlib import import_module

            return import_module("sash.spark")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        from importlib.util import find_spec

        # Not without PySpark: help() asks for all that is listed.
        return sorted({*globals(), *(["spark"] if find_spec("pyspark") else [])})


__all__ = [
    "Aggregator",
    "Answers",
    "ApproxCountDistinct",
    "ApproxQuantile",
    "ArgMax",
    "ArgMin",
    "Bloom",
    "BloomFilter",
    "BottomK",
    "Collect",
    "CollectDistinct",
    "Concat",
    "Count",
    "CountDistinct",
    "CountMin",
    "First",
    "FirstN",
    "Frequencies",
    "GeometricMean",
    "KeyedWindow",
    "Kurtosis",
    "Last",
    "LastN",
    "LongestRise",
    "Max",
    "MaxCount",
    "Mean",
    "Min",
    "MinCount",
    "MomentSketch",
    "Operator",
    "OperatorError",
    "Plan",
    "Product",
    "Query",
    "Range",
    "SavedError",
    "Skewness",
    "StdDev",
    "Sum",
    "Together",
    "TopK",
    "Variance",
    "Window",
    "aggregator",
    "algorithms",
    "delta",
    "explain",
    "last",
    "operator",
    "punctuated",
    "query",
    "rolling",
    "session",
    "share",
    "slide_while",
    "stores",
    "testing",
    "tumbling",
]

"""The right kind of window for an algorithm."""

from __future__ import annotations

from typing import Any

from sash.aggregators.aggregator import Aggregator, checked_operator
from sash.aggregators.choose import choose, need_of
from sash.aggregators.handled import HandledAggregator
from sash.aggregators.registry import named
from sash.operators.base import Operator


def aggregator(name: str, operator: Operator, **options: Any) -> Aggregator:
    """A window kept by the algorithm of this name, empty; see `sash.algorithms()`.

    "auto" takes what the ladder says for values that come one by one; `latency="worst_case"` if
    none of them may wait long, `order="any"` if they come with times, in any order.

    >>> from sash.operators.extremes import Max
    >>> aggregator("auto", Max(), latency="worst_case")
    <daba_lite of Max() holding 0>
    """
    if name == "auto":
        asked = {key: options.pop(key) for key in ("latency", "order") if key in options}
        checked_operator(operator)
        need = need_of(operator, options.get("dtype"), arrays=False, **asked)
        name = choose(need).algorithm
    kind = HandledAggregator if hasattr(named(name), "evict_at") else Aggregator
    return kind(name, operator, **options)

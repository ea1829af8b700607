"""A window by the name of its algorithm."""

from __future__ import annotations

from typing import Any, Literal, overload

from sash.aggregators.aggregator import Aggregator, checked_operator
from sash.aggregators.choose import choose, need_of
from sash.aggregators.handled import HandledAggregator
from sash.aggregators.latency_bound import LatencyBound
from sash.aggregators.per_source import PerSource
from sash.aggregators.ranges import checked_ranges
from sash.aggregators.registry import named
from sash.aggregators.rings import option_names
from sash.aggregators.stored import StoredAggregator
from sash.aggregators.timed import TimedAggregator
from sash.operators.base import Operator

COMPOSED: dict[str, type[Aggregator]] = {"latency_bound": LatencyBound, "per_source": PerSource}


@overload
def aggregator(name: Literal["fiba"], operator: Operator, **options: Any) -> TimedAggregator: ...
@overload
def aggregator(
    name: Literal["flat_fat"], operator: Operator, **options: Any
) -> HandledAggregator: ...
@overload
def aggregator(
    name: Literal["latency_bound"], operator: Operator, **options: Any
) -> LatencyBound: ...
@overload
def aggregator(name: Literal["per_source"], operator: Operator, **options: Any) -> PerSource: ...
@overload
def aggregator(name: str, operator: Operator, **options: Any) -> Aggregator: ...


def aggregator(name: str, operator: Operator, **options: Any) -> Aggregator:
    """A window kept by the algorithm of this name, empty; see `sash.algorithms()`.

    "auto" takes what the ladder says for values that come one by one; `latency="worst_case"` if
    none of them may wait long, `order="any"` if they come with times, in any order, `ranges=[…]`
    or `ranges="any"` if answers are wanted for less than the window. With `store=…` most of the
    window is in a store (see `sash.stores`); amta and log_mta can keep it so.

    >>> from sash.operators.extremes import Max
    >>> aggregator("auto", Max(), latency="worst_case")
    <daba_lite of Max() holding 0>
    """
    if options.get("store") is not None:
        return StoredAggregator("amta" if name == "auto" else name, operator, **options)
    options.pop("store", None)
    if name == "auto":
        asked: dict[str, Any] = {
            key: options.pop(key) for key in ("latency", "order") if key in options
        }
        checked_operator(operator)
        ranges = options.pop("ranges", None)
        if ranges is not None:
            ranges = (
                ranges if isinstance(ranges, str) and ranges == "any" else checked_ranges(ranges)
            )
            asked["ranges"] = "any" if ranges == "any" else max(len(ranges), 2)
        need = need_of(operator, options.get("dtype"), arrays=False, **asked)
        name = choose(need).algorithm
        if ranges not in (None, "any") and "ranges" in option_names(named(name)):
            options["ranges"] = ranges
    return _kind(name)(name, operator, **options)


def _kind(name: str) -> type[Aggregator]:
    if name in COMPOSED:
        return COMPOSED[name]
    module = named(name)
    if hasattr(module, "insert_at"):
        return TimedAggregator
    return HandledAggregator if hasattr(module, "evict_at") else Aggregator

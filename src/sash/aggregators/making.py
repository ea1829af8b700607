"""A window by the name of its algorithm."""

from __future__ import annotations

from typing import Any, Literal, overload

from sash.aggregators.aggregator import Aggregator
from sash.aggregators.latency_bound import LatencyBound
from sash.aggregators.per_source import PerSource
from sash.aggregators.registry import named
from sash.aggregators.timed import TimedAggregator
from sash.operators.base import Operator

COMPOSED: dict[str, type[Aggregator]] = {"latency_bound": LatencyBound, "per_source": PerSource}


@overload
def aggregator(name: Literal["fiba"], operator: Operator, **options: Any) -> TimedAggregator: ...
@overload
def aggregator(
    name: Literal["latency_bound"], operator: Operator, **options: Any
) -> LatencyBound: ...
@overload
def aggregator(name: Literal["per_source"], operator: Operator, **options: Any) -> PerSource: ...
@overload
def aggregator(name: str, operator: Operator, **options: Any) -> Aggregator: ...


def aggregator(name: str, operator: Operator, **options: Any) -> Aggregator:
    """A window kept by the algorithm of this name, empty; see `sash.algorithms()`."""
    if name in COMPOSED:
        return COMPOSED[name](name, operator, **options)
    by_time = hasattr(named(name), "insert_at")
    return (TimedAggregator if by_time else Aggregator)(name, operator, **options)

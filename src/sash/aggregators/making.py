"""The right kind of window for an algorithm."""

from __future__ import annotations

from typing import Any

from sash.aggregators.aggregator import Aggregator
from sash.aggregators.handled import HandledAggregator
from sash.aggregators.registry import named
from sash.operators.base import Operator


def aggregator(name: str, operator: Operator, **options: Any) -> Aggregator:
    """A window kept by the algorithm of this name, empty; see `sash.algorithms()`."""
    kind = HandledAggregator if hasattr(named(name), "evict_at") else Aggregator
    return kind(name, operator, **options)

"""pba as its first thread sees it: the sums that the second thread forms are not counted."""

from __future__ import annotations

from typing import Any, Final

from sash.aggregators import pba
from sash.aggregators.binding import bind
from sash.aggregators.rings import as_lists, ring_length
from sash.operators.base import Operator
from sash.testing import Counting

FIRST_THREAD: Final = "pba, first thread"
"""The name of its line."""


class FirstThread:
    """A window of whole numbers in plain Python, where each insert does a step of the other work.

    That step is done without the counted ⊕.
    """

    def __init__(self, operator: Operator, counting: Counting, size: int) -> None:
        types = (("int64",),)
        counted = counting.of(operator).bind_leaves(types)
        combine = operator.bind_leaves(types).combine

        def aside(slots: list[Any], A: int) -> int:
            last = len(slots) - 1
            slots[A - 1 & last] = combine(slots[A - 1 & last], slots[A & last])
            return A - 1

        step_back: Any = aside
        self.monoid = counted
        self.pba: Any = bind(pba, counted, {"step_back": step_back})
        settled = pba.settings(operator)
        self.rings = tuple(as_lists(pba, counted, ring_length(size), settled))
        self.state = self.pba.new()
        self.held = 0

    def insert(self, value: int) -> None:
        self.state = self.pba.insert(self.rings, self.state, self.monoid.lift(value))
        self.held = max(self.held, self.state[1] - self.state[0])

    def evict(self) -> None:
        self.state = self.pba.evict(self.rings, self.state)

    def query(self) -> Any:
        return self.monoid.lower(self.pba.query(self.rings, self.state))

    def partials_held(self) -> int:
        """Its slots, and the two sums of its state."""
        return int(self.held) + 2

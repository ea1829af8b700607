"""Windows whose oldest values leave by a slide policy, asked at every value.

Trees search how many leave. Without a tree the oldest values are tried one by one, as in the
paper: each is added to those before it, until the policy keeps it. Values come one by one, as a
store needs it, so all of it is plain Python, but for one compiled loop to compare with.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

import sash
from sash.aggregators.registry import named
from sash.figures import own_operators
from sash.figures.asked import Array
from sash.figures.cases import NOT_INSTALLED, Case, Group, Point
from sash.figures.measures.in_stores import STORES, can_have, new_place

COMPILED = "compiled"

# Operators that a decorator makes have no signature that mypy knows.
operators: Any = own_operators


@dataclass(frozen=True)
class Question:
    """What a window answers, and by which policy its oldest values leave."""

    operator: Any
    policy: Callable[[Any, Any], bool]
    text: str = ""
    """The same policy for a compiled loop."""


SIZED = Question(
    operators.Sized(),
    lambda total, old: total["count"] - old["count"] >= total["max_size"],
    "total.count - old.count >= total.max_size",
)
"""The paper's Listing 3."""


class PolicyWindow(Protocol):
    """A window that takes values in, lets the oldest leave by its policy, and answers."""

    def insert(self, value: Any) -> object: ...
    def enforce(self) -> None: ...
    def answer(self) -> Any: ...


class Searching:
    """A tree, in memory or in a store, where the search takes O(log n) steps."""

    def __init__(self, window: Any, question: Question) -> None:
        self.window, self.policy = window, question.policy
        self.insert, self.answer = window.insert, window.query

    def enforce(self) -> None:
        self.window.evict_while(self.policy)


class Stepping:
    """The oldest values are tried one by one.

    Recalc keeps its sum until something leaves, as the paper's Naive does.
    """

    def __init__(self, algorithm: str, question: Question) -> None:
        self.window: Any = sash.aggregator(algorithm, question.operator)
        self.policy = question.policy
        self.keeps = algorithm == "recalc"
        self.sum: Any = None

    def insert(self, value: Any) -> None:
        window = self.window
        window.insert(value)
        if self.sum is not None:
            newest = _value_at(window._kept, len(window) - 1)
            self.sum = window._kept.monoid.combine(self.sum, newest)

    def enforce(self) -> None:
        window = self.window
        total, answer = self.answer(), window._answer_for_oldest()
        combine = window._kept.monoid.combine
        count, old = 0, None
        while count < len(window):
            value = _value_at(window._kept, count)
            longer = combine(old, value) if count else value
            if not self.policy(total, answer(longer)):
                break
            count, old = count + 1, longer
        if count:
            window.bulk_evict(count)
            self.sum = None

    def answer(self) -> Any:
        window = self.window
        if not self.keeps:
            return window.query()
        if self.sum is None:
            self.sum = window._kept.query()
        return window._lowered(window._kept.monoid, self.sum)


def _value_at(kept: Any, place: int) -> Any:
    """One of the window's values, counted from the oldest."""
    ring = kept.rings[0]
    return ring[(kept.run.span(kept.state)[0] + place) & (len(ring) - 1)]


def made(series: str, question: Question) -> PolicyWindow:
    """A window that is empty; `amta, RocksDB` is in a store."""
    algorithm, _, store = series.partition(", ")
    if store:
        window = sash.aggregator(algorithm, question.operator, store=new_place(store))
        return Searching(window, question)
    if hasattr(named(algorithm), "evict_while"):
        return Searching(sash.aggregator(algorithm, question.operator), question)
    return Stepping(algorithm, question)


def is_compiled(series: str) -> bool:
    return series.endswith(f", {COMPILED}")


def compiled(series: str, question: Question) -> sash.Window:
    """The same in memory, for many values at once."""
    definition = sash.slide_while(question.text)
    return sash.Window(question.operator, definition, algorithm=series.partition(", ")[0])


def there(series: Sequence[str]) -> list[str]:
    """Those that can be measured here: a store may be missing."""
    return [
        name
        for name in series
        if (store := name.partition(", ")[2]) not in STORES or can_have(store)
    ]


def missing_stores(series: Sequence[str]) -> list[Group]:
    """For stores that are not here a case that says so."""
    wanted = dict.fromkeys(name.partition(", ")[2] for name in series if name not in there(series))
    said = [Point(NOT_INSTALLED, 1)]

    def absent() -> list[Case]:
        return [Case("", store, 0, lambda: said, timed=False) for store in wanted]

    return [absent] if wanted else []


@contextmanager
def no_collections() -> Iterator[None]:
    """Python does not look for garbage meanwhile, which takes the longer the more values there are;
    `timeit` does so, too.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def as_numbers(answers: Any) -> Array:
    """Answers to compare: a row of numbers for each."""
    if isinstance(answers, dict):  # of a compiled loop, a column for each member
        return np.concatenate([as_numbers(each) for each in answers.values()], axis=1)
    if isinstance(answers, np.ndarray) and answers.dtype.names is None:
        return answers.astype(float)[:, None]
    if isinstance(answers, np.ndarray):
        names = answers.dtype.names or ()
        return np.stack([answers[name].astype(float) for name in names], axis=1)
    return np.array([list(_flat(answer)) for answer in answers], float)


def _flat(answer: Any) -> Iterator[float]:
    if isinstance(answer, dict):
        answer = tuple(answer.values())
    if isinstance(answer, tuple):
        for each in answer:
            yield from _flat(each)
    else:
        yield float("nan") if answer is None else float(answer)

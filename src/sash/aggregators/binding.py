"""An algorithm in plain Python: its functions with an operator's primitives put in place.

The functions are the ones in the algorithm's file; only the names they look up are bound anew.
Rings are lists of partials. This is how object operators run, and how any operator runs when
values come one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from time import perf_counter_ns, sleep
from types import FunctionType, MappingProxyType, ModuleType, SimpleNamespace
from typing import Any

from sash.aggregators import driving, driving_many
from sash.aggregators.primitives import PRIMITIVES, Partial
from sash.operators.laws import close, scale_of
from sash.operators.monoid import Monoid

NOTHING: Mapping[str, FunctionType] = MappingProxyType({})

SHARED = (
    *("size", "span", "bulk_insert", "bulk_evict", "query_last"),
    *("slide", "slide_ranges", "slide_bounds", "follow", "timed_slide", "timed_bounds"),
    "share",
)
COMPILED_ONLY = (
    "slide_policy",
    *("follow_keys", "follow_policy_keys", "move_keys"),
    *("find_spans", "first_unsound", "save_values", "load_values"),
)


def functions_of(algorithm: ModuleType) -> dict[str, FunctionType]:
    """An algorithm's functions by name: its file's, and the shared ones it does not write."""
    own = {
        name: value
        for name, value in vars(algorithm).items()
        if isinstance(value, FunctionType) and value.__module__ == algorithm.__name__
    }
    return {**{name: getattr(driving, name) for name in SHARED}, **own}


def all_functions_of(algorithm: ModuleType) -> dict[str, FunctionType]:
    """`functions_of`, and the loops that are of use only if they are compiled."""
    loops = {name: getattr(driving_many, name) for name in COMPILED_ONLY}
    return {**loops, "sound": driving.sound, **functions_of(algorithm)}


def called_by(function: FunctionType) -> Iterator[tuple[str, FunctionType]]:
    """The functions of other algorithms, and of its own file, that a function calls by name."""
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, FunctionType) and name not in PRIMITIVES:
            yield name, value


def bind(
    algorithm: ModuleType, monoid: Monoid, instead: Mapping[str, FunctionType] = NOTHING
) -> SimpleNamespace:
    """The algorithm's functions, in plain Python, for this operator.

    instead: functions that stand for others of the same name.
    """
    names = {**python_primitives(monoid), **instead}
    bound: dict[str, Any] = {}
    roots = functions_of(algorithm)
    clones: dict[FunctionType, FunctionType] = {}

    def clone(function: FunctionType) -> FunctionType:
        if function not in clones:
            scope = {**function.__globals__, **names}
            clones[function] = FunctionType(function.__code__, scope, function.__name__)
            for name, called in called_by(function):
                if name in instead:
                    continue
                scope[name] = clone(roots.get(name, called) if called in DRIVEN else called)
        return clones[function]

    for name, function in roots.items():
        bound[name] = clone(function)
    return SimpleNamespace(**{**bound, **names})


DRIVEN = (
    *(driving.insert, driving.evict, driving.query, driving.query_last),
    *(driving.size, driving.bulk_evict),
)
"""What the shared loops call: the algorithm's own functions stand in for these."""


def python_primitives(monoid: Monoid) -> dict[str, Callable[..., Any]]:
    """The primitives for an operator whose partials are kept as Python objects."""
    identity, combine, lower = monoid.identity, monoid.combine, monoid.lower

    def get(ring: list[Partial], position: int) -> Partial:
        return ring[position & (len(ring) - 1)]

    def put(ring: list[Partial], position: int, p: Partial) -> None:
        ring[position & (len(ring) - 1)] = p

    def load(buffer: list[Partial], i: int) -> Partial:
        return buffer[i]

    def store(buffer: list[Partial], i: int, p: Partial) -> None:
        buffer[i] = p

    def take_shared(desk: list[int], i: int, number: int) -> bool:
        before, desk[i] = desk[i], max(desk[i], number)
        return before < number

    def length_of(ring: list[Partial]) -> int:
        return len(ring)

    def read(rows: Rows, i: int) -> Partial:
        return monoid.lift_cells(rows.cells(i), rows.base + i)

    def answer(out: list[Any], i: int, p: Partial) -> None:
        out[i] = lower(p)

    def fold(window: Iterable[Partial]) -> Partial:
        return reduce(combine, window, identity())

    return {
        "identity": identity,
        "combine": combine,
        "inverse": monoid.inverse or _no_inverse,
        "get": get,
        "put": put,
        "load": load,
        "store": store,
        "get_int": get,
        "put_int": put,
        "load_int": load,
        "store_int": store,
        "length_of": length_of,
        "equal": equal,
        "commutative": lambda: monoid.commutative,
        "clock": perf_counter_ns,
        "load_shared": load,
        "store_shared": store,
        "take_shared": take_shared,
        "pause": _pause,
        "read": read,
        "answer": answer,
        "same": _same,
        "fold": fold,
    }


class Rows:
    """Rows as Python values: for each leaf of the operator the columns whose nulls it skips."""

    def __init__(self, leaves: list[list[Any]], base: int = 0) -> None:
        self.leaves = leaves
        self.base = base

    def cells(self, i: int) -> Iterator[tuple[Any, ...]]:
        for columns in self.leaves:
            yield tuple([column[i] for column in columns])


def equal(a: Partial, b: Partial) -> bool:
    """Whether two partials are the same, field by field; NaN is the same as NaN."""
    if a is b:
        return True
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    return bool(a == b or (a != a and b != b))


def _same(a: Partial, b: Partial) -> bool:
    return close(a, b) or close(a, b, scale_of(a, b))


def _pause() -> None:
    sleep(0)


def _no_inverse(total: Partial, old: Partial) -> Partial:
    raise AssertionError("an operator without an inverse was not refused")

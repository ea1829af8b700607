"""Why an operator or a policy cannot be sent to a worker, in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from sash.aggregators.sources import globals_used
from sash.operators.base import Operator


def what_holds_back(value: Any, error: Exception, pack: Callable[[Any], bytes]) -> str:
    """The smallest part that cannot be packed, and who uses it."""
    who = value
    leaves = value.leaves if isinstance(value, Operator) else ()
    for leaf in leaves:
        if _wrong(leaf, pack):
            who = leaf
    for used_by, part in _parts(who):
        wrong = _wrong(part, pack)
        if wrong:
            return f"{who!r} cannot be sent to Spark's workers: {used_by}, and {wrong}."
    return f"{who!r} cannot be sent to Spark's workers: {_sentence(error)}."


def _wrong(part: Any, pack: Callable[[Any], bytes]) -> str | None:
    try:
        pack(part)
    except Exception as error:
        return _sentence(error)
    return None


def _sentence(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".")


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What an operator or a policy is made of, and how to say so."""
    if isinstance(value, Operator):
        for name, given in value.options.items():
            yield from _inside(given, f"its option {name!r} is {_short(given)}", set())
        for name, function in value.functions.items():
            yield from _used(function, f"its function {name}", set())
        for name, given in vars(type(value)).items():
            yield from _inside(given, f"its attribute {name!r} is {_short(given)}", set())
        return
    policy = getattr(value, "policy", None)
    if isinstance(policy, FunctionType):
        yield from _used(policy, "its policy", set())
    elif policy is not None:
        yield f"its policy is {_short(policy)}", policy


def _inside(value: Any, how: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, FunctionType):
        yield from _used(value, how, seen)
    yield how, value


def _used(function: FunctionType, who: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """What a function uses, and what the functions do that it uses: the deepest first."""
    if id(function) in seen:
        return
    seen.add(id(function))
    for name, value in globals_used(function).items():
        if isinstance(value, FunctionType):
            yield from _used(value, f"{who} uses {name}, which", seen)
        yield f"{who} uses {name!r}", value


def _short(value: Any) -> str:
    return f"a {type(value).__name__}"

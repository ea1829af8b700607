"""The language of slide policies: a part of Python's, checked and made into a function.

Only what is listed here passes, and a checked tree is evaluated by functions made for its parts:
nothing that is read is ever run as Python.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

from sash.windows.bounds import MOST

LONGEST = 10_000
DEEPEST = 50
LARGEST_POWER = 64

Rule = Callable[[Any, Any], Any]

BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.Not: operator.not_}
COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {"abs": abs, "min": min, "max": max}
NAMES = ("total", "old")


class PolicyError(ValueError):
    """A text that is no policy, and why."""


def parsed(text: Any) -> ast.expr:
    """The parts of a text, all of them within the language."""
    if not isinstance(text, str):
        raise TypeError(f"a policy is text, such as 'total - old >= 10', not {text!r}.")
    if len(text) > LONGEST:
        raise PolicyError(f"a policy has at most {LONGEST} characters, not {len(text)}.")
    if not text.strip():
        raise PolicyError("a policy is missing: write it as in 'total - old >= 10'.")
    if "#" in text:
        raise PolicyError(f"a policy holds no comments, as {_short(text)} does.")
    try:
        # The language has no strings, so all white space is alike: lines may be broken anywhere.
        tree = ast.parse(" ".join(text.split()), mode="eval").body
    except SyntaxError as error:
        why = error.msg.partition(";")[0].rstrip(".")
        raise PolicyError(f"the policy {_short(text)} is no expression: {why}.") from None
    except (ValueError, MemoryError, RecursionError):
        raise PolicyError(f"the policy {_short(text)} cannot be read.") from None
    _check(tree)
    return tree


def _check(node: ast.AST, depth: int = 0, power: float = 1) -> None:
    """Refuse what is not in the language. power: that to which this part will be raised."""
    if depth > DEEPEST:
        raise PolicyError(f"a policy is nested at most {DEEPEST} deep.")
    match node:
        case ast.Constant(value=value):
            _check_number(value)
            return
        case ast.Name(id=name):
            if name not in NAMES:
                raise PolicyError(f"a policy knows total and old, and no {name!r}.")
            return
        case ast.Attribute():
            _check_attribute(node)
            return
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            _check(left, depth + 1, _power(right, power))
            return
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            parts = [left, right]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
            parts = [operand]
        case ast.BoolOp(values=values):
            parts = values
        case ast.Compare(left=left, ops=ops, comparators=others) if all(
            type(op) in COMPARISONS for op in ops
        ):
            parts = [left, *others]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            parts = [test, body, orelse]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            if (len(args) != 1) if name == "abs" else (len(args) < 2):
                wanted = "one number" if name == "abs" else "two numbers or more"
                raise PolicyError(f"{name} takes {wanted}, not {len(args)}.")
            parts = args
        case _:
            raise PolicyError(
                f"a policy cannot hold {_shown(node)}; it is made of total, old, numbers, "
                f"+ - * / // % **, comparisons, and, or, not, abs, min, max and if … else."
            )
    for part in parts:
        _check(part, depth + 1, power)


def _check_number(value: Any) -> None:
    if type(value) not in (int, float):
        raise PolicyError(f"a policy counts with numbers, and {_short(repr(value))} is none.")
    if not math.isfinite(value) if type(value) is float else value > MOST:
        raise PolicyError("a number in a policy must be finite, and below 2**63.")


def _check_attribute(node: ast.Attribute) -> None:
    at: ast.expr = node
    for _ in range(DEEPEST):
        if not isinstance(at, ast.Attribute):
            break
        if at.attr.startswith("_"):
            raise PolicyError(f"a policy cannot read {at.attr!r}, which begins with _.")
        at = at.value
    if not isinstance(at, ast.Name) or at.id not in NAMES:
        raise PolicyError(f"a policy reads parts of total and old only, not {_shown(node)}.")


def _power(node: ast.expr, outer: float) -> float:
    """How large a power can get. It must stay small enough to compute, whatever total is."""
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    number = node.operand if negative else node  # type: ignore[attr-defined]
    if not isinstance(number, ast.Constant):
        raise PolicyError(f"a power must be a number, as in 'total ** 2', not {_shown(node)}.")
    value: Any = number.value
    _check_number(value)
    in_all: float = max(value, 1) * outer
    if in_all > LARGEST_POWER:
        raise PolicyError(f"powers in a policy go up to {LARGEST_POWER} in all, not {in_all:g}.")
    return in_all


def _shown(node: ast.AST) -> str:
    try:
        return _short(ast.unparse(node))
    except (ValueError, RecursionError):
        return "this"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")


def rule_of(node: ast.expr) -> Rule:
    """A checked tree as a function, made of one function for each of its parts."""
    match node:
        case ast.Constant(value=value):
            return lambda total, old: value
        case ast.Name(id="total"):
            return lambda total, old: total
        case ast.Name():
            return lambda total, old: old
        case ast.Attribute(value=of, attr=name):
            owner = rule_of(of)
            return lambda total, old: _part(owner(total, old), name)
        case ast.UnaryOp(op=op, operand=operand):
            turn, inner = UNARY[type(op)], rule_of(operand)
            return lambda total, old: turn(inner(total, old))
        case ast.BinOp(left=left, op=op, right=right):
            join, one, two = BINARY[type(op)], rule_of(left), rule_of(right)
            return lambda total, old: join(one(total, old), two(total, old))
        case ast.Compare(left=left, ops=ops, comparators=others):
            return _chain(
                rule_of(left),
                [(COMPARISONS[type(o)], rule_of(c)) for o, c in zip(ops, others, strict=True)],
            )
        case ast.BoolOp(op=op, values=values):
            return _either(isinstance(op, ast.Or), [rule_of(value) for value in values])
        case ast.IfExp(test=test, body=body, orelse=orelse):
            when, yes, no = rule_of(test), rule_of(body), rule_of(orelse)
            return lambda total, old: (yes if when(total, old) else no)(total, old)
        case ast.Call(func=ast.Name(id=name), args=args):
            function, rules = FUNCTIONS[name], [rule_of(arg) for arg in args]
            return lambda total, old: function(*(rule(total, old) for rule in rules))
    raise AssertionError(node)


def _part(answer: Any, name: str) -> Any:
    """One of the answers of several operators, or a field of an answer that has several."""
    return answer[name] if isinstance(answer, dict) else getattr(answer, name)


def _chain(first: Rule, rest: list[tuple[Callable[[Any, Any], Any], Rule]]) -> Rule:
    """a < b < c: each is computed once, and none after the first that does not hold."""

    def rule(total: Any, old: Any) -> Any:
        left, held = first(total, old), True
        for compare, other in rest:
            right = other(total, old)
            held = compare(left, right)
            if not held:
                break
            left = right
        return held

    return rule


def _either(until: bool, rules: list[Rule]) -> Rule:
    """or: the first that is true; and: the first that is not. As in Python, else the last."""

    def rule(total: Any, old: Any) -> Any:
        found = None
        for part in rules:
            found = part(total, old)
            if bool(found) is until:
                break
        return found

    return rule

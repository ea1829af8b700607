"""Slide policies as text: when the oldest rows leave.

    total - old >= 10
    total.n - old.n > 100 and total.hi < 2 * old.hi

`total` is the answer of the window and `old` that of its oldest rows. The language is a part of
Python's: these two names and their attributes, numbers, + - * / // % **, comparisons, and, or,
not, abs, min, max, and `a if b else c`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from sash.windows.policy_functions import expression_of
from sash.windows.policy_language import PolicyError, Rule, parsed, rule_of


@dataclass(frozen=True, repr=False)
class Policy:
    """A policy that was written as text.

    >>> policy = Policy("total-old>=10")
    >>> policy(25, 12), policy(25, 20)
    (True, False)
    >>> policy
    Policy('total - old >= 10')
    >>> print(policy.source())
    def policy(total, old):
        return total - old >= 10
    """

    text: str
    _rule: Rule = field(init=False, compare=False)

    def __post_init__(self) -> None:
        tree = parsed(self.text)
        object.__setattr__(self, "text", ast.unparse(tree))
        object.__setattr__(self, "_rule", rule_of(tree))

    def __call__(self, total: Any, old: Any) -> bool:
        return bool(self._rule(total, old))

    def source(self) -> str:
        """As a Python function."""
        return f"def policy(total, old):\n    return {self.text}"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Policy({self.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Policy, (self.text,)


def source_of(policy: Any) -> str | None:
    """The text of a policy, which a function has too if its source says no more than text can.

    Numbers that the function takes from around it are written as they are now. None if there is
    no such text.

    >>> limit = 10
    >>> source_of(lambda all, oldest: all - oldest >= limit)
    'total - old >= 10'
    """
    if isinstance(policy, Policy):
        return policy.text
    expression = expression_of(policy)
    if expression is None:
        return None
    try:
        return Policy(expression).text
    except PolicyError:
        return None

"""The laws of an operator, and what to say when one is broken.

`check_operator` (public as `sash.testing.check_operator`) tries them on values of the caller's;
`vet` runs an operator once on one row before a long computation starts.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from copy import deepcopy
from itertools import islice, product
from typing import Any

from sash.operators.base import Operator
from sash.operators.errors import OperatorError
from sash.operators.monoid import Monoid, Partial

EXHAUSTIVE = 9
SAMPLES = 2_000


class BrokenLaw(AssertionError):  # noqa: N818
    """An operator breaks a law that it must keep or says it keeps."""


def close(a: Any, b: Any, scale: float = 1.0) -> bool:
    """Equal, with floats up to rounding, NaN equal to itself, and tuples by their parts.

    `scale` is how large the numbers are that a and b were made of: what cancels leaves a rounding
    error of that size.
    """
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(close(x, y, scale) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) or isinstance(b, float):
        try:
            near = math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * scale)
            return near or bool(a != a and b != b)
        except TypeError:
            return False
    equal = a == b
    return bool(equal.all()) if hasattr(equal, "all") else bool(equal)


def scale_of(*partials: Partial) -> float:
    """The largest of the finite numbers in these partials."""
    found = 0.0
    for item in partials:
        if isinstance(item, tuple):
            found = max(found, scale_of(*item))
        elif isinstance(item, (int, float)) and math.isfinite(item):
            found = max(found, abs(float(item)))
    return found


def _can_compare(partial: Partial) -> bool:
    """Whether == tells partials apart by what they hold."""
    equality: Any = type(partial).__eq__
    return equality is not object.__eq__


def vet(operator: Operator, monoid: Monoid, values: tuple[Any, ...]) -> None:
    """Run each function of an operator once, so that a slip is a sentence and not a traceback."""
    with suppress(OverflowError):  # of a value too large: the computation itself will say so
        _vet(operator, monoid, values)


def _vet(operator: Operator, monoid: Monoid, values: tuple[Any, ...]) -> None:
    name = operator.name
    given = ", ".join(repr(v) for v in values)
    arguments = (*values, 0) if monoid.uses_row else values
    lifted = _run(f"{name}.lift({given})", monoid.lift, *arguments)
    identity = monoid.identity()
    for what, partial in ((f"lift({given})", lifted), ("identity()", identity)):
        wrong = _misfit(monoid, partial)
        if wrong:
            raise OperatorError(f"{name}.{what} returned {wrong}.")
    for side, joined in (
        ("identity ⊕ x", _run(f"{name}.combine", monoid.combine, identity, lifted)),
        ("x ⊕ identity", _run(f"{name}.combine", monoid.combine, lifted, identity)),
    ):
        if _can_compare(lifted) and not close(joined, lifted, scale_of(lifted)):
            raise OperatorError(
                f"{name}.identity is not one: with x = lift({given}) = {_shown(lifted)}, "
                f"{side} is {_shown(joined)}."
            )
    joined = _run(f"{name}.combine", monoid.combine, lifted, lifted)
    wrong = _misfit(monoid, joined)
    if wrong:
        raise OperatorError(f"{name}.combine returned {wrong}.")
    _run(f"{name}.lower", monoid.lower, lifted)


def _misfit(monoid: Monoid, partial: Partial) -> str | None:
    """A field of a partial that is not of the type declared for it."""
    if monoid.fields is None:
        return None
    for (field, dtype), value in zip(monoid.fields, partial, strict=True):
        is_number = isinstance(value, (int, float)) or hasattr(value, "dtype")
        if not is_number or (dtype.kind in "iu" and isinstance(value, float)):
            return f"{value!r} for the field {field}, which is declared {dtype}"
    return None


def _run(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except (OperatorError, OverflowError):
        raise
    except Exception as error:
        raise OperatorError(f"{what} fails: {type(error).__name__}: {error}.") from error


def check_operator(operator: Operator, values: Iterable[Any]) -> None:
    """Raise `BrokenLaw` with the smallest example found if the operator breaks a law.

    Checked on `values` (tuples, for an operator that reads several columns): that combine stays
    within the partial's fields and leaves its arguments as they are, that the identity is one, that
    combine is associative, and, where it is claimed, commutative, selective and invertible. Floats
    need agree only up to rounding.
    """
    if isinstance(operator, type):
        raise TypeError(f"give an operator, not its class: write {operator.__name__}().")
    sample = [v.item() if hasattr(v, "item") and not hasattr(v, "__len__") else v for v in values]
    if not sample:
        raise ValueError("check_operator needs at least one value to try.")
    for leaf in operator.leaves:
        try:
            _Checker(leaf, sample).check()
        except (OperatorError, BrokenLaw):
            raise
        except Exception as error:
            raise OperatorError(
                f"{leaf.name} fails on these values: {type(error).__name__}: {error}."
            ) from error


class _Checker:
    def __init__(self, operator: Operator, sample: Sequence[Any]) -> None:
        import numpy as np

        self.operator = operator
        self.sample = sample
        kind = np.asarray([v[0] if isinstance(v, tuple) else v for v in sample]).dtype
        self.monoid = operator.bind(kind if kind.kind in "biuf" else object)

    def check(self) -> None:
        laws: list[tuple[str, int, Callable[..., str | None]]] = [
            ("closure", 2, self.closure),
            ("constancy", 2, self.constancy),
            ("identity", 1, self.identity),
            ("associativity", 3, self.associativity),
        ]
        if self.operator.commutative:
            laws.append(("commutativity", 2, self.commutativity))
        if self.operator.selective:
            laws.append(("selectivity", 2, self.selectivity))
        if self.monoid.inverse is not None:
            laws.append(("inverse", 2, self.inverse))
        for law, arity, broken in laws:
            for values in self.windows(arity):
                if broken(*self.lifted(values)):
                    values = self.smallest(values, broken)
                    reason = broken(*self.lifted(values))
                    shown = ", ".join(repr(v) for v in values)
                    raise BrokenLaw(
                        f"{self.operator.name} breaks {law} on the values {shown}: {reason}."
                    )

    def windows(self, arity: int) -> Iterable[tuple[Any, ...]]:
        """All tuples of values if they are few, else a repeatable random choice of them."""
        if len(self.sample) <= EXHAUSTIVE:
            return product(self.sample, repeat=arity)
        chance = random.Random(0)
        return (tuple(chance.choices(self.sample, k=arity)) for _ in range(SAMPLES))

    def lifted(self, values: tuple[Any, ...]) -> list[Partial]:
        partials = []
        for row, value in enumerate(values):
            several = self.operator.column_counts()[0] > 1
            arguments = (tuple(value) if several else (value,))[: self.monoid.inputs]
            partials.append(self.monoid.lift(*arguments, *([row] * self.monoid.uses_row)))
        return partials

    def smallest(
        self, values: tuple[Any, ...], broken: Callable[..., str | None]
    ) -> tuple[Any, ...]:
        """Simpler values that break the same law, one by one."""
        for at in range(len(values)):
            for simpler in _simpler(values[at]):
                tried = (*values[:at], simpler, *values[at + 1 :])
                try:
                    still = broken(*self.lifted(tried))
                except (ArithmeticError, TypeError, ValueError):
                    continue
                if still:
                    values = tried
                    break
        return values

    def alike(self, one: Partial, other: Partial, *made_of: Partial) -> bool:
        """Equal up to rounding; objects may also be equal in what they answer."""
        scale = scale_of(*made_of)
        if close(one, other, scale):
            return True
        lower = self.monoid.lower
        return self.monoid.fields is None and close(lower(one), lower(other), scale)

    def constancy(self, a: Partial, b: Partial) -> str | None:
        """Windows keep partials, and combine them again."""
        if self.monoid.fixed_width or not (_can_compare(a) and _can_compare(b)):
            return None
        try:
            before = deepcopy((a, b))
        except Exception:  # whatever an object says that does not want to be copied
            return None
        self.monoid.combine(a, b)
        for which, was, now in zip("ab", before, (a, b), strict=True):
            if not close(was, now):
                return f"combine(a, b) has changed {which} from {_shown(was)} to {_shown(now)}"
        return None

    def closure(self, a: Partial, b: Partial) -> str | None:
        wrong = _misfit(self.monoid, self.monoid.combine(a, b))
        return f"a ⊕ b has {wrong}" if wrong else None

    def identity(self, a: Partial) -> str | None:
        identity = self.monoid.identity()
        for side, joined in (
            ("identity ⊕ a", self.monoid.combine(identity, a)),
            ("a ⊕ identity", self.monoid.combine(a, identity)),
        ):
            if not close(joined, a, scale_of(a)):
                return f"{side} is {_shown(joined)} and a is {_shown(a)}"
        return None

    def associativity(self, a: Partial, b: Partial, c: Partial) -> str | None:
        combine = self.monoid.combine
        left, right = combine(combine(a, b), c), combine(a, combine(b, c))
        if self.alike(left, right, a, b, c):
            return None
        return f"(a ⊕ b) ⊕ c is {_shown(left)} and a ⊕ (b ⊕ c) is {_shown(right)}"

    def commutativity(self, a: Partial, b: Partial) -> str | None:
        one, other = self.monoid.combine(a, b), self.monoid.combine(b, a)
        if self.alike(one, other, a, b):
            return None
        return f"a ⊕ b is {_shown(one)} and b ⊕ a is {_shown(other)}"

    def selectivity(self, a: Partial, b: Partial) -> str | None:
        joined = self.monoid.combine(a, b)
        if self.alike(joined, a, a, b) or self.alike(joined, b, a, b):
            return None
        return f"a ⊕ b is {_shown(joined)}, neither a ({_shown(a)}) nor b ({_shown(b)})"

    def inverse(self, a: Partial, b: Partial) -> str | None:
        assert self.monoid.inverse is not None
        total = self.monoid.combine(a, b)
        left = self.monoid.inverse(total, a)
        if self.alike(left, b, a, b):
            return None
        return f"inverse(a ⊕ b, a) is {_shown(left)} and b is {_shown(b)}"


def _simpler(value: Any) -> Iterable[Any]:
    """Values that are easier to think about, the easiest first."""
    if isinstance(value, tuple):
        return ((s, *value[1:]) for s in _simpler(value[0])) if value else ()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        if isinstance(value, str):
            return (value[:n] for n in range(len(value)))
        return ()
    kind = type(value)
    if value != value or value in (math.inf, -math.inf):
        return islice((kind(k) for k in (0, 1, 2)), 3)
    sign = -1 if value < 0 else 1
    found: list[Any] = [kind(sign * k) for k in (0, 1, 2, 3, 5, 10) if k <= abs(value)]
    if isinstance(value, float):
        found += [float(round(value, digits)) for digits in (0, 1, 2)]
    return [f for f in found if f != value]


def _shown(partial: Partial) -> str:
    fields = getattr(partial, "_fields", None)
    if fields is None:
        return repr(partial)
    return "(" + ", ".join(f"{n}={v!r}" for n, v in zip(fields, partial, strict=True)) + ")"

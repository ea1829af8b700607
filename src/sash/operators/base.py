"""An operator: identity, lift, combine, lower, and what may be assumed of them.

The answer for a window holding v1 … vn, in order, is `lower(lift(v1) ⊕ … ⊕ lift(vn))`, where
⊕ is `combine`. An `Operator` is what a user writes and names: functions, traits, the columns it
reads. `Operator.bind` settles the types of those columns and gives a `Monoid`: the very functions
that an aggregator calls.

The functions are plain (no `self`). A keyword-only parameter of any of them is an option of the
operator, given when it is made:

    >>> from sash.operators.base import operator
    >>> @operator(partial={"n": "int64", "total": "float64"}, commutative=True)
    ... class ScaledMean:
    ...     def identity():               return 0, 0.0
    ...     def lift(v):                  return 1, v
    ...     def combine(a, b):            return a.n + b.n, a.total + b.total
    ...     def lower(p, *, scale=1.0):   return scale * p.total / p.n
    >>> percent = ScaledMean("share", scale=100.0).bind()
    >>> percent.lower(percent.combine(percent.lift(0.25), percent.lift(0.75)))
    50.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, ClassVar

import numpy as np

from sash.operators.declared import checked_answer
from sash.operators.errors import OperatorError
from sash.operators.functions import (
    EMPTY,
    OPTIONAL,
    REQUIRED,
    VALUE,
    cannot_lower,
    checked_fields,
    counted,
    functions_of,
    guarding,
    making,
    options_of,
    positional,
    with_options,
)
from sash.operators.monoid import NOT_GIVEN, Monoid, partial_class


class Operator:
    """What is aggregated, and over which columns. Made by the `operator` decorator."""

    name: ClassVar[str]
    fields: ClassVar[Mapping[str, str] | None]
    functions: ClassVar[Mapping[str, FunctionType]]
    sources: ClassVar[Mapping[str, str]] = {}
    defaults: ClassVar[Mapping[str, Any]]
    commutative: ClassVar[bool]
    selective: ClassVar[bool]
    takes: ClassVar[str | None]
    empty: ClassVar[Any]
    answer: ClassVar[Any]
    needs: ClassVar[tuple[str, ...]] = ()
    """The families of values that it takes, as `families` names them; () for any."""
    for_type: ClassVar[Any] = None
    check_options: ClassVar[Any] = None
    finish: Callable[[dict[str, Any]], Any] | None = None
    """Turns the numbers that `lower` gives into the answer, after the loop."""

    def finished_type(self) -> Any:
        """The type of what `finish` gives, as Arrow names it; None if it is not known."""
        return None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """A subclass that writes some of the functions anew keeps the others and the traits."""
        super().__init_subclass__(**kwargs)
        own = [name for name in (*REQUIRED, *OPTIONAL) if name in vars(cls)]
        if "functions" not in vars(cls) and own:
            cls.name = cls.__name__
            cls.functions = {**cls.functions, **functions_of(cls, own)}
            cls.defaults = options_of(cls.functions)
            for name in own:
                delattr(cls, name)
            _check_shape(cls)

    def __init__(self, *columns: str, **options: Any) -> None:
        for column in columns:
            if not isinstance(column, str):
                raise OperatorError(
                    f"{self.name} takes column names, not {column!r}; "
                    f"values go to sash.rolling or insert."
                )
        typed = self.for_type is not None  # options without a default come from the type then
        ours = [k for k, v in self.defaults.items() if v is not EMPTY or not typed]
        for option in options:
            if option not in ours:
                known = ", ".join(ours) or "none"
                raise OperatorError(f"{self.name} has no option {option!r} (it has: {known}).")
        missing = [k for k in ours if self.defaults[k] is EMPTY and k not in options]
        if missing:
            raise OperatorError(f"{self.name} needs a value for its option {missing[0]!r}.")
        self.columns = columns
        self.options = {**self.defaults, **options}
        check: Any = type(self).check_options
        if check is not None:
            wrong = with_options(check, self.options)()
            if wrong:
                raise OperatorError(f"{self.name}: {wrong}")
        self.check_columns()

    def check_columns(self) -> None:
        """An operator bound to columns is bound to as many as it reads."""
        if not self.columns:
            return
        least, most = self.column_counts()
        if least <= len(self.columns) and (most is None or len(self.columns) <= most):
            return
        wanted = counted(least, "column") + ("" if most == least else " or more")
        raise OperatorError(f"{self.name} reads {wanted}, and got {', '.join(self.columns)}.")

    def column_counts(self) -> tuple[int, int | None]:
        """The least and the greatest number of columns this operator reads."""
        if self.takes == "rest":
            return self.inputs + 1, None
        count = max(self.inputs, 1)
        return count, count

    @property
    def inputs(self) -> int:
        """How many values of a row `lift` reads."""
        return len(positional(self.functions["lift"])) - self.uses_row

    @property
    def uses_row(self) -> bool:
        """Whether `lift` also asks for the row's position, by a parameter called `row`."""
        return "row" in positional(self.functions["lift"])

    @property
    def invertible(self) -> bool:
        return "inverse" in self.functions

    @property
    def leaves(self) -> tuple[Operator, ...]:
        """The operators that read columns: this one, or the members of a composite."""
        return (self,)

    def bind(self, *types: Any) -> Monoid:
        """Settle the types of the columns (default float64) and give the monoid."""
        value = np.dtype(types[0]) if types else np.dtype("float64")
        constants = dict(self.options)
        if self.for_type is not None:
            typed = type(self).for_type(value)
            constants.update({k: v for k, v in typed.items() if k not in self.given()})
        functions = {
            name: with_options(function, constants) for name, function in self.functions.items()
        }
        fields = self._typed_fields(value)
        call: dict[str, Callable[..., Any]] = dict(functions)
        if self.fields is not None:
            make = partial_class(tuple(self.fields))
            for name in ("identity", "lift", "combine", "inverse"):
                if name in call:
                    call[name] = making(make, functions[name], f"{self.name}.{name}")
        guarded = self.empty is NOT_GIVEN and cannot_lower(call["lower"], call["identity"]())
        if guarded:
            call["lower"] = guarding(call["lower"], call["identity"])
        return Monoid(
            name=self.name,
            fields=fields,
            identity=call["identity"],
            lift=call["lift"],
            combine=call["combine"],
            lower=call["lower"],
            inverse=call.get("inverse"),
            commutative=self.commutative,
            selective=self.selective,
            inputs=self.inputs,
            uses_row=self.uses_row,
            takes=self.takes,
            empty=self.empty,
            guarded=guarded,
            answer=self._typed_answer(value),
            functions=functions,
            sources=self.sources,
        )

    def code_key(self) -> tuple[Any, ...]:
        """What the operator's code depends on: all but the columns it reads."""
        return (type(self), tuple((k, _comparable(v)) for k, v in sorted(self.options.items())))

    def bind_leaves(self, types: Sequence[Sequence[Any]]) -> Monoid:
        """Settle the types of each leaf's columns."""
        return self.bind(*types[0])

    def given(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        return {k: v for k, v in self.options.items() if v is not self.defaults[k]}

    def _typed_answer(self, value: np.dtype[Any]) -> Any:
        if callable(self.answer):
            return with_options(self.answer, self.options)(value)
        return value if isinstance(self.answer, str) and self.answer == VALUE else self.answer

    def _typed_fields(self, value: np.dtype[Any]) -> tuple[tuple[str, np.dtype[Any]], ...] | None:
        if self.fields is None:
            return None
        typed = tuple(
            (name, value if kind == VALUE else np.dtype(kind)) for name, kind in self.fields.items()
        )
        return None if any(dtype.kind not in "biuf" for _, dtype in typed) else typed

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: value for name, value in vars(self).items() if name != "options"}
        return _remade, (type(self), state, self.given())

    def __repr__(self) -> str:
        given = [repr(column) for column in self.columns]
        given += [f"{k}={v!r}" for k, v in self.given().items()]
        return f"{self.name}({', '.join(given)})"

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and other.columns == self.columns
            and other.options == self.options
        )

    def __hash__(self) -> int:
        return hash((type(self), self.columns, repr(self.options)))


def operator(
    *,
    partial: Any,
    commutative: bool = False,
    selective: bool = False,
    empty: Any = NOT_GIVEN,
    answer: Any = None,
    takes: str | None = None,
    needs: tuple[str, ...] = (),
) -> Callable[[type], type[Operator]]:
    """Make an operator of a class with functions `identity`, `lift`, `combine` and `lower`.

    partial      {field: type} for a partial of a few numbers, which is compiled; or `object`
    commutative  a ⊕ b = b ⊕ a
    selective    combine returns one of its two arguments
    empty        what a window with no value answers; by default `lower(identity())`, or null
                 if that cannot be computed (it divides by zero, say)
    answer       the type of what `lower` returns, as Arrow names it ("float64", "string",
                 pyarrow.list_(…)), "value" for that of the column, "values" for a list of such,
                 or a {name: type} for several. By default that of numbers is inferred; Spark must
                 be told that of objects
    takes        `lower` returns a row's position, and the answer is what stands there: in the
                 column itself ("same"), or in the columns after those that `lift` reads ("rest")
    needs        the families of values that it takes, if not any: "numbers", "decimals", "text",
                 "times", "lists", "structs", "maps"

    A function `inverse(total, old)` declares that old can be taken off the front of total. A
    parameter `row` of `lift` gets the row's position. A function `check_options`, with options
    for its parameters, may return a sentence on what is wrong with them.
    """

    def make(cls: type) -> type[Operator]:
        name = cls.__name__
        functions = functions_of(cls, (*REQUIRED, *OPTIONAL))
        fields = checked_fields(name, partial)
        answers = checked_answer(name, answer, fields is not None)
        body: dict[str, Any] = {
            "__doc__": cls.__doc__,
            "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "name": name,
            "fields": fields,
            "functions": functions,
            "defaults": options_of(functions),
            "commutative": commutative,
            "selective": selective,
            "takes": takes,
            "empty": empty,
            "answer": staticmethod(answers) if isinstance(answers, FunctionType) else answers,
            "needs": needs,
        }
        for hook in ("for_type", "check_options"):
            if hook in vars(cls):
                body[hook] = staticmethod(vars(cls)[hook])
        made = type(name, (Operator,), body)
        _check_shape(made)
        return made

    return make


def _check_shape(made: type[Operator]) -> None:
    """Run what can be run without a value, so that a slip is found where it was written."""
    if EMPTY in made.defaults.values() and made.for_type is None:
        return
    try:
        monoid = made().bind()
        identity = monoid.identity()
        monoid.combine(identity, identity)
    except NameError:  # of something that the file defines further down
        return
    except OperatorError:
        raise
    except Exception as error:
        raise OperatorError(
            f"{made.name} fails on its own identity: {type(error).__name__}: {error}."
        ) from error


def _remade(cls: type[Operator], state: dict[str, Any], given: dict[str, Any]) -> Operator:
    """An operator as it was when pickled; options that were defaults are the class's own again."""
    made = object.__new__(cls)
    vars(made).update(state, options={**cls.defaults, **given})
    return made


def _comparable(value: Any) -> Any:
    """An option as a key: plain values by value and type, everything else by what it is."""
    plain = isinstance(value, (bool, int, float, str, type(None)))
    return (type(value), value) if plain and value == value else ("object", id(value))

"""The functions a user writes: read off a class, checked, and made ready to call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from keyword import iskeyword
from types import FunctionType
from typing import Any

import numpy as np

from sash.operators.errors import OperatorError
from sash.operators.monoid import Partial

VALUE = "value"
"""As the type of a field or an answer: that of the (first) column the operator reads."""

VALUES = "values"
"""As the type of an answer: a list of such."""

EMPTY: Any = inspect.Parameter.empty

REQUIRED = {"identity": 0, "lift": None, "combine": 2, "lower": 1}
OPTIONAL = {"inverse": 2}
FIELD_TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64"),
)
CANNOT_LOWER = (ArithmeticError, ValueError, LookupError, AttributeError)


def as_tuple(result: Any) -> tuple[Any, ...]:
    """A one-field partial may be returned bare."""
    return result if isinstance(result, tuple) else (result,)


def functions_of(cls: type, wanted: Iterable[str]) -> dict[str, FunctionType]:
    name = cls.__name__
    functions: dict[str, FunctionType] = {}
    for function_name in wanted:
        arity = {**REQUIRED, **OPTIONAL}[function_name]
        function = vars(cls).get(function_name)
        if isinstance(function, staticmethod):
            function = function.__func__
        if function is None:
            if function_name in OPTIONAL:
                continue
            raise OperatorError(
                f"{name} has no {function_name}: an operator needs identity, lift, combine "
                f"and lower."
            )
        if not isinstance(function, FunctionType):
            raise OperatorError(f"{name}.{function_name} must be a plain function.")
        parameters = positional(function)
        if parameters[:1] == ("self",):
            raise OperatorError(
                f"{name}.{function_name} has a parameter self: an operator's functions are "
                f"plain, write `def {function_name}({', '.join(parameters[1:])})`."
            )
        if arity is not None and len(parameters) != arity:
            raise OperatorError(
                f"{name}.{function_name} takes {len(parameters)} parameters and should take "
                f"{arity} (options are keyword-only, after a *)."
            )
        if arity is None and not parameters:
            raise OperatorError(f"{name}.{function_name} must take the value to lift.")
        if "row" in parameters[:-1]:
            raise OperatorError(f"{name}.{function_name}: the parameter row comes last.")
        functions[function_name] = function
    return functions


def checked_fields(name: str, partial: Any) -> dict[str, str] | None:
    if partial is object:
        return None
    if not isinstance(partial, Mapping) or not partial:
        raise OperatorError(
            f"{name}: partial must be a dict of field names and types, such as "
            f'{{"n": "int64", "total": "float64"}}, or object; it is {partial!r}.'
        )
    fields = {}
    for field_name, kind in partial.items():
        if not _names_a_field(field_name):
            raise OperatorError(f"{name}: {field_name!r} cannot be the name of a field.")
        if kind != VALUE:
            try:
                kind = np.dtype(kind).name
            except TypeError:
                kind = str(kind)
            if kind not in FIELD_TYPES:
                raise OperatorError(
                    f"{name}: field {field_name} has type {kind}; a field is one of "
                    f"{', '.join(FIELD_TYPES)} (or make the partial an object)."
                )
        fields[field_name] = kind
    return fields


def options_of(functions: Mapping[str, FunctionType]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for function in functions.values():
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                known = options.get(parameter.name, EMPTY)
                options[parameter.name] = parameter.default if known is EMPTY else known
    return options


def positional(function: FunctionType) -> tuple[str, ...]:
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def with_options(function: FunctionType, constants: Mapping[str, Any]) -> FunctionType:
    """The same function with its keyword-only parameters settled."""
    code = function.__code__
    names = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    keywords = {name: constants[name] for name in names}
    if not keywords:
        return function
    settled = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    settled.__kwdefaults__ = keywords
    return settled


def making(make: Any, function: FunctionType, where: str) -> Callable[..., Partial]:
    """Have `function` return the named tuple `make` instead of a bare tuple."""
    width = len(make._fields)
    new = tuple.__new__

    def checked(result: Any) -> Partial:
        result = as_tuple(result)
        if len(result) != width:
            raise OperatorError(
                f"{where} returned {counted(len(result), 'value')}, but its partial has "
                f"{counted(width, 'field')}: {', '.join(make._fields)}."
            )
        return new(make, result)

    def made(*args: Any) -> Partial:
        return checked(function(*args))

    def made_of_two(a: Any, b: Any) -> Partial:
        """⊕ runs more often than all else: its one check is done in place."""
        result = function(a, b)
        kind = type(result)
        if kind is tuple and len(result) == width:
            return new(make, result)
        if width == 1 and (kind is float or kind is int):
            return new(make, (result,))
        return checked(result)

    return made_of_two if function.__code__.co_argcount == 2 else made


def guarding(
    lower: Callable[[Partial], Any], identity: Callable[[], Partial]
) -> Callable[[Partial], Any]:
    """Answer null for the identity, about which `lower` cannot be asked."""

    def guarded(p: Partial) -> Any:
        try:
            return lower(p)
        except CANNOT_LOWER:
            if p == identity():
                return None
            raise

    return guarded


def cannot_lower(lower: Callable[[Partial], Any], identity: Partial) -> bool:
    """Whether the identity is something that `lower` fails on."""
    try:
        lower(identity)
    except CANNOT_LOWER:
        return True
    return False


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _names_a_field(name: Any) -> bool:
    usable = isinstance(name, str) and name.isidentifier() and not iskeyword(name)
    return usable and not name.startswith("_")

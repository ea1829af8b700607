"""The Arrow type of an operator's answers, and Python objects as an array of just that type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.columns import Column, Leaf
from sash.operators.base import Operator
from sash.operators.declared import arrow_type
from sash.operators.functions import VALUE, VALUES
from sash.operators.monoid import NOT_GIVEN, Monoid


def declared_types(
    operator: Operator, leaves: list[Leaf], dtype: Any = None
) -> list[pa.DataType | None]:
    """Of each leaf, the type of its answers. dtype: what values are taken for, if it is said."""
    types = [tuple(np.dtype(dtype or c.dtype) for c in leaf.inputs) for leaf in leaves]
    bound = operator.bind_leaves(types).leaves()
    return [declared_type(leaf, monoid) for leaf, monoid in zip(leaves, bound, strict=True)]


def declared_type(leaf: Leaf, monoid: Monoid) -> pa.DataType | None:
    """The type of a leaf's answers over Arrow columns; None where only running it tells."""
    if any(c.kind != "arrow" for c in leaf.inputs):
        return None
    operator = leaf.operator
    if operator.takes:
        return _taken_type(leaf.payload)
    if operator.finish is not None:
        finished = operator.finished_type()
        return None if finished is None else arrow_type(finished)
    if is_value(operator):
        return _value_type(leaf.inputs[0])
    if isinstance(operator.answer, str) and operator.answer == VALUES:
        return pa.list_(leaf.inputs[0].source.type)
    if isinstance(monoid.answer, dict):
        return pa.struct([(name, arrow_type(kind)) for name, kind in monoid.answer.items()])
    if monoid.answer is None or str(monoid.answer) == "object":
        return None
    if not monoid.fixed_width:
        return arrow_type(monoid.answer)
    return number_type(np.dtype(monoid.answer), monoid.empty)


def number_type(dtype: np.dtype[Any], empty: Any) -> pa.DataType:
    """The type of answers that are numbers, and of what is answered for no value."""
    return pa.from_numpy_dtype(with_empty(dtype, empty))


def with_empty(dtype: np.dtype[Any], empty: Any) -> np.dtype[Any]:
    """A type that holds answers and what is answered for no value, whether or not there is any."""
    if empty is NOT_GIVEN or empty is None:
        return dtype
    return np.result_type(dtype, np.min_scalar_type(empty))


def is_value(operator: Operator) -> bool:
    """Whether answers are of the type of the column."""
    return isinstance(operator.answer, str) and operator.answer == VALUE


def _value_type(given: Column) -> pa.DataType:
    if given.numbers is None or given.is_time or given.is_bool:
        return given.source.type
    return pa.from_numpy_dtype(given.numbers.dtype)


def _taken_type(payload: tuple[tuple[str, Column], ...]) -> pa.DataType | None:
    if any(given.kind != "arrow" for _, given in payload):
        return None
    if len(payload) == 1:
        return payload[0][1].source.type
    return pa.struct([(name, given.source.type) for name, given in payload])


def typed_array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Objects as an array of this type; an ArrowException or OverflowError if one does not fit.

    Arrow itself would cut the fraction off a float that is to be an integer.
    """
    if pa.types.is_struct(kind):  # several columns are answered as tuples
        values = [_by_name(v, kind) if isinstance(v, tuple) else v for v in values]
    if _has_whole(kind) and any(_loses(value, kind) for value in values):
        raise pa.ArrowInvalid("a float is not a whole number")
    return pa.array(values, kind)


def _by_name(parts: tuple[Any, ...], kind: pa.DataType) -> dict[str, Any]:
    return dict(zip((field.name for field in _fields(kind)), parts, strict=True))


def _fields(kind: pa.DataType) -> list[pa.Field]:
    return [kind.field(i) for i in range(kind.num_fields)]


def _is_whole(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_temporal(kind))


def _has_whole(kind: pa.DataType) -> bool:
    return _is_whole(kind) or any(_has_whole(field.type) for field in _fields(kind))


def _loses(value: Any, kind: pa.DataType) -> bool:
    """Whether a fraction would be cut off, in a value or in a part of it."""
    if isinstance(value, (float, np.floating)):
        return _is_whole(kind) and not float(value).is_integer()
    if isinstance(value, dict) and pa.types.is_struct(kind):
        return any(_loses(value.get(field.name), field.type) for field in _fields(kind))
    if isinstance(value, (list, tuple, np.ndarray)) and kind.num_fields == 1:
        return any(_loses(part, _fields(kind)[0].type) for part in value)
    return False

"""Which type a column of answers has, told before there is any row: for tables with a schema.

A table holds what Arrow has a type for. So a sketch that is asked in Python (`Bloom`, `CountMin`)
is binary there, to be read with `BloomFilter.from_bytes`; and unsigned integers, which Spark does
not have, are the next wider signed ones, or for 64 bits a decimal of 20 digits.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.aggregator import checked_operator
from sash.aggregators.answer_types import declared_type, number_type, typed_array
from sash.aggregators.choose import choose, need_of
from sash.aggregators.columns import Leaf
from sash.aggregators.columns import leaves as read_leaves
from sash.aggregators.registry import for_operator
from sash.aggregators.running import check, code_for, types_of
from sash.operators.base import Operator
from sash.operators.errors import OperatorError
from sash.operators.families import DECIMALS, family, instead
from sash.operators.monoid import Monoid

SIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}


def answer_types(op: Operator, schema: pa.Schema) -> pa.DataType | dict[str, pa.DataType]:
    """The type of an operator's answers over columns of these types; by name for a `Together`.

    A TypeError, in a sentence, if the operator cannot take them, or does not say what it answers.

    >>> from sash.operators.extremes import ArgMax
    >>> calls = pa.schema([("len", pa.int32()), ("caller", pa.string()), ("at", pa.date32())])
    >>> answer_types(ArgMax("len", "caller"), calls)
    DataType(string)
    >>> answer_types(ArgMax("len", "caller", "at"), calls)
    StructType(struct<caller: string, at: date32[day]>)
    """
    checked_operator(op)
    leaves, _ = read_leaves(schema.empty_table(), op)
    bound = op.bind_leaves(types_of(leaves))
    check(leaves, bound)
    types = [_type(leaf, monoid) for leaf, monoid in zip(leaves, bound.leaves(), strict=True)]
    members: dict[str, Operator] | None = getattr(op, "members", None)
    return types[0] if members is None else dict(zip(members, types, strict=True))


def _type(leaf: Leaf, monoid: Monoid) -> pa.DataType:
    found = declared_type(leaf, monoid)
    if found is None and monoid.fixed_width:
        (_, dtype) = _compiled(leaf)
        found = number_type(dtype, monoid.empty)
    if found is None:
        raise OperatorError(_untold(leaf))
    return signed(found)


def _compiled(leaf: Leaf) -> tuple[str, np.dtype[Any]]:
    """The type that an operator's `lower` compiles to."""
    algorithm = for_operator(choose(need_of(leaf.operator)).algorithm, leaf.operator)
    (answer,) = code_for(algorithm, leaf.operator, types_of([leaf])).answer_types
    return answer


def _untold(leaf: Leaf) -> str:
    kind = leaf.inputs[0].source.type
    ours = type(leaf.operator).__module__.startswith("sash.")
    if ours and family(kind) == DECIMALS:
        return f"{leaf.operator!r} of {kind} has no type that holds all its answers{instead(kind)}."
    return (
        f"{leaf.operator!r} does not say what it answers; write "
        f"@sash.operator(partial=object, answer='string'), or whatever type it is."
    )


@cache
def signed(kind: pa.DataType) -> pa.DataType:
    """The type without unsigned integers, in its parts too: 8 bits become 16, 64 a decimal."""
    if kind in SIGNED:
        return SIGNED[kind]
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(signed(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(signed(kind.key_type), signed(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(signed(kind.value_type)))
    return kind


# Answers of these types


def as_arrow(values: Any, wanted: pa.DataType, op: Operator | None = None) -> pa.Array:
    """Answers, as a window gives them, as an array of just this type.

    values: an Arrow array, or a list where there is no type for them. op: whose they are, for the
    sentence of the TypeError if one does not fit.

    >>> as_arrow([3, None, 4], pa.int16()).type
    DataType(int16)
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.Array):
        if values.type == wanted:
            return values
        if pa.types.is_null(values.type):
            return pa.nulls(len(values), wanted)
        if _is_number(values.type) and _is_number(wanted):
            try:
                return values.cast(wanted)
            except pa.ArrowException:
                pass  # it is told below which value it is
        values = values.to_pylist()
    values = [_in_table(value, wanted) for value in values]
    try:
        return typed_array(values, wanted)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        raise TypeError(_misfit(values, wanted, op)) from None


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _in_table(value: Any, wanted: pa.DataType) -> Any:
    """A sketch as the bytes that it is in a table; anything else as it is."""
    if pa.types.is_binary(wanted) and not isinstance(value, (bytes, int, type(None))):
        write = getattr(value, "to_bytes", None)
        return value if write is None else write()
    return value


def _misfit(values: list[Any], wanted: pa.DataType, op: Operator | None) -> str:
    """Which value does not fit."""
    who = "the operator" if op is None else repr(op)
    for value in values:
        try:
            typed_array([value], wanted)
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            shown = repr(value)
            shown = shown if len(shown) <= 80 else shown[:77] + "…"
            return (
                f"{who} answered {shown}, of type {type(value).__name__}, which does not fit the "
                f"column of {wanted}; say its type with @sash.operator(…, answer=…)."
            )
    return f"{who} answered values that do not fit the column of {wanted}."

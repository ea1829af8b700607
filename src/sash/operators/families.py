"""Families of values: which of them an operator takes, told by the type of an Arrow column."""

from __future__ import annotations

import pyarrow as pa

NUMBERS, DECIMALS, TEXT, TIMES = "numbers", "decimals", "text", "times"
LISTS, STRUCTS, MAPS, OTHERS = "lists", "structs", "maps", "others"

COMPARED = (NUMBERS, DECIMALS, TEXT, TIMES)
"""What has an order and a hash: nested values may hold nulls, which have none."""

INSTEAD = {
    DECIMALS: "cast the column to double, or to whole numbers of its smallest unit",
    TEXT: "cast the column to double",
    TIMES: "convert them to numbers",
    STRUCTS: "give one of its fields as a column",
    LISTS: "give a column of single values, or Collect them",
    MAPS: "give one of its values as a column",
}
"""What to write where a family is refused."""


def family(kind: pa.DataType) -> str | None:
    """The family of a type; None for that of nulls alone, which any operator takes."""
    is_a = pa.types
    if is_a.is_null(kind):
        return None
    if is_a.is_integer(kind) or is_a.is_floating(kind) or is_a.is_boolean(kind):
        return NUMBERS
    if is_a.is_decimal(kind):
        return DECIMALS
    if is_a.is_temporal(kind) and not is_a.is_interval(kind):
        return TIMES
    for found, tests in TESTS.items():
        if any(test(kind) for test in tests):
            return found
    return OTHERS


TESTS = {
    TEXT: (
        *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
        *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
        pa.types.is_fixed_size_binary,
    ),
    STRUCTS: (pa.types.is_struct,),
    MAPS: (pa.types.is_map,),
    LISTS: (
        *(pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list),
        *(pa.types.is_list_view, pa.types.is_large_list_view),
    ),
}


def refusal(name: str, needs: tuple[str, ...], kind: pa.DataType) -> str | None:
    """Why an operator that takes these families cannot take values of a type; None if it can."""
    given = family(kind)
    if not needs or given is None or given in needs:
        return None
    wanted = f"{', '.join(needs[:-1])} or {needs[-1]}" if len(needs) > 1 else needs[0]
    return f"{name} takes {wanted}, and was given {kind}{instead(kind)}."


def instead(kind: pa.DataType) -> str:
    """What to write instead of a column of this type, as the end of a sentence."""
    hint = INSTEAD.get(family(kind) or "")
    return f"; {hint}" if hint else ""

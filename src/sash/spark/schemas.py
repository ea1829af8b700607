"""Schemas as they are written in a file, without asking Spark: it need not run for that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

NAMED: dict[str, DataType] = {
    "string": StringType(),
    "boolean": BooleanType(),
    "tinyint": ByteType(),
    "byte": ByteType(),
    "smallint": ShortType(),
    "short": ShortType(),
    "int": IntegerType(),
    "integer": IntegerType(),
    "bigint": LongType(),
    "long": LongType(),
    "float": FloatType(),
    "double": DoubleType(),
    "date": DateType(),
    "timestamp": TimestampType(),
    "timestamp_ntz": TimestampNTZType(),
    "binary": BinaryType(),
}
DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")
ARRAY = re.compile(r"array<(.+)>")


def type_named(name: str) -> DataType:
    """A type by the name that Spark has for it.

    >>> type_named("array<double>").simpleString()
    'array<double>'
    """
    plain = name.strip().lower()
    if plain in NAMED:
        return NAMED[plain]
    decimal, array = DECIMAL.fullmatch(plain), ARRAY.fullmatch(plain)
    if decimal and int(decimal[2]) <= int(decimal[1]) <= 38:
        return DecimalType(int(decimal[1]), int(decimal[2]))
    if array:
        return ArrayType(type_named(array[1]))
    near = get_close_matches(plain, NAMED, 1)
    known = ", ".join([*NAMED, "decimal(10, 2)", "array<double>"])
    hint = f"did you mean {near[0]!r}?" if near else f"there are {known}."
    raise ValueError(f"there is no type {name!r}; {hint}")


def schema_named(types: Mapping[str, str]) -> StructType:
    """Columns by name and type."""
    return StructType([StructField(name, type_named(kind)) for name, kind in types.items()])


def schema_of_arrow(schema: pa.Schema) -> dict[str, DataType | None]:
    """The types of a file's columns as Spark reads them; None for those that it may not."""
    found: dict[str, DataType | None] = {}
    for field in schema:
        try:
            kind = field.type
            if pa.types.is_timestamp(kind):
                kind = pa.timestamp("us", kind.tz)
            found[field.name] = from_arrow_type(kind)
        except Exception:  # PySpark's own error, of whatever version
            found[field.name] = None
    return found

"""Values as they come in: NumPy, Arrow, anything that speaks Arrow, or plain Python.

A column keeps what a compiled loop reads (a contiguous array of numbers, and which of them are
there) beside what it was made of, from which payloads are taken and whose kind the answers get.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.operators.base import Operator
from sash.operators.families import TIMES, refusal
from sash.operators.functions import VALUE

Kind = Literal["numpy", "arrow", "list"]


@dataclass(frozen=True)
class Column:
    """One column of rows.

    `numbers` is None where values are objects (text, decimals, lists): they are then read one by
    one from `objects()`. `valid` is None where nothing is missing.
    """

    source: Any
    kind: Kind
    numbers: np.ndarray[Any, Any] | None
    valid: np.ndarray[Any, Any] | None

    def __len__(self) -> int:
        return len(self.source)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(object) if self.numbers is None else self.numbers.dtype

    @property
    def is_time(self) -> bool:
        """Whether the numbers stand for times or differences of times."""
        if self.kind == "numpy":
            return bool(self.source.dtype.kind in "mM")
        return self.kind == "arrow" and pa.types.is_temporal(self.source.type)

    @property
    def is_bool(self) -> bool:
        if self.kind == "numpy":
            return bool(self.source.dtype.kind == "b")
        if self.kind == "list":
            return self.numbers is not None and self.numbers.dtype == np.int8
        return bool(pa.types.is_boolean(self.source.type))

    def objects(self) -> list[Any]:
        """The values as Python objects, None where there is none."""
        if self.kind == "list":
            return list(self.source)
        if self.kind == "arrow":
            if getattr(self.source.type, "unit", "") != "ns":
                return _as_python(self.source)
            source = self.source.to_numpy(
                zero_copy_only=False
            )  # Python's times end at microseconds
        else:
            source = self.source
        values = list(source) if source.dtype.kind in "mM" else source.tolist()
        if self.valid is not None:
            values = [v if there else None for v, there in zip(values, self.valid, strict=True)]
        return list(values)

    def item(self, i: int) -> Any:
        """One value as a Python object."""
        if self.kind == "list":
            if self.numbers is None or self.is_bool:
                return self.source[i]
            return self.numbers[i].item()
        if self.kind == "arrow":
            return self.source[i].as_py() if self.numbers is None else self.numbers[i].item()
        return self.source[i] if self.numbers is None else self.numbers[i].item()

    def take(self, rows: np.ndarray[Any, Any], there: np.ndarray[Any, Any] | None) -> Any:
        """The source's values at these rows, null where `there` is False."""
        if self.kind == "arrow":
            return self.source.take(pa.array(rows, mask=None if there is None else ~there))
        if self.kind == "list":
            mask = [True] * len(rows) if there is None else there.tolist()
            return [self.source[r] if t else None for r, t in zip(rows.tolist(), mask, strict=True)]
        if there is None or there.all():
            return self.source[rows]
        return with_missing(
            self.source[np.where(there, rows, 0)]
            if len(self)
            else np.zeros(len(rows), self.source.dtype),
            there,
        )


def _as_python(values: pa.Array) -> list[Any]:
    try:
        return list(values.to_pylist())
    except (ValueError, OverflowError) as error:
        raise ValueError(
            f"a value of type {values.type} is beyond what Python can hold ({error}); filter such "
            f"rows out, or convert the column to numbers."
        ) from error


def with_missing(values: np.ndarray[Any, Any], there: np.ndarray[Any, Any]) -> Any:
    """A NumPy array with gaps: NaN, NaT or None, in a type that has one."""
    if there.all():
        return values
    if values.dtype.kind in "biu":
        held = values[there]
        exact = bool(((held <= 2**53) & (held >= -(2**53))).all())
        values = values.astype(np.float64 if exact else object)
    elif values.dtype.kind not in "fmMO":
        values = values.astype(object)
    else:
        values = values.copy()
    gaps: dict[str, Any] = {"f": np.nan, "m": np.timedelta64("NaT"), "M": np.datetime64("NaT")}
    values[~there] = gaps.get(values.dtype.kind)
    return values


def column(values: Any) -> Column:
    """One column, from whatever holds it."""
    if isinstance(values, Column):
        return values
    if isinstance(values, np.ndarray):
        return _from_numpy(values)
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return _from_arrow(values)
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        return _from_arrow(
            pa.chunked_array(values) if hasattr(values, "__arrow_c_stream__") else pa.array(values)
        )
    if hasattr(values, "to_numpy") and hasattr(values, "dtype"):  # an index of pandas'
        return _from_numpy(values.to_numpy())
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
        raise TypeError(
            f"values must be a NumPy array, an Arrow array, a series or a list, not "
            f"{type(values).__name__}."
        )
    return _from_list(list(values))


def _from_numpy(values: np.ndarray[Any, Any]) -> Column:
    if isinstance(values, np.ma.MaskedArray):
        return _from_arrow(pa.array(values.data, mask=np.ma.getmaskarray(values)))
    if values.ndim != 1:
        raise TypeError(
            f"values must have one dimension, and these have {values.ndim}; give several columns "
            f"as a dict of arrays."
        )
    kind = values.dtype.kind
    if kind == "O":
        plain = _from_list(values.tolist())
        return Column(values, "numpy", plain.numbers, plain.valid)
    if kind in "UST":
        return Column(values, "numpy", None, None)
    if kind not in "biufmM":
        raise TypeError(f"values of type {values.dtype} cannot be aggregated; convert them first.")
    valid = None
    numbers = values
    if kind in "mM":
        valid = ~np.isnat(values)
        numbers = values.astype(values.dtype.newbyteorder("="), copy=False).view(np.int64)
    elif kind == "b":
        numbers = values.view(np.int8)
    elif values.dtype.itemsize not in (1, 2, 4, 8) or values.dtype == np.float16:
        numbers = values.astype(np.float64 if values.dtype.itemsize > 8 else np.float32)
    return Column(values, "numpy", _readable(numbers), _if_missing(valid))


def _from_arrow(values: Any) -> Column:
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):  # no chunk at all
            values = pa.array([], values.type)
    values = _unfolded(values)
    kind = values.type
    if pa.types.is_null(kind):
        missing = np.zeros(len(values), bool)
        return Column(values, "arrow", np.zeros(len(values)), _if_missing(missing))
    numbers = values.cast(pa.float32()) if pa.types.is_float16(kind) else values
    if pa.types.is_boolean(kind):
        numbers = values.cast(pa.int8())
    elif pa.types.is_date32(kind) or pa.types.is_time32(kind):
        numbers = values.cast(pa.int32())
    elif pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        numbers = values.cast(pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return Column(values, "arrow", None, None)
    valid = None
    if values.null_count:
        valid = values.is_valid().to_numpy(zero_copy_only=False)
        numbers = pc.fill_null(numbers, 0)
    array = numbers.to_numpy(zero_copy_only=False)
    return Column(values, "arrow", _readable(array), _if_missing(valid))


def _unfolded(values: Any) -> Any:
    """Text and bytes as Arrow's own functions take them, and no dictionary or runs."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _unfolded(values.dictionary).take(values.indices)
    if pa.types.is_run_end_encoded(kind):
        return _unfolded(pc.run_end_decode(values))
    if pa.types.is_string_view(kind):
        return values.cast(pa.large_string())
    if pa.types.is_binary_view(kind):
        return values.cast(pa.large_binary())
    return values


def _from_list(values: list[Any]) -> Column:
    values = [v.item() if isinstance(v, (np.number, np.bool_)) else v for v in values]
    plain = [v for v in values if v is not None]
    kinds = {type(v) for v in plain}
    if kinds <= {int, float} or kinds == {bool}:
        as_type = np.float64 if float in kinds else (np.int8 if kinds == {bool} else np.int64)
        valid = np.array([v is not None for v in values], bool)
        try:
            numbers = np.array([0 if v is None else v for v in values], as_type)
        except OverflowError:
            return Column(values, "list", None, None)
        return Column(values, "list", numbers, _if_missing(valid))
    return Column(values, "list", None, None)


def _if_missing(valid: np.ndarray[Any, Any] | None) -> np.ndarray[Any, Any] | None:
    return None if valid is None or valid.all() else valid


def _readable(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Contiguous, in native byte order, and not typed as read-only.

    Numba compiles a loop anew for a read-only array. Ours never writes what it reads, so the same
    memory is shown to it as writable.
    """
    numbers = np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("="))
    if numbers.flags.writeable or not numbers.size:
        return numbers if numbers.flags.writeable else numbers.copy()
    return np.asarray(_Shown(numbers))


class _Shown:
    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


@dataclass(frozen=True)
class Leaf:
    """One operator with the columns it lifts and those it takes its answer from."""

    operator: Operator
    inputs: tuple[Column, ...]
    payload: tuple[tuple[str, Column], ...]

    @property
    def valid(self) -> np.ndarray[Any, Any] | None:
        """The rows on which nothing that the operator lifts is missing."""
        masks = [c.valid for c in self.inputs if c.valid is not None]
        masks += [
            np.array([v is not None for v in c.objects()], bool)
            for c in self.inputs
            if c.numbers is None
        ]
        if not masks:
            return None
        return _if_missing(np.logical_and.reduce(masks))


def leaves(values: Any, operator: Operator) -> tuple[list[Leaf], Kind]:
    """Each leaf of the operator with its columns, and what kind the answers are to be of."""
    named = table(values)
    found = []
    for leaf in operator.leaves:
        least, most = leaf.column_counts()
        if leaf.columns:
            columns = [(name, _named(named, name, leaf)) for name in leaf.columns]
        else:
            columns = list(named.items())
            if len(columns) < least or (most is not None and len(columns) > most):
                named_so = ", ".join(repr(name) for name in named)
                hint = f"; name those it reads, of {named_so}" if len(columns) > least else ""
                raise ValueError(
                    f"{leaf!r} reads {least} column{'s' * (least != 1)} and was given "
                    f"{len(columns)}{hint}."
                )
        inputs = tuple(c for _, c in columns[: max(leaf.inputs, 1)])
        payload = columns if leaf.takes == "same" else columns[leaf.inputs :]
        _check_types(leaf, inputs)
        found.append(Leaf(leaf, inputs, tuple(payload) if leaf.takes else ()))
    lengths = {len(c) for c in named.values()}
    if len(lengths) > 1:
        sizes = ", ".join(f"{name}: {len(c)}" for name, c in named.items())
        raise ValueError(f"the columns differ in length ({sizes}).")
    return found, next(iter(named.values())).kind if named else "numpy"


PANDAS_INDEX = "__index_level_"
"""The row labels of a data frame, which are no column of it."""


def table(values: Any) -> dict[str, Column]:
    """The columns of a table by name; a single column is called 0."""
    if isinstance(values, Mapping):
        return {str(name): column(v) for name, v in values.items()}
    if isinstance(values, (pa.Table, pa.RecordBatch)):
        pairs = zip(values.schema.names, values.columns, strict=True)
        return {name: column(v) for name, v in pairs if not name.startswith(PANDAS_INDEX)}
    if isinstance(values, np.ndarray) and values.dtype.names:
        return {name: column(np.ascontiguousarray(values[name])) for name in values.dtype.names}
    if hasattr(values, "__arrow_c_stream__") and not isinstance(values, pa.ChunkedArray):
        stream = pa.chunked_array(values)
        if pa.types.is_struct(stream.type):
            return table(pa.Table.from_struct_array(stream))
        return {"0": column(stream)}
    if isinstance(values, tuple) and values and all(hasattr(v, "__len__") for v in values):
        return {str(i): column(v) for i, v in enumerate(values)}
    return {"0": column(values)}


def _named(columns: dict[str, Column], name: str, leaf: Operator) -> Column:
    if name in columns:
        return columns[name]
    if list(columns) == ["0"]:
        raise ValueError(
            f"{leaf!r} reads the column {name!r}, and the values are one column without a name; "
            f"give a table or a dict, or write {leaf.name}()."
        )
    raise ValueError(f"{leaf!r}: there is no column {name!r} among {', '.join(columns)}.")


def _check_types(leaf: Operator, inputs: tuple[Column, ...]) -> None:
    for given in inputs[: leaf.inputs]:
        wrong = refusal(repr(leaf), leaf.needs, given.source.type) if given.kind == "arrow" else ""
        if wrong:
            raise TypeError(wrong)
    if not leaf.inputs or leaf.takes or leaf.fields is None:
        return
    keeps = (isinstance(leaf.answer, str) and leaf.answer == VALUE) or TIMES in leaf.needs
    for given in inputs:
        if given.is_time and not keeps:
            kind = given.source.dtype if given.kind == "numpy" else given.source.type
            raise TypeError(
                f"{leaf.name} of {kind} values is not defined; convert them to numbers."
            )

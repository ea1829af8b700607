"""Arrays as they are saved: NumPy's as their bytes, Arrow's as an IPC stream; pandas' times.

Nothing is done per element, but for arrays of objects. Everything that is read is checked: the
type against a list, the size against the bytes that are there, an Arrow array in full.
"""

from __future__ import annotations

import math
import re
import struct
import sys
from datetime import tzinfo
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.saving_kinds import SavedError, checked, own

DTYPE = re.compile(
    r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<c(8|16)|\|S[1-9]\d{0,8}|<U[1-9]\d{0,8}"
    r"|<[mM]8(\[[1-9]?\d{0,8}(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?"
)


def _dtype_text(dtype: np.dtype[Any]) -> str:
    text = dtype.newbyteorder("<").str if dtype.kind in "biufcmMSU" else ""
    if not DTYPE.fullmatch(text):
        raise TypeError(
            f"an array of type {dtype} cannot be saved; "
            f"numbers, booleans, times, strings (S, U) and objects can."
        )
    return text


def _dtype(text: Any) -> np.dtype[Any]:
    if type(text) is not str or not DTYPE.fullmatch(text):
        raise SavedError("an array is of no known type")
    return np.dtype(text)


def _bytes_of(array: np.ndarray[Any, Any], text: str) -> Any:
    """The array's bytes, little-endian and in order; its own if they are so already."""
    flat = np.ascontiguousarray(array, dtype=text).reshape(-1)
    return flat.view(np.uint8)


def _array_of(dtype: np.dtype[Any], shape: tuple[int, ...], data: Any) -> np.ndarray[Any, Any]:
    if math.prod(shape) * dtype.itemsize != len(data):
        raise SavedError("an array has more or fewer bytes than its shape")
    found = np.frombuffer(data, dtype) if len(data) else np.empty(0, dtype)
    return found.astype(dtype.newbyteorder("=")).reshape(shape)


def _shape(content: Any) -> tuple[int, ...]:
    if type(content) is not tuple or any(type(n) is not int or n < 0 for n in content):
        raise SavedError("an array has no shape")
    return content


def _encode_array(value: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    if value.dtype.kind == "O":
        return (value.shape, value.reshape(-1).tolist()), b""
    text = _dtype_text(value.dtype)
    return (value.shape, text), _bytes_of(value, text)


def _decode_array(content: Any, data: Any) -> np.ndarray[Any, Any]:
    shape, what = content
    shape = _shape(shape)
    if type(what) is not list:
        return _array_of(_dtype(what), shape, data)
    if math.prod(shape) != len(what) or len(data):
        raise SavedError("an array has more or fewer values than its shape")
    return np.fromiter(what, object, count=len(what)).reshape(shape)


def _encode_scalar(value: np.generic) -> tuple[Any, Any]:
    if isinstance(value, np.str_):
        return str(value), b""
    if isinstance(value, np.bytes_):
        return bytes(value), b""
    text = _dtype_text(value.dtype)
    return (text,), _bytes_of(np.asarray(value), text)


def _decode_scalar(content: Any, data: Any) -> Any:
    if type(content) is str:
        return np.str_(content)
    if type(content) is bytes:
        return np.bytes_(content)
    (text,) = checked(content, str)
    if text[1:2] in "SU":
        raise SavedError("a string is not written as one")
    return _array_of(_dtype(text), (1,), data)[0]


own(np.ndarray, "n", _encode_array, _decode_array, raw=True)
own(lambda cls: issubclass(cls, np.generic), "g", _encode_scalar, _decode_scalar, raw=True)


# Arrow


def _stream(arrow_type: Any, chunks: list[Any]) -> Any:
    if _extends(arrow_type):
        raise TypeError(f"an Arrow array of type {arrow_type} cannot be saved; save its storage.")
    schema = pa.schema([pa.field("", arrow_type)])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as stream:
        for chunk in chunks:
            stream.write_batch(pa.record_batch([chunk], schema=schema))
    return sink.getvalue()


def _chunks(data: Any) -> tuple[Any, list[Any]]:
    """The type and the arrays of a stream."""
    whole = pa.py_buffer(bytes(data))  # a copy, so that it is aligned
    _refuse_compressed(whole)
    with pa.ipc.open_stream(whole) as stream:
        (field,) = stream.schema
        if _extends(field.type):
            raise SavedError(f"an Arrow array is of type {field.type}")
        chunks = [batch.column(0) for batch in stream]
    for chunk in chunks:
        chunk.validate(full=True)
    return field.type, chunks


def _extends(arrow_type: Any) -> bool:
    """Whether a type, or one within it, is an extension: those run code of their own."""
    if isinstance(arrow_type, pa.BaseExtensionType):
        return True
    within = [arrow_type.field(i).type for i in range(arrow_type.num_fields)]
    if pa.types.is_dictionary(arrow_type):
        within.append(arrow_type.value_type)
    return any(map(_extends, within))


def _refuse_compressed(whole: Any) -> None:
    """We never compress a stream, and one that is may unfold to any size."""
    messages = pa.ipc.MessageReader.open_stream(whole)
    while True:
        try:
            message = messages.read_next_message()
        except StopIteration:
            return
        if message.type == "schema":
            continue
        found = memoryview(message.metadata)
        batch = _table(found, _table(found, 0), 2)
        if message.type == "dictionary":
            batch = _table(found, batch, 1)
        if _field(found, batch, 3) is not None:
            raise SavedError("an Arrow array is compressed")


def _table(found: memoryview, table: int, field: int | None = None) -> int:
    """Where a table of a flatbuffer starts: the root's, or that in a field of another table."""
    at = table if field is None else _field(found, table, field)
    if at is None:
        raise SavedError("an Arrow message lacks a part")
    return at + int(struct.unpack_from("<I", found, at)[0])


def _field(found: memoryview, table: int, field: int) -> int | None:
    """Where a field of a table lies, or None if it is left out."""
    layout = table - struct.unpack_from("<i", found, table)[0]
    place = 4 + 2 * field
    if layout < 0 or place >= struct.unpack_from("<H", found, layout)[0]:
        return None
    offset: int = struct.unpack_from("<H", found, layout + place)[0]
    return table + offset if offset else None


def _decode_arrow(content: Any, data: Any) -> Any:
    arrow_type, chunks = _chunks(data)
    if content is True:
        return pa.chunked_array(chunks, type=arrow_type)
    (array,) = chunks
    return array


def _encode_arrow(value: Any) -> tuple[Any, Any]:
    return False, _stream(value.type, [value])


def _encode_chunked(value: Any) -> tuple[Any, Any]:
    return True, _stream(value.type, value.chunks)


own(lambda cls: issubclass(cls, pa.Array), "a", _encode_arrow, _decode_arrow, raw=True)
own(pa.ChunkedArray, "c", _encode_chunked, _decode_arrow, raw=True)


# pandas


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        return None
    return pandas


def _decode_pandas(content: Any) -> Any:
    """A time of pandas, or of NumPy if pandas is not here."""
    moment, zone = content
    if not isinstance(moment, np.datetime64 | np.timedelta64) or not isinstance(
        zone, tzinfo | None
    ):
        raise SavedError("a time is not written as one")
    pandas = _pandas()
    if pandas is None:
        return moment
    if isinstance(moment, np.timedelta64):
        return pandas.Timedelta(moment)
    made = pandas.Timestamp(moment)
    return made if zone is None else made.tz_localize("UTC").tz_convert(zone)


def _of_pandas(cls: type) -> bool:
    """Whether this is a type of times of pandas, which is not imported to ask."""
    pandas: Any = sys.modules.get("pandas")
    return pandas is not None and cls in (pandas.Timestamp, pandas.Timedelta, type(pandas.NaT))


own(_of_pandas, "h", lambda v: (v.asm8, getattr(v, "tz", None)), _decode_pandas)

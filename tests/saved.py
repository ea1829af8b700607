"""What tests of saving share: values alike to the last bit, and forged bytes with a checksum."""

from __future__ import annotations

import struct
from collections import deque
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators import saving
from sash.aggregators.saving_writing import Writer
from sash.operators.rope import Rope


def again(value: Any) -> Any:
    """A value once saved and loaded."""
    return saving.unpack("test", saving.pack("test", value))


def same(a: Any, b: Any) -> bool:
    """Of the same type and the same in every bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return struct.pack("<d", a) == struct.pack("<d", b)
    if isinstance(a, int):
        return a == b
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, np.ndarray):
        like = a.dtype == b.dtype and a.shape == b.shape
        if a.dtype.kind == "O":
            return like and same(a.reshape(-1).tolist(), b.reshape(-1).tolist())
        return like and a.tobytes() == b.tobytes()
    if isinstance(a, np.str_ | np.bytes_):
        return bool(a == b)
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, pa.Array | pa.ChunkedArray):
        return bool(a.type == b.type and repr(a.to_pylist()) == repr(b.to_pylist()))
    if isinstance(a, Rope):
        return same(a.values(), b.values())
    if isinstance(a, deque):
        return a.maxlen == b.maxlen and same(list(a), list(b))
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, set | frozenset):
        return same(sorted(map(repr, a)), sorted(map(repr, b)))
    return repr(a) == repr(b)


def written(content: Any) -> tuple[bytes, list[bytes]]:
    """Content as it is before it becomes a file: the bytes of the values, and the blocks."""
    writer = Writer()
    writer.write(content)
    return bytes(writer.out), [bytes(block) for block in writer.blocks]


def forged(
    values: bytes,
    blocks: list[bytes] | None = None,
    kind: str = "test",
    version: int = saving.VERSION,
) -> bytes:
    """A file with these values and blocks, whatever they are, and the checksum that is right."""
    stored = [values, *(blocks or [])]
    table = b"".join(saving.BLOCK.pack(0, len(block), len(block)) for block in stored)
    return sealed(saving.COUNT.pack(len(stored)) + table + b"".join(stored), kind, version)


def sealed(body: bytes, kind: str = "test", version: int = saving.VERSION) -> bytes:
    """What follows the kind, with a head before it and a checksum after it."""
    length = saving.HEAD.size + len(kind) + len(body) + saving.DIGEST
    whole = saving.HEAD.pack(saving.MAGIC, version, length, len(kind)) + kind.encode() + body
    return whole + blake2b(whole, digest_size=saving.DIGEST).digest()

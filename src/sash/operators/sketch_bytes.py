"""Sketches as bytes that tell what they are: for a column of a table, and back.

"sash"   4 bytes
kind     1 byte: "B" for a Bloom filter, "C" for a count-min table
version  1 byte
…        what the kind has to say, least byte first
CRC-32   4 bytes, of all before
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

MAGIC = b"sash"
VERSION = 1
HEAD = struct.Struct("<4scB")
CHECK = struct.Struct("<I")


def written(kind: bytes, content: bytes) -> bytes:
    """Content with its head and its checksum."""
    data = HEAD.pack(MAGIC, kind, VERSION) + content
    return data + CHECK.pack(zlib.crc32(data))


def content(kind: bytes, name: str, data: Any) -> bytes:
    """What `written` was given; a ValueError if these are not such bytes."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"{name}.from_bytes takes bytes, not {type(data).__name__}.")
    held = bytes(data)
    if len(held) < HEAD.size + CHECK.size:
        raise damaged(name, f"there are only {len(held)}")
    magic, its_kind, version = HEAD.unpack_from(held)
    if magic != MAGIC or its_kind != kind:
        raise damaged(name, "they begin otherwise")
    if version != VERSION:
        raise ValueError(
            f"this {name} was written in version {version} of its format, and this release reads "
            f"version {VERSION}; read it with the release that wrote it."
        )
    if CHECK.unpack(held[-CHECK.size :])[0] != zlib.crc32(held[: -CHECK.size]):
        raise damaged(name, "their checksum is wrong")
    return held[HEAD.size : -CHECK.size]


def damaged(name: str, why: str) -> ValueError:
    return ValueError(f"these are not the bytes of a {name}: {why}; give what to_bytes() gave.")

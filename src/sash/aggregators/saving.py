"""What is saved of a window, as bytes: `pack`, `unpack`, and `register` for classes of your own.

    4   b"SASH"
    2   the version of this format
    8   the length of all this
    1   the length of the next
    …   what it is, such as "window"
    4   the number of blocks, then for each
    1       0 as it is, 1 compressed
    8       its length here
    8       its length
    …   the blocks: the values (see saving_writing), then the large arrays among them
    16  BLAKE2 of all the above

All numbers are little-endian. The first three and the checksum stay where they are in every
version, so that damage is told from a version that is not known yet. There is no pickle in it,
nothing in it is run, and what is forged (the checksum is no secret) is refused like what is
damaged: by a `SavedError`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from sash.aggregators import saving_arrays, saving_partials, saving_plain
from sash.aggregators.saving_kinds import SavedError, register
from sash.aggregators.saving_reading import Reader
from sash.aggregators.saving_writing import Writer

__all__ = ["VERSION", "SavedError", "pack", "register", "unpack"]

VERSION = 1

KINDS = (saving_arrays, saving_partials, saving_plain)
"""Imported for the kinds of values that they add."""

MAGIC = b"SASH"
HEAD = struct.Struct("<4sHQB")
COUNT = struct.Struct("<I")
BLOCK = struct.Struct("<BQQ")
DIGEST = 16

SAMPLED = 1 << 20
SAMPLE = 1 << 14
SHRINKS = 0.9
MOST_SHRUNK = 1032
"""No zlib stream unfolds to more bytes than this for each of its own."""


def pack(kind: str, content: Any, compress: bool = True) -> bytes:
    """Content as bytes: values of plain Python, NumPy and Arrow, nested as you like.

    compress: False for what is compressed on its way, and must be written fast. A value that
    cannot be saved raises a TypeError that says how to let it be.
    """
    writer = Writer()
    writer.write(content)
    name = kind.encode()
    head = bytearray(COUNT.pack(1 + len(writer.blocks)))
    stored: list[Any] = []
    for data in (memoryview(writer.out), *writer.blocks):
        shorter = _compressed(data) if compress else None
        stored.append(data if shorter is None else shorter)
        head += BLOCK.pack(shorter is not None, len(stored[-1]), len(data))
    length = HEAD.size + len(name) + len(head) + sum(map(len, stored)) + DIGEST
    parts = [HEAD.pack(MAGIC, VERSION, length, len(name)), name, head, *stored]
    digest = blake2b(digest_size=DIGEST)
    for part in parts:
        digest.update(part)
    return b"".join((*parts, digest.digest()))


def unpack(kind: str, data: bytes) -> Any:
    """The content of what `pack` gave for this kind; a SavedError says why it cannot be had."""
    whole = memoryview(data).cast("B")
    if bytes(whole[: len(MAGIC)]) != MAGIC[: len(whole)] or not len(whole):
        raise SavedError(f"this is not a saved {kind}: it does not begin like one.")
    if len(whole) < HEAD.size + DIGEST:
        raise SavedError(f"the saved {kind} is cut off: only {len(whole)} bytes of it are there.")
    _, version, length, name_size = HEAD.unpack_from(whole)
    if len(whole) < length:
        raise SavedError(f"the saved {kind} is cut off: it has {len(whole)} of {length} bytes.")
    body = whole[:-DIGEST]
    if len(whole) > length or blake2b(body, digest_size=DIGEST).digest() != whole[-DIGEST:]:
        raise SavedError(f"the saved {kind} is damaged: its bytes are not those that were saved.")
    if version > VERSION:
        raise SavedError(
            f"the saved {kind} is of a newer version, {version} (this is version {VERSION}): "
            f"load it with a newer release of sash."
        )
    if version < 1:
        raise SavedError(f"the saved {kind} cannot be read: there is no version {version}.")
    name = bytes(body[HEAD.size : HEAD.size + name_size])
    if name != kind.encode():
        raise SavedError(f"this is a saved {name.decode(errors='replace')}, not a {kind}.")
    try:
        values, *blocks = _blocks(body, HEAD.size + name_size)
        return Reader(bytes(values), blocks).read()
    except SavedError as error:
        why = str(error).rstrip(".")
        raise SavedError(f"the saved {kind} cannot be read: {why}.") from error
    except Exception as error:  # whatever a decoder makes of what was never encoded
        why = f"a value in it makes no sense ({type(error).__name__})"
        raise SavedError(f"the saved {kind} cannot be read: {why}.") from error


def _compressed(data: memoryview) -> bytes | None:
    """The data compressed, if that makes them shorter; long ones are tried at four places first."""
    if len(data) > SAMPLED:
        starts = [i * (len(data) - SAMPLE) // 3 for i in range(4)]
        sample = b"".join(data[start : start + SAMPLE] for start in starts)
        if len(zlib.compress(sample, 1)) > SHRINKS * len(sample):
            return None
    shorter = zlib.compress(data, 1)
    return shorter if len(shorter) < len(data) else None


def _blocks(body: memoryview, at: int) -> Iterator[Any]:
    """The blocks of a saved body, the first of which is described at this place."""
    (count,) = COUNT.unpack_from(body, at)
    at += COUNT.size
    start = at + count * BLOCK.size
    if start > len(body):
        raise SavedError("it ends too early")
    for i in range(count):
        method, stored, size = BLOCK.unpack_from(body, at + i * BLOCK.size)
        data = body[start : start + stored]
        start += stored
        if start > len(body) or method > 1 or (stored != size and not method):
            raise SavedError("a block has no such length")
        yield _decompressed(data, size) if method else data
    if start != len(body):
        raise SavedError("something follows its blocks")


def _decompressed(data: memoryview, size: int) -> bytes:
    if not 0 < size <= MOST_SHRUNK * len(data):
        raise SavedError("a block has no such length")
    stream = zlib.decompressobj()
    found = stream.decompress(data, size + 1)
    if len(found) != size or not stream.eof or stream.unused_data:
        raise SavedError("a block has another length")
    return found

"""A shard's log in Spark's state store: a head, and segments by number.

head   the version, what is asked, how many shards; the numbers of the oldest segment and of
       the newest, its token; the length of the log
log    segments by number, in pieces that Spark can hand over
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sash.aggregators.saving import SavedError, pack, unpack
from sash.windows.segments import Segment

KIND = "head"
LAYOUT = 2
PIECE = 1 << 19
"""No value in the store is longer; it is part of the layout, as pieces are found by number."""
COUNT = struct.Struct("<I")
HEAD_SCHEMA, KEY_SCHEMA, VALUE_SCHEMA = "head binary", "number bigint, piece int", "data binary"


@dataclass(frozen=True)
class Head:
    """What is known of a shard's log without reading it."""

    asked: str
    """What the stream was asked, so that no other question is put to its state."""
    shards: int
    stream: bytes
    """Drawn when the stream began: two of them have nothing in common."""
    oldest: int = 1
    newest: int = 0
    token: bytes = b""
    size: int = 0
    """Rows and keys in the log."""
    length: int = 0
    """In bytes."""
    keys: int = 0
    held: int = 0
    late: int = 0
    """How many rows came too late, and were dropped."""
    watermark: int | None = None
    clock: str = ""

    def packed(self) -> bytes:
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return pack(KIND, {"layout": LAYOUT, **content}, compress=False)

    @classmethod
    def unpacked(cls, data: bytes) -> Head:
        content = unpack(KIND, data)
        if not isinstance(content, dict) or content.pop("layout", None) != LAYOUT:
            raise SavedError(
                "this checkpoint was written by another version of sash, which laid its state out "
                "otherwise: go on with that version, or begin with a new checkpoint."
            )
        try:
            return cls(**content)
        except TypeError as error:
            raise SavedError("the head of this state makes no sense.") from error


class StateLog:
    """The log of the shard that Spark hands the state of."""

    def __init__(self, head: Any, log: Any) -> None:
        """head, log: a value and a map of Spark's state."""
        self._head, self._log = head, log

    def head(self) -> Head | None:
        found = self._head.get()
        return None if found is None else Head.unpacked(bytes(found[0]))

    def segments(self, first: int, last: int) -> Iterator[Segment]:
        """Those from the first number to the last."""
        for number in range(first, last + 1):
            yield self._read(number)

    def remove(self, number: int, length: int) -> None:
        """Remove a segment of so many bytes."""
        for piece in range(-(-length // PIECE)):
            self._log.removeKey((number, piece))

    def _read(self, number: int) -> Segment:
        first = self._piece(number, 0)
        (count,) = COUNT.unpack_from(first)
        pieces = [first[COUNT.size :], *(self._piece(number, k) for k in range(1, count))]
        segment = Segment.unpacked(b"".join(pieces))
        if segment.number != number:
            raise SavedError(f"segment {number} of this state is another one.")
        return segment

    def _piece(self, number: int, piece: int) -> bytes:
        found = self._log.getValue((number, piece))
        if found is None:
            raise SavedError(f"segment {number} of this state is missing, or a part of it.")
        return bytes(found[0])

    def append(self, head: Head, segment: Segment, data: bytes) -> Head:
        """Write a segment, packed as `data`, and the head that tells of it."""
        pieces = [data[at : at + PIECE] for at in range(0, len(data), PIECE)]
        for piece, some in enumerate(pieces):
            content = some if piece else COUNT.pack(len(pieces)) + some
            self._log.updateValue((segment.number, piece), (content,))
        head = replace(
            head,
            newest=segment.number,
            token=segment.token,
            size=head.size + len(segment),
            length=head.length + len(data),
        )
        self._head.update((head.packed(),))
        return head

"""What a step of a stream's shard has brought, as bytes for the log."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.saving import SavedError, pack, unpack
from sash.windows.cutting import NEVER
from sash.windows.ordered_rows import Array, StreamRows, arrivals
from sash.windows.tracking import CAME, START

KIND = "segment"
LAYOUT = 2
"""Of what is told here; it grows when that changes."""
STATES = 6
"""So many numbers for each of the windows of a key."""


@dataclass(frozen=True)
class Extent:
    """What is remembered of a segment, so that it need not be read when it is let go."""

    newest: int
    """Of its rows; NEVER if it has none."""
    size: int
    length: int
    """In bytes."""


@dataclass(frozen=True)
class Segment:
    """Rows that came, keys that were touched, and where their windows stand."""

    number: int
    token: bytes
    """What tells it from any other that might have been written in its place."""
    before: bytes
    """The token of the segment before it."""
    newest: int
    """The newest time of the stream."""
    rows: StreamRows
    """Their codes are places among the keys here. Those of earlier steps were carried over."""
    keys: list[pa.Array]
    """The columns of the keys."""
    states: list[Array]
    """Of each key, the six numbers that `cutting` tells of; and again for each further window."""
    gone: Array
    """Which of the keys are forgotten."""
    length: int = 0
    """In bytes, if it was read."""

    @property
    def held(self) -> Array:
        """Of each key, how many rows its windows reach back to."""
        start: Array = np.minimum.reduce(self.states[START::STATES])
        return np.asarray(self.states[CAME] - start)

    @property
    def extent(self) -> Extent:
        newest = int(self.rows.times.max(initial=NEVER))
        return Extent(newest, len(self), self.length)

    def __len__(self) -> int:
        """How long it is: so many rows and keys."""
        return len(self.rows) + len(self.gone)

    def packed(self) -> bytes:
        rows = self.rows
        old = np.flatnonzero(rows.came != arrivals(self.number, len(rows)))
        content = {
            "layout": LAYOUT,
            "number": self.number,
            "tokens": (self.token, self.before),
            "newest": self.newest,
            "columns": rows.columns,
            "times": _narrow(rows.times),
            "of": _narrow(rows.codes),
            "old": (old, rows.came[old]),
            "keys": self.keys,
            "states": self.states,
            "gone": self.gone,
        }
        return pack(KIND, content, compress=False)

    @classmethod
    def unpacked(cls, data: bytes) -> Segment:
        content = unpack(KIND, data)
        if not isinstance(content, dict) or content.get("layout") != LAYOUT:
            raise SavedError("this was written by another version of sash, laid out otherwise.")
        try:
            found = _read(content)
            _check(found)
            found = replace(found, length=len(data))
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
            raise SavedError(f"this is no segment of a stream's log: {error}.") from error
        return found


def _narrow(values: Array) -> tuple[int, Array]:
    """The least of whole numbers, and how far above it each is, in as few bytes as they need."""
    if not len(values):
        return 0, values
    least, most = int(values.min()), int(values.max())
    return least, (values - least).astype(np.min_scalar_type(most - least))


def _wide(narrow: tuple[int, Array]) -> Array:
    least, values = narrow
    return np.ascontiguousarray(values, np.int64) + least


def _read(content: dict[str, Any]) -> Segment:
    times = _wide(content["times"])
    came = arrivals(content["number"], len(times))
    old, earlier = content["old"]
    came[old] = earlier
    codes = _wide(content["of"])
    rows = StreamRows(dict(content["columns"]), times, codes, came)
    token, before = content["tokens"]
    states = [np.ascontiguousarray(state, np.int64) for state in content["states"]]
    gone = np.ascontiguousarray(content["gone"], bool)
    keys = list(content["keys"])
    return Segment(content["number"], token, before, content["newest"], rows, keys, states, gone)


def _check(segment: Segment) -> None:
    """What compiled loops are told must be true, as they do not look."""
    rows, count = segment.rows, len(segment.gone)
    lengths = {len(rows.codes), *(len(column) for column in rows.columns.values())}
    if lengths != {len(rows)} or not segment.states or len(segment.states) % STATES:
        raise ValueError("its rows are at odds")
    if any(len(each) != count for each in (*segment.states, *segment.keys)):
        raise ValueError("its keys are at odds")
    if len(rows) and not 0 <= rows.codes.min() <= rows.codes.max() < count:
        raise ValueError("a row is of no key")
    for first in range(0, len(segment.states), STATES):
        came, start, end = segment.states[first : first + 3]
        if not ((start >= 0) & (start <= end) & (end <= came) & (came < 2**62)).all():
            raise ValueError("its counts are at odds")

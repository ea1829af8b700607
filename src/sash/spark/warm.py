"""Windows that stay in a worker between micro-batches, as long as they are of use."""

from __future__ import annotations

from collections import OrderedDict

from sash.windows.shard import Shard

MOST = 64
"""A worker keeps no more shards than this; others are made anew when they are needed."""

_shards: OrderedDict[tuple[bytes, int], Shard] = OrderedDict()


def take(stream: bytes, number: int) -> Shard | None:
    """A shard that was kept; whoever takes it puts it back when a step has been made."""
    return _shards.pop((stream, number), None)


def keep(stream: bytes, number: int, shard: Shard) -> None:
    _shards[stream, number] = shard
    while len(_shards) > MOST:
        _shards.popitem(last=False)

"""A column of values in a store: young ones in memory, the oldest at hand, the rest in blocks.

Positions count up for ever. Values are put once, at the young end, and dropped from the old one:

    swept        first                    base                 end
      | dropped    | at hand |  in the store  | tail, in memory |

`blocks` are the blocks that are at hand: those of the oldest values, which are needed next, those
that were just cut off the tail and are not written yet, and a few that were asked for in between.
Positions may be left out: then nothing before them is asked for any more, and a block is written
with something blank in their place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakMethod

from sash.aggregators.stored_blocks import Objects, Unmade

AHEAD = 3
"""How many values beyond the oldest an eviction may ask for, on each level of a tree."""
IN_BETWEEN = 4
"""Blocks asked for in between that are kept for a while."""

Fetch = Callable[[list[tuple["Column", int]]], list[list[Any]]]


class Column:
    """Values by position."""

    def __init__(self, number: int, codec: Objects, bits: int, fetch: Fetch) -> None:
        """number: which of a window's columns it is; bits: a block has 2^bits values."""
        self.number = number
        self.codec = codec
        self.bits = bits
        self.base = 0
        """The position of the tail's first value: that of a block."""
        self.tail: list[Any] = []
        self.blocks: dict[int, Any] = {}
        self.unwritten: set[int] = set()
        """Blocks that are not in the store yet."""
        self.first = 0
        """No position before this one is asked for."""
        self.began = 0
        """Positions before this one were left out, or are not asked for any more."""
        self.swept = 0
        """Blocks before this one are deleted."""
        self.sweeping = 0
        """Blocks before this one are deleted, or are going to be."""
        self._mask = (1 << bits) - 1
        # Weak, so that a window that nobody refers to any more is let go of at once.
        self._fetch = WeakMethod(fetch)

    def __len__(self) -> int:
        return self.end - self.first

    @property
    def end(self) -> int:
        return self.base + len(self.tail)

    def get(self, position: int) -> Any:
        at = position - self.base
        if at >= 0:
            return self.tail[at]
        block = self.blocks.get(position >> self.bits)
        if block is None:
            block = self._between(position >> self.bits)
        return block[position & self._mask]

    __getitem__ = get

    def put(self, position: int, value: Any) -> None:
        at, tail = position - self.base, self.tail
        if at == len(tail):
            tail.append(value)
        elif at > len(tail):
            self._leave_out(position)
            self.tail.append(value)
        elif at >= 0:
            tail[at] = value

    def _leave_out(self, position: int) -> None:
        """Go on at a later position."""
        block = position >> self.bits
        if block > self.end >> self.bits:  # all before is of no use any more
            self.base, self.tail, self.began = block << self.bits, [], position
        self.tail.extend([self.codec.blank] * (position - self.end))

    def _between(self, number: int) -> list[Any]:
        """A block that is neither among the oldest nor in the tail."""
        if len(self.blocks) - len(self.unwritten) > IN_BETWEEN + self.near:
            self.release()
        fetch = self._fetch()
        assert fetch is not None  # the shelf that the column is on
        (block,) = fetch([(self, number)])
        self.blocks[number] = block
        return block

    def drop(self, first: int) -> None:
        """Nothing before this will be asked for."""
        self.first = max(self.first, first, self.began)

    # What is at hand

    @property
    def near(self) -> int:
        """How many blocks are kept at hand from the oldest value on."""
        return (AHEAD >> self.bits) + 2

    def lacking(self, first: int) -> list[int]:
        """The blocks that must be fetched before `first` may be the oldest value."""
        first = max(first, self.began)
        wanted = range(first >> self.bits, ((first + AHEAD) >> self.bits) + 1)
        known = self.base >> self.bits
        return [number for number in wanted if number < known and number not in self.blocks]

    def at_hand(self, first: int) -> int | None:
        """Up to where all values from `first` on are at hand; None: up to the end."""
        number, known = max(first, self.began) >> self.bits, self.base >> self.bits
        while number < known and number in self.blocks:
            number += 1
        return None if number >= known else number << self.bits

    def release(self) -> None:
        """Let go of blocks that are in the store and not needed soon."""
        first = self.first >> self.bits
        near = range(first, first + self.near)
        self.blocks = {
            number: (block.made or block) if isinstance(block, Unmade) else block
            for number, block in self.blocks.items()
            if number in near or (number in self.unwritten and number >= first)
        }

    # Writing

    def cut(self) -> list[tuple[int, list[Any]]]:
        """Take what fills blocks off the tail; those of them that are still of use."""
        size = 1 << self.bits
        full = len(self.tail) >> self.bits
        if not full:
            return []
        found = []
        number, tail = self.base >> self.bits, self.tail
        for k in range(full):
            if (number + k + 1) << self.bits > self.first:
                block = tail[k * size : (k + 1) * size]
                self.blocks[number + k] = block
                self.unwritten.add(number + k)
                found.append((number + k, block))
        self.base, self.tail = (number + full) << self.bits, tail[full * size :]
        return found

    def uncut(self, base: int, tail: list[Any]) -> None:
        """As before `cut`: what was cut off could not be written."""
        for number in range(base >> self.bits, self.base >> self.bits):
            self.blocks.pop(number, None)
            self.unwritten.discard(number)
        self.base, self.tail = base, tail

    def written(self, numbers: list[int]) -> None:
        """These blocks are in the store."""
        self.unwritten.difference_update(numbers)

    # Going back

    def mark(self) -> tuple[int, int, list[Any], int]:
        """What `back_to` needs; values that are put meanwhile are new ones."""
        return self.base, self.began, self.tail, len(self.tail)

    def back_to(self, mark: tuple[int, int, list[Any], int]) -> None:
        self.base, self.began, self.tail, count = mark
        del self.tail[count:]

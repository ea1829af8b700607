"""Where one window keeps what it has in a store: its columns, and what tells how to go on.

Under the keys of a window's space lie

    m                        the manifest: where each column begins and ends, the ends of those
                             that cannot be computed from others, and what the window adds
    b column block           a block of values; column is 1 byte, block 8, the highest first

A checkpoint is one write, of all or nothing: the blocks that have filled since the last one, a
manifest that knows of them, and the first deletes of blocks that it no longer needs. So whatever is
in the store belongs together, at any moment. What is left to delete is found by the manifest, which
tells up to where all is deleted.

`sync` waits for a checkpoint to be in the store to stay. Others are written behind the window's
back, about every time that a block fills.
"""

from __future__ import annotations

import struct
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from os import urandom
from typing import Any, Protocol

from sash.aggregators.behind import Behind
from sash.aggregators.saving import SavedError, pack, unpack
from sash.aggregators.stored_blocks import PACKED, Objects, Seal
from sash.aggregators.stored_columns import AHEAD, Column
from sash.stores.contract import NotStoredError, Space, Store, StoreError
from sash.stores.places import Place

MANIFEST = b"m"
BLOCK = struct.Struct(">cBQ")
KIND = "stored window"
LAYOUT = 1
FEW_KEYS = 64
"""As many deletes go along with a checkpoint; more are done when there is time."""
MOST_COLUMNS = 256


Ranges = dict[Column, tuple[int, int]]
"""Of each column, blocks from one to before another."""


class Owner(Protocol):
    """Whose columns are on a shelf."""

    def settle(self) -> None:
        """Before a checkpoint: tell the columns what they may drop."""

    def content(self) -> Any:
        """What is told in the manifest, beside the columns."""


class Shelf:
    """The columns of one window in its space of a store."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.bits = place.block.bit_length() - 1
        self.columns: dict[int, Column] = {}
        self.derived: set[int] = set()
        """Columns that are computed from others, so that their tails need not be stored."""
        self.content: Any = None
        """What the window had added to the manifest that was found."""
        self.changes = 0
        """Values that came or left since the last checkpoint."""
        self._since_sync = 0
        self._tails: dict[int, Any] = {}
        self._found: dict[int, tuple[int, int, int]] = {}
        self._owner: Callable[[], Owner | None] = lambda: None
        self.store, owned = place.opened()
        closes = self.store if owned else None
        try:
            self._space: Space = place.patience.call(lambda: self.store.open(place.name))
        except BaseException:
            _let_go(None, None, closes)
            raise
        self.behind = Behind(self._space, place.patience)
        self._end = weakref.finalize(self, _let_go, self.behind, self._space, closes)
        try:
            self._open()
        except BaseException:
            self._end()
            raise

    def serve(self, owner: Owner) -> None:
        """From now on these are the owner's columns; when nobody refers to it, they are let go."""
        self._owner = weakref.ref(owner)
        weakref.finalize(owner, self._end)

    # Opening

    def _open(self) -> None:
        (data,) = self.behind.fetch([MANIFEST])
        if data is None:
            if next(iter(self._space.scan(b"b")), None) is not None:
                raise SavedError(f"{self._what} has blocks in the store and no manifest.")
            self._id = urandom(16)
            self._seal = Seal(self.place.secret, self._id)
            return
        how, content = Seal(self.place.secret, self._named).open(MANIFEST, data)
        found = unpack(KIND, content)
        try:
            self._restore(found)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise SavedError(f"what the store has of {self._what} is none: {error}.") from error

    @property
    def _what(self) -> str:
        return f"the window {self.place.name!r}"

    @property
    def _named(self) -> bytes:
        return b"manifest of " + self.place.name.encode()

    def _restore(self, found: Any) -> None:
        if found["layout"] != LAYOUT:
            raise ValueError("it was written by another version of sash")
        self._id = found["id"]
        if type(self._id) is not bytes or len(self._id) != 16:
            raise ValueError("it has no id")
        self.bits = found["bits"]
        if type(self.bits) is not int or not 0 <= self.bits <= 20:
            raise ValueError("its blocks have no size")
        self._seal = Seal(self.place.secret, self._id)
        for number, numbers in found["columns"].items():
            whole = all(type(n) is int and 0 <= n < 2**62 for n in numbers)
            base, first, swept = numbers
            if not whole or base & ((1 << self.bits) - 1) or not 0 <= number < MOST_COLUMNS:
                raise ValueError("a column begins nowhere")
            self._found[number] = base, first, swept
        for number, (how, values) in found["tails"].items():
            if number not in self._found or type(how) is not bytes or type(values) is not bytes:
                raise ValueError("a column ends nowhere")
            self._tails[number] = how, values
        self.content = found["content"]

    def column(self, number: int, codec: Objects, derived: bool = False) -> Column:
        """One of the window's columns, as it was stored, or new."""
        column = self.columns.get(number)
        if column is None:
            column = self.columns[number] = Column(number, codec, self.bits, self.fetch)
            if derived:
                self.derived.add(number)
            if number in self._found:
                column.base, column.first, column.swept = self._found.pop(number)
                column.sweeping, column.began = column.swept, column.first
            if number in self._tails:
                how, content = self._tails.pop(number)
                column.tail = codec.decode(how, content)
        column.codec = codec
        return column

    def stored_columns(self) -> list[int]:
        """The columns that were stored and that nobody has asked for yet."""
        return sorted(self._found)

    def renew(self, numbers: Iterable[int]) -> None:
        """These columns begin anew, as nothing of them has come to stay."""
        for number in numbers:
            self.columns.pop(number, None)

    # Blocks

    def fetch(self, wanted: list[tuple[Column, int]]) -> list[Any]:
        """These blocks, in one call."""
        keys = [_key(column.number, number) for column, number in wanted]
        found = []
        for key, data, (column, _) in zip(keys, self.behind.fetch(keys), wanted, strict=True):
            if data is None:
                raise SavedError(
                    f"a block of {self._what} is gone from {self.store!r}: it was deleted, "
                    f"or the store has lost what it had taken."
                )
            block = column.codec.block(*self._seal.open(key, data))
            if len(block) != 1 << self.bits:
                raise SavedError("a block in the store is not as long as it should be.")
            found.append(block)
        return found

    def bring(self, firsts: Iterable[tuple[Column, int]]) -> None:
        """See that the oldest values of columns, from these positions on, are at hand."""
        wanted = [(column, number) for column, first in firsts for number in column.lacking(first)]
        if wanted:
            for (column, number), block in zip(wanted, self.fetch(wanted), strict=True):
                column.blocks[number] = block

    def ahead(self, column: Column, first: int) -> int | None:
        """At which first position to look after a column again; None: nothing is to be done.

        What comes after the blocks at hand is read ahead when less than half a block is left.
        """
        until = column.at_hand(first)
        if until is None:
            return None
        soon = until - AHEAD - (1 << self.bits >> 1)
        if first < soon:
            return soon
        self.behind.want([_key(column.number, until >> self.bits)])
        return until - AHEAD

    # Writing

    def room(self) -> None:
        """Before values come: the error of a store that has not taken the last ones for long."""
        if not self._end.alive:
            raise ValueError("this window is closed: make another with the same store.")
        if self.behind.waiting() > self.place.most_waiting:
            self.behind.wait(self.behind._given - self.place.most_waiting)

    def changed(self, came: int, left: int) -> None:
        """So many values came and left: write them behind, or to stay if it is time for that."""
        self.changes += came + left
        self._since_sync += came
        every = self.place.sync_every
        if every is not None and self._since_sync >= every:
            try:
                self.sync()
            except StoreError as error:
                raise NotStoredError(
                    f"what came last is in the window, and not in the store: {error} Do not give "
                    f"it again; sync() stores it when the store is back."
                ) from None
        elif self.changes >> self.bits > 1:
            self.checkpoint()

    def sync(self) -> None:
        """Return when all that came is in the store to stay."""
        number = self.checkpoint(durable=True)
        self.behind.wait(number)
        self._since_sync = 0
        for column in self.columns.values():  # what was not written before the checkpoint ended
            column.release()

    def checkpoint(self, durable: bool = False) -> int:
        """Write what is new, behind the window's back; a number to wait for."""
        owner = self._owner()
        assert owner is not None
        owner.settle()
        puts: dict[bytes, bytes] = {}
        cut: list[tuple[Column, list[int]]] = []
        before = [(column, column.base, column.tail) for column in self.columns.values()]
        try:
            for column in self.columns.values():
                blocks = column.cut()
                for number, values in blocks:
                    key = _key(column.number, number)
                    puts[key] = self._seal.close(key, *column.codec.encode(values))
                if blocks:
                    cut.append((column, [number for number, _ in blocks]))
            content = pack(KIND, self._manifest(owner.content()), compress=False)
        except BaseException:  # something cannot be saved, or somebody has had enough
            for column, base, tail in before:
                column.uncut(base, tail)
            raise
        puts[MANIFEST] = Seal(self.place.secret, self._named).close(MANIFEST, PACKED, content)
        deletes, now, later = self._dropped()

        def written() -> None:
            for column, numbers in cut:
                column.written(numbers)
            for column, (start, stop) in now.items():
                _is_swept(column, start, stop)

        ticket = self.behind.write(puts, deletes, durable, written)
        for column, (start, stop) in later.items():
            done = partial(_is_swept, column, start, stop)
            self.behind.sweep(_keys(column.number, start, stop), done)
        for column in self.columns.values():
            column.release()
        self.changes = 0
        return ticket

    def _dropped(self) -> tuple[list[bytes], Ranges, Ranges]:
        """Keys that go now, the blocks that they are of, and blocks that go later."""
        deletes: list[bytes] = []
        now: Ranges = {}
        later: Ranges = {}
        for column in self.columns.values():
            start, stop = column.sweeping, min(column.first, column.base) >> self.bits
            if stop <= start:
                continue
            column.sweeping = stop
            if stop - start > FEW_KEYS:
                later[column] = start, stop
            else:
                now[column] = start, stop
                deletes += _keys(column.number, start, stop)
        return deletes, now, later

    def _manifest(self, content: Any) -> dict[str, Any]:
        return {
            "layout": LAYOUT,
            "id": self._id,
            "bits": self.bits,
            "columns": {c.number: (c.base, c.first, c.swept) for c in self.columns.values()},
            "tails": {
                number: column.codec.encode(column.tail)
                for number, column in self.columns.items()
                if number not in self.derived and column.tail
            },
            "content": content,
        }

    # The end

    def close(self) -> None:
        """Store all that came, and let others open the window."""
        if not self._end.alive:
            return
        self.sync()
        self.behind.rest()
        self._end()

    @property
    def closed(self) -> bool:
        return not self._end.alive

    def abandon(self) -> None:
        """Let go of the window as the store has it."""
        self._end()


def _let_go(behind: Behind | None, space: Space | None, store: Store | None) -> None:
    if behind is not None:
        behind.close()
    with suppress(StoreError):  # the lease goes away by itself
        if space is not None:
            space.release()
        if store is not None:
            store.close()


def _key(column: int, block: int) -> bytes:
    return BLOCK.pack(b"b", column, block)


def _keys(column: int, start: int, stop: int) -> Iterator[bytes]:
    return (_key(column, number) for number in range(start, stop))


def _is_swept(column: Column, start: int, stop: int) -> None:
    """These blocks are deleted; if some before them are not, they will be found once more."""
    if column.swept == start:
        column.swept = stop

"""A store that can be told to fail, and that counts what it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sash.stores import Memory, Space, Store, StoreError


class Unreliable(Store):
    """Memory that fails when it is told to."""

    def __init__(self) -> None:
        self.memory = Memory()
        self.down = False
        """Whether nothing works."""
        self.read_only = False
        """Whether it takes nothing, as when it is full."""
        self.passing = True
        self.tried = 0
        """How many calls have failed."""
        self.reads: list[int] = []
        """Of each read, how many keys it had."""
        self.writes: list[int] = []

    def check(self, writing: bool = False) -> None:
        if self.down or (writing and self.read_only):
            self.tried += 1
            why = "is gone" if self.down else "takes nothing"
            raise StoreError(f"the store {why}.", passing=self.passing)

    def open(self, name: str) -> Space:
        self.check()
        return _Unreliable(self, self.memory.open(name))

    def names(self) -> list[str]:
        return self.memory.names()

    def peek(self, name: str) -> Iterator[tuple[bytes, bytes]]:
        return self.memory.peek(name)

    def durability(self) -> str:
        return "nothing"

    def close(self) -> None:
        self.memory.close()


class _Unreliable(Space):
    def __init__(self, store: Unreliable, space: Space) -> None:
        self.store, self.space, self.name = store, space, space.name

    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        self.store.check()
        self.store.reads.append(len(keys))
        return self.space.get(keys)

    def write(
        self, puts: Mapping[bytes, bytes], deletes: Iterable[bytes] = (), durable: bool = False
    ) -> None:
        self.store.check(writing=True)
        self.store.writes.append(len(puts))
        self.space.write(puts, deletes, durable)

    def scan(self, prefix: bytes = b"") -> Iterator[Any]:
        self.store.check()
        return self.space.scan(prefix)

    def renew(self) -> None:
        self.store.check()

    def release(self) -> None:
        self.space.release()

    def destroy(self) -> None:
        self.space.destroy()

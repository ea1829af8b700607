"""A store in memory, for tests and for windows that are to be kept apart from their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from threading import RLock

from sash.stores.contract import InUseError, Pair, Space, Store, StoreError, checked_name


class Memory(Store):
    """Bytes in a dict. Nothing outlives the process."""

    def __init__(self) -> None:
        self._spaces: dict[str, dict[bytes, bytes]] = {}
        self._open: dict[str, _MemorySpace] = {}
        self._lock = RLock()  # a window that goes away releases its space, wherever it is

    def __repr__(self) -> str:
        return "Memory()"

    def open(self, name: str) -> Space:
        with self._lock:
            if checked_name(name) in self._open:
                raise InUseError(f"the window {name!r} in {self!r} is open already.")
            self._open[name] = space = _MemorySpace(self, name)
            return space

    def names(self) -> list[str]:
        with self._lock:
            return sorted(name for name, values in self._spaces.items() if values)

    def peek(self, name: str) -> Iterator[Pair]:
        with self._lock:
            return iter(sorted(self._spaces.get(checked_name(name), {}).items()))

    def durability(self) -> str:
        return "Nothing outlives the process."

    def close(self) -> None:
        with self._lock:
            self._open.clear()


class _MemorySpace(Space):
    """Open for as long as its store says so."""

    def __init__(self, store: Memory, name: str) -> None:
        self.name = name
        self._store = store

    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        with self._store._lock:
            values = self._values()
            return [values.get(key) for key in keys]

    def write(
        self, puts: Mapping[bytes, bytes], deletes: Iterable[bytes] = (), durable: bool = False
    ) -> None:
        # Bytes of our own: a caller may go on with a buffer that it gave.
        given = {bytes(key): bytes(value) for key, value in puts.items()}
        gone = [bytes(key) for key in deletes]
        with self._store._lock:
            values = self._values()
            for key in gone:
                values.pop(key, None)
            values.update(given)

    def scan(self, prefix: bytes = b"") -> Iterator[Pair]:
        with self._store._lock:
            return iter(sorted(p for p in self._values().items() if p[0].startswith(prefix)))

    def renew(self) -> None:
        with self._store._lock:
            self._values()

    def release(self) -> None:
        with self._store._lock:
            if self._store._open.get(self.name) is self:
                del self._store._open[self.name]

    def destroy(self) -> None:
        with self._store._lock:
            self._values().clear()
        self.release()

    def _values(self) -> dict[bytes, bytes]:
        if self._store._open.get(self.name) is not self:
            raise StoreError(f"the window {self.name!r} in {self._store!r} was released.")
        return self._store._spaces.setdefault(self.name, {})

"""What a store is: bytes by key, in the order of the keys.

A window that is larger than memory keeps most of itself in one. What it asks of a store is little,
so that much can be one: a dict, RocksDB in a folder, Redis elsewhere.

Keys and values are bytes. A space is a part of a store that has keys of its own: each window has
one. `write` is all or nothing, so that what belongs together is never there by half. A write that
raised may yet be there, whole, as when only the answer was lost: whoever tries again writes the
same again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, Self

Pair = tuple[bytes, bytes]
LONGEST_NAME = 200


class StoreError(Exception):
    """A store that cannot be reached, is full, or refuses.

    passing: whether trying again may help, as when a connection was lost or a disk is full, and
    not when a password is wrong.
    """

    def __init__(self, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing


class InUseError(StoreError):
    """A space that another window, maybe of another process, has open or took over."""


class NotStoredError(StoreError):
    """A window has what it was given, and its store does not have it yet."""

    answers: Any = None
    """What the window answered."""


class Space(ABC):
    """The keys of one window in a store. Two threads may use it at once.

    One that was released or destroyed refuses all further use.
    """

    name: str
    renews: float | None = None
    """Seconds without a write after which `renew` is to be called; None: it need not be."""

    @abstractmethod
    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of these keys, in one call; None for those that are not there."""

    @abstractmethod
    def write(
        self, puts: Mapping[bytes, bytes], deletes: Iterable[bytes] = (), durable: bool = False
    ) -> None:
        """Delete those and put these, all or nothing, in one call. What is in both is put.

        durable: it is to survive the end of the store's machine, as far as the store can say so.
        """

    @abstractmethod
    def scan(self, prefix: bytes = b"") -> Iterator[Pair]:
        """The keys that begin with this, and their values, in the order of the keys' bytes.

        Whether it gives what is written while it runs is left open.
        """

    @abstractmethod
    def renew(self) -> None:
        """Still in use. InUseError if another took it over, as it was not for too long."""

    @abstractmethod
    def release(self) -> None:
        """No longer in use; others may open it. Does nothing the second time."""

    @abstractmethod
    def destroy(self) -> None:
        """Delete all of it, and release it."""

    def __reduce__(self) -> NoReturn:
        raise TypeError("what is open in a store cannot be pickled: open it where it is used.")


class Store(ABC):
    """Where spaces are. Those without keys are nowhere."""

    @abstractmethod
    def open(self, name: str) -> Space:
        """A space for one user at a time, made if there is none. InUseError if another has it."""

    @abstractmethod
    def names(self) -> list[str]:
        """The spaces that have keys, in order."""

    @abstractmethod
    def peek(self, name: str) -> Iterator[Pair]:
        """What is in a space, in the order of the keys' bytes, whoever has it open."""

    def size(self, name: str) -> tuple[int, int]:
        """How many keys a space has, and how many bytes they and their values are."""
        keys = total = 0
        for key, value in self.peek(name):
            keys += 1
            total += len(key) + len(value)
        return keys, total

    @abstractmethod
    def durability(self) -> str:
        """What of the writes survives what, in one sentence."""

    @abstractmethod
    def close(self) -> None:
        """Release all that is open. Does nothing the second time."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failed: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a store cannot be pickled: make one where it is used.")


def checked_name(name: str) -> str:
    """The name of a space, if every store can have it."""
    if not isinstance(name, str):
        raise ValueError(f"the name of a window in a store is text, not {type(name).__name__}.")
    if not 0 < len(name) <= LONGEST_NAME:
        raise ValueError(
            f"the name of a window in a store has 1 to {LONGEST_NAME} characters, not {len(name)}."
        )
    # Stores put the end of a name, or what a cluster goes by, between these.
    if any(sign in name for sign in "\0{}") or any("\ud800" <= sign <= "\udfff" for sign in name):
        raise ValueError(
            f"the name of a window in a store has no {{, no }}, no zero byte and no half of a "
            f"UTF-16 pair, unlike {name!r}."
        )
    return name

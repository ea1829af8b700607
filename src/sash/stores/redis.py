"""A store elsewhere: Redis or Valkey, one server or a cluster.

A space is one hash, so that all of it is on one server of a cluster, and a write is all or nothing:
one script (redis_scripts). Who has it open has a lease, which goes away by itself if it is not
renewed; so what was killed is in nobody's way for long. Who was only thought to be gone cannot
write any more once another has opened the window, and goes on if nobody has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from os import urandom
from threading import RLock
from time import monotonic, sleep
from typing import Any

from sash.stores.contract import InUseError, Pair, Space, Store, StoreError, checked_name
from sash.stores.redis_client import Client
from sash.stores.redis_scripts import DESTROY, DONE, LOST, OPEN, OURS, RELEASE, TAKEN, WRITE

AT_ONCE = 64
"""Values that a scan asks for in one call."""


class Redis(Store):
    """Bytes in Redis or Valkey.

    What survives the end of the server is what it is set up to keep: `durability` tells.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "sash",
        expires: float | None = None,
        timeout: float = 5.0,
        lease: float = 10.0,
        cluster: bool = False,
        **options: Any,
    ) -> None:
        """url      redis://host:port/0; rediss://… with TLS, whose certificate is verified
        prefix   what all keys begin with
        expires  seconds without a write or `renew` after which a window goes away; None: it stays
        timeout  seconds to wait for an answer
        lease    seconds without a write or `renew` after which another may open a window
        cluster  whether the server is one of a cluster
        options  of redis-py: username, password, ssl_ca_certs, …
        """
        if any(sign in prefix for sign in "{}"):
            raise ValueError(f"the prefix of keys has no {{ and no }}, unlike {prefix!r}.")
        if lease <= 0 or timeout <= 0 or (expires is not None and expires <= lease):
            raise ValueError("timeout and lease are more than 0 seconds, and expires than lease.")
        self.prefix, self.expires, self.lease = prefix, expires, lease
        self._client = Client(url, timeout, cluster, options)
        self._lock = RLock()
        self._spaces: dict[str, _RedisSpace] = {}
        self._opening: set[str] = set()
        self._tokens: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return repr(self._client)

    def open(self, name: str) -> Space:
        keys = self._keys(name)
        with self._lock:
            if name in self._spaces or name in self._opening:
                raise InUseError(f"the window {name!r} in {self!r} is open already.")
            self._opening.add(name)
            # The same at the next try, as this one may succeed without our hearing of it.
            token = self._tokens.setdefault(name, urandom(16))
        try:
            self._take(name, keys, token)
            with self._lock:
                del self._tokens[name]
                self._spaces[name] = space = _RedisSpace(self, name, keys, token)
                return space
        finally:
            self._opening.discard(name)

    def _take(self, name: str, keys: list[bytes], token: bytes) -> None:
        """Get the lease, if need be when that of one who is gone has ended."""
        before, until = None, monotonic() + self.lease + 1.0
        while (left := self._client.run(OPEN, keys, [token, *self._lasts()])) != OURS:
            # Who is alive renews its lease, and so it never gets to its end.
            if left < 0 or (before is not None and left > before) or monotonic() > until:
                raise InUseError(f"the window {name!r} in {self!r} is in use by another.")
            before = left
            sleep(min(left / 1000 + 0.001, self.lease / 40))

    def names(self) -> list[str]:
        begin = f"{self.prefix}:{{".encode()
        pattern = re.sub(rb"([*?\[\]\\])", rb"\\\1", begin) + b"*}"
        keys = self._client.call(lambda client: set(client.scan_iter(match=pattern, count=1000)))
        return sorted(key[len(begin) : -1].decode(errors="replace") for key in keys)

    def peek(self, name: str) -> Iterator[Pair]:
        return self._scan(self._keys(name)[0], b"")

    def durability(self) -> str:
        try:
            log, synced, snapshots = map(
                self._client.setting, ("appendonly", "appendfsync", "save")
            )
        except StoreError as error:
            if error.passing:
                raise
            return "What the server keeps is unknown, as it does not tell its settings."
        if log == "yes":
            return {
                "always": "The server has each write on its disk before it answers.",
                "everysec": "The server has each write on its disk within about a second.",
            }.get(synced, "The server logs each write, and its system says when it is on disk.")
        if snapshots:
            return f"The server loses what was written after its last snapshot ({snapshots})."
        return "The server loses all when it ends."

    def close(self) -> None:
        with self._lock:
            for space in list(self._spaces.values()):
                space.release()
        self._client.close()

    def _keys(self, name: str) -> list[bytes]:
        """Of a window, of its lease and its owner; the braces keep them on one server."""
        key = f"{self.prefix}:{{{checked_name(name)}}}"
        return [key.encode(), f"{key}:lease".encode(), f"{key}:owner".encode()]

    def _lasts(self) -> list[int]:
        """Milliseconds of a lease, and until what is not written to expires."""
        return [max(1, int(self.lease * 1000)), int((self.expires or 0) * 1000)]

    def _scan(self, key: bytes, prefix: bytes) -> Iterator[Pair]:
        found = self._client.call(lambda client: client.hkeys(key))
        keys = sorted(each for each in found if each.startswith(prefix))
        return self._values(key, keys)

    def _values(self, key: bytes, keys: list[bytes]) -> Iterator[Pair]:
        for at in range(0, len(keys), AT_ONCE):
            some = keys[at : at + AT_ONCE]
            for name, value in zip(some, self._get(key, some), strict=True):
                if value is not None:  # unless it went meanwhile
                    yield name, value

    def _get(self, key: bytes, keys: list[bytes]) -> list[bytes | None]:
        found: list[bytes | None] = self._client.call(lambda client: client.hmget(key, keys))
        return found


class _RedisSpace(Space):
    """Open for as long as its store says so. Writes are one after the other, and numbered."""

    def __init__(self, store: Redis, name: str, keys: list[bytes], token: bytes) -> None:
        self.name = name
        self.renews = store.lease / 4
        self._store, self._keys, self._token = store, keys, token
        self._writing = RLock()
        self._tried = self._acknowledged = 0

    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        self._check()
        return self._store._get(self._keys[0], list(keys)) if keys else []

    def write(
        self, puts: Mapping[bytes, bytes], deletes: Iterable[bytes] = (), durable: bool = False
    ) -> None:
        self._check()
        gone = list(deletes)
        with self._writing:
            self._tried += 1
            given = [self._token, *self._store._lasts(), self._tried, self._acknowledged]
            given += [len(gone), *gone, *(each for pair in puts.items() for each in pair)]
            self._done(self._store._client.run(WRITE, self._keys, given, durable))
            self._acknowledged = self._tried

    def scan(self, prefix: bytes = b"") -> Iterator[Pair]:
        self._check()
        return self._store._scan(self._keys[0], prefix)

    def renew(self) -> None:
        self.write({})

    def release(self) -> None:
        with self._store._lock:
            if self._store._spaces.get(self.name) is not self:
                return
            del self._store._spaces[self.name]
        with suppress(StoreError):  # the lease ends by itself
            self._store._client.run(RELEASE, self._keys, [self._token])

    def destroy(self) -> None:
        self._check()
        self._done(self._store._client.run(DESTROY, self._keys, [self._token]))
        self.release()

    def _check(self) -> None:
        if self._store._spaces.get(self.name) is not self:
            raise StoreError(f"the window {self.name!r} in {self._store!r} was released.")

    def _done(self, answer: int) -> None:
        this = f"the window {self.name!r} in {self._store!r}"
        if answer == TAKEN:
            raise InUseError(
                f"{this} was taken over by another, as there was no sign of life for "
                f"{self._store.lease:g} s."
            )
        if answer == LOST:
            raise StoreError(
                f"{this} is no longer what was written: it was deleted, it expired, or the server "
                f"lost it when it ended or another took over."
            )
        if answer != DONE:
            raise StoreError(f"{this} had a later write already.", passing=True)

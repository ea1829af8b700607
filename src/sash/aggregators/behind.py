"""A thread that talks to a store while the window goes on: writes behind it, and reads ahead.

What waits to be written is one batch: more is merged into it until the thread takes it, so the
store gets few and large writes however slow it is, and all of a batch or nothing. A write that
fails is tried again, a few times and less and less often; then the error is told to whoever waits,
the batch is kept, and it is tried again with the next one or after a while. So a window goes on
when the store is back, and what it has in memory is never dropped.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from threading import Condition, Thread, current_thread
from time import monotonic
from typing import Any

from sash.stores.contract import InUseError, Space, StoreError
from sash.stores.patience import Patience

LOG = logging.getLogger("sash.stores")
REST = 2.0
"""Seconds until a store that has failed is tried again by itself."""
READ_AHEAD = 128
"""Values that were read and not asked for yet are at most so many."""
SWEEP, SWEEP_ALONG = 1024, 128
"""Deleted at once of what a bulk eviction has left."""


@dataclass
class Batch:
    """What is to be written at once."""

    number: int = 0
    puts: dict[bytes, bytes] = field(default_factory=dict)
    deletes: dict[bytes, None] = field(default_factory=dict)
    durable: bool = False
    told: list[Callable[[], None]] = field(default_factory=list)
    """To be called when it is written."""

    def add(self, puts: dict[bytes, bytes], deletes: Sequence[bytes], durable: bool) -> None:
        for key in deletes:
            self.puts.pop(key, None)
            self.deletes[key] = None
        for key in puts:
            self.deletes.pop(key, None)
        self.puts.update(puts)
        self.durable |= durable


@dataclass
class Sweep:
    """Keys that nothing asks for any more."""

    keys: Any
    done: Callable[[], None]


class Behind:
    """The thread of one window."""

    def __init__(self, space: Space, patience: Patience) -> None:
        self.space = space
        self.patience = patience
        self._changed = Condition()
        self._next = Batch()
        self._given, self._written = 0, 0
        self._failed: StoreError | None = None
        self._attempts = 0
        """How many batches were given up, or written: to wait for the one that is to come."""
        self._wanted: deque[bytes] = deque()
        self._reading: set[bytes] = set()
        self._read: dict[bytes, bytes | None] = {}
        self._sweeps: deque[Sweep] = deque()
        self._ending = False
        self._kicked = False
        self._thread: Thread | None = None
        if space.renews is not None:  # the lease must not run out before the first write
            with self._changed:
                self._wake()

    # Writing

    def write(
        self,
        puts: dict[bytes, bytes],
        deletes: Sequence[bytes] = (),
        durable: bool = False,
        told: Callable[[], None] | None = None,
    ) -> int:
        """To be written soon, all at once; a number to wait for."""
        with self._changed:
            if self._ending:
                raise StoreError(f"the window {self.space.name!r} is closed.")
            self._next.add(puts, deletes, durable)
            if told is not None:
                self._next.told.append(told)
            self._given += 1
            self._next.number = self._given
            self._wake()
            return self._given

    def waiting(self) -> int:
        """How many writes the store has not taken yet."""
        return self._given - self._written

    def wait(self, number: int) -> None:
        """Until this is written; the error if the store does not take it after several tries."""
        with self._changed:
            before = self._attempts
            self._kicked = self._written < number
            self._wake()
            while self._written < number:
                if self._failed is not None and self._attempts > before:
                    raise self._failed
                self._changed.wait()

    def sweep(self, keys: Any, done: Callable[[], None]) -> None:
        """To be deleted when there is nothing better to do."""
        with self._changed:
            self._sweeps.append(Sweep(iter(keys), done))
            self._wake()

    def rest(self) -> None:
        """Until nothing is to be written or deleted, or the store fails."""
        with self._changed:
            while (self._sweeps or self.waiting()) and self._failed is None and not self._ending:
                self._changed.wait()

    # Reading

    def want(self, keys: Sequence[bytes]) -> None:
        """These will be asked for soon."""
        with self._changed:
            new = [k for k in keys if k not in self._read and k not in self._reading]
            self._wanted.extend(k for k in new if k not in self._wanted)
            self._wake()

    def fetch(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """What lies under these keys: at once if it was wanted before, else in one call."""
        found: dict[bytes, bytes | None] = {}
        with self._changed:
            while any(key in self._reading for key in keys):
                self._changed.wait()
            for key in keys:
                if key in self._read:
                    found[key] = self._read.pop(key)
                elif key in self._wanted:
                    self._wanted.remove(key)
        rest = [key for key in keys if key not in found]
        if rest:
            values = self.patience.call(lambda: self.space.get(rest))
            found.update(zip(rest, values, strict=True))
        return [found[key] for key in keys]

    # The thread

    def close(self) -> None:
        """End the thread. What waits to be written is not."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        # A window that nobody refers to any more may be let go of by this very thread.
        if self._thread is not None and self._thread is not current_thread():
            self._thread.join()

    def _wake(self) -> None:
        if self._thread is None and not self._ending:
            self._thread = Thread(target=self._work, name="sash-store", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _work(self) -> None:
        renews = self.space.renews
        renewed, tried = monotonic(), 0
        batch: Batch | None = None
        while True:
            with self._changed:
                while not (self._ending or self._wanted or self._kicked):
                    if batch is None and (self._next.number or self._sweeps):
                        break
                    if batch is not None and self._given > tried:
                        break
                    rest = None if renews is None else max(0.0, renewed + renews - monotonic())
                    if batch is not None:
                        rest = REST if rest is None else min(rest, REST)
                    if not self._changed.wait(rest):
                        break
                if self._ending:
                    return
                self._kicked = False
                wanted = list(self._wanted)
                self._wanted.clear()
                self._reading.update(wanted)
            if wanted:
                self._read_ahead(wanted)
                continue
            with self._changed:
                if self._next.number and batch is None:
                    batch, self._next = self._next, Batch()
                elif self._next.number and batch is not None:
                    _merge(batch, self._next)
                    self._next = Batch()
                tried = self._given
                if batch is not None and self._sweeps:
                    self._sweep_along(batch)
            if batch is not None:
                if self._written_now(batch):
                    batch, renewed = None, monotonic()
                continue
            if self._sweeps:
                self._sweep_some()
                continue
            if renews is not None and monotonic() >= renewed + renews:
                self._renew()
                renewed = monotonic()

    def _written_now(self, batch: Batch) -> bool:
        error: StoreError | None = None
        try:
            self.patience.call(
                lambda: self.space.write(batch.puts, batch.deletes, durable=batch.durable)
            )
            for tell in batch.told:
                tell()
        except Exception as failed:
            error = _as_ours(failed)
        with self._changed:
            if error is not None and self._failed is None:
                LOG.warning("%s; it is tried again.", error)
            if error is None:
                if self._failed is not None:
                    LOG.warning("the store of the window %r is back.", self.space.name)
                self._written = batch.number
            self._failed = error
            self._attempts += 1
            self._changed.notify_all()
        return error is None

    def _read_ahead(self, keys: list[bytes]) -> None:
        found: dict[bytes, bytes | None] = {}
        try:
            found.update(zip(keys, self.space.get(keys), strict=True))
        except Exception:
            pass  # whoever needs it asks again, and is told
        finally:
            with self._changed:
                self._read.update(found)
                while len(self._read) > READ_AHEAD:  # what was wanted first is not wanted any more
                    del self._read[next(iter(self._read))]
                self._reading.difference_update(keys)
                self._changed.notify_all()

    def _sweep_along(self, batch: Batch) -> None:
        """Some of what is to be deleted goes with a batch: else it would wait for ever if rows come
        faster than they can be written.

        What is to be deleted is so by a batch before, or by this one.
        """
        sweep = self._sweeps[0]
        keys = list(islice(sweep.keys, SWEEP_ALONG))
        batch.add({}, keys, False)
        if len(keys) < SWEEP_ALONG:
            self._sweeps.popleft()
            batch.told.append(sweep.done)

    def _sweep_some(self) -> None:
        sweep = self._sweeps[0]
        keys = list(islice(sweep.keys, SWEEP))
        try:
            if keys:
                self.patience.call(lambda: self.space.write({}, keys))
            if len(keys) == SWEEP:
                return
            sweep.done()
        except Exception:
            pass  # they are found again when the window is opened
        with self._changed:
            self._sweeps.popleft()
            self._changed.notify_all()

    def _renew(self) -> None:
        try:
            self.space.renew()
        except InUseError as error:
            with self._changed:
                self._failed = error
                self._attempts += 1
                self._changed.notify_all()
        except Exception:
            pass  # the next write tells


def _as_ours(error: Exception) -> StoreError:
    """The thread goes on whatever a store's library has raised, and tells it."""
    if isinstance(error, StoreError):
        return error
    return StoreError(f"the store failed: {type(error).__name__}: {error}")


def _merge(batch: Batch, more: Batch) -> None:
    batch.add(more.puts, list(more.deletes), more.durable)
    batch.number = more.number
    batch.told += more.told

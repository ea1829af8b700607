"""A store in a folder of this machine: RocksDB, embedded.

A key is the space's name, a zero byte, and the key in the space, so that each space is a range.

After an error of a disk RocksDB refuses all writes until it is opened anew, unless the disk was
full and now has much room. So the next write opens it anew, as soon as the folder has room for
that; until then what is there can be read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Condition
from typing import Any
from weakref import WeakSet

from sash.stores.contract import InUseError, Pair, Space, Store, StoreError, checked_name
from sash.stores.rocksdb_options import OPEN_FILES, library, tuned

END_OF_NAME = b"\0"
ROOM = 1 << 20
"""Bytes that RocksDB needs to be opened, beside those of its log of writes, which it files."""
PASSING = ("IO error", "Resource", "Busy", "Operation timed out")
FOR_GOOD = (
    "Read-only file system",
    "Permission denied",
    "Operation not permitted",
    "No such file or directory",
)
"""What RocksDB says when trying again may help, and even then not."""


class RocksDB(Store):
    """Bytes in a folder, for one process at a time.

    What was written survives the end of the process; what was written durably, the machine's.
    """

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        """path       a folder; it is made if there is none
        read_only  look at what was written until now, even if another process has it open
        """
        # RocksDB knows a folder that it has open by its path alone, and would open it again
        # through a link, to the ruin of both.
        self.path = os.path.realpath(os.fspath(path))
        self.read_only = read_only
        self._rocksdict = library()
        self._synced = self._rocksdict.WriteOptions()
        self._synced.sync = True
        self._plain = self._rocksdict.WriteOptions()
        self._gate = Condition()  # of what follows
        self._users = 0
        self._scans: WeakSet[_Scan] = WeakSet()
        self._open: dict[str, _RocksSpace] = {}
        self._failed: StoreError | None = None
        self._closed = False
        self._db: Any = self._opened()

    def __repr__(self) -> str:
        return f"RocksDB({self.path!r})"

    def open(self, name: str) -> Space:
        prefix = _prefix(name)
        with self._using(), self._gate:
            if name in self._open:
                raise InUseError(f"the window {name!r} in {self!r} is open already.")
            self._open[name] = space = _RocksSpace(self, name, prefix)
            return space

    def names(self) -> list[str]:
        found = []
        with self._using() as db:
            rows = db.iter()
            rows.seek(b"")
            while rows.valid():
                name = bytes(rows.key()).split(END_OF_NAME, 1)[0]
                found.append(name)
                rows.seek(_after(name + END_OF_NAME))
            rows.status()
        return sorted(name.decode() for name in found)

    def peek(self, name: str) -> Iterator[Pair]:
        return _Scan(self, _prefix(name), b"")

    def durability(self) -> str:
        return (
            "What was written survives the end of the process, and what was written durably also "
            "that of the machine."
        )

    def close(self) -> None:
        with self._gate:
            self._closed = True
            self._open.clear()
            self._let_go()

    def _opened(self) -> Any:
        """The folder, opened; what RocksDB says against it as ours."""
        if self.read_only and not Path(self.path, "CURRENT").is_file():
            raise StoreError(f"there is no store in {self.path}.")
        try:
            Path(self.path).mkdir(parents=True, exist_ok=True)
            return self._at_last(self._rocksdict)
        except (FileExistsError, NotADirectoryError):
            problem = StoreError(f"{self.path} cannot be a store: a file is in the way.")
        except OSError as error:
            problem = self._told("made", error)
        except Exception as error:
            said = str(error)
            # By this process (the first), by another (the second).
            if "lock hold by current process" in said or "While lock file" in said:
                problem = InUseError(
                    f"{self.path} is open already: one store at a time can have it open, in this "
                    f"process or another."
                )
            else:
                problem = self._told("opened", error)
        raise problem

    def _at_last(self, rocksdict: Any) -> Any:
        if not self.read_only:
            return rocksdict.Rdict(self.path, tuned(rocksdict, OPEN_FILES))
        # All files at once: who has the folder open may delete any of them, but those that are
        # open stay. One that goes between being listed and being opened makes it begin again.
        for left in reversed(range(5)):
            try:
                return rocksdict.Rdict(
                    self.path,
                    tuned(rocksdict, -1),
                    access_type=rocksdict.AccessType.read_only(False),
                )
            except Exception as error:
                if not left or "No such file" not in str(error):
                    raise

    @contextmanager
    def _using(self) -> Iterator[Any]:
        """RocksDB, which nobody closes meanwhile; its errors as ours."""
        with self._gate:
            if self._closed:
                raise StoreError(f"{self!r} was closed.")
            if self._db is None:
                self._db = self._opened()
            self._users += 1
            db = self._db
        try:
            yield db
        except StoreError:
            raise
        except Exception as error:
            raise self._told("used", error) from None
        finally:
            with self._gate:
                self._users -= 1
                self._gate.notify_all()

    def _write(self, batch: Any, durable: bool) -> None:
        if self.read_only:
            raise StoreError(f"{self!r} was opened to be read only.")
        self._recover()
        try:
            with self._using() as db:
                db.write(batch, self._synced if durable else self._plain)
        except StoreError as error:
            self._failed = error
            raise
        self._failed = None

    def _recover(self) -> None:
        """Open RocksDB anew after a failed write; not before that can succeed."""
        with self._gate:
            if self._failed is None or self._closed or self._db is None:
                return
            probe = Path(self.path, "probe.tmp")
            try:
                logs = sum(log.stat().st_size for log in Path(self.path).glob("*.log"))
                with probe.open("wb") as file:
                    if sys.platform == "linux":
                        os.posix_fallocate(file.fileno(), 0, logs + ROOM)
                    else:
                        file.write(bytes(logs + ROOM))
                        file.flush()
                    os.fsync(file.fileno())
            except OSError:
                raise StoreError(str(self._failed), passing=self._failed.passing) from None
            finally:
                with suppress(OSError):
                    probe.unlink()
            self._let_go()
            self._failed = None

    def _let_go(self) -> None:
        """Close RocksDB when nobody uses it. What iterates would keep it locked."""
        while self._users:
            self._gate.wait()
        db, self._db = self._db, None
        for scan in list(self._scans):
            scan._rows = None
        # After a failed write it says so again, and is closed nevertheless.
        with suppress(Exception):
            if db is not None:
                db.close()

    def _told(self, what: str, error: Exception) -> StoreError:
        said = str(error)
        io = isinstance(error, OSError) or said.startswith(PASSING)
        passing = io and not any(each in said for each in FOR_GOOD)
        return StoreError(f"{self!r} could not be {what}: {said}", passing=passing)


class _RocksSpace(Space):
    """Open for as long as its store says so."""

    def __init__(self, store: RocksDB, name: str, prefix: bytes) -> None:
        self.name = name
        self._store, self._prefix = store, prefix

    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        self._check()
        with self._store._using() as db:
            found: list[bytes | None] = db.get([self._prefix + key for key in keys])
            return found

    def write(
        self, puts: Mapping[bytes, bytes], deletes: Iterable[bytes] = (), durable: bool = False
    ) -> None:
        self._check()
        batch = self._store._rocksdict.WriteBatch(raw_mode=True)
        for key in deletes:
            batch.delete(self._prefix + key)
        for key, value in puts.items():
            batch.put(self._prefix + key, bytes(value))
        self._store._write(batch, durable)

    def scan(self, prefix: bytes = b"") -> Iterator[Pair]:
        self._check()
        return _Scan(self._store, self._prefix, prefix)

    def renew(self) -> None:
        self._check()

    def release(self) -> None:
        store = self._store
        with store._gate:
            if store._open.get(self.name) is self:
                del store._open[self.name]

    def destroy(self) -> None:
        self._check()
        batch = self._store._rocksdict.WriteBatch(raw_mode=True)
        batch.delete_range(self._prefix, _after(self._prefix))
        self._store._write(batch, durable=True)
        self.release()

    def _check(self) -> None:
        if self._store._open.get(self.name) is not self:
            raise StoreError(f"the window {self.name!r} in {self._store!r} was released.")


class _Scan(Iterator[Pair]):
    """Rows as they were when it was made."""

    def __init__(self, store: RocksDB, space: bytes, prefix: bytes) -> None:
        self._store, self._space, self._prefix = store, len(space), space + prefix
        with store._using() as db:
            # No upper bound: rocksdict frees it with the options, while RocksDB still reads it.
            self._rows: Any = db.iter()
            self._rows.seek(self._prefix)
            with store._gate:
                store._scans.add(self)

    def __next__(self) -> Pair:
        with self._store._using():
            rows = self._rows
            if rows is None:
                raise StoreError(f"{self._store!r} was opened anew meanwhile.", passing=True)
            if rows.valid() and (key := bytes(rows.key())).startswith(self._prefix):
                value = bytes(rows.value())
                rows.next()
                return key[self._space :], value
            rows.status()
        raise StopIteration


def _prefix(name: str) -> bytes:
    return checked_name(name).encode() + END_OF_NAME


def _after(prefix: bytes) -> bytes:
    """What comes after all keys of a space."""
    return prefix[:-1] + b"\1"

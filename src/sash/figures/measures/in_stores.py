"""Stores to measure windows in: RocksDB in a folder, and a Redis server of our own if there is one.

Both are of the process that measures: they begin when they are first asked for, and are gone when
it ends.
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
from functools import cache
from importlib.util import find_spec
from itertools import count
from multiprocessing.util import Finalize
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from sash.stores import Place, Redis, RocksDB, Store

STORES = ("RocksDB", "Redis")
_numbers = count()


def can_have(store: str) -> bool:
    """Whether there is such a store here."""
    if store == "Redis":
        return find_spec("redis") is not None and _server() is not None
    return find_spec("rocksdict") is not None


def new_place(store: str) -> Place:
    """Where a window may be kept that is none of the others."""
    return Place(_opened(store), f"window {next(_numbers)}")


def new_address(store: str) -> str:
    """The address of a store for a window of another process, of which it is the only one."""
    if store == "Redis":
        return _redis_address()
    return f"rocksdb:{_folder() / f'apart {next(_numbers)}'}"


@cache
def _opened(store: str) -> Store:
    found: Store = Redis(_redis_address()) if store == "Redis" else RocksDB(_folder() / "here")
    Finalize(None, found.close, exitpriority=30)
    return found


@cache
def _folder() -> Path:
    # One who is asked to end must come to the end of its work, and clean up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = mkdtemp(prefix="sash-figures-")
    Finalize(None, shutil.rmtree, (folder, True), exitpriority=10)
    return Path(folder)


def _server() -> str | None:
    return shutil.which("redis-server") or shutil.which("valkey-server")


@cache
def _redis_address() -> str:
    """Of a server on this machine that logs all that it is given."""
    program, folder = _server(), _folder() / "redis"
    assert program is not None
    folder.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = ["--save", "", "--appendonly", "yes", "--dir", str(folder), "--bind", "127.0.0.1"]
    server = subprocess.Popen([program, "--port", str(port), *settings])
    Finalize(None, _stop, (server,), exitpriority=20)
    for _ in range(500):
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return f"redis://127.0.0.1:{port}/0"
        time.sleep(0.02)
    raise RuntimeError("the Redis server did not start.")


def _stop(server: subprocess.Popen[Any]) -> None:
    server.terminate()
    server.wait()

"""Stores by their addresses."""

from __future__ import annotations

from pathlib import Path

import pytest
from stores.server import Server

from sash.stores import Memory, Redis, RocksDB, StoreError, store_at


def test_memory() -> None:
    assert isinstance(store_at("memory:"), Memory)


def test_rocksdb(tmp_path: Path) -> None:
    with store_at(f"rocksdb:{tmp_path}/a/b c") as store:
        assert isinstance(store, RocksDB)
        store.open("w").write({b"k": b"v"})
        with store_at(f"rocksdb:{tmp_path}/a/b c", read_only=True) as look:
            assert list(look.peek("w")) == [(b"k", b"v")]


def test_nothing_is_made_to_look(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store in"):
        store_at(f"rocksdb:{tmp_path}/none", read_only=True)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("scheme", ["redis", "valkey"])
def test_servers(redis_server: Server, scheme: str) -> None:
    with store_at(f"{scheme}://127.0.0.1:{redis_server.port}/9") as store:
        assert isinstance(store, Redis)
        assert repr(store) == f"Redis('{scheme}://127.0.0.1:{redis_server.port}/9')"
        space = store.open(scheme)
        space.write({b"k": b"v"})
        assert list(store_at(f"redis://127.0.0.1:{redis_server.port}/9").peek(scheme))
        space.destroy()


@pytest.mark.parametrize(
    "address",
    [
        "",
        ":",
        "memory",
        "rocksdb",
        "rocksdb:",
        "redis:host",
        "http://ann:secret@host/0",
        "a:b",
        None,
    ],
)
def test_others(address: str) -> None:
    with pytest.raises(ValueError, match=r"rocksdb:PATH, redis://HOST:PORT/0.*memory:") as refused:
        store_at(address)
    assert "secret" not in str(refused.value)

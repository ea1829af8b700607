"""Stores by their addresses, as a command line or a file of settings gives them."""

from __future__ import annotations

from sash.stores.contract import Store
from sash.stores.memory import Memory
from sash.stores.redis import Redis
from sash.stores.redis_client import SCHEMES
from sash.stores.rocksdb import RocksDB


def store_at(address: str, *, read_only: bool = False) -> Store:
    """The store at an address: rocksdb:PATH, redis://HOST:PORT/0, rediss:// or valkeys:// with TLS.

    read_only: to look at it; a folder may then be open elsewhere, and is not made.
    """
    scheme, colon, rest = address.partition(":") if isinstance(address, str) else ("", "", "")
    if colon and scheme == "rocksdb" and rest:
        return RocksDB(rest, read_only=read_only)
    if rest.startswith("//") and scheme in SCHEMES:
        return Redis(address)
    if address == "memory:":
        return Memory()
    # Without what was given, which may have a password in it.
    raise ValueError(
        "the address of a store is rocksdb:PATH, redis://HOST:PORT/0 or valkey://HOST:PORT/0 "
        "(rediss:// and valkeys:// with TLS), or memory:."
    )

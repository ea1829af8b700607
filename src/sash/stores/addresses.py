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
    scheme, rest = checked_address(address)
    if scheme == "rocksdb":
        return RocksDB(rest, read_only=read_only)
    return Memory() if scheme == "memory" else Redis(address)


def checked_address(address: str) -> tuple[str, str]:
    """An address by its scheme and the rest; a ValueError if it is none of a store."""
    scheme, colon, rest = address.partition(":") if isinstance(address, str) else ("", "", "")
    a_folder = scheme == "rocksdb" and rest
    if a_folder or (rest.startswith("//") and scheme in SCHEMES) or address == "memory:":
        return scheme, rest
    # Without what was given, which may have a password in it.
    raise ValueError(
        "the address of a store is rocksdb:PATH, redis://HOST:PORT/0 or valkey://HOST:PORT/0 "
        "(rediss:// and valkeys:// with TLS), or memory:."
    )

"""Where windows keep what memory should not hold: bytes by key, in a folder or on a server."""

from sash.stores.addresses import store_at
from sash.stores.contract import InUseError, NotStoredError, Space, Store, StoreError
from sash.stores.memory import Memory
from sash.stores.patience import Patience
from sash.stores.places import Place
from sash.stores.redis import Redis
from sash.stores.rocksdb import RocksDB

__all__ = [
    "InUseError",
    "Memory",
    "NotStoredError",
    "Patience",
    "Place",
    "Redis",
    "RocksDB",
    "Space",
    "Store",
    "StoreError",
    "store_at",
]

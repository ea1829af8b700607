"""Where in a store a window is kept, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sash.stores.addresses import store_at
from sash.stores.contract import Store
from sash.stores.patience import Patience


@dataclass(frozen=True)
class Place:
    """A window of a store.

    store         a store, or its address, such as "rocksdb:state"
    name          which of the store's windows
    sync_every    acknowledge every so many rows: a crash loses none that came before
    secret        bytes that only you know: what others have written is refused
    block         values that are written and read at once; a power of two, settled by the first
                  to open the window
    most_waiting  writes that may wait for a store that is gone or slow before rows are refused
    patience      how often a call to the store is tried
    """

    store: Store
    name: str = "window"
    sync_every: int | None = None
    secret: bytes = field(default=b"", repr=False)
    block: int = 512
    most_waiting: int = 64
    patience: Patience = field(default_factory=Patience)
    owned: bool = field(default=False, repr=False)
    """Whether the store is closed with the window."""

    def __post_init__(self) -> None:
        if isinstance(self.store, str):
            object.__setattr__(self, "store", store_at(self.store))
            object.__setattr__(self, "owned", True)
        if not isinstance(self.store, Store):
            raise TypeError(
                f"a store such as sash.stores.RocksDB(path) is needed, not {self.store!r}."
            )
        if self.block < 1 or self.block & (self.block - 1) or self.block > 1 << 16:
            raise ValueError(f"block is a power of two up to 65536, not {self.block}.")
        if self.sync_every is not None and self.sync_every < 1:
            raise ValueError(f"sync_every is at least 1, not {self.sync_every}.")
        if not isinstance(self.secret, bytes):
            raise TypeError("secret is bytes.")


def place(given: Any) -> Place:
    """A place, given as one, as a store or as a store's address."""
    return given if isinstance(given, Place) else Place(given)

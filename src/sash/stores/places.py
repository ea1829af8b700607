"""Where in a store a window is kept, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sash.stores.addresses import checked_address, store_at
from sash.stores.contract import Store, checked_name
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

    store: Store | str
    name: str = "window"
    sync_every: int | None = None
    secret: bytes = field(default=b"", repr=False)
    block: int = 512
    most_waiting: int = 64
    patience: Patience = field(default_factory=Patience)

    def __post_init__(self) -> None:
        if isinstance(self.store, str):
            checked_address(self.store)
        elif not isinstance(self.store, Store):
            raise TypeError(
                f"a store such as sash.stores.RocksDB(path) is needed, not {self.store!r}."
            )
        checked_name(self.name)
        for what, least in (("block", 1), ("most_waiting", 1), ("sync_every", 1)):
            given = getattr(self, what)
            if given is None and what == "sync_every":
                continue
            if type(given) is not int or given < least:
                raise ValueError(f"{what} is a whole number, at least {least}, not {given!r}.")
        if self.block & (self.block - 1) or self.block > 1 << 16:
            raise ValueError(f"block is a power of two up to 65536, not {self.block}.")
        if not isinstance(self.secret, bytes):
            raise TypeError("secret is bytes.")
        if not isinstance(self.patience, Patience):
            raise TypeError("patience is a sash.stores.Patience.")

    def __repr__(self) -> str:
        where = "its address" if isinstance(self.store, str) else repr(self.store)
        return f"Place({where}, {self.name!r})"

    def opened(self) -> tuple[Store, bool]:
        """The store, and whether it was opened by its address, to be closed with the window."""
        if isinstance(self.store, str):
            return store_at(self.store), True
        return self.store, False


def place(given: Any) -> Place:
    """A place, given as one, as a store or as a store's address."""
    return given if isinstance(given, Place) else Place(given)

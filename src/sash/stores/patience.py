"""How often a call to a store is tried before it is given up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import sleep
from typing import TypeVar

from sash.stores.contract import StoreError

Found = TypeVar("Found")


@dataclass(frozen=True)
class Patience:
    """tries   how often in all, at least once
    first   seconds to wait before the second try; each wait is twice the one before
    most    the longest of them
    """

    tries: int = 5
    first: float = 0.02
    most: float = 1.0

    def call(self, call: Callable[[], Found]) -> Found:
        """What a call gives; the error of its last try."""
        wait = self.first
        for _ in range(self.tries - 1):
            try:
                return call()
            except StoreError as error:
                if not error.passing:
                    raise
            sleep(wait)
            wait = min(2 * wait, self.most)
        return call()

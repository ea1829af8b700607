"""One window whose partials are in a store, all but the few that are needed next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

import numpy as np

from sash.aggregators import columns
from sash.aggregators.aggregator import STALE, Aggregator
from sash.aggregators.beside import Beside
from sash.aggregators.following import Undo
from sash.aggregators.keeping import Kept
from sash.aggregators.keeping_stored import StoredKept
from sash.aggregators.registry import MODULES
from sash.aggregators.running import Job
from sash.aggregators.saving import SavedError, pack
from sash.aggregators.shelf import Shelf
from sash.aggregators.stored_blocks import Numbers, Objects
from sash.aggregators.stored_columns import Column
from sash.aggregators.stored_levels import LEVELS, can_be_stored
from sash.operators.base import Operator
from sash.operators.known import described
from sash.operators.monoid import Monoid
from sash.stores.places import Place, place

NULLS, PAYLOADS = 64, 128
"""The numbers of the first leaf's columns."""
PLAIN = {type(None), bool, int, float, str, bytes}
"""Types whose values can be stored."""
AS_IT_IS: AbstractContextManager[Any] = nullcontext()
NONSENSE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What comes of values that no window has had."""


class StoredAggregator(Aggregator):
    """A window in a store. Made by `sash.aggregator("amta", …, store=…)`.

    If the store has the window already it goes on, with what was acknowledged: up to the last
    `sync()`, or every so many values if the `Place` says so.

    >>> from sash.operators.sums import Sum
    >>> from sash.stores import Memory
    >>> store = Memory()
    >>> with StoredAggregator("amta", Sum(), store=store) as window:
    ...     for value in (4, 2, 3):
    ...         window.insert(value)
    >>> with StoredAggregator("amta", Sum(), store=store) as window:
    ...     window.evict()
    ...     window.query()
    5
    """

    stored = True
    _kept: StoredKept | None

    def __init__(
        self,
        algorithm: str,
        operator: Operator,
        *,
        store: Place | Any,
        dtype: Any = None,
        shelf: Shelf | None = None,
        **options: Any,
    ) -> None:
        """shelf: that of a window which keeps more in it, and tells when to write."""
        super().__init__(algorithm, operator, dtype=dtype, **options)
        if not can_be_stored(self._module):
            able = [name for name, module in MODULES.items() if can_be_stored(module)]
            raise TypeError(
                f"{algorithm} keeps its window in memory; {' and '.join(able)} can keep it in a "
                f"store."
            )
        self._alone = shelf is None
        self._shelf = Shelf(place(store)) if shelf is None else shelf
        try:
            leaves = range(len(self._leaves))
            self._nulls = [StoredNulls(self._shelf.column(NULLS + k, Numbers())) for k in leaves]
            self._payloads = [
                StoredPayloads(self._shelf.column(PAYLOADS + k, Objects())) for k in leaves
            ]
            if self._alone:
                if self._shelf.content is not None:
                    self._open(self._shelf.content)
                self._shelf.serve(self)
        except BaseException:
            if self._alone:
                self.abandon()
            raise

    # In and out

    def insert(self, value: Any) -> None:
        if not self._alone:
            super().insert(value)
            return
        self._shelf.room()
        super().insert(value)
        self._shelf.changed(1, 0)

    def evict(self) -> None:
        with self._whole():
            super().evict()
        if self._alone:
            self._shelf.changed(0, 1)

    def bulk_insert(self, values: Any) -> None:
        """Add many values, or rows of several columns."""
        values = columns.table(values)
        each = list(self._each(values))
        with self._types_if_done():
            self.settle_by(values)
            for value in each:  # all of them are tried before the first goes in
                self._lifted(self._cells(value)[0], self._in)
        self._shelf.room()
        with Undo(self):
            for value in each:
                super().insert(value)
        self._shelf.changed(len(each), 0)

    def bulk_evict(self, count: int) -> None:
        """Remove the `count` oldest values."""
        with self._whole():
            super().bulk_evict(count)
        if self._alone:
            self._shelf.changed(0, count)

    def evict_while(self, policy: Callable[[Any, Any], bool], *, debug: bool = False) -> int:
        with self._whole():
            count = super().evict_while(policy, debug=debug)
        if self._alone:
            self._shelf.changed(0, count)
        return count

    def slide(self, values: Any, size: int | Sequence[int]) -> Any:
        came, left = self._in, self._out
        self._shelf.room()
        self._alone = False  # all of it is written at the end
        try:
            with Undo(self):
                found = super().slide(values, size)
        finally:
            self._alone = True
        self._shelf.changed(self._in - came, self._out - left)
        return found

    def _whole(self) -> AbstractContextManager[Any]:
        """For an eviction: a store that fails must not leave it half done.

        What the tree needs is at hand before it changes; what is null may have to be read.
        """
        alone = self._alone and self._undo is None and any(self._nulls)
        return Undo(self) if alone else AS_IT_IS

    # The store

    @property
    def came(self) -> int:
        """How many values have come, those that have left again too."""
        return self._in

    def sync(self) -> None:
        """Return when all that the window holds is in the store to stay."""
        self._shelf.sync()

    def close(self) -> None:
        """Sync, and let others open the window; it can be asked no more."""
        self._shelf.close()

    def abandon(self) -> None:
        """Let others open the window as it is in the store."""
        self._shelf.abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is None:
            self.close()
        else:
            self.abandon()

    def settle(self) -> None:
        """Tell the columns what they may drop."""
        if self._kept is None:
            self._shelf.renew(LEVELS)
        else:
            self._kept.levels.settle(self._kept.oldest)
        for nulls, payloads in zip(self._nulls, self._payloads, strict=True):
            nulls.settle()
            payloads.settle()

    def _made_with(self) -> dict[str, Any]:
        dtype = None if self._dtype is None else str(self._dtype)
        return {"op": described(self.operator), "algorithm": self.algorithm, "dtype": dtype}

    def content(self) -> dict[str, Any]:
        """What tells how to go on, beside the columns."""
        return {
            **self._made_with(),
            "in": int(self._in),
            "out": int(self._out),
            "types": [[str(kind) for kind in types] for types in self._types],
            "nulls": [nulls.first for nulls in self._nulls],
            "kept": None if self._kept is None else self._kept.content(),
        }

    def _open(self, content: Any) -> None:
        if isinstance(content, dict) and "window" in content:
            raise SavedError("what the store has is a sash.Window: open it as one.")
        try:
            self.restore(content)
        except SavedError:
            raise
        except NONSENSE as error:
            raise SavedError(f"what the store has of this window is none: {error}.") from error

    def restore(self, content: Any) -> None:
        """Go on with what `content` told; a ValueError if it cannot be."""
        for what, own in self._made_with().items():
            if content[what] != own:
                raise SavedError(
                    f"the window in the store is kept with another {what}: {content[what]}, "
                    f"not {own}."
                )
        counts = content["in"], content["out"]
        if not all(type(n) is int for n in counts) or not 0 <= counts[1] <= counts[0]:
            raise ValueError("its counts are at odds")
        self._in, self._out = counts
        for nulls, first in zip(self._nulls, content["nulls"], strict=True):
            nulls.restore(first)
        for payloads in self._payloads:
            payloads.restore(self._out)
        if content["kept"] is None:
            return
        self._types = tuple(tuple(np.dtype(k) for k in given) for given in content["types"])
        if len(self._types) != len(self._leaves):
            raise ValueError("it is of another number of columns")
        monoid = self.operator.bind_leaves(self._types)
        self._kept = StoredKept(self._module, monoid, self._shelf, content["kept"])
        if self._kept.held() != len(self):
            raise ValueError("it does not hold as many values as it says")

    # As in memory, but for where things are

    def _cells(self, value: Any) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        cells, payloads = super()._cells(value)
        for payload in payloads:
            if payload and not all(type(each) in PLAIN for each in payload):
                pack("payload", payload)  # refused now, and not when it is to be stored
        return cells, payloads

    def _lifted(self, cells: list[tuple[Any, ...]], row: int) -> Any:
        p = super()._lifted(cells, row)
        is_object = self._kept is not None and not self._kept.monoid.fixed_width
        if is_object and not all(type(each) in PLAIN for cell in cells for each in cell):
            pack("partial", p)
        return p

    def _keeping(self, monoid: Monoid) -> Kept:
        kept = StoredKept(self._module, monoid, self._shelf, settled=self._settings)
        for _ in range(self._came_untyped()):
            kept.insert(monoid.identity())
        return kept

    def _job(
        self, values: Any, few: int = 0, taking: bool = False
    ) -> tuple[Job | None, Kept | None, int]:
        """Rows go in one by one: compiled loops know of no store."""
        leaves, _ = columns.leaves(values, self.operator)
        rows = len(leaves[0].inputs[0])
        if rows:
            self.settle_by(values)
        return None, None, rows

    def _beside(self) -> Beside:
        return StoredBeside(self)

    def _evicted(self, count: int) -> None:
        self._out += count
        self._answer = STALE
        if self._plain and not self._nulls[0]:
            return
        for nulls, payloads in zip(self._nulls, self._payloads, strict=True):
            nulls.drop(self._out)
            payloads.first = self._out


class StoredNulls:
    """The rows that are null for a leaf, rising, in a column of their own."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.first = column.first
        """Which of them is the first in the window."""

    def __len__(self) -> int:
        return self.column.base + len(self.column.tail) - self.first

    def __iter__(self) -> Iterator[int]:
        return map(self.column.get, range(self.first, self.column.end))

    def __reversed__(self) -> Iterator[int]:
        return map(self.column.get, range(self.column.end - 1, self.first - 1, -1))

    def append(self, row: int) -> None:
        self.column.put(self.column.end, row)

    def drop(self, row: int) -> None:
        """Those before this row are gone: found by steps that grow, and then shrink."""
        end, step = self.column.end, 1
        if self.first == end or self.column.get(self.first) >= row:
            return
        low = self.first  # it is gone
        while low + step < end and self.column.get(low + step) < row:
            low += step
            step *= 2
        high = min(low + step, end)  # it is not, or there is none
        while high - low > 1:
            between = (low + high) // 2
            if self.column.get(between) < row:
                low = between
            else:
                high = between
        self.first = high

    def settle(self) -> None:
        self.column.drop(self.first)

    def restore(self, first: Any) -> None:
        if type(first) is not int or not self.column.first <= first <= self.column.end:
            raise ValueError("its nulls are at odds")
        self.first = first


class StoredPayloads:
    """What answers are taken from, by row."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.first = column.first

    def __getitem__(self, row: int) -> Any:
        return self.column.get(row)

    def __setitem__(self, row: int, payload: Any) -> None:
        self.column.put(row, payload)

    def settle(self) -> None:
        self.column.drop(self.first)

    def restore(self, first: int) -> None:
        self.first = first


class StoredBeside(Beside):
    """Where the columns beside the partials were."""

    def __init__(self, window: Aggregator) -> None:
        self.window = window
        each = (*window._nulls, *window._payloads)
        self.marks = [(kept, kept.first, kept.column.mark()) for kept in each]

    def note(self, leaving: int) -> None:
        """Nothing is gone before it is settled."""

    def undo(self) -> None:
        for kept, first, mark in self.marks:
            kept.first = first
            kept.column.back_to(mark)

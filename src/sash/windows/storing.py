"""A window in a store: what its rows are measured by on the shelf of its partials, and all else
that must be known to go on in the manifest.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sash.aggregators.saving import SavedError
from sash.aggregators.shelf import Shelf
from sash.aggregators.stored import NONSENSE, StoredAggregator
from sash.aggregators.stored_blocks import Numbers
from sash.aggregators.stored_columns import Column
from sash.stores.contract import NotStoredError
from sash.stores.places import place
from sash.windows.each import Each
from sash.windows.kept_rows import KeptRows
from sash.windows.saving import (
    described_window,
    going_on,
    restore_states,
    saved_batch,
    saved_batch_again,
    where_it_stands,
)
from sash.windows.tracking import END, START

if TYPE_CHECKING:
    from sash.windows.window import Window

ROWS = 192
"""The number of the first column of what rows are measured by."""
MEASURES = ("int64", "float64")


class Measures:
    """A column of times, or of what else rows leave by."""

    def __init__(self, column: Column, dtype: Any) -> None:
        self.column = column
        self.dtype = np.dtype(dtype)

    def __getitem__(self, row: int) -> Any:
        return self.column.get(row)


class StoredRows(KeptRows):
    """The rows of the only key, on a shelf: each at its own number, so that there is no ring."""

    far = True

    def __init__(self, shelf: Shelf) -> None:
        super().__init__()
        self.shelf = shelf

    def settle(self, dtypes: list[Any]) -> None:
        self.columns: list[Any] = [
            Measures(self.shelf.column(ROWS + k, Numbers()), dtype)
            for k, dtype in enumerate(dtypes)
        ]

    def cast(self, k: int, dtype: Any) -> None:
        self.columns[k].dtype = np.dtype(dtype)

    def make_room(self, codes: Any, S: Any, E: Any, S_then: Any, E_then: Any) -> None:
        """There is room for all."""

    def tidy(self, S: Any, E: Any) -> None:
        """There is nothing to move."""

    def put(self, codes: Any, first: Any, last: Any, rows: Any, columns: list[Any]) -> None:
        here = np.arange(int(last[0] - first[0])) + int(rows[0])
        for column, given in zip(self.columns, columns, strict=True):
            values = given(here) if callable(given) else given[here]
            for row, value in enumerate(values.tolist(), int(first[0])):
                column.column.put(row, value)

    def only(self) -> tuple[Any, int, int]:
        return (self.columns[0] if self.columns else ()), 0, -1

    def put_one(self, S: int, E: int, start: int, end: int, value: Any) -> None:
        if end > start:
            self.columns[0].column.put(end - 1, value)

    def skip(self, S: int, E: int, bound: Any) -> int:
        """By steps that grow, and then shrink: a few blocks are read, however many rows leave."""
        if not self.columns or E - S < 2 or self.columns[0][S] >= bound:
            return S
        low, step = S, 1  # this one leaves
        while low + step < E - 1 and self.columns[0][low + step] < bound:
            low, step = low + step, 2 * step
        high = min(low + step, E - 1)  # this one may not
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.columns[0][middle] < bound else (low, middle)
        return high

    def drop(self, start: int) -> None:
        for column in self.columns:
            column.column.drop(min(start, column.column.end))


class StoredWindow:
    """What a window has to do with its store."""

    def __init__(self, window: Window, store: Any, begin: Callable[[Shelf], None]) -> None:
        """begin: makes all that the window is, given a shelf."""
        # Weak, so that a window that nobody refers to any more is let go of at once.
        self.window: Window = weakref.proxy(window)
        self.note: Any = None
        """What whoever pushes wants to know when the window is opened again: stored with it."""
        self.only_synced = False
        """Whether nothing is stored but by `sync`, so that what a crash leaves is what it was."""
        self.shelf = shelf = Shelf(place(store))
        try:
            begin(shelf)
            if shelf.content is not None:
                self._go_on(shelf.content)
        except BaseException:
            self.let_go()
            raise
        shelf.serve(self)
        self._told = window._pushed, self._aggregator._out

    def check_open(self) -> None:
        """Before rows come."""
        self.shelf.room()

    def changed(self, answers: Any) -> None:
        """Rows have come; what they have answered is told with the error if there is one."""
        came, left = self._told
        self._told = self.window._pushed, self._aggregator._out
        if self.only_synced:
            return
        try:
            self.shelf.changed(self._told[0] - came, self._told[1] - left)
        except NotStoredError as error:
            error.answers = answers
            raise

    def close(self) -> None:
        """Store all, and let go."""
        self.shelf.close()

    def let_go(self) -> None:
        """Let others open the window as the store has it."""
        self.shelf.abandon()

    @property
    def _aggregator(self) -> StoredAggregator:
        keeper = self.window._engine.keeper
        assert isinstance(keeper, Each)
        found = keeper.windows[0]
        assert isinstance(found, StoredAggregator)
        return found

    def settle(self) -> None:
        """Tell the columns what they may drop."""
        engine = self.window._engine
        self._aggregator.settle()
        assert isinstance(engine.tracker.kept, StoredRows)
        engine.tracker.kept.drop(int(engine.tracker.states[START][0]))

    def content(self) -> dict[str, Any]:
        """What tells how to go on, beside the columns."""
        window, engine = self.window, self.window._engine
        return {
            "window": described_window(window),
            "stands": where_it_stands(window),
            "states": [int(state[0]) for state in engine.tracker.states],
            "measures": [str(column.dtype) for column in engine.tracker.kept.columns],
            "tail": saved_batch(engine.tail),
            "pushed": window._pushed,
            "note": self.note,
            "aggregator": self._aggregator.content(),
        }

    def _go_on(self, content: Any) -> None:
        try:
            self._restore(content)
        except SavedError:
            raise
        except NONSENSE as error:
            raise SavedError(f"what the store has of this window is none: {error}.") from error

    def _restore(self, content: Any) -> None:
        window, engine = self.window, self.window._engine
        if "window" not in content:
            raise SavedError("what the store has is no sash.Window, but an aggregator.")
        mine, stored = described_window(window), content["window"]
        options = mine.pop("options"), stored["options"]
        each = [(what, stored[what], mine[what]) for what in mine]
        each += [(what, options[1].get(what), given) for what, given in options[0].items()]
        for what, theirs, ours in each:
            if theirs != ours:
                raise SavedError(
                    f"the window in the store is another: its {what} is {theirs!r}, not {ours!r}."
                )
        restore_states(engine, [np.array([n], np.int64) for n in content["states"]], 1)
        if any(kind not in MEASURES for kind in content["measures"]):
            raise ValueError("its rows are measured by nothing")
        kept: Any = engine.tracker.kept
        if content["measures"]:
            kept.settle(content["measures"])
        start, end = (int(engine.tracker.states[k][0]) for k in (START, END))
        there = kept.columns and kept.columns[0].column.end == end
        if engine.tracker.measures and end > start and not there:
            raise ValueError("its rows are missing")
        self._aggregator.restore(content["aggregator"])
        engine.tail = saved_batch_again(content["tail"])
        going_on(window, content["stands"])
        if type(content["pushed"]) is not int or content["pushed"] < 0:
            raise ValueError("its rows were not counted")
        window._pushed = content["pushed"]
        self.note = content.get("note")

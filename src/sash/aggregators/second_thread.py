"""Two threads on one window: one slides it, the other sums chunks for it.

They share the rings and a *desk*, an array of numbers that each of them reads as the other writes
it. Both run without Python's lock, so a chunk changes hands in less than a microsecond.

The second thread is started for one call and ends with it. While it has nothing to do it offers its
core to others. A chunk that it has not begun with when its sums are needed is summed by the first
thread, which so never waits for one that does not run. If it fails, the first one stops waiting,
and its error is raised by the call.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any

import numpy as np

from sash.aggregators.chunk_sizes import optimal_chunk
from sash.aggregators.cores import cores

LINE = 16  # numbers that are written by different threads are two cache lines apart
START, END, TAKEN, DONE, STOP, FAILED = 0, 1, LINE, 2 * LINE, 3 * LINE, 3 * LINE + 1
CELLS = 4 * LINE

NEVER = 1 << 62
"""The position from which on values stand in rows, where all of them stand in slots."""

PAYS = 2_048
"""A chunk of so many values is worth handing over; with fewer, one thread is as fast or faster.

Measured on two cores: chunks of 513 gave 0.86 to 1.01 of the speed of one thread, chunks of 2,049
1.05 to 1.37, for Max (0.9 ns a ⊕) and MomentSketch (5 ns) alike, so the length alone decides. Not
every operator gains: for Sum two threads are a tenth to a fourth slower at any length, because the
main thread still does three ⊕ a slide. On a machine that is busy, none does.
"""

Call = Callable[..., Any]


def pays(rings: tuple[Any, ...], count: int, chunk: int) -> bool:
    """Whether two threads are faster than one, for `count` slides."""
    compiled = isinstance(rings[0], tuple)
    return compiled and chunk >= PAYS and count > 2 * chunk and cores() > 1


def drive_slide(
    call: Call, rings: tuple[Any, ...], state: Any, rows: Any, count: int, length: int, out: Any
) -> Any:
    """`slide` by an algorithm that has `lead` and `serve`."""
    F, E = int(state[0]), int(state[1])
    if length <= E - F:
        state = call("bulk_evict", rings, state, E - F - length + 1)
    chosen = int(rings[-1][0])
    chunk = chosen if 0 < chosen <= length else optimal_chunk(length)
    if pays(rings, count, chunk):
        desk = new_desk()
        with Second(call, rings, rows, E, desk):
            state = call("lead", rings, state, rows, count, length, chunk, desk, out)
    else:
        state = call("lead_alone", rings, state, rows, count, length, new_desk(), out)
    return call("settle", rings, state, rows, E)


def drive_slices(
    call: Call,
    rings: tuple[Any, ...],
    rows: Any,
    count: int,
    end: int,
    reach: int,
    every: int,
    out: Any,
) -> None:
    """Answer j < count for the `reach` rows before row end + j · every; `every` ≤ `reach`."""
    chunk = optimal_chunk(reach, every)
    if pays(rings, count, chunk):
        desk = new_desk()
        with Second(call, rings, rows, NEVER, desk):
            call("lead_slices", rings, rows, count, end, reach, every, chunk, desk, out)
    else:
        desk, chunk = new_desk(), reach // every
        call("lead_slices", rings, rows, count, end, reach, every, chunk, desk, out)


def new_desk() -> Any:
    """An empty desk; one that no other thread looks at is as good as any."""
    return np.zeros(CELLS, np.int64)


class Second:
    """The second thread, for as long as a `with` lasts."""

    def __init__(self, call: Call, *work: Any) -> None:
        self.call = call
        self.work = work
        self.desk = work[-1]
        self.error: BaseException | None = None
        self.thread = Thread(target=self._serve, name="sash second thread", daemon=True)

    def _serve(self) -> None:
        try:
            self.call("serve", *self.work)
        except BaseException as error:
            self.error = error
            self.desk[FAILED] = 1

    def __enter__(self) -> None:
        self.desk[STOP] = 1
        self.call("serve", *self.work)  # compiled here, so that nobody waits for it later
        self.desk[STOP] = 0
        try:
            with suppress(RuntimeError):  # no thread to be had: the first does it all
                self.thread.start()
        except BaseException:  # interrupted here, nobody else would tell it to stop
            self.desk[STOP] = 1
            raise

    def __exit__(self, *raised: object) -> None:
        self.desk[STOP] = 1
        if self.thread.ident is not None:
            self.thread.join()
        if self.error is not None:
            raise self.error

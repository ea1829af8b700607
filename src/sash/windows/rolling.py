"""`sash.rolling`: any aggregate over sliding windows of arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from sash.aggregators import sba
from sash.aggregators.aggregator import checked_operator
from sash.aggregators.answers import Array, LeafAnswers, dress
from sash.aggregators.choose import choose, need_of
from sash.aggregators.columns import leaves as read_leaves
from sash.aggregators.compiling import compile_plain
from sash.aggregators.registry import for_operator
from sash.aggregators.running import Job
from sash.operators.base import Operator
from sash.windows.bounds import CLOSED, count_bounds, extent, time_bounds, times_column
from sash.windows.definitions import Definition, Last, definition
from sash.windows.window import Window


def rolling(
    values: Any,
    window: int | str | timedelta | np.timedelta64 | Definition,
    op: Operator,
    *,
    times: Any = None,
    every: int | None = None,
    min_size: int = 1,
    closed: str = "right",
    algorithm: str = "auto",
    threads: int = 1,
) -> Any:
    """The answer of `op` for the window that ends at each row.

    values     a NumPy or Arrow array, a pandas or polars series, a list; several columns as a
               table, a data frame or a dict, of which `op` names those it reads
    window     a number of rows (1000), a length of time ("1h", a timedelta) with `times`, or any
               definition, such as `sash.session("30min")`
    times      the time of each row, which must not go back; with integers, write "60i"
    every      answer only each so-many-th row
    min_size   no answer until the window holds so many rows
    closed     which ends of the window count: right, (t - w, t]; left; both; neither
    algorithm  a name from `sash.algorithms()`; "auto" picks the fastest
    threads    split the work over so many threads; the answers are the same to the bit

    NumPy comes back as NumPy (a missing answer is NaN, NaT or None), Arrow and what speaks it as
    Arrow, a list as a list. An operator with several answers gives a dict or a table. Windows that
    do not end at rows give an `Answers`: all that there are, with their times.

    >>> import sash
    >>> sash.rolling([3, 1, 4, 1, 5], 3, sash.Max())
    [3, 3, 4, 4, 5]
    """
    _check(op, every, min_size, closed, threads)
    if isinstance(window, (Definition, Mapping)):
        window = definition(window)
        if every is not None or closed != "right":
            raise ValueError(f"{window!r} says itself when it answers: leave every and closed out.")
        if not isinstance(window, Last) or not isinstance(window.every, int):
            return _defined(values, window, op, times, min_size, algorithm)
        size, every, closed = window.size, window.every, window.closed
        window = size if isinstance(size, int) else str(size)
    leaves, kind = read_leaves(values, op)
    rows = len(leaves[0].inputs[0])
    name = choose(need_of(op, threads=threads)).algorithm if algorithm == "auto" else algorithm
    module = for_operator(name, op)
    if _is_count(window):
        bounds = _Bounds.of_rows(rows, int(window), every or 1, closed)  # type: ignore[arg-type]
    elif times is None:
        raise ValueError(f"a window of {window!r} needs the rows' times: give times=…")
    else:
        given = times_column(times, rows)
        bounds = _Bounds(rows, *time_bounds(given, window, every or 1, closed))
    # Each leaf has a loop of its own: it is compiled once, whatever it is asked together with.
    answers = []
    for leaf in leaves:
        job = Job(module, leaf.operator, [leaf], nan=kind == "numpy")
        roll = _roll_rows if bounds.plain else _roll_bounds
        found = roll(job, bounds, threads)
        _settle(job, found, bounds, min_size)
        answers.append(found)
    return dress(op, answers, kind)


def over_stretches(
    values: Mapping[str, Any], op: Operator, starts: Array, ends: Array
) -> list[LeafAnswers]:
    """What each leaf answers for stretches of rows, which rise."""
    leaves, _ = read_leaves(values, op)
    bounds = _Bounds(len(leaves[0].inputs[0]), starts, ends)
    answers = []
    for leaf in leaves:
        job = Job(sba, leaf.operator, [leaf])
        found = _roll_bounds(job, bounds, 1)
        _settle(job, found, bounds, 1)
        answers.append(found)
    return answers


def _defined(
    values: Any, window: Definition, op: Operator, times: Any, min_size: int, algorithm: str
) -> Any:
    """A window of any kind, over all rows, to its end."""
    kept = Window(op, window, algorithm=algorithm, min_size=min_size)
    return kept.all_of(values, times)


class _Bounds:
    """Which rows each answer is for. The last so many at each row need not be listed."""

    def __init__(
        self,
        rows: int,
        starts: Array | None,
        ends: Array | None,
        length: int = 0,
        every: int = 0,
    ) -> None:
        """every: how far each window is from the last, if they are all as far and of `length`."""
        self.rows = rows
        self.length = length
        self.every = every
        self.plain = starts is None
        self._starts, self._ends = starts, ends

    @classmethod
    def of_rows(cls, rows: int, length: int, every: int, closed: str) -> _Bounds:
        if length < 1:
            raise ValueError(f"a window holds at least 1 row, not {length}.")
        if closed == "right" and every == 1:
            return cls(rows, None, None, min(length, max(rows, 1)))
        reach = length + (closed == "both") - (closed == "neither")
        return cls(rows, *count_bounds(rows, length, every, closed), reach, every)

    @property
    def starts(self) -> Array:
        if self._starts is None:
            self._starts, self._ends = count_bounds(self.rows, self.length, 1, "right")
        return self._starts

    @cached_property
    def extent(self) -> tuple[int, int]:
        """How many rows the shortest and the longest window have; the latter is 1 at least."""
        least, most = compile_plain(extent)(self.starts, self.ends)
        return int(least), int(most)

    @property
    def ends(self) -> Array:
        if self._ends is None:
            self._starts, self._ends = count_bounds(self.rows, self.length, 1, "right")
        return self._ends


def _check(op: Any, every: Any, min_size: Any, closed: str, threads: Any) -> None:
    checked_operator(op)
    if closed not in CLOSED:
        raise ValueError(f"closed must be one of {', '.join(CLOSED)}, not {closed!r}.")
    for name, number, least in (
        ("every", 1 if every is None else every, 1),
        ("min_size", min_size, 0),
        ("threads", threads, 1),
    ):
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
            raise TypeError(f"{name} must be a whole number, not {number!r}.")
        if number < least:
            raise ValueError(f"{name} must be at least {least}, not {number}.")


def _is_count(window: Any) -> bool:
    if isinstance(window, (str, timedelta, np.timedelta64)):
        return False
    if isinstance(window, (int, np.integer)) and not isinstance(window, bool):
        return True
    raise TypeError(
        f"a window is a number of rows, such as 1000, or a length of time, such as '1h'; "
        f"not {window!r}."
    )


def _roll_rows(job: Job, bounds: _Bounds, threads: int) -> LeafAnswers:
    rows, length = bounds.rows, bounds.length
    out, (answers,) = job.outputs(rows)
    if job.algorithm is not sba:
        _one_thread(job, threads)
        rings = job.rings(length)
        job.slide(rings, job.new_state(), rows, length, out)
        return job.collect(out, [answers])[0]
    entry = "roll_long" if length >= sba.BLOCK else "roll_short"

    def part(start: int, end: int) -> None:
        lcs = job.buffer(2 * max(length, sba.BLOCK) + 1)
        csa = job.buffer(sba.BLOCK)
        job.call(entry, job.rows, start, end, length, lcs, csa, out)

    chunks = -(-rows // length)
    each = -(-chunks // _useful(threads, chunks)) * length
    _in_parts(part, [*range(0, rows, each), rows] if rows else [0])
    return job.collect(out, [answers])[0]


def _roll_bounds(job: Job, bounds: _Bounds, threads: int) -> LeafAnswers:
    starts, ends = bounds.starts, bounds.ends
    count = len(starts)
    out, (answers,) = job.outputs(count)
    if job.algorithm is not sba:
        _one_thread(job, threads)
        if count and 0 < bounds.every <= bounds.length and hasattr(job.algorithm, "drive_slices"):
            reach = min(bounds.length, int(ends[-1]) + bounds.every)
            rings = job.rings(reach // bounds.every + 1)
            job.algorithm.drive_slices(
                job.call, rings, job.rows, count, int(ends[0]), reach, bounds.every, out
            )
        elif count:
            # What enters between two answers is there before what leaves between them has left.
            room = int((ends - np.concatenate([starts[:1], starts[:-1]])).max())
            rings = job.rings(room)
            state = job.new_state()
            job.call("slide_bounds", rings, state, job.rows, starts, ends, 0, count, out)
        return job.collect(out, [answers])[0]
    _, widest = bounds.extent

    def part(first: int, last: int) -> None:
        job.call("roll_bounds", job.rows, starts, ends, first, last, job.ring(widest), out)

    cuts = [0, count] if count else [0]
    if threads > 1 and count:
        find = compile_plain(sba.boundary_before)
        wanted = [count * k // threads for k in range(1, threads)]
        cuts = sorted({0, count, *(int(find(starts, ends, count, w)) for w in wanted)})
    _in_parts(part, cuts)
    return job.collect(out, [answers])[0]


def _one_thread(job: Job, threads: int) -> None:
    if threads > 1:
        name = job.algorithm.__name__.rpartition(".")[2]
        if hasattr(job.algorithm, "drive_slide"):
            raise ValueError(f"algorithm={name!r} starts a thread of its own; leave threads at 1.")
        raise ValueError(f"algorithm={name!r} runs in one thread; threads={threads} needs 'auto'.")


def _useful(threads: int, parts: int) -> int:
    return max(1, min(threads, parts, 4 * (os.cpu_count() or 1)))


def _in_parts(part: Any, cuts: list[int]) -> None:
    """Run part(start, end) between the cuts, in as many threads as there are parts."""
    ranges = list(pairwise(cuts))
    if len(ranges) <= 1:
        for start, end in ranges:
            part(start, end)
        return
    part(0, 0)  # compiled once, before the threads ask for it
    with ThreadPoolExecutor(len(ranges)) as pool:
        for done in [pool.submit(part, start, end) for start, end in ranges]:
            done.result()


def _settle(job: Job, answers: LeafAnswers, bounds: _Bounds, min_size: int) -> None:
    """Windows that hold no value, or too few rows, answer as they should."""
    (mask,) = job.valid
    if mask is not None:
        before = np.concatenate([[0], np.cumsum(mask)])
        answers.settle_empty(before[bounds.ends] == before[bounds.starts])
    elif not bounds.plain and bounds.extent[0] < 1:
        answers.settle_empty(bounds.ends == bounds.starts)
    if min_size > 1 or (not bounds.plain and bounds.extent[0] < min_size):
        answers.hide(bounds.ends - bounds.starts < min_size)

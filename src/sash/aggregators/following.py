"""One window that follows given bounds, from one call to the next.

The values of a window are counted from the first that ever came. `follow` is told which rows come,
which values each answer is for, and which are to be held in the end: by a compiled loop if there
are many rows, else one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sash.aggregators.aggregator import FEW_ROWS, STALE, Aggregator
from sash.aggregators.answers import Array, LeafAnswers
from sash.aggregators.columns import Column
from sash.aggregators.columns import column as as_column
from sash.aggregators.keeping import FEW, Journal, Kept
from sash.aggregators.running import Job


class Bounds(NamedTuple):
    """The window holds S ≤ i < E and, at the end, S_then ≤ i < E_then; value E is the first row.

    Answer j is for the values starts[j] ≤ i < ends[j]; neither ever goes back.
    """

    S: int
    E: int
    S_then: int
    E_then: int
    starts: Any
    ends: Any


def follow(
    window: Aggregator, values: dict[str, Column], rows: int, bounds: Bounds
) -> tuple[list[LeafAnswers] | None, list[Any] | None]:
    """Answers for all bounds: by leaf if a compiled loop found them, else as objects."""
    _align(window, bounds)
    kept = window._kept
    compiles = rows >= FEW_ROWS or (kept is not None and kept.in_arrays and len(window) > FEW)
    compiles = compiles and bool(values) and not window.stored
    with window._types_if_done():
        if rows:
            window.settle_by(values)
        job, kept, _ = window._job(values, few=0, taking=True) if compiles else (None, None, 0)
        if job is None or kept is None:
            each = list(window._each(values)) if rows else []
            return None, follow_slowly(window, each, bounds)
        return _follow_compiled(window, job, kept, bounds), None


# One by one


def follow_slowly(window: Aggregator, rows: list[Any], bounds: Bounds) -> list[Any]:
    """The answers one by one; if anything fails, the window is as it was."""
    if window.never_fails:  # no value goes in before all are tried
        for value in rows:
            if not window.is_easy(value):
                window._lifted(window._cells(value)[0], window._in)
        return each_answer(window, rows, bounds)
    with Undo(window):
        return each_answer(window, rows, bounds)


def each_answer(window: Aggregator, rows: list[Any], bounds: Bounds) -> list[Any]:
    """The answers one by one; an error leaves the window half-way."""
    _align(window, bounds)
    answers: list[Any] = []
    E = bounds.E
    steps = zip((*bounds.starts, bounds.S_then), (*bounds.ends, bounds.E_then), strict=True)
    wanted = len(bounds.starts)
    for start, end in steps:
        leaving = min(start, E) - window._out
        if leaving > 0:
            window.bulk_evict(leaving)
        if start > E:  # what no answer is for never comes in
            window._out = window._in = E = start
        while end > E:
            window.insert(rows[E - bounds.E])
            E += 1
        if len(answers) < wanted:
            answers.append(window.query())
    return answers


def _align(window: Aggregator, bounds: Bounds) -> None:
    """An empty window goes on with whatever number is next."""
    if not len(window):
        window._in = window._out = bounds.E


class Undo:
    """Several steps on a window that an error in any of them undoes."""

    def __init__(self, window: Aggregator) -> None:
        assert window._undo is None
        window._undo = self
        self.window = window
        self.untyped = window._kept is None
        self.kept = kept = window._kept
        self.counts = window._in, window._out, window._answer
        self.beside = window._beside()
        if kept is not None:
            self.before = kept.state, kept.capacity, kept.rings, kept.in_arrays
            kept.journals = []

    def note(self, leaving: int) -> None:
        """Remember what is known of the oldest rows beside their partials."""
        self.beside.note(leaving)

    def __enter__(self) -> Undo:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        kept, window = self.kept, self.window
        window._undo = None
        journals: list[Journal] = []
        if kept is not None:
            journals, kept.journals = kept.journals or [], None
        if error is None:
            return
        if kept is not None:
            for journal in reversed(journals):
                journal.undo()
            kept.state, kept.capacity, kept.rings, kept.in_arrays = self.before
        if self.untyped:  # what is refused does not settle types
            window._kept, window._types, window._sample, window._easy = None, (), None, None
        window._in, window._out, window._answer = self.counts
        self.beside.undo()


# In one loop


def _follow_compiled(window: Aggregator, job: Job, kept: Kept, bounds: Bounds) -> list[LeafAnswers]:
    starts, ends = np.asarray(bounds.starts, np.int64), np.asarray(bounds.ends, np.int64)
    longest = max(int((ends - starts).max(initial=0)), bounds.E_then - bounds.S_then, len(window))
    kept.to_arrays(job.code, longest)
    out, answers = job.outputs(len(starts))
    then = bounds.S_then, bounds.E_then
    with kept.unless_it_fails(bounds.E_then - bounds.E, kept.may_stop) as rings:
        kept.state = job.call(
            "follow",
            *(rings, kept.state, job.rows, 0, bounds.S, bounds.E),
            *(starts, ends, 0, len(starts), *then, out),
        )
    job.collect(out, answers)
    for leaf, found in enumerate(answers):
        _settle_empty(window, job, leaf, found, bounds, starts, ends)
        if found.leaf.operator.takes:
            values = found.fields[""]
            fetch = _fetching(window._payloads[leaf])
            answers[leaf] = with_payload(found, values < bounds.E, values - bounds.E, values, fetch)
    _remember(window, job, bounds)
    return answers


def _fetching(payloads: dict[int, Any]) -> Callable[[Array], list[Any]]:
    return lambda rows: list(zip(*(payloads[row] for row in rows.tolist()), strict=True))


def _settle_empty(
    window: Aggregator,
    job: Job,
    leaf: int,
    found: LeafAnswers,
    bounds: Bounds,
    starts: Array,
    ends: Array,
) -> None:
    """Windows that hold no value answer as they should."""
    mask = job.valid[leaf]
    if mask is None and not window._nulls[leaf]:
        found.settle_empty(ends == starts)
        return
    rows = len(job.leaves[leaf].inputs[0])
    new = np.ones(rows, bool) if mask is None else mask
    before = np.concatenate([[0], np.cumsum(np.concatenate([window._valid_before(leaf), new]))])
    found.settle_empty(before[ends - bounds.S] == before[starts - bounds.S])


def with_payload(
    found: LeafAnswers, old: Array, rows: Array, ids: Array, fetch: Callable[[Array], list[Any]]
) -> LeafAnswers:
    """Answers that are taken from rows: of this batch, or where `old` is True, of earlier ones.

    rows: the number of the row in its batch; ids: what `fetch` knows an earlier row by, which gives
    a list of values for each column.
    """
    wanted = old if found.there is None else old & found.there
    distinct = np.unique(ids[wanted])
    columns = found.leaf.payload
    fetched = fetch(distinct) if len(distinct) else [[] for _ in columns]
    extended = tuple(
        (name, _extended(given, more)) for (name, given), more in zip(columns, fetched, strict=True)
    )
    behind = len(columns[0][1]) + np.searchsorted(distinct, ids)
    found.leaf = replace(found.leaf, payload=extended)
    found.fields = {"": np.where(old, behind, rows)}
    return found


def _extended(given: Column, more: list[Any]) -> Column:
    """A column with some values behind its own, which may be of another type."""
    more = list(more)
    if not more:
        return given
    if given.kind == "arrow":
        with suppress(pa.ArrowException, OverflowError):
            added = pa.array(more, given.source.type)
            if _alike(added.to_pylist(), more):
                return as_column(pa.concat_arrays([given.source, added]))
    elif given.kind == "numpy" and given.source.dtype.kind in "biufmM":
        with suppress(TypeError, ValueError, OverflowError):
            added = np.array(more, given.source.dtype)
            if _alike(list(added) if added.dtype.kind in "mM" else added.tolist(), more):
                return as_column(np.concatenate([given.source, added]))
    return Column([*given.objects(), *more], "list", None, None)


def _alike(one: Any, other: Any) -> bool:
    """Whether nothing was lost when values got another type, in them or in their parts."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_alike(one[k], other[k]) for k in one)
    return bool(one == other or (one != one and other != other))


def _remember(window: Aggregator, job: Job, bounds: Bounds) -> None:
    """What must be known of the rows that stay, beside their partials."""
    S, E = bounds.S_then, bounds.E_then
    leaving = min(S, bounds.E) - bounds.S
    window._evicted(leaving)
    first = max(S, bounds.E)
    for leaf, given in enumerate(job.leaves):
        mask = job.valid[leaf]
        if mask is not None:
            kept = slice(first - bounds.E, E - bounds.E)
            window._nulls[leaf].extend((np.flatnonzero(~mask[kept]) + first).tolist())
        if given.operator.takes:
            rows = np.arange(first - bounds.E, E - bounds.E)
            each = [as_objects(column, rows) for _, column in given.payload]
            stay = zip(range(first, E), zip(*each, strict=True), strict=True)
            window._payloads[leaf].update(stay)
    window._out, window._in, window._answer = S, E, STALE


def as_objects(given: Column, rows: Array) -> list[Any]:
    """Some values of a column as Python objects."""
    taken = as_column(given.take(rows, None))
    return taken.objects()


def evict_by(window: Aggregator, policy: Callable[[Any, Any], Any], raw: bool, debug: bool) -> None:
    """Let a slide policy remove the oldest values; raw: it is shown partials, not answers."""
    if not raw or window._kept is None:
        window.evict_while(policy, debug=debug)
        return
    held, kept = len(window), window._kept
    kept.evict_while(lambda total, old: bool(policy(total, old)), debug)
    window._evicted(held - kept.held())

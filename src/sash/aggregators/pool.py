"""Many windows at once, one for each key: one compiled call handles all keys of a batch.

Keys are numbers from 0 on, their *codes*. Which rows each window holds and is asked for is told by
a `Plan`; how it is kept is its algorithm's matter, as for a single window.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from sash.aggregators.answers import LeafAnswers
from sash.aggregators.binding import bind
from sash.aggregators.columns import Leaf
from sash.aggregators.compiling import compile_plain
from sash.aggregators.keeping import InFields, Journal, Kept, as_items, as_partial
from sash.aggregators.plan import Array, Plan, find_need
from sash.aggregators.pool_content import MOST, content_of, restored
from sash.aggregators.pool_policy import follow_policy
from sash.aggregators.registry import fitting
from sash.aggregators.rings import flatten, settings
from sash.aggregators.running import Job, code_for, types_of
from sash.aggregators.segments import Segments
from sash.aggregators.slide_policies import SlidePolicy
from sash.aggregators.sources import may_raise
from sash.operators.base import Operator
from sash.operators.monoid import Partial


class Pool:
    """The windows of many keys, kept by one algorithm for one operator of fixed width."""

    def __init__(self, algorithm: ModuleType, operator: Operator, types: Any) -> None:
        """types: for each leaf of the operator those of the columns that it reads."""
        self.operator = operator
        self.types = tuple(tuple(np.dtype(kind) for kind in given) for given in types)
        self.monoid = operator.bind_leaves(self.types)
        if not self.monoid.fixed_width:
            raise TypeError(
                f"{operator!r} of such values has objects for partials, and cannot be compiled; "
                f"keep a window of its own for each key."
            )
        self.algorithm = fitting(algorithm, self.monoid)
        self.code = code_for(self.algorithm, operator, self.types)
        self.may_stop = may_raise(self.monoid)
        self.run = bind(self.algorithm, self.monoid)
        self.settled = settings(algorithm, operator, {})
        self.segments = self.no_segments()
        self.had_nulls = np.zeros(len(self.types), bool)
        self._jobs: dict[bool, Job] = {}

    def no_segments(self) -> Segments:
        """Room for windows, as it is without any."""
        return Segments(self.algorithm, self.monoid, self.settled, flatten(self.run.new()))

    def __len__(self) -> int:
        return self.segments.count

    def add(self, count: int) -> None:
        """So many more keys, with empty windows."""
        self.segments.add(count)

    def forget(self, codes: Array) -> None:
        """The windows of these keys are empty again, and take no room; codes may be used anew."""
        codes = np.unique(np.asarray(codes, np.int64))
        if len(codes) and not 0 <= codes[0] <= codes[-1] < len(self):
            raise IndexError(f"there are {len(self)} keys, and some of these codes are of none.")
        self.segments.forget(codes)
        self.segments.tidy_if_due(self.code, 0)

    @property
    def held(self) -> Array:
        """How many values each key's window holds."""
        return self.segments.held[: self.segments.count]

    def query(self, code: int) -> Partial:
        """The sum of what a key's window holds."""
        segments = self.segments
        if not self.held[code]:
            return self.monoid.identity()
        rings = [
            Journal(
                InFields(ring, lambda f: as_partial(self.monoid, f))
                if isinstance(ring, tuple)
                else ring
            )
            for ring in self.views(code)
        ]
        flat = [column[code].item() for column in segments.kept]
        try:
            return self.run.query(rings, as_items(self.algorithm, self.monoid, flat))
        except BaseException:
            for ring in rings:
                ring.undo()
            raise

    # Batches

    def follow(self, leaves: list[Leaf], plan: Plan, nan: bool = False) -> list[LeafAnswers]:
        """Let windows follow the bounds of a plan over rows that are grouped by key.

        A window without a value answers what `lower` says of the identity. nan: NaN may stand for
        an answer that is null. If the operator raises an error, nothing has changed.
        """
        job = self.job(leaves, nan)
        segments = self.segments
        self._make_room(plan, job)
        out, answers = job.outputs(len(plan.starts))
        with self.unless_it_fails(plan.keys, plan.E_then - plan.E, self.may_stop):
            job.call(
                "follow_keys",
                *(*segments.windows(), job.rows, plan.keys, plan.rows, plan.S, plan.E),
                *(plan.starts, plan.ends, plan.first, plan.last, plan.S_then, plan.E_then, out),
            )
        segments.held[plan.keys] = plan.E_then - plan.S_then
        self.done(job, len(plan.starts))
        return job.collect(out, answers)

    def follow_policy(
        self, leaves: list[Leaf], plan: Plan, policy: SlidePolicy, nan: bool = False
    ) -> tuple[list[LeafAnswers], Array]:
        """Insert one row after the other, and let a slide policy evict: an answer for each row.

        Beside the answers there is, for each row, the number of the oldest value that its window
        holds then. The plan tells `count`, and no bounds. If the policy cannot be compiled for this
        operator, that is a NotCompiledError; then too nothing has changed.
        """
        return follow_policy(self, leaves, plan, policy, nan)

    @contextmanager
    def unless_it_fails(self, keys: Array, counts: Array, may_stop: bool) -> Iterator[None]:
        """So many values for these keys that, if it fails, leave their windows as they were."""
        undo = self.segments.backup(keys, counts) if may_stop else None
        try:
            yield
        except BaseException:
            if undo is not None:
                undo()
            raise

    def done(self, job: Job, answers: int) -> None:
        """A batch has been handled."""
        for k, mask in enumerate(job.valid):
            if mask is not None:
                self.had_nulls[k] = True
        self.segments.tidy_if_due(self.code, answers)

    def job(self, leaves: list[Leaf], nan: bool) -> Job:
        """Compiled loops over these rows."""
        if types_of(leaves) != self.types:
            raise TypeError(
                f"these windows hold values of {_named(self.types)}, and were given "
                f"{_named(types_of(leaves))}."
            )
        if nan in self._jobs:
            return self._jobs[nan].over(leaves)
        job = Job(self.algorithm, self.operator, leaves, nan=nan)
        self._jobs[nan] = job.without_rows()
        return job

    def _make_room(self, plan: Plan, job: Job) -> None:
        segments = self.segments
        rows = min((len(array) for array in job.rows[:-1]), default=MOST)
        levels = np.empty(len(plan.keys), np.int64)
        growing = compile_plain(find_need)(
            *(plan.keys, plan.rows, plan.S, plan.E, plan.first, plan.last),
            *(plan.S_then, plan.E_then, plan.starts, plan.ends, rows),
            *(segments.count, segments.held, segments.levels, levels),
        )
        if growing < 0:
            raise ValueError(f"group {-1 - growing} of the plan is at odds with its window.")
        if growing:
            grows = levels > segments.levels[plan.keys]
            segments.grow(self.code, plan.keys[grows], levels[grows])

    # Single windows

    def take_over(self, code: int, kept: Kept) -> None:
        """Let the window of a key, so far empty, hold what a single one does."""
        held = kept.held()
        if not held:
            return
        kept.to_arrays(self.code, held)
        key = np.array([code], np.int64)
        self.segments.grow(self.code, key, np.array([kept.capacity.bit_length() - 1]))
        for ring, given in zip(self.views(code), kept.rings, strict=True):
            pairs = zip(ring, given, strict=True) if isinstance(ring, tuple) else [(ring, given)]
            for array, values in pairs:
                array[:] = values
        self.segments.set_states(code, kept.state)
        self.segments.held[code] = held

    def single(self, code: int) -> Kept:
        """What the window of a key holds, as a single one, which shares the pool's arrays."""
        kept = Kept(self.algorithm, self.monoid, self.settled)
        if self.held[code]:
            kept.capacity = 1 << int(self.segments.levels[code])
            kept.rings = self.views(code)
            kept.state = tuple(column[code].item() for column in self.segments.kept)
            kept.in_arrays, kept.compiled = True, self.code
        return kept

    def views(self, code: int) -> list[Any]:
        """The rings of a key's window, as parts of the arrays."""
        segments = self.segments
        each = zip(segments.offsets[code], segments.lengths[segments.levels[code]], strict=True)
        found: list[Any] = []
        for ring, (start, length) in zip(segments.rings(), each, strict=True):
            if isinstance(ring, tuple):
                found.append(tuple(array[start : start + length] for array in ring))
            else:
                found.append(ring[start : start + length])
        return found

    # Copies

    def content(self) -> dict[str, Any]:
        """All that the windows hold, as arrays of numbers by name."""
        return content_of(self)

    def restore(self, content: dict[str, Any]) -> None:
        """Take over what `content` gave; a ValueError if it cannot be such."""
        self.segments, self.had_nulls = restored(self, content)

    def copy(self) -> Pool:
        """The same windows once more, on their own."""
        found = copy.copy(self)
        found.had_nulls = self.had_nulls.copy()
        found.segments = self.segments.copy()
        return found


def _named(types: Any) -> str:
    return ", ".join(str(kind) for given in types for kind in given)

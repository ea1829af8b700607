"""The windows of all keys in shared arrays, for an operator whose partials are a few numbers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from sash.aggregators.aggregator import Aggregator, cast
from sash.aggregators.answers import LeafAnswers
from sash.aggregators.columns import Column, Leaf
from sash.aggregators.columns import leaves as read_leaves
from sash.aggregators.compiling import compile_plain
from sash.aggregators.following import (
    as_objects,
    with_payload,
)
from sash.aggregators.plan import Plan
from sash.aggregators.pool import Pool
from sash.aggregators.slide_policies import NotCompiledError, SlidePolicy
from sash.operators.base import Operator
from sash.windows.answers import Found, as_list
from sash.windows.batches import Batch, take
from sash.windows.definitions import SlideWhile
from sash.windows.each import Each, copied
from sash.windows.kept_rows import longer
from sash.windows.policies import Policy
from sash.windows.tracking import END, START, Cuts, Tracker

Array = np.ndarray[Any, Any]


class Pooled:
    """The windows of all keys in shared arrays, for an operator of fixed width."""

    def __init__(
        self, algorithm: ModuleType, operator: Operator, types: Any, tracker: Tracker
    ) -> None:
        self.operator = operator
        self.types = types
        self.pool = Pool(algorithm, operator, types)
        self.tracker = tracker
        self.had_nulls = [False for _ in operator.leaves]
        self.last_value = [np.zeros(0, np.int64) for _ in operator.leaves]
        """Of each key, the last value that is not null; kept for leaves that have had nulls."""
        self.no_rows: Batch | None = None
        """The columns of the last rows, without any."""

    def add(self, count: int) -> None:
        self.pool.add(count)
        self.last_value = [longer(each, len(self.pool), -1) for each in self.last_value]

    def follow(self, batch: Batch, order: Array | None, cuts: Cuts) -> Found:
        leaves = self._leaves(batch, order)
        plan = _plan(cuts)
        answers = self.pool.follow(leaves, plan, nan=batch.kind == "numpy")
        self.no_rows = batch.take(np.zeros(0, np.int64))
        return self._finished(answers, leaves, order, plan)

    def follow_policy(
        self, batch: Batch, order: Array | None, cuts: Cuts, policy: SlideWhile, debug: bool
    ) -> Found:
        """Let a policy decide what leaves; it is noted in `cuts` what is held then.

        A NotCompiledError, if it cannot be compiled: then nothing has changed.
        """
        leaves = self._leaves(batch, order)
        groups = cuts.groups
        S, E = cuts.before[START], cuts.before[END]
        upto = np.asarray(cuts.upto, np.int64)
        asked = np.repeat(np.arange(len(upto)), np.diff(upto, prepend=0))
        ends = np.asarray(cuts.ends, np.int64)
        earlier = np.flatnonzero(ends == np.asarray(E)[asked])  # before any of these rows
        known = [self.query(code) for code in np.asarray(groups.codes)[asked[earlier]].tolist()]
        plan = Plan(
            *(groups.codes, groups.first, S, E),
            count=np.asarray(groups.last) - np.asarray(groups.first),
        )
        source = policy.policy if policy.text is None else Policy(policy.text).source()
        if not isinstance(source, (str, FunctionType)):
            raise NotCompiledError("it is not a function")
        compiled = SlidePolicy(source, policy.raw)
        nan = batch.kind == "numpy"
        answers, starts = self.pool.follow_policy(leaves, plan, compiled, nan)
        rows = plan.rows[asked] + ends - 1 - plan.E[asked]
        starts = np.concatenate([starts, np.zeros(1, np.int64)])
        cuts.starts[:] = np.where(rows < plan.rows[asked], plan.S[asked], starts[rows])
        some = plan.count > 0
        cuts.after[START][some] = starts[(plan.rows + plan.count - 1)[some]]
        answers = [leaf.take(np.maximum(rows, 0)) for leaf in answers]
        self.no_rows = batch.take(np.zeros(0, np.int64))
        found = self._finished(answers, leaves, order, _plan(cuts))
        if not len(earlier):
            return found
        objects = as_list(found.dress("list"))
        for j, answer in zip(earlier.tolist(), known, strict=True):
            objects[j] = answer
        return Found(self.operator, None, objects)

    @classmethod
    def taking_over(cls, each: Each, types: Any, batch: Batch, tracker: Tracker) -> Pooled:
        """The pool that keeps what single windows do."""
        first = each.windows[0]
        found = cls(first._module, each.operator, types, tracker)
        found.add(len(each.windows))
        found.no_rows = batch.take(np.zeros(0, np.int64))
        for code, window in enumerate(each.windows):
            window = copied(window)
            if window._kept is None and len(window):  # nulls alone
                window._settle_types(types)
            kept = window._kept
            if kept is not None:
                found.pool.take_over(code, kept)
            for k, nulls in enumerate(window._nulls):
                if nulls:
                    found.had_nulls[k] = found.pool.had_nulls[k] = True
                    values = (p for p in range(window._in - 1, window._out - 1, -1))
                    found.last_value[k][code] = next((p for p in values if p not in nulls), -1)
                else:
                    found.last_value[k][code] = window._in - 1
        return found

    def as_each(self, make: Callable[[], Aggregator]) -> Each:
        """A window of its own for each key, holding what it does here."""
        found = Each(make)
        found.add(len(self.pool))
        states = self.tracker.states
        for code, window in enumerate(found.windows):
            window._types = self.types
            window._kept = self.pool.single(code)
            window._out, window._in = int(states[START][code]), int(states[END][code])
            for k, had in enumerate(self.had_nulls):
                # Of earlier nulls it is not known where they are, nor does it matter any more.
                last = int(self.last_value[k][code]) if had else window._in
                window._nulls[k].extend(range(max(last + 1, window._out), window._in))
        return found

    def _leaves(self, batch: Batch, order: Array | None) -> list[Leaf]:
        """The columns that are lifted, grouped by key and of the windows' types."""
        given, _ = read_leaves(batch.columns, self.operator)
        return [
            replace(
                leaf,
                inputs=tuple(
                    cast(c if order is None else _grouped(c, order), kind)
                    for c, kind in zip(leaf.inputs, types, strict=True)
                ),
            )
            for leaf, types in zip(given, self.types, strict=True)
        ]

    def _finished(
        self, answers: list[LeafAnswers], leaves: list[Leaf], order: Array | None, plan: Plan
    ) -> Found:
        at = len(self.tracker.of_rows(None, None))
        for k, (found, leaf) in enumerate(zip(answers, leaves, strict=True)):
            found.settle_empty(self._without_value(k, leaf, plan))
            if leaf.operator.takes:
                self._take(found, order, plan, slice(at, at + len(leaf.payload)))
            at += len(leaf.payload)
        return Found(self.operator, answers)

    def _without_value(self, k: int, leaf: Leaf, plan: Plan) -> Array:
        """Which answers are for windows without any value."""
        mask = leaf.valid
        if mask is None and not self.had_nulls[k]:
            return np.asarray(plan.ends == plan.starts)
        last = self.last_value[k]
        if not self.had_nulls[k]:  # so far, all were values
            known = len(self.pool)
            last[:known] = self.tracker.states[END][:known] - 1
            self.had_nulls[k] = True
        valid = np.ones(len(leaf.inputs[0]), bool) if mask is None else mask
        empty = np.zeros(len(plan.starts), bool)
        its_last = last[plan.keys]
        compile_plain(find_empty)(
            *(valid, plan.rows, plan.E, plan.E_then, plan.first, plan.last),
            *(plan.starts, plan.ends, its_last, empty),
        )
        last[plan.keys] = its_last
        return empty

    def _take(self, found: LeafAnswers, order: Array | None, plan: Plan, columns: slice) -> None:
        """Answers that tell a value's number become those of rows, of this batch or kept ones."""
        group = np.repeat(np.arange(len(plan.keys)), plan.last - plan.first)
        values = found.fields[""]
        if found.there is not None:  # where there is no answer, no row is told
            values = np.where(found.there, values, plan.E[group])
        old = values < plan.E[group]
        rows = np.where(old, 0, values - plan.E[group] + plan.rows[group])
        if found.there is not None:
            rows = np.where(found.there, rows, 0)
        if order is not None and len(order):
            rows = order[rows]
        keys, kept = plan.keys[group], self.tracker.kept
        slots = kept.offsets[keys] + (values & (kept.rooms[keys] - 1))
        taken = kept.columns[columns]
        with_payload(found, old, rows, slots, lambda at: [c[at].tolist() for c in taken])

    def payload(self, batch: Batch, order: Array | None) -> list[Any]:
        """For each column that answers are taken from, its values at some grouped rows."""
        found = []
        for leaf in read_leaves(batch.columns, self.operator)[0]:
            for _, given in leaf.payload:
                plain = given.kind == "numpy" and given.source.dtype.kind in "iuf"
                found.append(_reading(given, order, plain))
        return found

    def query(self, code: int) -> Any:
        """The answer for what a key's window holds."""
        assert self.no_rows is not None
        leaves = self._leaves(self.no_rows, None)
        key, zero, one = (np.array([n], np.int64) for n in (code, 0, 1))
        S, E = (self.tracker.states[k][key] for k in (START, END))
        plan = Plan(
            *(key, zero, S, E),
            **{"first": zero, "last": one, "S_then": S, "E_then": E, "starts": S, "ends": E},
        )
        answers = self.pool.follow(leaves, plan)
        return as_list(self._finished(answers, leaves, None, plan).dress("list"))[0]

    def forget(self, codes: Array) -> None:
        self.pool.forget(codes)
        for each in self.last_value:
            each[codes] = -1

    def copy(self, tracker: Tracker) -> Pooled:
        found = copy.copy(self)
        found.tracker = tracker
        found.pool = self.pool.copy()
        found.had_nulls = list(self.had_nulls)
        found.last_value = [each.copy() for each in self.last_value]
        return found


def _plan(cuts: Cuts) -> Plan:
    upto = np.asarray(cuts.upto, np.int64)
    return Plan(
        keys=cuts.groups.codes,
        rows=cuts.groups.first,
        S=cuts.before[START],
        E=cuts.before[END],
        first=np.concatenate([np.zeros(1, np.int64), upto[:-1]]),
        last=upto,
        S_then=cuts.after[START],
        E_then=cuts.after[END],
        starts=np.asarray(cuts.starts, np.int64),
        ends=np.asarray(cuts.ends, np.int64),
    )


def _grouped(given: Column, order: Array) -> Column:
    """A column in another order; of numbers, beside what they were made of."""
    if given.numbers is None:
        return take(given, order)
    numbers = None if given.numbers is None else given.numbers[order]
    valid = None if given.valid is None else given.valid[order]
    return Column(given.source, given.kind, numbers, valid)


def _reading(given: Column, order: Array | None, plain: bool) -> Callable[[Array], Any]:
    """Values of a column at grouped rows: as an array of numbers, or of objects."""

    def read(rows: Array) -> Any:
        rows = rows if order is None else order[rows]
        if plain:
            return given.source[rows]
        found = np.empty(len(rows), object)
        for i, value in enumerate(as_objects(given, rows)):
            found[i] = value
        return found

    return read


def find_empty(valid, rows, E, E_then, first, last, starts, ends, its_last, empty):  # type: ignore[no-untyped-def]
    """Which answers are for no value at all; and the last value of each group."""
    for g in range(len(rows)):
        p = E[g]
        for j in range(first[g], last[g] + 1):
            end = ends[j] if j < last[g] else E_then[g]
            while p < end:
                if valid[p - E[g] + rows[g]]:
                    its_last[g] = p
                p += 1
            if j < last[g]:
                empty[j] = its_last[g] < starts[j]

"""Rows in order go in, answers come out: where windows are cut, kept and asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.aggregator import FEW_ROWS, Aggregator, cast, tells_type
from sash.aggregators.answer_types import declared_types
from sash.aggregators.answers import Array
from sash.aggregators.columns import Leaf
from sash.aggregators.columns import leaves as read_leaves
from sash.aggregators.following import Bounds, Undo, follow_slowly
from sash.aggregators.registry import for_operator
from sash.aggregators.running import check
from sash.aggregators.shelf import Shelf
from sash.aggregators.slide_policies import NotCompiledError
from sash.aggregators.stored import StoredAggregator
from sash.operators.base import Operator
from sash.windows import cutting
from sash.windows.answers import Found
from sash.windows.batches import Batch
from sash.windows.definitions import SlideWhile
from sash.windows.each import Each
from sash.windows.kept_rows import KeptRows
from sash.windows.keys import by_key
from sash.windows.pooled import Pooled
from sash.windows.roles import RefusedRowError, Roles, in_order
from sash.windows.shapes import Shape
from sash.windows.tracking import CAME, END, NEWEST, START, Cuts, Groups, MisplacedError, Tracker

NOTHING = np.zeros(0, np.int64)
NO_MARKS = np.zeros(0, bool)
BY_TIME = 2**62
"""Instead of a row: that of answers which time brought."""
NOT_ROLLED: Any = object()
ALONE = Groups([0], [0], [1], [0], [False])
"""One row of the only key."""


@dataclass(frozen=True)
class Given:
    """Answers in the order in which they came, and what each is for."""

    found: Found
    times: Any
    since: Any
    codes: Any
    held: Any
    """How many rows each is for."""
    keys: list[Any] | None = None
    """Whose they are, if codes no longer tell."""
    rows: Any = None
    """The row that each came at, or the number of rows if time brought it; None for all of them."""

    def then(self, more: Given, keys: list[Any]) -> Given:
        """These and then more; the keys are told now, as codes will be others'."""
        codes = np.concatenate([self.codes, more.codes])
        mine = [keys[code] for code in codes.tolist()]
        if not len(more.codes):
            return replace(self, keys=mine)
        times, since, held = (
            np.concatenate([getattr(self, name), getattr(more, name)])
            for name in ("times", "since", "held")
        )
        rows = (
            None if self.rows is None else np.concatenate([self.rows, [BY_TIME] * len(more.codes)])
        )
        return Given(self.found.then(more.found), times, since, codes, held, mine, rows)


class Engine:
    """All windows of one definition and one operator."""

    def __init__(
        self,
        operator: Operator,
        shape: Shape,
        *,
        least: int,
        idle: int,
        algorithm: str,
        keyed: bool,
        dtype: Any = None,
        debug: bool = False,
        keeps_times: bool = False,
        shelf: Shelf | None = None,
        rows: KeptRows | None = None,
    ) -> None:
        """shelf: where the only window is kept, if it has a store, with what its rows need."""
        self.shelf = shelf
        self.operator = operator
        self.shape = shape
        self.algorithm = algorithm
        self.module = for_operator(algorithm, operator)
        self.keyed = keyed
        self.dtype = dtype
        self.debug = debug
        self.tracker = Tracker(shape, least, idle, keeps_times)
        if rows is not None:
            self.tracker.kept = rows
        self.roles = Roles(operator, shape)
        self.keeper: Each | Pooled | None = None
        self.keys = 0
        self.tail: Batch | None = None
        """Rows that have come and are in no window yet, as their right ends are open."""
        self.vetted: Any = None  # the types of the first rows that came to wait
        self.sample: Any = None
        self.answered: tuple[dict[str, Any], list[Any]] | None = None
        """The types of the last rows' columns, and those of their answers."""
        self.touched = NOTHING
        """The keys that the last rows, or the time that came with them, may have changed."""
        self.interprets = False
        """Whether the policy has turned out to be one that cannot be compiled."""
        if not keyed:
            self.keeper = Each(self._new_window)
            self.add_keys(1)

    def _new_window(self) -> Aggregator:
        if self.shelf is None:
            return self._blank()
        return StoredAggregator(
            self.algorithm,
            self.operator,
            dtype=self.dtype,
            store=self.shelf.place,
            shelf=self.shelf,
        )

    def _blank(self) -> Aggregator:
        """A window that holds nothing."""
        return Aggregator(self.algorithm, self.operator, dtype=self.dtype)

    def add_keys(self, count: int) -> None:
        if count > 0:
            self.keys += count
            self.tracker.add(self.keys)
            if self.keeper is not None:
                self.keeper.add(count)

    def vet(self, batch: Batch) -> None:
        """Refuse rows that could not go in when their turn comes."""
        if not batch.rows:
            return
        self.roles.marks(batch, None)
        self.roles.along(batch, None, NOTHING, self.tracker.kept.columns)
        leaves, _ = read_leaves(self.roles.values(batch), self.operator)
        types = self._types_of(leaves) if self.vetted is None else self.vetted
        leaves = [
            replace(leaf, inputs=tuple(map(cast, leaf.inputs, kinds)))
            for leaf, kinds in zip(leaves, types, strict=True)
        ]
        monoid = self.operator.bind_leaves(types)
        check(leaves, monoid)
        if not monoid.fixed_width:
            window = self._blank()
            values = list(window._each(self.roles.values(batch)))
            if self.sample is None:
                self.sample = next((value for value in values if value is not None), None)
            for value in (self.sample, *values):
                window._lifted(window._cells(value)[0], 0)
        if all(tells_type(c) for leaf in leaves for c in leaf.inputs):
            self.vetted = types

    def _types_of(self, leaves: list[Leaf]) -> Any:
        return tuple(tuple(np.dtype(self.dtype or c.dtype) for c in leaf.inputs) for leaf in leaves)

    # Many rows

    def run(
        self,
        batch: Batch,
        now: int = cutting.NEVER,
        finish: bool = False,
        all_keys: bool = False,
        closing: Array = NOTHING,
    ) -> Given:
        """Rows come, in order for each key, and then the time `now`; for all keys, if it is said.

        closing: keys that are idle, and are to be forgotten.
        """
        keeper = self.keeper
        try:
            return self._run(batch, now, finish, all_keys, closing)
        except BaseException:
            if keeper is None:  # rows that are refused do not settle how windows are kept
                self.keeper = None
            raise

    def _run(self, batch: Batch, now: int, finish: bool, all_keys: bool, closing: Array) -> Given:
        before = 0
        if self.tail is not None:
            before = self.tail.rows
            batch = self.tail.then(batch)
        order, groups = self._groups(batch, before, all_keys or finish, now, finish, closing)
        times = NOTHING if batch.times is None else in_order(batch.times, order)
        along, marks = (
            self.roles.along(batch, order, times, self.tracker.kept.columns),
            self.roles.marks(batch, order),
        )
        self._settle(batch)
        few = isinstance(self.keeper, Each) and not self.keyed and batch.rows < FEW_ROWS
        few = few or self.shelf is not None
        try:
            cuts = self.tracker.cut(groups, times, along, marks, now, few)
        except MisplacedError as wrong:
            at = wrong.row if order is None or wrong.row >= len(order) else int(order[wrong.row])
            raise RefusedRowError(self._misplaced(batch, at, before, wrong.wrong)) from None
        keeper = self.keeper
        values = replace(batch, columns=self.roles.values(batch))
        if keeper is None:  # no row has ever come
            none = NOTHING
            return Given(Found(self.operator, None, []), none, none, none, none, rows=none)
        if isinstance(self.shape.definition, SlideWhile):
            payload = []  # a pool does not keep any for a policy
            found = self._follow_policy(values, order, cuts, self.shape.definition)
        else:
            payload = keeper.payload(values, order)
            found = keeper.follow(values, order, cuts)
        if batch.kind == "arrow":
            found.types = self._answer_types(values)
        self._keep(cuts, self.tracker.of_rows(times, along), payload)
        self.tracker.commit(cuts)
        self.touched = np.asarray(cuts.groups.codes)
        self._keep_tail(batch, order, cuts)
        return self._given(found, cuts, order, before, batch)

    def _follow_policy(
        self, batch: Batch, order: Array | None, cuts: Cuts, policy: SlideWhile
    ) -> Found:
        """By a compiled policy, if there are many rows and it can be; else by Python's."""
        keeper = self.keeper
        assert keeper is not None
        if isinstance(keeper, Each) and batch.rows >= FEW_ROWS and self._may_pool():
            types = self._types(batch)
            if types is not None:
                keeper = Pooled.taking_over(keeper, types, batch, self.tracker)
        if isinstance(keeper, Pooled):
            try:
                found = keeper.follow_policy(batch, order, cuts, policy, self.debug)
                self.keeper = keeper
                return found
            except NotCompiledError:
                self.interprets = True
                if keeper is self.keeper:
                    self.keeper = keeper.as_each(self._new_window)
        assert isinstance(self.keeper, Each)
        return self.keeper.follow_policy(batch, order, cuts, policy, self.debug)

    def _answer_types(self, batch: Batch) -> list[pa.DataType | None]:
        """Of each leaf's answers, the type that columns of these types give."""
        given = {name: getattr(c.source, "type", None) for name, c in batch.columns.items()}
        read = {name for leaf in self.operator.leaves for name in leaf.columns}
        if not given or (not batch.rows and not read <= given.keys()):
            return [None for _ in self.operator.leaves]
        if self.answered is None or self.answered[0] != given:
            leaves, _ = read_leaves(batch.columns, self.operator)
            self.answered = given, declared_types(self.operator, leaves, self.dtype)
        return self.answered[1]

    def _may_pool(self) -> bool:
        """Whether windows may be kept in a pool: it does not check a policy, nor keep payloads."""
        if self.shelf is not None:
            return False
        policy = isinstance(self.shape.definition, SlideWhile)
        takes = any(leaf.takes for leaf in self.operator.leaves)
        return not policy or not (self.debug or self.interprets or takes)

    def _types(self, batch: Batch) -> Any:
        """The types of what is lifted, if its partials are a few numbers; else None."""
        leaves, _ = read_leaves(self.roles.values(batch), self.operator)
        types = self._types_of(leaves)
        if isinstance(self.keeper, Each):
            known = (window._types for window in self.keeper.windows if window._types)
            types = next(known, types)
        return types if self.operator.bind_leaves(types).fixed_width else None

    def _groups(
        self, batch: Batch, before: int, all_keys: bool, now: int, finish: bool, closing: Array
    ) -> tuple[Array | None, Groups]:
        if not self.keyed:
            first, last, seen = (np.array([n], np.int64) for n in (0, batch.rows, before))
            return None, Groups(np.zeros(1, np.int64), first, last, seen, np.array([finish]))
        codes = NOTHING if batch.codes is None else batch.codes
        order, there, last = by_key(codes, self.keys)
        first = np.concatenate([np.zeros(1, np.int64), last[:-1]]) if len(last) else last
        if all_keys or len(closing):
            rest = np.zeros(self.keys, bool)
            if all_keys:
                rest = self.tracker.due(now, finish)[: self.keys]
            rest[closing] = True
            rest[there] = False
            others = np.flatnonzero(rest)
            nowhere = np.full(len(others), batch.rows, np.int64)
            there = np.concatenate([there, others])
            first, last = np.concatenate([first, nowhere]), np.concatenate([last, nowhere])
        seen = np.zeros(len(there), np.int64)
        if before:
            known = np.bincount(codes[:before], minlength=self.keys)
            seen = known[there].astype(np.int64)
        ends = np.full(len(there), finish)
        if len(closing):
            ends |= np.isin(there, closing)
        return order, Groups(there, first, last, seen, ends)

    def _settle(self, batch: Batch) -> None:
        """With the first rows it is known how windows are kept."""
        if not batch.rows:
            return
        if self.keeper is not None:
            if self.keyed and isinstance(self.keeper, Each):
                self._pool_later(batch, self.keeper)
            return
        types = self._types(batch)
        # A policy is compiled when there are many rows; nulls alone tell no types.
        few = isinstance(self.shape.definition, SlideWhile) and batch.rows < FEW_ROWS
        if types is not None and self._may_pool() and not few and self._told(batch):
            self.keeper = Pooled(self.module, self.operator, types, self.tracker)
        else:
            self.keeper = Each(self._new_window)
        self.keeper.add(self.keys)

    def _pool_later(self, batch: Batch, keeper: Each) -> None:
        """Windows that had nothing but nulls are kept in a pool once a value tells the types."""
        takes = any(leaf.takes for leaf in self.operator.leaves)
        if takes or any(window._types for window in keeper.windows) or not self._told(batch):
            return
        types = self._types(batch)
        if types is not None and not isinstance(self.shape.definition, SlideWhile):
            self.keeper = Pooled.taking_over(keeper, types, batch, self.tracker)

    def _told(self, batch: Batch) -> bool:
        leaves, _ = read_leaves(self.roles.values(batch), self.operator)
        return all(tells_type(c) for leaf in leaves for c in leaf.inputs)

    def _keep(self, cuts: Cuts, others: list[Any], payload: list[Any]) -> None:
        """Keep of the rows what is asked for later."""
        columns = [*others, *payload]
        if not columns:
            return
        kept = self.tracker.kept
        if not kept.columns:
            kept.settle([getattr(c, "dtype", None) or c(NOTHING).dtype for c in columns])
        for k, given in enumerate(columns):
            wanted = getattr(given, "dtype", None) or given(NOTHING).dtype
            if wanted != kept.columns[k].dtype != object:
                wide = np.promote_types(wanted, kept.columns[k].dtype)
                kept.cast(k, object if payload and k >= len(columns) - len(payload) else wide)
        self.tracker.keep(cuts, columns)

    def _keep_tail(self, batch: Batch, order: Array | None, cuts: Cuts) -> None:
        if self.shape.closed[1]:
            return
        groups = cuts.groups
        waiting = []
        for g in range(len(groups.codes)):
            inside = int(cuts.after[END][g]) - int(cuts.before[END][g])
            waiting.append(np.arange(int(groups.first[g]) + inside, int(groups.last[g])))
        rows = np.concatenate(waiting) if waiting else NOTHING
        rows = rows if order is None else order[rows]
        self.tail = batch.take(np.sort(rows)) if len(rows) else None

    def _given(
        self, found: Found, cuts: Cuts, order: Array | None, before: int, batch: Batch
    ) -> Given:
        """Answers in the order of the rows that they came at."""
        starts, ends = np.asarray(cuts.starts, np.int64), np.asarray(cuts.ends, np.int64)
        held = ends - starts
        if self.shape.plain:
            return self._at_rows(found, held, order, before, batch)
        times, since, rows, upto = (
            np.asarray(each, np.int64) for each in (cuts.times, cuts.since, cuts.rows, cuts.upto)
        )
        if not self.keyed:
            return Given(found, times, since, None, held, rows=rows - before)
        each = np.diff(upto, prepend=0)
        codes = np.repeat(np.asarray(cuts.groups.codes), each)
        by_row = rows < np.repeat(np.asarray(cuts.groups.last), each)
        came = np.full(len(rows), batch.rows, np.int64)
        came[by_row] = rows[by_row] if order is None else order[rows[by_row]]
        sort = np.argsort(came, kind="stable") if by_row.all() else np.lexsort((times, came))
        if (sort[1:] > sort[:-1]).all():
            return Given(found, times, since, codes, held, rows=came - before)
        marks = times[sort], since[sort], codes[sort], held[sort]
        return Given(found.take(sort), *marks, rows=came[sort] - before)

    def _at_rows(
        self, found: Found, held: Array, order: Array | None, before: int, batch: Batch
    ) -> Given:
        """An answer for each row that is new."""
        times = NOTHING if batch.times is None else batch.times[before:]
        codes = None if batch.codes is None else batch.codes[before:]
        rows = np.arange(batch.rows - before)
        if not len(times):
            times = np.zeros(len(rows), np.int64)
        if order is not None:
            came = order if not before else order[order >= before]
            at = np.empty(len(rows), np.int64)
            at[came - before] = rows
            found, held = found.take(at), held[at]
        return Given(found, times, times, codes, held)

    def refill(self, batch: Batch, states: list[Array]) -> None:
        """Windows that were kept elsewhere, by their rows and by where they stand.

        states: of each key, the six numbers that `cutting` tells of. The rows of a key are those
        from its start on, in order. There must be no windows here yet.
        """
        assert batch.codes is not None
        self.add_keys(len(states[0]) - self.keys)
        order, there, last = by_key(batch.codes, self.keys)
        first = np.concatenate([np.zeros(1, np.int64), last[:-1]]) if len(last) else last
        after = [state[there] for state in states]
        empty = [after[START], after[START], after[START], *after[3:]]
        groups = Groups(there, first, last, np.zeros_like(there), np.zeros(len(there), bool))
        no_answers = {name: NOTHING for name in ("starts", "ends", "times", "since", "rows")}
        cuts = Cuts(groups, empty, after, **no_answers, upto=np.zeros_like(there))
        for state, given in zip(self.tracker.states, states, strict=True):
            state[: self.keys] = given
        if not batch.rows:
            return
        self._settle(batch)
        assert self.keeper is not None
        values = replace(batch, columns=self.roles.values(batch))
        times = NOTHING if batch.times is None else in_order(batch.times, order)
        along = self.roles.along(batch, order, times, self.tracker.kept.columns)
        for k in (CAME, END):  # as if no row of these had come yet
            self.tracker.states[k][there] = after[START]
        payload = self.keeper.payload(values, order)
        self.keeper.follow(values, order, cuts)
        self._keep(cuts, self.tracker.of_rows(times, along), payload)
        self.tracker.commit(cuts)
        self._keep_tail(batch, order, cuts)

    # What is wrong

    def _misplaced(self, batch: Batch, at: int, before: int, wrong: int) -> str:
        row = at - before
        if wrong == cutting.TOO_MANY:
            return (
                f"between row {row} and the one before it lie more than {cutting.MANY:,} ends of "
                f"{self.shape.definition!r}; is the unit of the times right?"
            )
        if wrong == cutting.GOES_BACK:
            return (
                f"the column {self.shape.along!r} must not go back, and does at row {row}; sort "
                f"the rows by it, or use a window by time."
            )
        return (
            f"times must not go back, and that of row {row} is before the last one"
            f"{' of its key' if self.keyed else ''}; sort the rows by time, or say how late they "
            f"may be, with lateness=…"
        )

    # One row

    @property
    def one_by_one(self) -> bool:
        """Whether a single row is best handled without making arrays of it."""
        return not self.keyed and self.shape.closed[1]

    @property
    def _only(self) -> Aggregator:
        if isinstance(self.keeper, Pooled):
            self.keeper = self.keeper.as_each(self._new_window)
        assert isinstance(self.keeper, Each)
        return self.keeper.windows[0]

    def run_one(
        self, row: Any, time: int, along: Any, mark: Any
    ) -> list[tuple[Any, int, int, int]]:
        """One row of a window without keys; answers, each with time, begin and rows held."""
        tracker, window = self.tracker, self._only
        try:
            before, after, found = tracker.cut_one(time, along, mark)
        except MisplacedError as wrong:
            raise ValueError(self._misplaced_one(wrong.wrong)) from None
        starts, ends, times, since = (list(each.values()) for each in found[:4])
        if isinstance(self.shape.definition, SlideWhile):
            assert isinstance(self.keeper, Each)
            cuts = Cuts(ALONE, before, after, starts, ends, times, since, [], [len(starts)])
            answers = self.keeper.policy_rows([row], cuts, self.shape.definition, self.debug)
        else:
            own = before[START][0], before[END][0], after[START][0], after[END][0]
            answers = follow_slowly(window, [row], Bounds(*own, starts, ends))
        tracker.commit_one(before, after, along)
        if self.shape.plain:
            return [(answers[0], time, time, ends[0] - starts[0])]
        held = [end - start for start, end in zip(starts, ends, strict=True)]
        return list(zip(answers, times, since or times, held, strict=True))

    def roll_one(self, row: Any, time: int) -> Any:
        """The same as `run_one` for a window that rolls: its answer.

        NOT_ROLLED if it takes more than to lift the row; nothing has changed then.
        """
        keeper, tracker = self.keeper, self.tracker
        if not isinstance(keeper, Each):
            return NOT_ROLLED
        (window,) = keeper.windows
        leaving = tracker.leaving(time)
        if leaving < 0 or not window.is_easy(row):
            return NOT_ROLLED
        if window.never_fails:
            answer = window._roll(row, leaving)
        else:
            with Undo(window):
                answer = window._roll(row, leaving)
        tracker.commit_rolled(leaving, time)
        return answer

    def _misplaced_one(self, wrong: int) -> str:
        empty = Batch({}, 0, None, None, "list")
        return self._misplaced(empty, 0, 0, wrong).replace("row 0", "this row")

    # All of it

    def copy(self) -> Engine:
        found = Engine.__new__(Engine)
        found.__dict__.update(self.__dict__)
        found.tracker = self.tracker.copy()
        found.keeper = None if self.keeper is None else self.keeper.copy(found.tracker)
        return found

    def query(self, code: int) -> Any:
        """The answer for what a window holds."""
        if self.keeper is None or not self.tracker.states[CAME][code]:
            return self._blank().query()
        return self.keeper.query(code)

    def forget(self, codes: Array) -> None:
        """These keys are gone."""
        self.tracker.forget(codes)
        if self.keeper is not None:
            self.keeper.forget(codes)
        if self.tail is not None and self.tail.codes is not None:
            stay = np.flatnonzero(~np.isin(self.tail.codes, codes))
            self.tail = self.tail.take(stay) if len(stay) else None

    def idle(self, before: int) -> Array:
        """The keys whose newest row is older than this."""
        came, newest = self.tracker.states[CAME], self.tracker.states[NEWEST]
        return np.flatnonzero((came > 0) & (newest < before))

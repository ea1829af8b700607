"""One partial, kept for all operators that read their answers off it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sash.aggregators import sba
from sash.aggregators.aggregator import FEW_ROWS, cast, tells_type
from sash.aggregators.answers import LeafAnswers
from sash.aggregators.binding import Rows, bind
from sash.aggregators.choose import choose, need_of
from sash.aggregators.columns import Column, Leaf, column
from sash.aggregators.columns import leaves as read_leaves
from sash.aggregators.following import as_objects, with_payload
from sash.aggregators.keeping import Journal, Kept, as_partial
from sash.aggregators.ranges import checked_ranges
from sash.aggregators.registry import for_operator
from sash.aggregators.rings import flatten, option_names, settings
from sash.aggregators.running import Job, check, types_of
from sash.operators.base import Operator
from sash.operators.partials import Merging, Telling
from sash.plans.asked import AtRows, Came, Shared
from sash.plans.lines import Array, Line
from sash.plans.steps import EachRow, Ranges, Slices, Steps
from sash.windows.batches import take


@dataclass
class Ran:
    """What rows have done to a group, before it is made so."""

    kept: Kept | None
    types: Any
    told: bool
    rings: Any
    state: Any
    open_slice: Any
    leaf: Leaf | None
    answers: dict[tuple[Operator, Shared], LeafAnswers]


class Group:
    """Operators of one partial, and the slices that it is kept in."""

    def __init__(self, slices: Slices | EachRow, partial: tuple[Any, ...], more: bool) -> None:
        """partial: what tells its partials from others; more: whether there may be more windows."""
        self.partial = partial
        self.asks: dict[Operator, list[Shared]] = {}
        """The operators, which have the same partials, and the windows that each is asked of."""
        self.slices = slices
        self.more = more
        self.chosen: str | None = None
        """The algorithm, once types are known."""
        self.kept: Kept | None = None
        self.types: Any = None
        self.told = False
        """Whether some value has told the types."""
        self.open_slice: Any = None
        """The partial of the slice that is open: a list or, for compiled loops, arrays of one."""
        self.nulls: Line | None = None
        """Before each slice, how many values were null; None while none was."""
        self.null_count = 0
        self.like: Leaf | None = None
        """The columns of the last rows, without any."""
        self.payload: list[tuple[int, int, list[Column]]] = []
        """Of rows that answers may be taken from: the first, the end, and their columns."""

    def takes_more(self, sliced: bool) -> bool:
        """Whether it may be asked of more windows of a kind."""
        any_range = self.more or len(self.slices.windows) > 1
        return sliced and isinstance(self.slices, Slices) and any_range

    def ask(self, questions: list[tuple[Operator, Shared]]) -> None:
        """More questions."""
        for operator, window in questions:
            windows = self.asks.setdefault(operator, [])
            if window not in windows:
                windows.append(window)
        self._settle_windows()

    def forget_question(self, operator: Operator, window: Shared) -> bool:
        """One question less; whether any is left."""
        self.asks[operator].remove(window)
        if not self.asks[operator]:
            del self.asks[operator]
        self._settle_windows()
        return bool(self.asks)

    def _settle_windows(self) -> None:
        every = dict.fromkeys(window for windows in self.asks.values() for window in windows)
        self.slices.settle(list(every))

    def for_show(self) -> Group:
        """One of the same questions, that can be asked more without this one's knowing."""
        slices = EachRow(0) if isinstance(self.slices, EachRow) else Slices(self.slices.technique)
        found = Group(slices, self.partial, self.more)
        found.chosen = self.chosen
        found.ask([(op, window) for op, windows in self.asks.items() for window in windows])
        return found

    @property
    def first(self) -> Operator:
        return next(iter(self.asks))

    @property
    def looped(self) -> Operator:
        """The operator of the loop: the only one, or one that answers with the partial."""
        return self.first if len(self.asks) == 1 else Telling(self.first, self.first.columns)

    @property
    def algorithm(self) -> str:
        """What keeps the slices: as the ladder says, by how many ranges are asked for."""
        if self.chosen is not None:
            return self.chosen
        need = need_of(self.first, shape="variable", arrays=False)
        known = self._ranges
        if known:
            need = replace(need, ranges=len(known))
        elif self.more or len(self.slices.windows) > 1:
            need = replace(need, ranges="any")
        return choose(need).algorithm

    @property
    def _ranges(self) -> list[int]:
        """How many slices windows are of, if they are always as many."""
        sizes = {each.size for each in self.slices.windows if isinstance(each, AtRows)}
        return checked_ranges(sizes) if sizes else []

    # Rows

    def leaf(self, columns: dict[str, Column]) -> Leaf:
        """The columns that are read, of the types that partials are made of."""
        (found,), _ = read_leaves(columns, self.first)
        inputs = tuple(map(as_read, found.inputs))
        if self.told:
            inputs = tuple(map(_fitting, inputs, self.types[0]))
        return replace(found, inputs=inputs)

    def run(self, columns: dict[str, Column], came: Came, steps: Steps | Ranges) -> Ran:
        """The answers that are due; nothing is settled before `commit`."""
        leaf = self.leaf(columns) if came.rows else self.like
        ran = Ran(self.kept, self.types, self.told, None, None, None, leaf, {})
        if leaf is None:  # no row has ever come
            return ran
        if not self.told and came.rows:
            self._settle(ran, leaf)
        try:
            self._answer(ran, leaf, came, steps)
        except BaseException:
            self.undo(ran)
            raise
        return ran

    def _answer(self, ran: Ran, leaf: Leaf, came: Came, steps: Steps | Ranges) -> None:
        assert ran.kept is not None
        answers = self._loop(ran, leaf, ran.kept, came, steps)
        self._tell_empty(leaf, came, steps, answers)
        if leaf.operator.takes:
            self._take(came, answers)
        ran.answers = self._lowered(ran, leaf, steps, answers)

    def _settle(self, ran: Ran, leaf: Leaf) -> None:
        """With the first values it is known what partials are made of; nulls alone do not tell."""
        types = types_of([leaf])
        if ran.kept is None or types != ran.types:
            monoid = self.first.bind_leaves(types)
            check([leaf], monoid)
            ran.types = types
            module = for_operator(self.algorithm, self.first)
            told = self._ranges and "ranges" in option_names(module)
            options = {"ranges": self._ranges} if told else {}
            ran.kept = Kept(module, monoid, settings(module, self.first, options))
            for _ in range(self.slices.closed - self.slices.left):
                ran.kept.insert(monoid.identity())
        ran.told = all(tells_type(c) for c in leaf.inputs)

    def _loop(
        self, ran: Ran, leaf: Leaf, kept: Kept, came: Came, steps: Steps | Ranges
    ) -> LeafAnswers:
        """What the loop answers, in its order."""
        held = kept.held()
        count = sum(len(due.asked.ends) for due in steps.due)
        leaf = replace(leaf, operator=self.looped)
        compiles = kept.monoid.fixed_width and (came.rows >= FEW_ROWS or kept.in_arrays)
        if compiles:
            job = Job(kept.algorithm, self.looped, [leaf], came.before)
            kept.to_arrays(job.code, max(steps.room, held))
            ran.rings = kept.copied()  # as others may fail, too
            ran.open_slice = self._open_arrays(job, kept)
            out, (answers,) = job.outputs(count)
            loop, told = _told(steps, came.rows, ran.open_slice)
            ran.state = job.call(loop, ran.rings, kept.state, job.rows, *told, out)
            return job.collect(out, [answers])[0]
        kept.to_lists()
        kept.make_room(max(steps.room - held, 0))
        ran.rings = [Journal(ring) for ring in kept.rings]
        ran.open_slice = self._open_list(kept)
        monoid = self.looped.bind_leaves(ran.types)
        rows = Rows([[c.objects() for c in leaf.inputs]], came.before)
        answers = LeafAnswers(leaf, monoid, count)
        answers.objects = [None] * count
        loop, told = _told(steps, came.rows, ran.open_slice)
        told = [each.tolist() if isinstance(each, np.ndarray) else each for each in told]
        run = getattr(bind(kept.algorithm, monoid), loop)
        ran.state = run(ran.rings, kept.state, rows, *told, answers.objects)
        return answers

    def undo(self, ran: Ran) -> None:
        """These rows have not come."""
        for ring in ran.rings or ():
            if isinstance(ring, Journal):
                ring.undo()

    def _open_arrays(self, job: Job, kept: Kept) -> Any:
        found = job.buffer(1)
        given = self._open_list(kept)[0]
        for array, value in zip(found, flatten(given), strict=True):
            array[0] = value
        return found

    def _open_list(self, kept: Kept) -> list[Any]:
        given = self.open_slice
        if given is None or not self.told:  # whatever came was null
            return [kept.monoid.identity()]
        if isinstance(given, list):
            return list(given)
        return [as_partial(kept.monoid, [array[0].item() for array in given])]

    # Nulls, payloads, answers

    def _tell_empty(
        self, leaf: Leaf, came: Came, steps: Steps | Ranges, answers: LeafAnswers
    ) -> None:
        """Answers for no value at all are such, whatever the partial is."""
        empty = np.zeros(answers.count, bool)
        mask = leaf.valid
        if mask is not None or self.nulls is not None:
            missing = np.zeros(came.rows, np.int64) if mask is None else np.cumsum(~mask)
            missing = self.null_count + np.concatenate([[0], missing])
            for due in steps.due:
                before = self._nulls_before(due.places, due.starts, came, missing)
                null = missing[due.asked.ends - came.before] - before
                empty[due.numbers] = null == due.held
        answers.settle_empty(empty)

    def _nulls_before(self, places: Array, starts: Array, came: Came, missing: Array) -> Array:
        found: Array = missing[np.maximum(starts - came.before, 0)]
        old = starts < came.before
        found[old] = 0 if self.nulls is None else self.nulls.at(places[old])
        return found

    def _take(self, came: Came, answers: LeafAnswers) -> None:
        """Answers that are rows: what stands there, also if it came earlier."""
        if answers.objects is not None:
            answers.there = np.array([row is not None for row in answers.objects], bool)
            numbers = np.array([row or 0 for row in answers.objects], np.int64)
            answers.fields, answers.objects = {"": numbers}, None
        rows = answers.fields[""]
        with_payload(answers, rows < came.before, rows - came.before, rows, self._fetched)

    def _fetched(self, rows: Array) -> list[Any]:
        found: list[Any] = []
        for first, end, columns in self.payload:
            own = rows[(rows >= first) & (rows < end)] - first
            found.append([as_objects(column, own) for column in columns])
        return [[value for part in each for value in part] for each in zip(*found, strict=True)]

    def _lowered(
        self, ran: Ran, leaf: Leaf, steps: Steps | Ranges, answers: LeafAnswers
    ) -> dict[tuple[Operator, Shared], LeafAnswers]:
        """The answers to each question."""
        numbers = dict(zip(self.slices.windows, (due.numbers for due in steps.due), strict=True))
        if len(self.asks) == 1:
            return {(self.first, window): answers.take(numbers[window]) for window in numbers}
        found = {}
        for operator, windows in self.asks.items():
            each = [_as_array(numbers[window], answers.count) for window in windows]
            told = answers.take(np.concatenate(each))
            lowered = self._lower(ran, replace(leaf, operator=operator), told)
            ends = np.cumsum([len(some) for some in each])
            for window, some, end in zip(windows, each, ends.tolist(), strict=True):
                found[operator, window] = lowered.take(np.arange(end - len(some), end))
        return found

    def _lower(self, ran: Ran, leaf: Leaf, told: LeafAnswers) -> LeafAnswers:
        """What an operator makes of partials."""
        operator = leaf.operator
        monoid = operator.bind_leaves(ran.types)
        if told.objects is not None:
            found = LeafAnswers(leaf, monoid, told.count)
            empty = np.array([each is None for each in told.objects], bool)
            lower: Callable[[Any], Any] = monoid.lower
            made = monoid.partial if monoid.fixed_width else None
            none = monoid.identity()
            found.objects = [
                lower(none if p is None else p if made is None else made._make(p))
                for p in told.objects
            ]
        else:
            found = self._lower_numbers(ran, operator, told)
            found.leaf, found.monoid = leaf, monoid
            empty = np.zeros(told.count, bool) if told.there is None else ~told.there
        found.settle_empty(empty)
        return found

    def _lower_numbers(self, ran: Ran, operator: Operator, told: LeafAnswers) -> LeafAnswers:
        names = tuple(told.fields)
        merging = Merging(operator, names, ran.types[0])
        none = flatten(operator.bind_leaves(ran.types).identity())
        columns = []
        for (_, values), blank in zip(told.fields.items(), none, strict=True):
            if told.there is not None:
                values = np.where(told.there, values, blank).astype(values.dtype)
            columns.append(column(values))
        job = Job(sba, merging, [Leaf(merging, tuple(columns), ())])
        out, (answers,) = job.outputs(told.count)
        if told.count:
            lcs, csa = job.buffer(2 * sba.BLOCK + 1), job.buffer(sba.BLOCK)
            job.call("roll_short", job.rows, 0, told.count, 1, lcs, csa, out)
        return job.collect(out, [answers])[0]

    # Making it so

    def commit(self, came: Came, ran: Ran) -> None:
        """The rows are in. The slices are settled already."""
        leaf = ran.leaf
        if leaf is None or ran.kept is None:
            return
        self._keep_nulls(came, leaf.valid)
        if leaf.operator.takes and came.rows:
            self.payload.append((came.before, came.end, [c for _, c in leaf.payload]))
            self.payload = [each for each in self.payload if each[1] > self.slices.oldest]
        if came.rows:
            none = np.zeros(0, np.int64)
            payload = tuple((name, take(c, none)) for name, c in leaf.payload)
            inputs = tuple(take(c, none) for c in leaf.inputs)
            self.like = Leaf(leaf.operator, inputs, payload)
        if self.chosen is None:
            self.chosen = self.algorithm
        self.kept, self.types, self.told = ran.kept, ran.types, ran.told
        self.open_slice = ran.open_slice
        before, self.kept.state = self.kept.state, ran.state
        if self.kept.in_arrays:
            self.kept.rings = list(ran.rings)
        else:
            self.kept.forget_between(before)
        self.kept.give_back(self.kept.held())

    def _keep_nulls(self, came: Came, mask: Any) -> None:
        if self.nulls is None and mask is None:
            return
        if self.nulls is None or self.nulls.end < self.slices.left:
            self.nulls = Line(self.slices.left)
        missing = np.zeros(came.rows, np.int64) if mask is None else np.cumsum(~mask)
        missing = self.null_count + np.concatenate([[0], missing])
        # Slices that begin with these rows; of those before there was no null, if there is no line.
        begins = self.slices.begins(self.nulls.end)
        self.nulls.append(missing[np.maximum(begins - came.before, 0)])
        self.nulls.forget_before(self.slices.left)
        self.null_count = int(missing[-1])


def _told(steps: Steps | Ranges, rows: int, open_slice: Any) -> tuple[str, list[Any]]:
    """The loop, and what it is told besides the rows."""
    if isinstance(steps, Ranges):
        one = len(steps.ranges) == 1
        return (
            ("slide", [rows, int(steps.ranges[0])])
            if one
            else ("slide_ranges", [rows, steps.ranges])
        )
    told = [steps.upto, steps.closes, steps.leaving, steps.first, steps.reach]
    return "share", [open_slice, steps.begun, *told]


def _as_array(numbers: Array | slice, count: int) -> Array:
    return np.arange(count)[numbers] if isinstance(numbers, slice) else numbers


def as_read(given: Column) -> Column:
    """Times are compared as what they are, not as numbers."""
    return Column(given.source, given.kind, None, None) if given.is_time else given


def _fitting(given: Column, dtype: np.dtype[Any]) -> Column:
    """A column of the type that partials are made of; refused if it is of another."""
    if dtype.kind != "O" and not tells_type(given):
        count = len(given)
        return Column(given.source, given.kind, np.zeros(count, dtype), np.zeros(count, bool))
    if dtype.kind != "O" and given.numbers is None:
        kind = getattr(given.source, "type", "others")
        raise TypeError(f"this plan holds {dtype} values and was given {kind}.")
    return cast(given, dtype)

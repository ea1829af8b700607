"""Which queries share a partial, and which of its slices: the groups of a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sash.aggregators.aggregator import tells_type
from sash.aggregators.answers import LeafAnswers
from sash.aggregators.columns import leaves as read_leaves
from sash.operators.base import Operator
from sash.operators.serving import SERVING, partial_key, sharing
from sash.plans.asked import AtRows, Came, Counted, Shared, Timed
from sash.plans.group import Group, Ran, as_read
from sash.plans.queries import Query
from sash.plans.slicing import Technique
from sash.plans.steps import DueAtRows, EachRow, Ranges, Slices, Steps
from sash.windows import cutting
from sash.windows.answers import Found
from sash.windows.batches import Batch
from sash.windows.definitions import Definition, Last
from sash.windows.engine import Given
from sash.windows.payload import answers_numbers

NOTHING = np.zeros(0, np.int64)


@dataclass
class Asking:
    """A query, its window, and for each leaf of its operator who answers it.

    That is a group, and the operator that stands in for the leaf there.
    """

    query: Query
    window: Shared
    leaves: list[tuple[Group, Operator]]


@dataclass
class Outcome:
    """What rows have done to all groups, before it is made so."""

    came: Came
    arranged: list[str]
    """The queries that these rows are the first for."""
    steps: list[Steps | Ranges]
    ran: list[Ran]
    given: dict[str, Given]


def kind_of(query: Query) -> type[Shared] | None:
    """The kind of a window that can be shared; None if it is kept alone."""
    window, shape = query.window, query.shape
    if not isinstance(window, Last) or window.closed != "right" or query.min_size < 1:
        return None
    if any(answers_numbers(leaf) for leaf in query.operator.leaves):
        return None  # of rows, which are counted from the first that a query sees
    if shape.trigger == cutting.AT_ENDS:
        return Timed if shape.size == cutting.TIME else None
    if shape.trigger != cutting.AT_ROWS or shape.size != cutting.ROWS:
        return None
    return Counted if shape.numbers[2] > 1 else AtRows


class Shares:
    """All queries of a plan that share what they can."""

    def __init__(self, technique: Technique) -> None:
        self.technique = technique
        self.waiting: dict[str, Query] = {}
        """Queries that have seen no row yet."""
        self.asking: dict[str, Asking] = {}
        self.groups: list[Group] = []
        self.came = 0

    def add(self, name: str, query: Query) -> None:
        self.waiting[name] = query

    def remove(self, name: str) -> None:
        if self.waiting.pop(name, None) is not None:
            return
        gone = self.asking.pop(name)
        still = [
            (group, operator, each.window)
            for each in self.asking.values()
            for group, operator in each.leaves
        ]
        for group, operator in dict.fromkeys(gone.leaves):
            if (group, operator, gone.window) in still:
                continue
            if not group.forget_question(operator, gone.window):
                self.groups.remove(group)

    def preview(self) -> Shares:
        """The same, as if queries that wait had seen rows of floats."""
        if not self.waiting:
            return self
        found = Shares(self.technique)
        found.came, found.groups = self.came, [group.for_show() for group in self.groups]
        again = dict(zip(map(id, self.groups), found.groups, strict=True))
        for name, each in self.asking.items():
            leaves = [(again[id(group)], operator) for group, operator in each.leaves]
            found.asking[name] = Asking(each.query, each.window, leaves)
        found.waiting = dict(self.waiting)
        found.arrange(lambda leaf: (np.dtype("float64"),) * max(leaf.inputs, 1))
        return found

    # Arranging

    def _arrange(self, batch: Batch) -> list[str]:
        """Find who answers the queries that wait; now it is known what columns hold."""
        arranged = list(self.waiting)
        self.arrange(lambda leaf: _types(batch, leaf))
        return arranged

    def arrange(self, types: Callable[[Operator], tuple[Any, ...]]) -> None:
        """Find who answers the queries that wait. types: of the columns that an operator reads."""
        asking: dict[str, Asking] = {}
        windows: dict[tuple[Definition, int], Shared] = {}
        wanted: dict[tuple[bool, Any], list[Operator]] = {}
        for name, query in self.waiting.items():
            shared = kind_of(query)
            assert shared is not None
            key = query.window, query.min_size if shared is Timed else 1
            if key not in windows:
                windows[key] = shared(query.shape, query.min_size, self.came)
            asking[name] = Asking(query, windows[key], [])
            for leaf in query.operator.leaves:
                wanted.setdefault((shared.sliced, leaf.columns), []).append(leaf)
        stands: dict[Any, tuple[Operator, Any]] = {}
        for where, leaves in wanted.items():
            found = self._standing(where[0], leaves, types(leaves[0]))
            for leaf, stand in zip(leaves, found, strict=True):
                if (where, leaf) not in stands:
                    stands[where, leaf] = stand, (where[0], partial_key(stand, types(leaf)))
        questions: dict[tuple[bool, Any], list[tuple[Operator, Shared]]] = {}
        for each in asking.values():
            for leaf in each.query.operator.leaves:
                stand, key = stands[(each.window.sliced, leaf.columns), leaf]
                questions.setdefault(key, []).append((stand, each.window))
        groups = {key: self._group(*key, asked) for key, asked in questions.items()}
        for each in asking.values():
            for leaf in each.query.operator.leaves:
                stand, key = stands[(each.window.sliced, leaf.columns), leaf]
                each.leaves.append((groups[key], stand))
        self.asking |= asking
        self.waiting = {}

    def _standing(
        self, sliced: bool, leaves: list[Operator], types: tuple[Any, ...]
    ) -> list[Operator]:
        """What stands in for operators over the same column, in as few partials."""
        kind = str(np.dtype(types[0]).kind)
        known = [self._known(sliced, each, kind, types) for each in leaves]
        rest = [each for each, there in zip(leaves, known, strict=True) if there is None]
        found = iter(sharing(rest, kind))
        return [next(found) if there is None else there for there in known]

    def _known(
        self, sliced: bool, leaf: Operator, kind: str, types: tuple[Any, ...]
    ) -> Operator | None:
        """What stands in for an operator in a group that there is and may be asked more."""
        stands = [leaf]
        stands += [
            way[type(leaf)](*leaf.columns, **leaf.given())
            for kinds, way in SERVING
            if kind in kinds and type(leaf) in way
        ]
        open_to = {group.partial for group in self.groups if group.takes_more(sliced)}
        if not open_to:
            return None
        return next((each for each in stands if partial_key(each, types) in open_to), None)

    def _group(self, sliced: bool, partial: Any, questions: list[tuple[Operator, Shared]]) -> Group:
        """A group for these questions: one that there is, or a new one."""
        open_to = (each for each in self.groups if each.takes_more(sliced))
        group = next((each for each in open_to if each.partial == partial), None)
        if group is None:
            # One that comes later may be followed by others, whose ranges are not known.
            slices = Slices(self.technique) if sliced else EachRow(self.came)
            group = Group(slices, partial, more=sliced and self.came > 0)
            self.groups.append(group)
        group.ask(questions)
        return group

    # Rows

    def run(self, batch: Batch, newest: int, now: int, finish: bool) -> Outcome:
        """Rows come, in order, and then the time `now`; nothing is settled before `commit`."""
        arranged = self._arrange(batch) if batch.rows and self.waiting else []
        times = NOTHING if batch.times is None else batch.times
        came = Came(self.came, batch.rows, times, newest, now, finish)
        found = Outcome(came, arranged, [], [], {})
        try:
            self._run(batch, found)
        except BaseException:
            self.undo(found)
            raise
        return found

    def _run(self, batch: Batch, found: Outcome) -> None:
        came = found.came
        windows = {id(each.window): each.window for each in self.asking.values()}
        asked = {key: window.ask(came) for key, window in windows.items()}
        for group in self.groups:
            own = [asked[id(window)] for window in group.slices.windows]
            found.steps.append(group.slices.steps(came, own))
        for group, steps in zip(self.groups, found.steps, strict=True):
            found.ran.append(group.run(batch.columns, came, steps))
        by_group = {
            id(group): (steps, ran)
            for group, steps, ran in zip(self.groups, found.steps, found.ran, strict=True)
        }
        taken: set[Any] = set()
        for name, asking in self.asking.items():
            found.given[name] = _given(asking, by_group, taken)
        for name, query in self.waiting.items():
            found.given[name] = _none(query)

    def undo(self, found: Outcome) -> None:
        """These rows have not come."""
        for group, ran in zip(self.groups, found.ran, strict=False):
            group.undo(ran)
        for group in self.groups:
            group.slices.undo(found.came)
        again = {name: self.asking[name].query for name in found.arranged}
        for name in again:
            self.remove(name)
        self.waiting = {**again, **self.waiting}

    def commit(self, found: Outcome) -> None:
        came = found.came
        for group, steps, ran in zip(self.groups, found.steps, found.ran, strict=True):
            group.slices.commit(came, steps)
            group.commit(came, ran)
        for asking in self.asking.values():
            asking.window.commit(came)
        self.came = came.end


def _given(
    asking: Asking, by_group: dict[int, tuple[Steps | Ranges, Ran]], taken: set[Any]
) -> Given:
    """The answers of a query, and what each is for. taken: what others have been given."""
    leaves: list[LeafAnswers] = []
    for group, operator in asking.leaves:
        steps, ran = by_group[id(group)]
        due = steps.due[group.slices.windows.index(asking.window)]
        answers = ran.answers.get((operator, asking.window))
        if answers is not None:
            # Answers for too few rows are hidden, which others are not to see; and what is written
            # into an array is not to be seen in another.
            hides = asking.query.min_size > 1
            copied = hides or id(answers) in taken
            leaves.append(answers.take(np.arange(answers.count)) if copied else answers)
            taken.add(id(answers))
    if not leaves:
        return _none(asking.query)
    asked, held = due.asked, None
    if isinstance(due, DueAtRows) and asking.query.min_size <= 1:
        held = np.broadcast_to(1, len(asked.ends))  # at least; no one asks for more
    found = Found(asking.query.operator, leaves)
    return Given(found, asked.times, asked.since, None, due.held if held is None else held)


def _none(query: Query) -> Given:
    """No answer."""
    return Given(Found(query.operator, None, []), NOTHING, NOTHING, None, NOTHING)


def _types(batch: Batch, leaf: Operator) -> tuple[Any, ...]:
    """The types of the columns that an operator reads; object where they are not known yet."""
    (found,), _ = read_leaves(batch.columns, leaf)
    return tuple(
        each.dtype if tells_type(each) else np.dtype(object) for each in map(as_read, found.inputs)
    )

"""Windows of keys whose rows come one key after the other, as a sort by key leaves them.

Only the key that the last rows were of is open between two calls: all others are over, and
forgotten. So a pass over any number of keys needs the room of one window, and of one call's rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.choose import choose, need_of
from sash.aggregators.columns import Column, column
from sash.aggregators.registry import check_slides_by_policy, for_operator
from sash.operators.base import Operator
from sash.operators.together import Together
from sash.windows import cutting
from sash.windows.answers import as_list
from sash.windows.batches import Batch
from sash.windows.definitions import Definition, SlideWhile
from sash.windows.each import Each
from sash.windows.engine import Engine, Given
from sash.windows.explaining import shape_of
from sash.windows.payload import Payload, telling_rows
from sash.windows.pooled import Pooled
from sash.windows.shapes import Shape
from sash.windows.tracking import CAME, START

Array = np.ndarray[Any, Any]
NOTHING = np.zeros(0, np.int64)
MANY_KEYS = 256
"""Of windows that are objects of their own, no more are kept at once than this."""


@dataclass(frozen=True)
class Told:
    """Some answers, in the order in which they came, and what each is for."""

    answers: list[Any]
    """Of each leaf of the operator, as Arrow arrays, or lists of what Arrow has no type for."""
    groups: Array
    """Whose it is: 0 for the key that was open before these rows, then 1, 2, … as keys come."""
    rows: Array
    """The row that it came at; the number of rows, for those that time or the end brought."""
    times: Array
    since: Array
    of: Array | None = None
    """Which of several windows each is of; None if there is one, or if all answer at rows."""

    def take(self, which: Array) -> Told:
        """Some of them."""
        index = pa.array(which)
        answers = [
            [each[i] for i in which.tolist()] if isinstance(each, list) else each.take(index)
            for each in self.answers
        ]
        marks = (each[which] for each in (self.groups, self.rows, self.times, self.since))
        found = Told(answers, *marks)
        return found if self.of is None else replace(found, of=self.of[which])


class GroupedWindows:
    """The windows of keys that come one after the other."""

    def __init__(
        self,
        op: Operator,
        window: Definition,
        *,
        min_size: int = 1,
        algorithm: str = "auto",
        idle: int | None = None,
    ) -> None:
        """idle: after so long without a row a key begins anew."""
        self.operator = op
        self.shape = Shape(window)
        self.min_size = min_size
        self.engine = Engine(
            telling_rows(op),
            self.shape,
            least=min_size,
            idle=cutting.FOREVER if idle is None else idle,
            algorithm=algorithm_for(op, window, algorithm),
            keyed=self.keyed,
        )
        self.payload = Payload(op)
        self.open: int | None = None
        """The code of the key whose rows may go on."""
        self.like: tuple[Mapping[str, Any], Array | None] | None = None

    keyed = True

    def rows(self, columns: Mapping[str, Any], begins: Array, times: Array | None) -> Told:
        """Rows come, at least one; the key changes at those that `begins` tells."""
        if len(begins) > MANY_KEYS and not isinstance(self.engine.keeper, Pooled):
            return self._in_pieces(columns, begins, times)
        batch = as_batch(columns, times)
        if self.open is None and (not len(begins) or begins[0] != 0):
            raise ValueError("the first row of all begins a key.")
        self._make_room(len(begins) + 1)
        first = 0 if self.open is None else self.open
        number = np.zeros(batch.rows, np.int64)  # of each row's key among these: 0 goes on
        number[begins] = 1
        np.cumsum(number, out=number)
        codes = (first + number) % self.engine.keys
        over = (first + np.arange(int(self.open is None), len(begins))) % self.engine.keys
        came = int(self.engine.tracker.states[CAME][first])
        given = self.engine.run(replace(batch, codes=codes), closing=over)
        groups = (given.codes - first) % self.engine.keys
        # Value p of a key that begins here is row begins + p.
        told = self._told(given, groups, columns, np.concatenate([[-came], begins]))
        if isinstance(self.engine.keeper, Each):
            self.engine.keeper.one_type = True
        if len(over):
            self.engine.forget(over)
        self.open = int(codes[-1])
        if len(begins):
            self.payload.clear()
            self._keep({n: c[int(begins[-1]) :] for n, c in columns.items()}, 0, times)
        else:
            self._keep(columns, came, times)
        return told

    def _in_pieces(self, columns: Mapping[str, Any], begins: Array, times: Array | None) -> Told:
        """Some keys after the other: each has a window of its own, that takes room."""
        count = len(next(iter(columns.values())))
        cuts = [0, *begins[MANY_KEYS::MANY_KEYS].tolist(), count]
        told = []
        for first, last in pairwise(cuts):
            own = begins[(begins >= first) & (begins < last)]
            groups = int(np.searchsorted(begins, first))  # that came before
            part = self.rows(
                {name: values[first:last] for name, values in columns.items()},
                own - first,
                None if times is None else times[first:last],
            )
            told.append(replace(part, groups=part.groups + groups, rows=part.rows + first))
        return joined(told)

    def _keep(self, columns: Mapping[str, Any], first: int, times: Array | None) -> None:
        """What may be asked of these rows later, which are numbered from `first` on."""
        if self.payload.names and self.open is not None:
            self.payload.keep(columns, first, int(self.engine.tracker.states[START][self.open]))
        self.like = {name: values[:0] for name, values in columns.items()}, times

    def finish(self) -> Told | None:
        """No more rows come. None, if there were none at all."""
        told = self._without_rows(self._closed)
        self.open = None
        return told

    def _without_rows(self, run: Callable[[Batch], Given]) -> Told | None:
        """What time or the end brings the key that is open."""
        if self.open is None or self.like is None:
            return None
        columns, times = self.like
        came = int(self.engine.tracker.states[CAME][self.open])
        given = run(as_batch(columns, None if times is None else times[:0]))
        return self._told(given, np.zeros(len(given.held), np.int64), columns, np.array([-came]))

    def _closed(self, batch: Batch) -> Given:
        return self.engine.run(replace(batch, codes=NOTHING), closing=np.array([self.open]))

    def came(self) -> int:
        """How many rows have come for the key that is open."""
        return 0 if self.open is None else int(self.engine.tracker.states[CAME][self.open])

    def _make_room(self, groups: int) -> None:
        """Codes for so many keys at once; those of keys that are over are used again."""
        if groups > self.engine.keys:
            self.engine.add_keys(2 * groups - self.engine.keys)

    def _told(self, given: Given, groups: Array, columns: Mapping[str, Any], shifts: Array) -> Told:
        """shifts: of each group, what is to be added to the number of a value to get its row."""
        told = told_of(given, groups, self.operator, self.shape, self.min_size)
        for k, leaf in enumerate(self.operator.leaves):
            if leaf.takes:
                rows = shifts[told.groups]
                told.answers[k] = self._taken(k, leaf, told.answers[k], columns, rows)
        return told

    def _taken(
        self, k: int, leaf: Operator, answers: Any, columns: Mapping[str, Any], shift: Array
    ) -> pa.Array:
        answers = pa.array(answers, pa.int64()) if isinstance(answers, list) else _numbers(answers)
        there = np.ones(len(answers), bool)
        if answers.null_count:
            there = answers.is_valid().to_numpy(zero_copy_only=False)
        values = answers.fill_null(0).to_numpy(zero_copy_only=False)
        return self.payload.take(k, leaf, values, there, columns, values + shift)


def told_of(given: Given, groups: Array, op: Operator, shape: Shape, min_size: int) -> Told:
    """What an engine has given, without answers for fewer rows than `min_size`."""
    at = np.arange(len(groups)) if given.rows is None else given.rows
    told = Told([], groups, at, given.times, given.since)
    found = given.found
    few = given.held < min_size
    if few.any():
        if shape.plain:
            found.hide(few)
        else:
            stay = np.flatnonzero(~few)
            found, told = found.take(stay), told.take(stay)
    dressed = found.dress("arrow")
    if isinstance(op, Together):
        told.answers.extend(dressed[name] for name in op.members)
    else:
        told.answers.append(dressed)
    return told


def _numbers(values: Any) -> pa.Array:
    """Numbers of rows, in one piece."""
    found = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return found.cast(pa.int64())  # nothing but null has no type of its own


def joined(told: list[Told]) -> Told:
    """All of these, one after the other."""
    answers = []
    for each in zip(*(one.answers for one in told), strict=True):
        if any(isinstance(some, list) for some in each) or len({some.type for some in each}) > 1:
            answers.append(list(chain(*map(as_list, each))))
        else:
            answers.append(pa.concat_arrays(map(_in_one, each)))
    names = ("groups", "rows", "times", "since", "of")
    marks: list[Any] = [[getattr(one, name) for one in told] for name in names]
    if marks[-1][0] is None:
        marks.pop()
    return Told(answers, *map(np.concatenate, marks))


def _in_one(values: Any) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def as_batch(columns: Mapping[str, Any], times: Array | None) -> Batch:
    named: dict[str, Column] = {name: column(values) for name, values in columns.items()}
    rows = len(times) if times is not None else len(next(iter(named.values())))
    return Batch(named, rows, times, None, "arrow")


def algorithm_for(op: Operator, window: Definition, algorithm: str) -> str:
    """The algorithm that keeps a window for rows in order: the one that is named, if it can."""
    if algorithm != "auto":
        module = for_operator(algorithm, op)
        if isinstance(window, SlideWhile):
            check_slides_by_policy(module)
        return algorithm
    return choose(need_of(op, shape=shape_of(window), arrays=False)).algorithm

"""One window, one algorithm, one operator: values in, values out, an answer at any time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import takewhile
from typing import Any

import numpy as np

from sash.aggregators import columns
from sash.aggregators.answer_types import declared_types
from sash.aggregators.answers import LeafAnswers, dress, in_table, of_objects
from sash.aggregators.beside import Beside, NullRows
from sash.aggregators.binding import equal
from sash.aggregators.keeping import Kept
from sash.aggregators.registry import MODULES, check_slides_by_policy, for_operator
from sash.aggregators.rings import settings
from sash.aggregators.running import Job
from sash.operators.base import Operator
from sash.operators.monoid import NOT_GIVEN, Monoid, Partial

STALE: Any = object()
EASY = {np.dtype("float64"): float, np.dtype("int64"): int}
LIMIT = 2**63
MOST_FLOAT = sys.float_info.max
FEW_ROWS = 512
"""Fewer rows than this are inserted one by one: compiling would take longer."""


class Aggregator:
    """A window kept by one algorithm. Made by `sash.aggregator`.

    Values may be inserted and evicted in any order of calls. The first value settles the type;
    `dtype` settles it beforehand. None is a null: it takes a place in the window and no part in
    the answer. An operator that names columns is given rows as dicts.

    >>> from sash.operators.extremes import Max
    >>> window = Aggregator("daba", Max())
    >>> for value in (2, 6, 3):
    ...     window.insert(value)
    >>> window.evict()
    >>> window.query(), len(window)
    (6, 2)
    """

    made_of: str | None = None
    """The algorithm that a composite is made of; by default the one it is named after."""
    stored = False
    """Whether most of the window is in a store."""

    def __init__(
        self, algorithm: str, operator: Operator, *, dtype: Any = None, **options: Any
    ) -> None:
        checked_operator(operator)
        self.algorithm = algorithm
        self.operator = operator
        self._module = for_operator(self.made_of or algorithm, operator)
        self._settings = settings(self._module, operator, options)
        self._dtype = None if dtype is None else np.dtype(dtype)
        self._types: tuple[tuple[np.dtype[Any], ...], ...] = ()
        self._in, self._out = 0, 0
        self._answer = STALE
        self._payloads: list[Any] = [{} for _ in operator.leaves]
        self._nulls: list[Any] = [NullRows() for _ in operator.leaves]
        self._kept: Kept | None = None  # until the first value settles the types
        self._undo: Any = None  # what notes all that changes, to be able to undo it
        self._sample: tuple[list[type], Partial] | None = None
        # The type whose values need no more than to be lifted; known with the first value.
        self._easy: type | None = None
        (leaf, *more) = operator.leaves
        self._plain = not more and not leaf.columns and not leaf.takes and not leaf.uses_row
        self._plain = self._plain and leaf.inputs == 1 and operator is leaf

    def __len__(self) -> int:
        return self._in - self._out

    def __repr__(self) -> str:
        return f"<{self.algorithm} of {self.operator!r} holding {len(self)}>"

    # One by one

    def insert(self, value: Any) -> int | None:
        """Add a value at the young end of the window."""
        if self.is_easy(value):
            kept = self._kept
            assert kept is not None
            kept.insert(kept.monoid.lift(value))
            self._in += 1
            self._answer = STALE
            return None
        cells, payloads = self._cells(value)
        p = self._lifted(cells, self._in)
        if self._kept is not None:
            self._kept.insert(p)
        self._note(self._in, cells, payloads)
        return None

    def is_easy(self, value: Any) -> bool:
        """Whether a value needs no more than to be lifted."""
        easy: Any = self._easy
        return type(value) is easy and (easy is not int or -LIMIT <= value < LIMIT)

    @property
    def never_fails(self) -> bool:
        """Whether all that can be wrong is a value: nothing that a step calls raises an error."""
        kept = self._kept
        if kept is None or self.stored:  # a store may fail at any step
            return False
        return kept.never_fails and all(leaf.finish is None for leaf in self._leaves)

    def _note(self, mark: Any, cells: list[Any], payloads: list[Any]) -> None:
        """The row is in: remember its nulls under this mark, and what answers are taken from."""
        self._remember(self._in, mark, cells, payloads)
        self._in += 1
        self._answer = STALE

    def _lifted(self, cells: list[tuple[Any, ...]], row: int) -> Partial:
        """The partial of one row. A row that does not fit is refused here, before it is in."""
        if self._kept is None:
            if all(v is None for cell in cells for v in cell):
                return None  # until a value tells the types
            self._settle_types(tuple(tuple(map(self._type_of, cell)) for cell in cells))
        assert self._kept is not None
        monoid = self._kept.monoid
        self._check_cells(monoid, cells)
        p = monoid.lift_cells(iter(cells), row)
        if monoid.fixed_width:
            if self._easy is None and self._plain:
                self._easy = EASY.get(self._types[0][0])
        else:
            kinds = [type(v) for cell in cells for v in cell]
            if self._sample is None:
                self._sample = kinds, p
                self._easy = kinds[0] if self._plain and kinds[0] in (str, bytes) else None
            elif kinds != self._sample[0]:
                self._try(monoid, p, cells)
        return p

    def _try(self, monoid: Monoid, p: Partial, cells: list[tuple[Any, ...]]) -> None:
        """Values of another type than the first must be such as can be combined with it."""
        assert self._sample is not None
        try:
            monoid.combine(self._sample[1], p)
        except TypeError as error:
            given = ", ".join(repr(v) for cell in cells for v in cell)
            raise TypeError(f"{self.operator!r} cannot take {given} here: {error}.") from error

    def evict(self) -> None:
        """Remove the oldest value."""
        if not len(self):
            raise IndexError("evict from an empty window: there is no value to remove.")
        if self._kept is not None:
            self._kept.evict(1)
        self._evicted(1)

    def query(self, last: int | None = None) -> Any:
        """The answer for what the window holds, or for its `last` values; None where it has none.

        Only some algorithms answer for less than the window: flat_fit, slide_side and others that
        keep it in such a way.
        """
        if last is not None:
            return self._query_last(last)
        if self._kept is None:  # nothing but nulls so far, if anything
            untyped = self.operator.bind_leaves([(self._dtype or "float64",) for _ in self._leaves])
            return self._lowered(untyped, untyped.identity())
        if self._answer is STALE:
            kept = self._kept
            if self._plain and self._in > self._out and not self._nulls[0]:
                self._answer = self._finished(self.operator, kept.monoid, kept.query())
            else:
                self._answer = self._lowered(kept.monoid, kept.query())
        return list(self._answer) if isinstance(self._answer, list) else self._answer

    def _query_last(self, last: int) -> Any:
        self._check_ranges()
        last = whole("a range", last)
        if not 0 <= last <= len(self):
            raise IndexError(f"cannot answer for {last} values: the window holds {len(self)}.")
        if self._kept is None:
            return self.query()
        return self._lowered(self._kept.monoid, self._kept.query_last(last), self._youngest(last))

    def _check_ranges(self) -> None:
        if not hasattr(self._module, "query_last"):
            able = [name for name, module in MODULES.items() if hasattr(module, "query_last")]
            raise TypeError(
                f"{self.algorithm} answers for its whole window only; {', '.join(able)} also "
                f"answer for less."
            )

    def _roll(self, value: Any, leaving: int) -> Any:
        """So many oldest values leave, one comes in, and what there is then answers."""
        kept = self._kept
        if kept is not None and self.is_easy(value) and not self._nulls[0] and self._undo is None:
            p = kept.roll(kept.monoid.lift(value), leaving)
            self._in += 1
            self._out += leaving
            self._answer = STALE
            return self._finished(self.operator, kept.monoid, p)
        if leaving:
            self.bulk_evict(leaving)
        self.insert(value)
        return self.query()

    def evict_while(self, policy: Callable[[Any, Any], bool], *, debug: bool = False) -> int:
        """Remove the oldest values by a slide policy, as many as it says, and tell how many.

        policy(total, old) is given the answer for the window, as it is before anything leaves, and
        the answer for some of its oldest values; it is True if these must leave. It must be True
        up to some number of values and False beyond: a search finds this number in O(log n) calls.
        If the policy raises an error, nothing has left. With debug=True it is tried on every number
        of values, and refused if it is True for more of them and False for fewer.

        >>> from sash.operators.sums import Sum
        >>> window = Aggregator("amta", Sum())
        >>> for value in (4, 2, 3, 3, 4):
        ...     window.insert(value)
        >>> window.evict_while(lambda total, old: total - old >= 10)
        2
        >>> window.query()
        10
        """
        check_slides_by_policy(self._module)
        total, count = self.query(), 0
        if self._kept is not None:
            answer = self._answer_for_oldest()
            count = self._kept.evict_while(lambda _, old: bool(policy(total, answer(old))), debug)
        elif len(self) and policy(total, total):  # nothing but nulls: some answer as all do
            count = len(self)
        self._evicted(count)
        return count

    # In bulk

    def bulk_insert(self, values: Any) -> None:
        """Add many values, or rows of several columns."""
        values = columns.table(values)
        with self._types_if_done():
            job, kept, rows = self._job(values)
            each = list(self._each(values)) if job is None else []
            for value in each:  # all of them are tried before the first goes in
                self._lifted(self._cells(value)[0], self._in)
        if job is None or kept is None:
            for value in each:
                self.insert(value)
            return
        kept.to_arrays(job.code, len(self) + rows)
        with kept.unless_it_fails(rows, kept.may_stop_inserting) as rings:
            kept.state = job.call("bulk_insert", rings, kept.state, job.rows, rows)
        self._inserted(job, rows)

    def bulk_evict(self, count: int) -> None:
        """Remove the `count` oldest values."""
        count = whole("a count", count)
        if not 0 <= count <= len(self):
            raise IndexError(f"cannot evict {count} values from a window that holds {len(self)}.")
        if count and self._kept is not None:
            self._kept.evict(count)
        self._evicted(count)

    def slide(self, values: Any, size: int | Sequence[int]) -> Any:
        """Insert each value into a window of at most `size`, and answer it: one fused loop.

        Given several sizes, a list of answers, one for each, from one window as long as the
        longest; the algorithm must be one that answers for less than its window.
        """
        several = isinstance(size, (Sequence, np.ndarray)) and not isinstance(size, str)
        sizes = [whole("a size", one) for one in (size if several else [size])]  # type: ignore[union-attr]
        if not sizes or any(one < 1 for one in sizes):
            raise ValueError(f"a window holds at least 1 row, not {size}.")
        if several:
            self._check_ranges()
        values = columns.table(values)
        with self._types_if_done():
            job, kept, rows = self._job(values, few=0)
        if job is None or kept is None:
            found = self._slide_slowly(values, sizes)
            return found if several else found[0]
        held, longest = len(self), max(sizes)
        earlier = [self._valid_before(leaf) for leaf in range(len(self._leaves))]
        kept.to_arrays(job.code, max(min(held + rows, longest), held))
        order = sorted(sizes, reverse=True)
        out, answers = job.outputs(rows * len(sizes))
        with kept.unless_it_fails(rows, kept.may_stop) as rings:
            given = rings, kept.state
            if not rows:
                pass  # what is too much leaves when a row comes
            elif several:
                ranges = np.array(order, np.int64)
                kept.state = job.call("slide_ranges", *given, job.rows, rows, ranges, out)
            else:
                kept.state = job.slide(*given, rows, longest, out)
        job.collect(out, answers)
        self._inserted(job, rows)
        self._evicted(max(0, held + rows - longest) if rows else 0)
        kind = columns.leaves(values, self.operator)[1]
        found = []
        places = np.argsort(np.argsort(np.negative(sizes), kind="stable"))
        for one, at in zip(sizes, places.tolist(), strict=True):
            own = [each.take(slice(at, None, len(sizes))) for each in answers]
            for leaf, leaf_answers in enumerate(own):
                self._settle_empty(leaf_answers, earlier[leaf], job.valid[leaf], one)
            found.append(dress(self.operator, own, kind))
        return found if several else found[0]

    def check_invariants(self, window: list[Any]) -> None:
        """Assert the algorithm's invariants, given the values that the window should hold."""
        assert len(self) == len(window)
        if self._kept is None:
            return
        lift = self._kept.monoid.lift_cells
        rows = zip(self._rows(), (self._cells(value)[0] for value in window), strict=True)
        self._kept.check_invariants([lift(iter(cells), row) for row, cells in rows])

    def partials_held(self) -> int:
        """How many partials are kept."""
        return 0 if self._kept is None else self._kept.partials_held()

    # Types and rows

    @property
    def _leaves(self) -> tuple[Operator, ...]:
        return self.operator.leaves

    def _settle_types(self, types: tuple[tuple[np.dtype[Any], ...], ...]) -> None:
        self._types = types
        self._kept = self._keeping(self.operator.bind_leaves(types))

    def _keeping(self, monoid: Monoid) -> Kept:
        """Where partials are kept, once types are known; with the nulls that came before."""
        kept = Kept(self._module, monoid, self._settings)
        for _ in range(self._came_untyped()):
            kept.insert(monoid.identity())
        return kept

    @contextmanager
    def _types_if_done(self) -> Iterator[None]:
        """Rows that are refused do not settle the types of a window that had none."""
        known = self._kept is not None
        try:
            yield
        except BaseException:
            if not known:
                self._kept, self._types, self._sample, self._easy = None, (), None, None
            raise

    def _came_untyped(self) -> int:
        """How many rows came before the first value: nulls, that take a place all the same."""
        return len(self)

    def _type_of(self, value: Any) -> np.dtype[Any]:
        known = {bool: "int8", int: "int64", float: "float64"}
        of_value = type(value) if isinstance(value, np.generic) else known.get(type(value), object)
        return self._dtype or np.dtype(of_value)

    def _cells(self, value: Any) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """For each leaf, the values it lifts and those it takes its answer from."""
        cells, payloads = [], []
        for leaf in self._leaves:
            given = self._given(leaf, value)
            # NumPy's truths cannot be subtracted; Python's are numbers.
            given = tuple(bool(v) if isinstance(v, np.bool_) else v for v in given)
            cells.append(given[: max(leaf.inputs, 1)])
            payloads.append(
                () if not leaf.takes else given if leaf.takes == "same" else given[leaf.inputs :]
            )
        return cells, payloads

    def _given(self, leaf: Operator, value: Any) -> tuple[Any, ...]:
        if leaf.columns:
            if not isinstance(value, Mapping) or any(c not in value for c in leaf.columns):
                wanted = ", ".join(f"{c!r}: …" for c in leaf.columns)
                raise TypeError(f"{leaf!r} is given rows, as in {{{wanted}}}; not {value!r}.")
            return tuple(value[c] for c in leaf.columns)
        least, most = leaf.column_counts()
        if least == most == 1:
            missing = isinstance(value, (np.datetime64, np.timedelta64)) and np.isnat(value)
            return (None if missing else value,)
        if value is None:
            return (None,) * least
        if not isinstance(value, tuple) or len(value) < least or (most and len(value) > most):
            raise TypeError(f"{leaf!r} is given tuples of {least} values; not {value!r}.")
        return value

    def _check_cells(self, monoid: Monoid, cells: list[tuple[Any, ...]]) -> None:
        """A value that does not fit is refused before the window has changed."""
        for bound, types, cell in zip(monoid.leaves(), self._types, cells, strict=True):
            for kind, value in zip(types, cell[: bound.inputs], strict=False):
                if value is None or not bound.fixed_width:
                    continue
                whole = isinstance(value, (int, np.integer, np.bool_))
                if kind.kind in "iu":
                    limits = np.iinfo(kind)
                    fits = whole and limits.min <= value <= limits.max
                elif kind.kind == "f" and whole:
                    fits = -MOST_FLOAT <= value <= MOST_FLOAT
                else:
                    fits = whole or isinstance(value, (float, np.floating))
                if not fits and kind.kind == "O":
                    raise TypeError(f"{bound.name} needs numbers, and was given {value!r}.")
                if not fits:
                    raise TypeError(
                        f"this window holds {kind} values and was given {value!r}; say "
                        f"dtype='{'float64' if isinstance(value, float) else 'object'}' when "
                        f"it is made."
                    )

    # Answers

    def _lowered(self, monoid: Monoid, p: Partial, part: Any = None, oldest: bool = False) -> Any:
        """The answer for a partial: of the window, of the part of it that `_nothing_in` knows, or
        of some of its oldest values.
        """
        parts = p if monoid.members else (p,)
        each = zip(self._leaves, monoid.leaves(), parts, strict=True)
        answers = [self._leaf_answer(k, part, oldest, *leaf) for k, leaf in enumerate(each)]
        return monoid.named_answers(answers) if monoid.members else answers[0]

    def _answer_for_oldest(self) -> Callable[[Partial], Any]:
        """A function that tells the answer for some of the oldest values, given their sum."""
        assert self._kept is not None
        monoid = self._kept.monoid
        if self._plain and not self._nulls[0]:
            return partial(self._finished, self.operator, monoid)
        return lambda old: self._lowered(monoid, old, oldest=True)

    def _leaf_answer(
        self, k: int, part: Any, oldest: bool, leaf: Operator, bound: Monoid, p: Partial
    ) -> Any:
        if bound.empty is NOT_GIVEN:
            nothing = False
        elif oldest:  # how many they are is not known here
            first = next(iter(self._nulls[k]), None)
            nothing = first == self._out and equal(p, bound.identity())
        else:
            nothing = self._nothing_in(k, part)
        if nothing:
            return bound.empty
        if leaf.takes:
            found = bound.lower(p)
            payload = None if found is None else self._payloads[k][found]
            return payload[0] if payload and len(payload) == 1 else payload
        return self._finished(leaf, bound, p)

    def _finished(self, leaf: Operator, bound: Monoid, p: Partial) -> Any:
        """What `lower` tells, as its caller is to have it."""
        found = bound.lower(p)
        if found is None:
            return None
        if isinstance(bound.answer, dict):
            found = dict(zip(bound.answer, found, strict=True))
        return found if leaf.finish is None else leaf.finish(found)

    def _nothing_in(self, leaf: int, part: Any) -> bool:
        """Whether a leaf has no value in the window, or in a part of it: a range of rows."""
        if part is None:
            return len(self._nulls[leaf]) == len(self)
        nulls = takewhile(lambda row: row >= part.start, reversed(self._nulls[leaf]))
        return bool(sum(row < part.stop for row in nulls) == self._held(part))

    def _valid_before(self, leaf: int) -> Any:
        """Which rows of the window are not null for this leaf."""
        return ~np.isin(np.fromiter(self._rows(), np.int64), list(self._nulls[leaf]))

    def _settle_empty(self, answers: LeafAnswers, earlier: Any, mask: Any, size: int) -> None:
        rows = answers.count
        if mask is None:
            return  # each window holds at least the row it is answered for
        valid = np.concatenate([earlier, mask])
        before = np.concatenate([[0], np.cumsum(valid)])
        ends = np.arange(len(earlier) + 1, len(earlier) + rows + 1)
        answers.settle_empty(before[ends] == before[np.maximum(ends - size, 0)])

    # Rows in bulk

    def _job(
        self, values: Any, few: int = FEW_ROWS, taking: bool = False
    ) -> tuple[Job | None, Kept | None, int]:
        """A compiled job for these rows; None if they are better inserted one by one.

        taking: the caller keeps what answers are taken from.
        """
        leaves, _ = columns.leaves(values, self.operator)
        rows = len(leaves[0].inputs[0])
        by_hand = any(c.is_time or c.is_bool for leaf in leaves for c in leaf.inputs)
        if rows < few or by_hand or (not taking and any(leaf.takes for leaf in self._leaves)):
            return None, None, rows
        self.settle_by(values)
        if self._kept is None or not self._kept.monoid.fixed_width:
            return None, None, rows
        leaves = [
            columns.Leaf(leaf.operator, tuple(map(cast, leaf.inputs, types)), leaf.payload)
            for leaf, types in zip(leaves, self._types, strict=True)
        ]
        return Job(self._module, self.operator, leaves, self._in), self._kept, rows

    def settle_by(self, values: Any) -> None:
        """Rows in bulk settle the types, if none did before: all of them, not the first alone."""
        if self._kept is not None:
            return
        leaves, _ = columns.leaves(values, self.operator)
        given = [c for leaf in leaves for c in leaf.inputs]
        if any(c.is_time or c.is_bool for c in given) or not all(map(tells_type, given)):
            return
        self._settle_types(
            tuple(tuple(self._dtype or c.dtype for c in leaf.inputs) for leaf in leaves)
        )

    def _each(self, values: Any) -> Any:
        """The rows one by one, as `insert` takes them."""
        if any(leaf.columns for leaf in self._leaves):
            table = columns.table(values)
            names, cols = list(table), [c.objects() for c in table.values()]
            return (dict(zip(names, row, strict=True)) for row in zip(*cols, strict=True))
        cols = [c.objects() for c in columns.table(values).values()]
        return iter(cols[0]) if len(cols) == 1 else zip(*cols, strict=True)

    def _slide_slowly(self, values: Any, sizes: list[int]) -> list[Any]:
        """One row at a time; for each size, its answers."""
        longest = max(sizes)
        found: list[list[Any]] = [[] for _ in sizes]
        for value in self._each(values):
            self._lifted(self._cells(value)[0], self._in)  # refused before anything has left
            while len(self) >= longest:
                self.evict()
            self.insert(value)
            for answers, size in zip(found, sizes, strict=True):
                whole = size == longest
                answers.append(self.query() if whole else self.query(min(size, len(self))))
        leaves, kind = columns.leaves(values, self.operator)
        types = declared_types(self.operator, leaves, self._dtype)
        members = getattr(self.operator, "members", None)
        if members is None:
            return [of_objects(answers, kind, types[0]) for answers in found]
        tables = []
        for answers in found:
            each = zip(*answers, strict=True) if answers else ([] for _ in members)
            dressed = [of_objects(list(a), kind, t) for a, t in zip(each, types, strict=True)]
            tables.append(in_table(dict(zip(members, dressed, strict=True)), kind))
        return tables

    def _inserted(self, job: Job, rows: int) -> None:
        for leaf, mask in enumerate(job.valid):
            if mask is not None:
                self._nulls[leaf].extend((np.flatnonzero(~mask) + self._in).tolist())
        self._in += rows
        self._answer = STALE

    def _evicted(self, count: int) -> None:
        if self._undo is not None:
            self._undo.note(count)
        if any(self._nulls) or any(self._payloads):  # else an eviction of many need not count them
            for row in range(self._out, self._out + count):
                self._forget(row)
        self._out += count
        self._answer = STALE

    # What is known of rows beside their partials

    def _rows(self) -> Iterator[int]:
        """The rows that the window holds, from the oldest on."""
        return iter(range(self._out, self._in))

    def _held(self, rows: range) -> int:
        """How many of these rows the window holds; they are none but its own."""
        return len(rows)

    def _youngest(self, count: int) -> range:
        """The rows of its `count` youngest values."""
        return range(self._in - count, self._in)

    def _beside(self) -> Beside:
        return Beside(self)

    def _remember(self, row: int, mark: Any, cells: list[Any], payloads: list[Any]) -> None:
        for leaf, (cell, payload) in enumerate(zip(cells, payloads, strict=True)):
            if any(v is None for v in cell):
                self._nulls[leaf].append(mark)
            if payload:
                self._payloads[leaf][row] = payload

    def _forget(self, row: int) -> None:
        for nulls, payloads in zip(self._nulls, self._payloads, strict=True):
            nulls.pop(row, None)
            payloads.pop(row, None)


def cast(column: columns.Column, dtype: np.dtype[Any]) -> columns.Column:
    """A column of the type that a window holds; refused if that loses something."""
    if dtype.kind == "O" and column.numbers is not None:
        return columns.Column(column.source, column.kind, None, None)
    if column.numbers is None or column.numbers.dtype == dtype:
        return column
    if not np.can_cast(column.numbers.dtype, dtype, "safe"):
        raise TypeError(
            f"this window holds {dtype} values and was given {column.numbers.dtype}; "
            f"say dtype='{np.promote_types(dtype, column.numbers.dtype)}' when it is made."
        )
    return columns.Column(column.source, column.kind, column.numbers.astype(dtype), column.valid)


def tells_type(column: columns.Column) -> bool:
    """Whether a column's values have a type: nothing but None has none, if the array says none."""
    if not len(column) or column.valid is None or column.valid.any():
        return len(column) > 0
    dtype, kind = (getattr(column.source, name, None) for name in ("dtype", "type"))
    return column.kind != "list" and str(dtype) != "object" and str(kind) != "null"


def whole(what: str, number: Any) -> int:
    """A whole number, or an error that says so."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise TypeError(f"{what} is a whole number, not {number!r}.")
    return int(number)


def checked_operator(operator: Any) -> None:
    """An operator is wanted, not its class or something else."""
    if isinstance(operator, type) and issubclass(operator, Operator):
        raise TypeError(f"give an operator, not its class: write {operator.__name__}().")
    if not isinstance(operator, Operator):
        raise TypeError(f"an operator such as sash.Max() is needed, not {operator!r}.")

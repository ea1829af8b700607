"""`sash.Window`: one definition, one operator, rows as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any, Literal, Self, get_args

import numpy as np

from sash.aggregators.aggregator import checked_operator, whole
from sash.aggregators.choose import Latency, choose, need_of
from sash.aggregators.duration import Steps, Time, length
from sash.aggregators.registry import check_slides_by_policy, for_operator
from sash.aggregators.shelf import Shelf
from sash.operators.base import Operator
from sash.windows import cutting
from sash.windows.answers import Answers, as_list
from sash.windows.batches import Batch
from sash.windows.definitions import SlideWhile, definition
from sash.windows.engine import NOT_ROLLED, Engine, Given
from sash.windows.explaining import shape_of
from sash.windows.giving import Giver
from sash.windows.ordering import Ordering
from sash.windows.reading import NO_KEY, UNNAMED, Reader
from sash.windows.saving import loaded, saved
from sash.windows.shapes import Shape, amount
from sash.windows.stamps import Stamps
from sash.windows.storing import StoredRows, StoredWindow
from sash.windows.tracking import CAME

Emit = Literal["every", "changes", "early"]
NO_CARE = nullcontext()


class Window:
    """The answers of an operator over windows, as rows come: one by one, or many at once.

    op          an operator, or several `Together`
    window      a definition such as `sash.last("1h", every="1min")`; 1000 and "1h" are short for
                `last` of so many rows, or so long
    algorithm   a name from `sash.algorithms()`; "auto" takes what fits
    latency     "worst_case" if no single answer may take long
    min_size    no answer for windows of fewer rows
    lateness    how far behind the newest time rows may come; without it they must be in order
    emit        "every" answer; only "changes"; or "early", answers at once and corrections when
                late rows come
    by          the column, or columns, whose values are keys: a window for each; see `KeyedWindow`
    idle        forget keys without rows for so long
    dtype       the type of values, if it is not to be that of the first
    debug       check at every row that a slide policy is one
    store       a store, or a `Place` in one, where the window is kept if it is larger than memory
                or is to outlive the process: if it is there already, this one goes on with it

    >>> import sash
    >>> window = sash.Window(sash.Max(), sash.last("10i"))
    >>> window.push(5, time=0), window.push(3, time=8), window.push(1, time=12)
    (5, 5, 3)
    >>> window.push_many([2, 4, 1], times=[15, 16, 30])
    [3, 4, 1]
    """

    needs_keys = False

    def __init__(
        self,
        op: Operator,
        window: Any,
        *,
        algorithm: str = "auto",
        latency: Latency = "throughput",
        min_size: int = 1,
        lateness: Any = None,
        emit: Emit = "every",
        by: str | Sequence[str] | None = None,
        idle: Any = None,
        dtype: Any = None,
        debug: bool = False,
        store: Any = None,
    ) -> None:
        checked_operator(op)
        if emit not in get_args(Emit):
            raise ValueError(f"emit is one of {', '.join(get_args(Emit))}; not {emit!r}.")
        if emit == "early" and lateness is None:
            raise ValueError("emit='early' corrects answers when late rows come: give lateness=…")
        if idle is not None and (by is None or emit == "early"):
            raise ValueError("idle is for windows with keys, and does not go with emit='early'.")
        if store is not None and (by is not None or emit == "early"):
            raise ValueError(
                "a window in a store has no keys, and does not go with emit='early'; make a window "
                "for each key, each with a Place of its own."
            )
        if whole("min_size", min_size) < 0:
            raise ValueError(f"min_size must be at least 0, not {min_size}.")
        self.op = op
        self.window = definition(window)
        self.min_size = int(min_size)
        self.emit = emit
        self.lateness = None if lateness is None else time_length("lateness", lateness)
        self.by = _names(by)
        self.idle = None if idle is None else time_length("idle", idle)
        self.latency = latency
        self.debug = debug
        self.dtype = None if dtype is None else np.dtype(dtype)
        self._shape = Shape(self.window)
        if store is not None and algorithm == "auto":
            algorithm = "amta"
        self.algorithm = self._chosen(algorithm, latency)
        self._store: StoredWindow | None = None
        if store is None:
            self._begin(None)
        else:
            self._store = StoredWindow(self, store, self._begin)

    def _begin(self, shelf: Shelf | None) -> None:
        self._engine = Engine(
            self.op,
            self._shape,
            least=self.min_size,
            idle=cutting.FOREVER if self.idle is None else amount(self.idle),
            algorithm=self.algorithm,
            keyed=self._keyed,
            dtype=self.dtype,
            debug=self.debug,
            shelf=shelf,
            rows=None if shelf is None else StoredRows(shelf),
        )
        self._stamps = Stamps(self._shape, {"lateness": self.lateness, "idle": self.idle})
        ordered = self.lateness is not None
        self._order = Ordering(amount(self.lateness)) if ordered else None
        takes_times = ordered or self.idle is not None
        self._reader = Reader(self.op, self._shape, self.by, self._stamps, takes_times)
        self._giver = Giver(
            self._shape,
            self._stamps,
            self._reader.keys,
            emit=self.emit,
            least=self.min_size,
            keyed=self._keyed,
        )
        self._pushed = 0
        self._gone = np.zeros(0, np.int64)
        """The keys that were forgotten last."""
        self._newest = cutting.NEVER
        self._advanced = cutting.NEVER
        self._finished = False

    @property
    def _keyed(self) -> bool:
        return bool(self.by)

    def _chosen(self, algorithm: str, latency: Latency) -> str:
        if algorithm != "auto":
            module = for_operator(algorithm, self.op)
            if isinstance(self.window, SlideWhile):
                check_slides_by_policy(module)
            return algorithm
        need = need_of(self.op, shape=shape_of(self.window), latency=latency, arrays=False)
        return choose(need).algorithm

    def __repr__(self) -> str:
        by = ", with keys" if self.by == (UNNAMED,) else ""
        by = f" by {', '.join(self.by)}" if self.by and not by else by
        return (
            f"<{type(self).__name__} of {self.op!r} over {self.window!r}{by}, holding {len(self)}>"
        )

    def __len__(self) -> int:
        """How many rows the window holds; those of all keys together."""
        return int(self._engine.tracker.held().sum())

    @property
    def late(self) -> int:
        """How many rows came too late, and were dropped."""
        return 0 if self._order is None else self._order.late

    @property
    def watermark(self) -> Any:
        """The time before which everything is final; None before there is any."""
        at = self._advanced if self._order is None else self._order.watermark
        return None if at == cutting.NEVER else self._stamps.one(at)

    def keys(self) -> list[Any]:
        """The keys that rows have come for."""
        if not self._keyed:
            return []
        there = self._engine.tracker.states[CAME] > 0
        if self._order is not None and self._order.pending is not None:
            there[self._order.pending.codes] = True
        return [self._reader.keys.values[code] for code in np.flatnonzero(there).tolist()]

    @property
    def pushed(self) -> int:
        """How many rows were pushed; of a window that goes on, those that its store has too."""
        return self._pushed

    def query(self, key: Any = None) -> Any:
        """The answer for what the window holds now."""
        code = 0
        if self._keyed:
            found = self._reader.keys.code(key)
            if found is None:
                raise KeyError(f"no row has come for the key {key!r}.")
            code = found
        return self._engine.query(code)

    # Rows

    def push(self, value: Any, time: Any = None, *, key: Any = NO_KEY) -> Any:
        """One row comes.

        For windows that a row completes at most one of, its answer, or None. Where it may complete
        several (ends on a grid of time that windows overlap; lateness), an `Answers` of them.
        """
        self._check_open()
        if key is NO_KEY and self._rolls and self._stamps.has_times is (time is not None):
            moment = 0 if time is None else self._stamps.number(time)
            early = time is not None and moment < self._advanced
            answer = NOT_ROLLED if early else self._engine.roll_one(value, moment)
            if answer is not NOT_ROLLED:
                if moment > self._newest:
                    self._newest = moment
                self._pushed += 1
                return answer
        if self._order is None and self._engine.one_by_one and key is NO_KEY:
            given = self._push_one(value, time)
        else:
            given = self._push(lambda: self._reader.one_row(value, time, key))
        if self._one_at_most:
            answers = list(given) if isinstance(given, Answers) else as_list(given)
            given = answers[-1] if answers else None
        self._noted(given)
        return given

    @cached_property
    def _rolls(self) -> bool:
        """Whether each row is answered, by the last rows up to it and nothing else."""
        plain = self._order is None and self._store is None and not self._keyed
        return plain and self._shape.rolls and self.emit == "every" and self.min_size <= 1

    @cached_property
    def _one_at_most(self) -> bool:
        """Whether a row completes one window at most."""
        if self._order is not None or not self._shape.one_at_most:
            return False
        if self.idle is not None and self._shape.trigger != cutting.AT_ROWS:
            return False  # it may close idle keys
        return self.min_size > 0 or self._shape.trigger != cutting.AT_ENDS

    def _push_one(self, value: Any, time: Any) -> Any:
        reader, stamps, giver = self._reader, self._stamps, self._giver
        with stamps.if_done() if stamps.has_times is None else NO_CARE:
            moment = stamps.number(time) if reader.timed(time is not None) else 0
            if moment < self._advanced and time is not None:
                raise ValueError(self._too_early(time))
            row, along, mark = reader.taken_apart(value)
            found = self._engine.run_one(row, moment, moment if along is None else along, mark)
            stamps.has_times = time is not None
        if moment > self._newest:
            self._newest = moment
        self._pushed += 1
        given = [each for each in found if each[3] >= self.min_size]
        if self.emit == "changes":
            given = [each for each in given if giver.differs(0, each[0])]
        answers = [each[0] for each in given]
        if self._one_at_most:
            return answers
        times, since = (np.array([each[k] for each in given], np.int64) for k in (1, 2))
        return Answers(answers, answers, **stamps.marks(times, since, "list"))

    def push_many(self, values: Any, times: Any = None, *, keys: Any = None) -> Any:
        """Many rows come.

        Answers at rows, one for each or one for every so many, are an array of the kind that came
        in, as `sash.rolling` gives it. Otherwise they are an `Answers`, with their times.
        """
        self._check_open()
        return self._noted(self._push(lambda: self._reader.batch(values, times, keys)))

    def _push(self, read: Callable[[], Batch], finish: bool = False) -> Any:
        late = self.late
        with self._stamps.if_done():
            batch = read()
            self._engine.add_keys(len(self._reader.keys) - self._engine.keys)
            try:
                if self._order is not None:  # what waits must be such as can go in later
                    self._engine.vet(batch)
                given = self._in_order(batch, finish)
            except BaseException:
                self._forget_strangers(batch)
                raise
            self._finished = finish
            self._pushed += batch.rows
            self._reader.came(batch)
        if self.late > late:
            self._forget_strangers(batch)
        if self._at_rows:
            return self._giver.rows(given)
        return self._give(given)

    def _forget_strangers(self, batch: Batch) -> None:
        """Keys of none but refused or late rows are no keys."""
        if batch.codes is None:
            return
        codes = np.unique(batch.codes)
        codes = codes[self._engine.tracker.states[CAME][codes] == 0]
        pending = None if self._order is None else self._order.pending
        if pending is not None and pending.codes is not None:
            codes = codes[~np.isin(codes, pending.codes)]
        self._reader.keys.forget(codes)

    def advance(self, time: Any) -> Answers:
        """Time has come this far, though no row says so: what that completes.

        What comes before this time from now on is late; without `lateness` it is refused.
        """
        self._check_open()
        if self._stamps.has_times is False:
            raise TypeError("the rows of this window have no times, so it cannot advance.")
        before = self._advanced
        with self._stamps.if_done():
            self._advance(max(before, self._stamps.number(time)))
            try:
                given = self._in_order(self._reader.nothing(), all_keys=True)
            except BaseException:
                self._advance(before)
                raise
        answers = self._give(given)
        self._noted(answers)
        return answers

    def _advance(self, moment: int) -> None:
        self._advanced = moment
        if self._order is not None:
            self._order.advanced = moment

    def finish(self) -> Answers:
        """No more rows will come: answers for all that is open. The window takes none any more."""
        self._check_open()
        given = self._in_order(self._reader.nothing(), finish=True)
        self._finished = True
        answers = self._give(given)
        self._noted(answers)
        return answers

    def all_of(self, values: Any, times: Any = None, *, keys: Any = None) -> Any:
        """These rows and no more: the answers of `push_many` and of `finish`, as one."""
        self._check_open()
        return self._noted(self._push(lambda: self._reader.batch(values, times, keys), finish=True))

    @cached_property
    def _at_rows(self) -> bool:
        """Whether answers belong to rows as they come, so that they need no times of their own."""
        if self._order is not None or self.emit != "every":
            return False
        return self._shape.plain if self._keyed else self._shape.answers_rows

    def _give(self, given: Given) -> Answers:
        if self.emit != "early":
            answers = self._giver.answers(given)
            self._giver.forget(self._gone)
            self._gone = self._gone[:0]
            return answers
        still_open = None
        if not self._finished:  # what would be answered if no more rows came
            assert self._order is not None
            pending = self._order.pending or self._reader.nothing()
            still_open = self._engine.copy().run(pending, cutting.FOREVER, True)
        return self._giver.corrections(given, still_open)

    # The store

    def sync(self) -> None:
        """Return when all that was pushed is in the store to stay: no crash can lose it then."""
        if self._store is None:
            raise TypeError("this window has no store; give one, with store=…")
        self._store.shelf.sync()

    def close(self) -> None:
        """Sync, and let others open the window; without a store there is nothing to do."""
        if self._store is not None:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._store is not None and error is not None:
            self._store.let_go()  # as it was when it was synced
        self.close()

    def _noted(self, answers: Any) -> Any:
        """Let the store have what has changed, now or later; the same answers."""
        if self._store is not None:
            self._store.changed(answers)
        return answers

    def save(self) -> bytes:
        """All that the window holds, as bytes for `load`.

        Partials that are objects of a class that is not ours are refused unless it is registered
        (`sash.aggregators.saving.register`).
        """
        if self._store is not None:
            raise TypeError("this window is in a store, and need not be saved.")
        return saved(self)

    @classmethod
    def load(cls, data: bytes, op: Operator | None = None, window: Any = None) -> Self:
        """A window that goes on where the one that was saved was.

        op: needed if the operator is not one of sash's; window: if its policy is a function. What
        is damaged, or was saved of another operator, is refused with a `SavedError`.
        """
        return loaded(cls, data, op, window)

    def _check_open(self) -> None:
        if self._finished:
            raise ValueError("this window is finished: make another for more rows.")
        if self._store is not None:
            self._store.check_open()

    # Order

    def _in_order(self, batch: Batch, finish: bool = False, all_keys: bool = False) -> Given:
        """Process what is due, and give its answers."""
        if self._order is not None:
            return self._reordered(self._order, batch, finish)
        if batch.rows and batch.times is not None and int(batch.times.min()) < self._advanced:
            raise ValueError(self._too_early(self._stamps.one(int(batch.times.min()))))
        if batch.rows and batch.times is not None:
            newest = max(self._newest, int(batch.times.max()))
        else:
            newest = self._newest
        now = cutting.FOREVER if finish else self._advanced
        given = self._run(batch, now, finish, all_keys, max(newest, self._advanced))
        self._newest = newest
        return given

    def _reordered(self, order: Ordering, batch: Batch, finish: bool) -> Given:
        ordered = order.take(batch, finish)
        now = cutting.FOREVER if finish else ordered.watermark
        given = self._run(ordered.ready, now, finish, True, ordered.watermark, ordered.pending)
        order.commit(ordered)
        self._newest = ordered.newest
        return given

    def _run(
        self,
        batch: Batch,
        now: int,
        finish: bool,
        all_keys: bool,
        clock: int,
        waiting: Batch | None = None,
    ) -> Given:
        """Let the engine run, and forget keys that are idle by the clock, with no row waiting."""
        given = self._engine.run(batch, now, finish, all_keys)
        if self.idle is None or clock == cutting.NEVER:
            return given
        idle = self._engine.idle(clock - amount(self.idle))
        if waiting is not None and waiting.codes is not None and len(idle):
            idle = idle[~np.isin(idle, waiting.codes)]
        if not len(idle):
            return given
        last = self._engine.run(batch.take(np.zeros(0, np.int64)), closing=idle)
        given = given.then(last, self._reader.keys.values)
        for each in (self._engine, self._reader.keys):
            each.forget(idle)
        self._gone = idle
        return given

    def _too_early(self, time: Any) -> str:
        return (
            f"the row at {time} comes after time was advanced to {self.watermark}; give "
            f"lateness=… for rows that are late."
        )


class KeyedWindow(Window):
    """A window for each key, all kept together.

    >>> import sash
    >>> window = sash.KeyedWindow(sash.Sum(), 2)
    >>> window.push_many([1, 10, 2, 20, 3], keys=["a", "b", "a", "b", "a"])
    [1, 10, 3, 30, 5]
    >>> window.query("b")
    30
    """

    needs_keys = True

    def __init__(
        self, op: Operator, window: Any, by: str | Sequence[str] | None = None, **options: Any
    ) -> None:
        super().__init__(op, window, by=(UNNAMED,) if by is None else by, **options)


def _names(by: Any) -> tuple[str, ...]:
    if by is None or by == ():
        return ()
    names = (by,) if isinstance(by, str) else tuple(by)
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"by is the name of a column, or several, not {by!r}.")
    return names


def time_length(name: str, given: Any) -> Time | Steps:
    found = length(given)
    if isinstance(found, int):
        raise TypeError(f"{name} is a length of time, such as '10min' or '60i', not {given!r}.")
    if amount(found) < 0:
        raise ValueError(f"{name} cannot be negative: {given!r}.")
    return found

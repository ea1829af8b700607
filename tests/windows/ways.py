"""The same rows through a window in every way that it takes them: the answers must not differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from oracle import alike
from windows.naive import ANY, Passed, Row

import sash

SECOND = 1_000_000_000
EPOCH = datetime(1970, 1, 1)

WAYS = ("whole", "one by one", "in two", "in three", "one by one, then whole")


class Event(NamedTuple):
    """One answer as it was given. What `push` does not tell of it is ANY."""

    value: Any
    time: Any = ANY
    start: Any = ANY
    key: Any = None
    revision: Any = ANY


def run_all_ways(
    definition: Any,
    op: sash.Operator,
    rows: Sequence[Row],
    *,
    finish: bool = False,
    keyed: bool = False,
    kind: str = "list",
    datetimes: bool = False,
    ways: Sequence[str] = WAYS,
    **options: Any,
) -> list[Any]:
    """What the rows give: a list of answers if there is one for each row, else of events.

    finish     also what comes at the end
    kind       what values are pushed as: list, numpy, arrow
    datetimes  times are nanoseconds and pushed as datetimes
    """
    batches = [list(rows)]
    runs = {
        way: Run(definition, op, keyed=keyed, kind=kind, datetimes=datetimes, **options)
        for way in ways
    }
    found = {way: run.all(batches, way, finish) for way, run in runs.items()}
    first = ways[0]
    for way in ways[1:]:
        for one, other in zip(found[first], found[way], strict=True):
            assert_same(other, one, f"{way!r} differs from {first!r}", runs[way].bare)
        assert runs[way].window.late == runs[first].window.late
    return [answer for batch in found[first] for answer in batch]


class Run:
    """One window on its way."""

    def __init__(
        self,
        definition: Any,
        op: sash.Operator,
        *,
        keyed: bool = False,
        kind: str = "list",
        datetimes: bool = False,
        types: dict[str, pa.DataType] | None = None,
        **options: Any,
    ) -> None:
        """types: of Arrow columns; else those of the first batch that tells."""
        self.keyed, self.kind, self.datetimes = keyed, kind, datetimes
        self.types = dict(types or {})
        self.window = (sash.KeyedWindow if keyed else sash.Window)(op, definition, **options)
        every = getattr(definition, "every", None)
        self.every = every if isinstance(every, int) else 0
        plain = options.get("lateness") is None and options.get("emit", "every") == "every"
        self.plain = plain and self.every > 0 and not (keyed and self.every > 1)
        self.pushed = 0
        self.bare = False

    def all(
        self, batches: Sequence[Sequence[Row | Passed]], way: str, finish: bool = False
    ) -> list[list[Any]]:
        """What each batch gives, pushed in this way, and the end."""
        found = [self.batch(batch, way) for batch in batches]
        return [*found, self.events(self.window.finish())] if finish else found

    def batch(self, rows: Sequence[Row | Passed], way: str) -> list[Any]:
        found: list[Any] = []
        for part, alone in parts(rows, way):
            if isinstance(part[0] if part else None, Passed):
                found += self.events(self.window.advance(self.moment(part[0].time)))
            elif alone:
                found += self.one(part[0])
            else:
                found += self.many(part)
        return found

    def one(self, row: Row) -> list[Any]:
        key = {"key": row.key} if self.keyed else {}
        time = {} if row.time is None else {"time": self.moment(row.time)}
        answer = self.window.push(row.value, **time, **key)
        self.pushed += 1
        if isinstance(answer, sash.Answers):
            assert not self.plain, "one answer for each row, and push gave an Answers"
            return self.events(answer)
        if self.plain:
            if self.pushed % self.every:
                assert answer is None
                return []
            return [self.told(answer)]
        self.bare = True
        return [] if answer is None else [Event(self.told(answer), key=row.key)]

    def many(self, rows: Sequence[Row]) -> list[Any]:
        values = self.columns(rows)
        given: dict[str, Any] = {}
        if rows and rows[0].time is not None:
            given["times"] = self.moments([row.time for row in rows])
        if self.keyed:
            given["keys"] = self.column("key", [row.key for row in rows])
        answers = self.window.push_many(values, **given)
        self.pushed += len(rows)
        if not self.plain:
            return self.events(answers)
        assert not isinstance(answers, sash.Answers)
        return [self.told(answer) for answer in one_by_one(answers)]

    def columns(self, rows: Sequence[Row]) -> Any:
        """The values of rows as a column, or as several if they are dicts."""
        if not rows or not isinstance(rows[0].value, dict):
            return self.column("", [row.value for row in rows])
        names = rows[0].value
        named = {name: self.column(name, [row.value[name] for row in rows]) for name in names}
        return pa.table(named) if self.kind == "arrow" else named

    def column(self, name: str, values: list[Any]) -> Any:
        if self.kind == "list":
            return values
        if self.kind == "numpy":
            return np.array(values)
        array = pa.array(values)
        if name in self.types or not pa.types.is_null(array.type):
            self.types[name] = self.types.get(name, array.type)
            return array.cast(self.types[name])
        return array

    def told(self, answer: Any) -> Any:
        return missing(plain(answer), self.kind)

    def events(self, answers: Any) -> list[Event]:
        """An Answers taken apart."""
        assert isinstance(answers, sash.Answers), answers
        count = len(answers)
        told = [
            [self.told(answer) for answer in answers],
            [None] * count if answers.times is None else numbers(answers.times),
            [None] * count if answers.starts is None else numbers(answers.starts),
            [plain(key) for key in answers.keys] if self.keyed else [None] * count,
            [ANY] * count if answers.revisions is None else list(answers.revisions),
        ]
        assert [len(column) for column in told] == [count] * len(told)
        values = [self.told(answer) for answer in one_by_one(answers.values)]
        assert alike_all(values, told[0]), "iteration differs from .values"
        return [Event(*event) for event in zip(*told, strict=True)]

    def moment(self, time: int) -> Any:
        if not self.datetimes:
            return time
        return np.datetime64(time, "ns") if self.kind == "numpy" else as_datetime(time)

    def moments(self, times: list[Any]) -> Any:
        if not self.datetimes:
            return self.column("time", times)
        if self.kind == "list":
            return [as_datetime(time) for time in times]
        if self.kind == "numpy":
            return np.array(times, "datetime64[ns]")
        return pa.array(times, pa.timestamp("ns"))


def parts(rows: Sequence[Row | Passed], way: str) -> Iterator[tuple[Sequence[Any], bool]]:
    """The rows in pieces, and whether a piece is one row to be pushed alone."""
    passed = [at for at, row in enumerate(rows) if isinstance(row, Passed)]
    cuts = sorted({0, len(rows), *passed, *(at + 1 for at in passed)})
    for start, end in pairwise(cuts):
        piece = rows[start:end]
        size = len(piece)
        if start in passed or way == "whole":
            yield piece, False
            continue
        alone = {"one by one": size, "one by one, then whole": size // 2}.get(way, 0)
        for row in piece[:alone]:
            yield [row], True
        pieces = {"in two": 2, "in three": 3}.get(way, 1)
        inner = [alone + (size - alone) * k // pieces for k in range(pieces + 1)]
        for first, last in pairwise(inner):
            if first < last:
                yield piece[first:last], False
    if not rows and way != "one by one":
        yield [], False


def as_datetime(nanoseconds: int) -> datetime:
    assert nanoseconds % 1000 == 0
    return EPOCH + timedelta(microseconds=nanoseconds // 1000)


def numbers(times: Any) -> list[int | None]:
    """Times of any type as whole numbers; datetimes as nanoseconds."""
    if isinstance(times, (pa.Array, pa.ChunkedArray)):
        times = times.to_numpy(zero_copy_only=False)
    array = np.array([np.datetime64(t) if isinstance(t, datetime) else t for t in times])
    if array.dtype.kind == "M":
        array = array.astype("datetime64[ns]").astype(np.int64)
    return list(array.tolist())


def one_by_one(answers: Any) -> list[Any]:
    """Answers of any kind, several columns of them too, as a list of plain ones."""
    if isinstance(answers, dict):
        return [
            plain(row)
            for row in zip(*(one_by_one(column) for column in answers.values()), strict=True)
        ]
    if isinstance(answers, (pa.Table, pa.Array, pa.ChunkedArray)):
        return [plain(answer) for answer in answers.to_pylist()]
    return [plain(answer) for answer in answers]


def plain(answer: Any) -> Any:
    """One answer in Python's own types; several names together as a tuple.

    In columns of answers, several that are all missing cannot be told from none at all.
    """
    if isinstance(answer, dict):
        return plain(tuple(answer.values()))
    if isinstance(answer, (tuple, np.void)):  # the latter of a structured array
        parts = tuple(plain(part) for part in answer)
        return None if all(part is None for part in parts) else parts
    if isinstance(answer, np.ndarray):
        return answer.tolist()
    if isinstance(answer, pa.Scalar):
        return plain(answer.as_py())
    return answer.item() if isinstance(answer, np.generic) else answer


def missing(answer: Any, kind: str) -> Any:
    """NumPy says NaN for what is missing, wherever it can; so it is NaN on both sides."""
    if isinstance(answer, tuple):
        return tuple(missing(part, kind) for part in answer)
    return float("nan") if answer is None and kind == "numpy" else answer


def assert_same(
    found: Sequence[Any], expected: Sequence[Any], why: str = "", bare: bool = False
) -> None:
    """The same answers, or the same events of each key in the same order.

    bare: `push` gave answers as they are, so that None was no answer.
    """
    if any(not isinstance(one, Event) for one in [*found, *expected]):
        assert alike_all(found, expected), f"{why}: {found} instead of {expected}"
        return
    if bare:
        found = [event for event in found if not is_missing(event.value)]
        expected = [event for event in expected if not is_missing(event.value)]
    for key in dict.fromkeys(event.key for event in [*expected, *found]):
        one = [event for event in found if event.key == key]
        other = [event for event in expected if event.key == key]
        shown = f"{why}: {[tuple(e) for e in one]} instead of {[tuple(e) for e in other]}"
        assert alike_all([e.value for e in one], [e.value for e in other]), shown
        assert [e._replace(value=0) for e in one] == [e._replace(value=0) for e in other], shown


def is_missing(value: Any) -> bool:
    return value is None or value != value


def alike_all(found: Sequence[Any], expected: Sequence[Any]) -> bool:
    return len(found) == len(expected) and all(map(alike, map(plain, found), map(plain, expected)))

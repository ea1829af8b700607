"""What every window holds and when it answers, read off its definition as plainly as can be.

Nothing is kept from one answer to the next, and nothing of the library is used but the attributes
of a definition and the oracle's answer for a list of values. Times are whole numbers here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

from oracle import alike, answer_for

import sash
from sash.windows.definitions import Delta, Last, Punctuated, Session, SlideWhile


class Anything:
    """Equal to whatever it is compared with: what the contract leaves open."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "…"


ANY: Any = Anything()


class Row(NamedTuple):
    """A row as it comes. A value of several columns is a dict."""

    value: Any
    time: int | None = None
    key: Any = None


class Passed(NamedTuple):
    """Not a row: word from outside that time has come this far."""

    time: int


class Answer(NamedTuple):
    """One answer, the values it is for, and (where answers come at rows) the row's number."""

    value: Any
    time: Any
    start: Any
    row: int | None
    holds: list[Any]
    key: Any


class Slice(NamedTuple):
    """Positions first ≤ i < end, answered at a time, or at the row in position `at`."""

    first: int
    end: int
    time: Any = None
    start: Any = ANY
    at: int | None = None


def answers(
    definition: Any,
    op: sash.Operator,
    rows: Sequence[Row | Passed],
    *,
    min_size: int = 1,
    lateness: int | None = None,
    finish: bool = False,
) -> list[Answer]:
    """All answers that the rows give, key by key; with `finish` those of open windows too."""
    found = every_answer(definition, op, rows, min_size, lateness, finish)
    return [answer for answer in found if len(answer.holds) >= min_size]


def per_row(
    definition: Any, op: sash.Operator, rows: Sequence[Row], *, min_size: int = 1
) -> list[Any]:
    """An answer for each row that is answered, in the order of rows; None if held back."""
    found = sorted(every_answer(definition, op, rows, min_size), key=lambda answer: answer.row or 0)
    return [answer.value if len(answer.holds) >= min_size else None for answer in found]


def every_answer(
    definition: Any,
    op: sash.Operator,
    rows: Sequence[Row | Passed],
    min_size: int = 1,
    lateness: int | None = None,
    finish: bool = False,
) -> Iterator[Answer]:
    """Also those that min_size holds back."""
    kept, watermark = in_order(rows, lateness)
    if lateness is not None and not finish:
        kept = [(at, row) for at, row in kept if row.time < watermark]
    for key in dict.fromkeys(row.key for _, row in kept):
        own = [(at, row) for at, row in kept if row.key == key]
        series = [row for _, row in own]
        reached = watermark
        if (lateness is None or finish) and series[
            -1
        ].time is not None:  # its own rows tell as well
            reached = max(watermark, series[-1].time)
        for first, end, time, start, at in slices(definition, op, series, reached, finish):
            holds = [row.value for row in series[first:end]]
            row = None if at is None else own[at][0]
            # What an empty window answers is asked for only where it is wanted.
            value = answer_for(op, holds) if len(holds) >= min_size else None
            yield Answer(value, time, start, row, holds, key)


def in_order(
    rows: Sequence[Row | Passed], lateness: int | None
) -> tuple[list[tuple[int, Any]], float]:
    """Rows that are not late, with their numbers, by time and ties by arrival; the watermark.

    Without lateness, rows of one key tell nothing of another's: time passes from outside only.
    """
    watermark, kept = -inf, []
    for at, row in enumerate(rows):
        if isinstance(row, Passed):
            watermark = max(watermark, row.time)
            continue
        if lateness is not None:
            assert row.time is not None
            watermark = max(watermark, row.time - lateness)
        if lateness is None or row.time >= watermark:
            kept.append((at, row))
    if lateness is not None:
        kept.sort(key=lambda numbered: numbered[1].time)
    return kept, watermark


def late(rows: Sequence[Row | Passed], lateness: int) -> list[int]:
    """The numbers of the rows that come too late."""
    on_time = {at for at, _ in in_order(rows, lateness)[0]}
    return [at for at, row in enumerate(rows) if isinstance(row, Row) and at not in on_time]


def slices(
    definition: Any, op: sash.Operator, rows: list[Row], reached: float, finish: bool
) -> Iterator[Slice]:
    """The windows of one key's rows, in the order in which they are answered."""
    if isinstance(definition, Session):
        yield from sessions(amount(definition.gap), rows, reached, finish)
    elif isinstance(definition, Punctuated):
        yield from between_marks(definition, rows, finish)
    elif (
        isinstance(definition, Last) and is_length(definition.size) and is_length(definition.every)
    ):
        yield from aligned(definition, rows, reached, finish)
    else:
        yield from at_rows_or_ends(definition, bounds(definition, op, rows), rows, reached, finish)


def sessions(gap: int, rows: list[Row], reached: float, finish: bool) -> Iterator[Slice]:
    """As Spark's: a row just the gap after the last still belongs to the session."""
    first = 0
    for end in range(1, len(rows) + 1):
        over = rows[end - 1].time + gap
        if (rows[end].time > over) if end < len(rows) else (finish or reached > over):
            yield Slice(first, end, over, rows[first].time)
            first = end


def between_marks(definition: Punctuated, rows: list[Row], finish: bool) -> Iterator[Slice]:
    first = 0
    for i, row in enumerate(rows):
        if not row.value[definition.column]:
            continue
        end = i + 1 if definition.marks == "end" else i
        if end > first:
            yield Slice(first, end, row.time, at=i)
        first = end
    if finish and definition.marks == "start" and first < len(rows):
        yield Slice(first, len(rows), ANY)


def aligned(definition: Last, rows: list[Row], reached: float, finish: bool) -> Iterator[Slice]:
    """[start, start + size) for starts on the grid, as Spark's; in the end those that hold rows."""
    size = amount(definition.size)
    for end in ends_after(rows[0].time, definition, size):
        if end > reached and not (finish and end - size <= rows[-1].time):
            return
        first = sum(row.time < end - size for row in rows)
        yield Slice(first, max(first, sum(row.time < end for row in rows)), end, end - size)


def at_rows_or_ends(
    definition: Any,
    held: list[tuple[int, int]],
    rows: list[Row],
    reached: float,
    finish: bool,
) -> Iterator[Slice]:
    every = definition.every
    if is_length(every):
        for end in ends_after(rows[0].time, definition):
            # In the end, the one after all that has passed.
            if end > reached and not (finish and end - amount(every) <= reached):
                return
            yield Slice(*held[sum(row.time < end for row in rows) - 1], end)
        return
    for i, row in enumerate(rows):
        marked = row.value[every.column] if isinstance(every, Punctuated) else not (i + 1) % every
        if marked:
            yield Slice(*held[i], row.time, at=i)


def bounds(definition: Any, op: sash.Operator, rows: list[Row]) -> list[tuple[int, int]]:
    """Which positions the window holds at each row."""
    if isinstance(definition, SlideWhile):
        return sliding(definition, op, [row.value for row in rows])
    if isinstance(definition, Delta):
        newness = [number(row.value[definition.column]) for row in rows]
        width = amount(definition.width)
        return [(sum(new - v > width for v in newness), i + 1) for i, new in enumerate(newness)]
    closed_left = definition.closed in ("left", "both")
    closed_right = definition.closed in ("right", "both")
    if not is_length(definition.size):
        reach = definition.size - (not closed_left)
        return [(min(max(0, i - reach), i), i + closed_right) for i in range(len(rows))]
    found = []
    for i, row in enumerate(rows):
        oldest = row.time - amount(definition.size) + (not closed_left)
        end = i + 1 if closed_right else sum(r.time < row.time for r in rows)
        found.append((min(sum(r.time < oldest for r in rows), end), end))
    return found


def sliding(definition: SlideWhile, op: sash.Operator, values: list[Any]) -> list[tuple[int, int]]:
    """The oldest leave one by one for as long as the policy says that they and all before must."""
    shown: Callable[[sash.Operator, list[Any]], Any] = partial_for if definition.raw else answer_for
    first, found = 0, []
    for end in range(1, len(values) + 1):
        total, leaving = shown(op, values[first:end]), 0
        while first + leaving < end and definition.policy(
            total, shown(op, values[first : first + leaving + 1])
        ):
            leaving += 1
        first += leaving
        found.append((first, end))
    return found


def partial_for(op: sash.Operator, values: list[Any]) -> Any:
    """What `raw=True` shows of whole numbers: the partial, not the answer."""
    monoid = op.bind_leaves([("int64",) for _ in op.leaves])
    total = monoid.identity()
    for value in values:
        if value is not None:
            total = monoid.combine(total, monoid.lift_cells(iter([(value,)] * len(op.leaves)), 0))
    return total


def ends_after(time: int, definition: Any, shift: int = 0) -> Iterator[int]:
    """The ends k·every + offset + shift after a time, one after the other and for ever."""
    every = amount(definition.every)
    shift += amount(getattr(definition, "offset", None) or 0)
    end = (time - shift) // every * every + every + shift
    while True:
        yield end
        end += every


def is_length(given: Any) -> bool:
    """Whether it is a length of time, not a number of rows."""
    return hasattr(given, "nanoseconds") or hasattr(given, "count")


def amount(given: Any) -> Any:
    """A length of time as a number: nanoseconds, or steps of integer times."""
    return getattr(given, "nanoseconds", getattr(given, "count", given))


def number(given: Any) -> Any:
    """A cell that holds a time as nanoseconds."""
    return int(given.astype("datetime64[ns]").astype(int)) if hasattr(given, "astype") else given


def only_changes(found: Sequence[Any]) -> list[Any]:
    """Those whose value is not that of the answer before, of the same key."""
    before: dict[Any, Any] = {}
    kept = []
    for answer in found:
        if answer.key not in before or not alike(before[answer.key], answer.value):
            kept.append(answer)
        before[answer.key] = answer.value
    return kept


class Revised(NamedTuple):
    """An early answer and how often it was corrected; None if it has been taken back."""

    value: Any
    time: Any
    start: Any
    key: Any
    revision: int


def early(
    definition: Any, op: sash.Operator, batches: Sequence[Sequence[Row | Passed]], **options: Any
) -> list[list[Revised]]:
    """What emit="early" gives after each batch: what is new, what changed, what is gone."""
    given: dict[Any, Revised] = {}
    seen: list[Row | Passed] = []
    told = []
    for batch in batches:
        seen += batch
        now = {
            (a.key, a.time, None if a.start is ANY else a.start, a.row): a
            for a in answers(definition, op, seen, finish=True, **options)
        }
        news = []
        for name, a in now.items():
            before = given.get(name)
            if before is None or not alike(before.value, a.value):
                revision = 0 if before is None else before.revision + 1
                news.append(Revised(a.value, a.time, a.start, a.key, revision))
                given[name] = news[-1]
        for name, before in given.items():
            if name not in now and before.value is not None:
                news.append(before._replace(value=None, start=ANY, revision=before.revision + 1))
                given[name] = news[-1]
        told.append(news)
    return told

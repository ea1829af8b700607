"""Window tests as drawings: the picture is the test's data.

    time    0   2   4   6   8   10      numbers mark the axis; everything else is placed by it
    rows    a   b       c               each row at its time
    also        B                       a row at the same time, after the one above it
    gives   a   ab      bBc             the answer at each row; "." where there is none
    gives       abB

A window with a begin and an end is drawn as such, with its answer inside (or right of it, if it
is narrow); windows side by side may share a "|":

            [--ab---)                   [0, 4) answers ab
            |--ab---|       |-c-|       so it does here, and [8, 10) answers c

Lines between one `rows` and the next are what its rows give. `advance` draws a "^" where time has
come to; `finish` says that no more rows come. "~" behind a row says that it is late, "#1" behind an
answer that it is a first correction. Any other name in front is that of a column, whose cells stand
under the rows ("!" is True), or `key`. A window of a key has the key in front of it, and an answer
that stands under no row is drawn in a line `gives/key`. What follows a "←" is for the reader alone.
Without a `time`, rows are in the order of the drawing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from textwrap import dedent
from typing import Any

from windows import naive
from windows.naive import ANY, Passed, Row
from windows.ways import SECOND, WAYS, Event, Run, assert_same, missing

import sash

BAR = re.compile(r"[\[(](?P<inside>[^\[\]()]*)[)\]](?P<after>\s*[^\s\[(]+)?")
HELD_BACK = "."


@dataclass
class Act:
    """Rows that come, or time that passes, or the end; and what this gives."""

    rows: list[Row | Passed] = field(default_factory=list)
    late: list[int] = field(default_factory=list)
    gives: list[Event] = field(default_factory=list)
    under: list[int] = field(default_factory=list)
    held_back: bool = False
    finish: bool = False


def check(
    drawing: str,
    definition: Any,
    op: sash.Operator,
    *,
    seconds: bool = False,
    lateness: int | None = None,
    kind: str = "list",
    ways: Sequence[str] = WAYS,
    **options: Any,
) -> None:
    """The window does what is drawn, in whichever way rows are pushed.

    seconds   the drawing's times are datetimes, in seconds since 1970
    lateness  in units of the drawing
    """
    acts = read(drawing, SECOND if seconds else 1)
    if options.get("emit") == "early":
        for act in acts:
            act.gives = [as_revised(event) for event in act.gives]
    check_naive(acts, definition, op, lateness and lateness * (SECOND if seconds else 1), **options)
    if lateness is not None:
        options["lateness"] = f"{lateness}{'s' if seconds else 'i'}"
    rows = [act.rows for act in acts if not act.finish]
    keyed = any(row.key is not None for batch in rows for row in batch if isinstance(row, Row))
    finish = acts[-1].finish
    for way in ("whole", "one by one") if options.get("emit") == "early" else ways:
        run = Run(definition, op, keyed=keyed, kind=kind, datetimes=seconds, **options)
        for act, found in zip(acts, run.all(rows, way, finish), strict=True):
            expected = [e._replace(value=missing(e.value, kind)) for e in act.gives]
            told = [e.value for e in expected] if run.plain and not act.finish else expected
            if options.get("emit") == "early":
                found, told = sorted(found, key=in_time), sorted(told, key=in_time)
            assert_same(found, told, way, run.bare)
        assert run.window.late == sum(len(act.late) for act in acts)


def check_naive(
    acts: Sequence[Act],
    definition: Any,
    op: sash.Operator,
    lateness: int | None,
    *,
    min_size: int = 1,
    emit: str = "every",
    **_: Any,
) -> None:
    """The drawing is right, as far as the naive interpreter can tell."""
    options = {"min_size": min_size, "lateness": lateness}
    if emit == "early":
        batches = [act.rows for act in acts]
        for act, news in zip(acts, naive.early(definition, op, batches, **options), strict=True):
            assert len(act.rows) <= 1, "each correction is drawn below the row that makes it"
            found = [Event(e.value, e.time, e.start, e.key, e.revision) for e in news]
            assert_same(sorted(found, key=in_time), sorted(act.gives, key=in_time), "naive")
    rows: list[Row | Passed] = []
    given: set[Any] = set()
    for act in acts:
        rows += act.rows
        if emit == "early":
            continue
        told = list(naive.every_answer(definition, op, rows, min_size, lateness, act.finish))
        kept = [a for a in told if act.held_back or len(a.holds) >= min_size]
        kept = naive.only_changes(kept) if emit == "changes" else kept
        new = [a for a in kept if (a.key, a.time, a.row) not in given]
        given |= {(a.key, a.time, a.row) for a in told}
        assert_same([Event(a.value, a.time, a.start, a.key) for a in new], act.gives, "naive")
        if act.under and rows[0].time is None:
            assert sorted(a.row for a in new) == act.under, "an answer stands under the wrong row"
    if lateness is not None:
        drawn, at = [], 0
        for act in acts:
            drawn += [at + late for late in act.late]
            at += len(act.rows)
        assert naive.late(rows, lateness) == drawn


def read(drawing: str, unit: int = 1) -> list[Act]:
    """What happens in a drawing, one after the other."""
    lines = [line.partition("←")[0].rstrip() for line in dedent(drawing).splitlines()]
    reader = _Reader(unit)
    for line in filter(None, lines):
        name = line.split()[0] if line[0] != " " else ""
        reader.line(name, " " * len(name) + line[len(name) :])
    reader.close()
    return reader.acts


class _Reader:
    def __init__(self, unit: int) -> None:
        self.unit = unit
        self.axis: list[tuple[int, int]] = []
        self.acts: list[Act] = []
        self.cells: list[dict[str, Any]] = []  # of the rows of this act
        self.names: list[str] = []
        self.group: list[dict[str, Any]] = []  # those of the line above
        self.drawn: list[tuple[int, str, str | None]] = []

    def line(self, name: str, rest: str) -> None:
        words = [(found.start(), found.group()) for found in re.finditer(r"\S+", rest)]
        if name == "time":
            self.axis = [(at, int(word)) for at, word in words]
        elif name in ("rows", "also"):
            if name == "rows":
                self.close()
                self.acts.append(Act())
            self.group = [{"at": at, "x": word} for at, word in letters(words)]
            self.cells += self.group
        elif name == "advance":
            self.close()
            self.acts.append(Act([Passed(self.time(words[0][0]))]))
        elif name == "finish":
            self.close()
            self.acts.append(Act(finish=True))
        elif name.split("/")[0] == "gives":
            key = name.partition("/")[2] or None
            self.drawn += [(at, word, key) for at, word in words]
        elif "|" in rest or "[" in rest or "(" in rest:
            self.acts[-1].gives += self.windows(rest, name or None)
        else:
            self.column(name, words)

    def column(self, name: str, words: list[tuple[int, str]]) -> None:
        """Cells under the rows of the line above."""
        self.names += [name] if name not in (*self.names, "key") else []
        under = dict(letters(words) if name == "key" else words)
        for row in self.group:
            row[name] = under.pop(row["at"], None)
        assert not under, f"{name}: {under} stands under no row"

    def close(self) -> None:
        """The rows drawn so far are in the order of time, those of one time from top to bottom."""
        if not self.acts:
            return
        act = self.acts[-1]
        rows = sorted(self.cells, key=lambda row: row["at"])
        for row in rows:
            if row["x"].endswith("~"):
                act.late.append(len(act.rows))
            value: Any = cell(row["x"].removesuffix("~"))
            if self.names:
                value = {"x": value} | {name: cell(row.get(name)) for name in self.names}
            time = self.time(row["at"]) if self.axis else None
            act.rows.append(Row(value, time, row.get("key")))
        above: dict[int, list[int]] = {}
        for number, row in enumerate(rows):
            above.setdefault(row["at"], []).append(number)
        for at, word, key in sorted(self.drawn, key=lambda drawn: drawn[0]):
            act.held_back |= word == HELD_BACK
            time = self.time(at) if self.axis else None
            value, revision = answer(word)
            if above.get(at):
                act.under.append(above[at].pop(0))
                key = key or rows[act.under[-1]].get("key")
            act.gives.append(Event(value, time, ANY, key, revision))
        self.cells, self.drawn, self.group = [], [], []

    def windows(self, text: str, key: str | None) -> Iterator[Event]:
        """The windows of a line, each from its first character to its last."""
        if "|" in text:
            edges = [found.start() for found in re.finditer(r"\|", text)]
            spans = [(start, end, text[start + 1 : end]) for start, end in pairwise(edges)]
        else:
            spans = []
            for bar in BAR.finditer(text):
                inside = bar["inside"] if bar["inside"].strip("- ") else bar["after"]
                spans.append((bar.start(), bar.end("inside"), inside))
        for start, end, inside in spans:
            parts = [word for word in inside.split() if word.strip("-")]
            if parts:
                (word,) = parts if " " in inside.strip() else [parts[0].strip("-")]
                value, revision = answer(word)
                yield Event(value, self.time(end), self.time(start), key, revision)

    def time(self, at: int) -> int:
        (left, first), (right, last) = self.axis[0], self.axis[-1]
        for mark, number in self.axis:
            assert (number - first) * (right - left) == (last - first) * (mark - left), "axis"
        steps = (at - left) * (last - first)
        assert steps % (right - left) == 0, f"nothing can be drawn in column {at}"
        return (first + steps // (right - left)) * self.unit


def as_revised(event: Event) -> Event:
    """What is not marked otherwise is new; of what is taken back nobody asks where it began."""
    revision = 0 if event.revision is ANY else event.revision
    return event._replace(revision=revision, start=ANY if event.value is None else event.start)


def in_time(event: Event) -> tuple[Any, ...]:
    return event.time, event.revision


def letters(words: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Letters in a row are rows of their own, side by side."""
    for at, word in words:
        if word.isalpha() and word not in ("null", "nan"):
            yield from enumerate(word, at)
        else:
            yield at, word


def answer(word: str) -> tuple[Any, Any]:
    """An answer and its revision."""
    text, _, revision = word.partition("#")
    return (None if text == HELD_BACK else cell(text)), int(revision) if revision else ANY


def cell(word: str | None) -> Any:
    """What is written in one place: a number, a mark, a letter, null; no mark is False."""
    if word in (None, "!"):
        return word is not None
    if word == "null":
        return None
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word

"""Shards of a stream: steps of any size, made anew from the log or catching up at any time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import Affine

import sash
from sash.aggregators.saving import SavedError
from sash.windows import cutting
from sash.windows.definitions import definition
from sash.windows.segments import Segment
from sash.windows.shard import Asked, FailedRowError, Shard

COLUMNS = ("k", "t", "x", "y", "mark", "d")
OPERATOR = sash.Together(
    n=sash.Count("t"), s=sash.Sum("x"), hi=sash.Max("x"), who=sash.ArgMax("x", "y"), fn=Affine("d")
)
OBJECTS = sash.Together(all=sash.Collect("x"), said=sash.Concat("y"))
WINDOWS = {
    "rows": 5,
    "rows, open": sash.last(4, closed="neither"),
    "each third row": sash.last(5, every=3),
    "at marks": sash.last(5, every=sash.punctuated("mark")),
    "rows on a grid": sash.last(3, every="7i"),
    "time": "6i",
    "time, open": sash.last("6i", closed="left"),
    "a grid": sash.last("9i", every="4i"),
    "tumbling": sash.tumbling("7i"),
    "delta": sash.delta("d", 5),
    "from mark to mark": sash.punctuated("mark"),
    "up to a mark": sash.punctuated("mark", marks="end"),
    "session": sash.session("2i"),
    "policy": sash.slide_while("total.n - old.n >= 4"),
}


def drawn(count: int, seed: int) -> pa.Table:
    draw = np.random.default_rng(seed)
    t = np.cumsum(draw.choice([0, 0, 1, 1, 2, 3, 9], count))
    return pa.table(
        {
            "k": pa.array(draw.choice(["a", "a", "b", "c", None], count)),
            "t": pa.array(t),
            "x": pa.array(draw.integers(-5, 9, count), mask=draw.random(count) < 0.1),
            "y": pa.array(draw.choice(["p", "q", ""], count)),
            "mark": pa.array(draw.random(count) < 0.2),
            "d": pa.array(2 * t + np.arange(count)),
        }
    )


def shuffled(rows: pa.Table, lateness: int, seed: int) -> pa.Table:
    """In disorder: no row comes after one that is more than `lateness` newer."""
    draw = np.random.default_rng(seed)
    moved = rows["t"].to_numpy() + draw.random(len(rows)) * lateness
    return rows.take(np.argsort(moved, kind="stable"))


@dataclass
class Run:
    """A shard that is fed in batches, and whose log is written down and read again."""

    asked: Asked
    seed: int = 0
    slack: int = 20

    def __post_init__(self) -> None:
        self.shard = Shard(self.asked)
        self.log: dict[int, bytes] = {}
        self.size = 0
        self.answers: list[tuple[Any, ...]] = []
        self.late = 0
        self.draw = np.random.default_rng(self.seed)
        self.old: list[Shard] = []

    def feed(self, rows: pa.Table, newest: int | None = None) -> None:
        columns = {name: rows[name].combine_chunks() for name in rows.column_names}
        times = rows["t"].to_numpy()
        now = newest if newest is not None else int(times.max(initial=-(2**62)))
        keys = [columns["k"]] if self.asked.keys else []
        stepped = self.shard.step(columns, keys, times, now)
        self.late += stepped.late
        self.answers += list(as_rows(stepped, self.shard))
        while self.log and self.size > 2 * self.shard.held() + self.slack:
            oldest = min(self.log)
            segment = Segment.unpacked(self.log.pop(oldest))
            self.size -= len(segment)
            self.shard.carry(segment)
        segment = self.shard.segment(self.draw.bytes(8))
        self.log[segment.number] = segment.packed()
        self.size += len(segment)

    def rebuild(self) -> None:
        log = [Segment.unpacked(self.log[number]) for number in sorted(self.log)]
        self.shard = Shard.restored(self.asked, log)

    def catch_up(self, other: Shard) -> bool:
        """Let a shard that has missed some steps take the place of this one."""
        missed = range(other.number + 1, self.shard.number + 1)
        if any(number not in self.log for number in missed):
            return False
        for number in missed:
            other.follow(Segment.unpacked(self.log[number]))
        assert other.token == self.shard.token
        self.shard = other
        return True


def as_rows(stepped: Any, shard: Shard) -> Iterator[tuple[Any, ...]]:
    """Answers with what they are for."""
    told = stepped.told
    answers = [each if isinstance(each, list) else each.to_pylist() for each in told.answers]
    for i, row in enumerate(told.rows.tolist()):
        given = tuple(each[i] for each in answers)
        if shard.shape.trigger in (cutting.AT_ROWS, cutting.AT_MARKS):
            columns = stepped.rows.columns
            mine = tuple(columns[name][row].as_py() for name in COLUMNS)
            yield "row", mine, given
        else:
            key = stepped.keys[0][i].as_py() if stepped.keys else None
            yield "window", (key, int(told.since[i]), int(told.times[i])), given


def asked_for(window: Any, lateness: int | None, op: Any = OPERATOR, **options: Any) -> Asked:
    return Asked(
        op,
        definition(window),
        keys=(pa.string(),),
        order=("d", "x", "y", "mark"),
        stored=COLUMNS if lateness is not None else ("x", "y", "mark", "d", "t"),
        lateness=lateness,
        **options,
    )


def by_what(answers: list[tuple[Any, ...]]) -> list[Any]:
    return sorted(answers, key=repr)


FLUSH = 10_000


def at_once(rows: pa.Table, asked: Asked) -> Run:
    run = Run(asked)
    run.feed(rows.sort_by("t"))
    run.feed(rows.slice(0, 0), FLUSH)
    return run


@pytest.mark.parametrize("op", [OPERATOR, OBJECTS], ids=["numbers", "objects"])
@pytest.mark.parametrize("lateness", [None, 0, 12])
@pytest.mark.parametrize("kind", WINDOWS)
def test_stops(kind: str, lateness: int | None, op: Any) -> None:
    window = WINDOWS[kind]
    if kind == "policy" and op is OBJECTS:
        window = sash.slide_while(lambda total, old: len(total.all) - len(old.all) >= 4)
    asked = asked_for(window, lateness, op)
    for seed in range(2):
        rows = drawn(80, seed)
        expected = at_once(rows, asked)
        given = rows if not lateness else shuffled(rows, lateness, seed)
        run, draw = Run(asked, seed), np.random.default_rng(seed)
        spare: Shard | None = Shard(asked)
        at = 0
        while at < len(given):
            size = int(draw.choice([0, 1, 2, 9, 25]))
            run.feed(given.slice(at, size), None if size else -1)
            at += size
            chance = draw.random()
            if chance < 0.3:
                run.rebuild()
            elif chance < 0.6 and spare is not None:
                before = run.shard
                spare = before if run.catch_up(spare) else None
        run.feed(given.slice(0, 0), FLUSH)
        assert run.late == 0
        assert by_what(run.answers) == by_what(expected.answers), (kind, lateness, seed)
        assert run.answers


def test_keys_that_are_idle() -> None:
    """They go, with their last answers; the log does not remember them for ever."""
    asked = asked_for(sash.session("2i"), 0, idle=5)
    run = Run(asked, slack=20)
    sizes = []
    for number in range(200):
        rows = drawn(1, 0)
        row = {"k": [f"key {number}"], "t": [number * 3], "d": [number]}
        for name, values in row.items():
            at = rows.column_names.index(name)
            rows = rows.set_column(at, name, pa.array(values, rows.schema.field(at).type))
        run.feed(rows)
        sizes.append(run.size)
        assert run.shard.count() <= 4
        if number % 7 == 0:
            run.rebuild()
    run.feed(rows.slice(0, 0), FLUSH)
    assert len(run.answers) == 200
    assert len(run.shard.keys.values) < 10
    assert max(sizes) < 100


def test_a_key_that_comes_back_begins_anew() -> None:
    asked = asked_for(10, None, sash.Sum("x"), idle=5)
    for stops in (False, True):
        run = Run(asked)
        for moment in (0, 1, 100, 101):
            rows = drawn(1, 0).slice(0, 1)
            for name, value in {"k": "a", "t": moment, "x": 1}.items():
                at = rows.column_names.index(name)
                kind = rows.schema.field(at).type
                rows = rows.set_column(at, name, pa.array([value], kind))
            run.feed(rows)
            if stops:
                run.rebuild()
        assert [answers for _, _, answers in run.answers] == [(1,), (2,), (1,), (2,)]


def test_the_log_is_bounded() -> None:
    """By what is held, whatever has come; also if one key holds rows of long ago."""
    asked = asked_for(30, 0)
    run = Run(asked, slack=50)
    rows = drawn(3000, 1)
    slow = pa.array(
        ["slow" if i % 500 == 7 else key for i, key in enumerate(rows["k"].to_pylist())]
    )
    rows = rows.set_column(0, "k", slow)
    for at in range(0, 3000, 10):
        run.feed(rows.slice(at, 10))
        assert run.size <= 2 * run.shard.held() + 50 + 40
    expected = at_once(rows, asked).answers
    run.rebuild()
    run.feed(rows.slice(0, 0), FLUSH)
    assert by_what(run.answers) == by_what(expected)


def test_rows_that_are_too_late() -> None:
    """Those before the watermark that was, and no others; they are counted."""
    asked = asked_for(3, 5, sash.Count("t"))
    run = Run(asked)
    rows = drawn(6, 0)
    at = rows.column_names.index("t")
    rows = rows.set_column(at, "t", pa.array([0, 20, 14, 15, 3, 30]))
    run.feed(rows.slice(0, 2))
    assert run.late == 0
    run.feed(rows.slice(2, 3))  # the watermark is 15: 14 and 3 are late
    assert run.late == 2
    run.rebuild()
    run.feed(rows.slice(5, 1))
    run.feed(rows.slice(0, 0), FLUSH)
    assert sorted(row[1] for _, row, _ in run.answers) == [0, 15, 20, 30]


def test_a_row_that_fails_is_told() -> None:
    asked = asked_for(3, None, sash.Sum("d"))
    run = Run(asked)
    rows = drawn(20, 0)
    at = rows.column_names.index("d")
    big = [2**62 if i in (11, 12) else 1 for i in range(20)]
    rows = rows.set_column(at, "d", pa.array(big)).set_column(0, "k", pa.array(["a"] * 20))
    with pytest.raises(FailedRowError) as caught:
        run.feed(rows)
    failed = caught.value
    assert failed.rows.columns["d"][failed.at].as_py() == 2**62
    assert isinstance(failed.error, OverflowError)


def test_what_is_not_whole_is_refused() -> None:
    run = Run(asked_for(5, 12))
    rows = drawn(60, 2)
    for at in range(0, 60, 20):
        run.feed(rows.slice(at, 20))
    data = run.log[2]
    for damaged in (data[:-1], data[:100], b"", data[:50] + b"x" + data[51:]):
        with pytest.raises(SavedError):
            Segment.unpacked(damaged)
    del run.log[2]
    with pytest.raises(SavedError, match="broken before 3"):
        run.rebuild()
    del run.log[1]
    with pytest.raises(SavedError, match="rows are missing"):
        run.rebuild()

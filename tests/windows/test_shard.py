"""Shards of a stream: steps of any size, made anew from the log or catching up at any time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import Affine

import sash
from sash.aggregators.saving import SavedError
from sash.windows.definitions import definition
from sash.windows.questions import Question
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
SEVERAL = {
    "rows": [5, "6i", sash.last(5, every=3), sash.last("4i", closed="left"), sash.delta("d", 5)],
    "plain rows": [3, "9i"],
    "windows": [
        sash.last("9i", every="4i"),
        sash.session("2i"),
        sash.last(3, every="7i"),
        sash.punctuated("mark"),
        sash.tumbling("7i"),
    ],
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
        self.unread = 0
        """Segments that were let go without a look."""
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
            extent = self.shard.let_go(oldest)
            if extent is None:
                self.shard.carry(segment)
            else:
                assert extent == segment.extent
                self.unread += 1
        segment = self.shard.segment(self.draw.bytes(8))
        self.log[segment.number] = segment.packed()
        self.shard.written(len(self.log[segment.number]))
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
        if shard.at_rows:
            columns = stepped.rows.columns
            mine = tuple(columns[name][row].as_py() for name in COLUMNS)
            yield "row", mine, given
        else:
            key = stepped.keys[0][i].as_py() if stepped.keys else None
            which = () if told.of is None else (int(told.of[i]),)
            yield "window", (key, int(told.since[i]), int(told.times[i]), *which), given


def asked_for(window: Any, lateness: int | None, op: Any = OPERATOR, **options: Any) -> Asked:
    several = window if isinstance(window, list) else [window]
    return Asked(
        tuple(Question(op, definition(each)) for each in several),
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


def alone(asked: Asked, k: int) -> Asked:
    """Only one of the windows."""
    return replace(asked, questions=asked.questions[k : k + 1])


@pytest.mark.parametrize("early", [False, True], ids=["final", "early"])
@pytest.mark.parametrize("kind", SEVERAL)
def test_several_windows_answer_as_each_does_alone(kind: str, early: bool) -> None:
    rows = shuffled(drawn(150, 4), 12, 4)
    asked = asked_for(SEVERAL[kind], 12, early=early)
    run = Run(asked, 4)
    singles = [Run(alone(asked, k), 4) for k in range(len(asked.questions))]
    for at in range(0, 150, 10):
        for each in (run, *singles):
            each.feed(rows.slice(at, 10))
            each.rebuild()
    for each in (run, *singles):
        each.feed(rows.slice(0, 0), FLUSH)
    width = len(OPERATOR.leaves)
    found = now(run)
    for k, single in enumerate(singles):
        wanted = now(single)
        if run.shard.at_rows:
            mine = {what: got[k * width : (k + 1) * width] for what, got in found.items()}
            mine = {what: got for what, got in mine.items() if any(x is not None for x in got)}
        else:
            mine = {what[:-1]: got for what, got in found.items() if what[-1] == k}
        assert mine == wanted
        assert wanted
    held = [single.shard.held() - single.shard.count() for single in singles]
    assert max(held) <= run.shard.held() - run.shard.count() < sum(held)  # each row is held once


def now(run: Run) -> dict[Any, Any]:
    """What holds, if each answer that is given takes the place of the one before."""
    found = {what: answer for _, what, answer in run.answers}
    return {what: got for what, got in found.items() if any(each is not None for each in got)}


@pytest.mark.parametrize("op", [OPERATOR, OBJECTS], ids=["numbers", "objects"])
@pytest.mark.parametrize("lateness", [0, 12])
@pytest.mark.parametrize("kind", WINDOWS)
def test_early_answers(kind: str, lateness: int, op: Any) -> None:
    """They are those of the rows so far, as if no more came; none is given twice."""
    window = WINDOWS[kind]
    if kind == "policy" and op is OBJECTS:
        window = sash.slide_while(lambda total, old: len(total.all) - len(old.all) >= 4)
    final, early = (asked_for(window, lateness, op, early=is_early) for is_early in (False, True))
    rows = shuffled(drawn(60, 3), lateness, 3)
    run, draw = Run(early, 3), np.random.default_rng(3)
    spare: Shard | None = Shard(early)
    at = 0
    while at < len(rows):
        size, before = int(draw.choice([0, 1, 2, 9, 25])), len(run.answers)
        run.feed(rows.slice(at, size), None if size else -1)
        at += size
        assert len({what for _, what, _ in run.answers[before:]}) == len(run.answers) - before
        so_far = Run(early)
        so_far.feed(rows.slice(0, at), None if at else -1)
        assert now(run) == now(so_far)
        chance = draw.random()
        if chance < 0.3:
            run.rebuild()
        elif chance < 0.6 and spare is not None:
            old = run.shard
            spare = old if run.catch_up(spare) else None
    before = len(run.answers)
    run.feed(rows.slice(0, 0), -1)
    assert len(run.answers) == before  # nothing has changed, and so nothing is given
    run.feed(rows.slice(0, 0), FLUSH)
    found, expected = now(run), now(at_once(rows, final))
    assert expected and {what: found.get(what) for what in expected} == expected


def test_an_answer_is_given_again_if_it_changes() -> None:
    """
    x      1    2    4    8       a row at 2 comes last
    t      1    3    4    2
    gives  1    3    6    ·       sums of two rows
           ·    10   6    9       what was given for 3 changes, for 4 it does not
    """
    asked = asked_for(2, 5, sash.Sum("x"), early=True)
    run = Run(asked)
    rows = drawn(4, 0)
    for name, values in {"k": ["a"] * 4, "t": [1, 3, 4, 2], "x": [1, 2, 4, 8]}.items():
        at = rows.column_names.index(name)
        rows = rows.set_column(at, name, pa.array(values, rows.schema.field(at).type))
    run.feed(rows.slice(0, 3))
    assert [(row[1], got) for _, row, got in run.answers] == [(1, (1,)), (3, (3,)), (4, (6,))]
    run.feed(rows.slice(3, 1))
    assert [(row[1], got) for _, row, got in run.answers[3:]] == [(2, (9,)), (3, (10,))]


def test_a_session_that_grows_takes_the_place_of_two() -> None:
    asked = asked_for(sash.session("2i"), 9, sash.Count("t"), early=True)
    run = Run(asked)
    rows = drawn(3, 0)
    for name, values in {"k": ["a"] * 3, "t": [1, 5, 3]}.items():
        at = rows.column_names.index(name)
        rows = rows.set_column(at, name, pa.array(values, rows.schema.field(at).type))
    run.feed(rows.slice(0, 2))
    run.feed(rows.slice(2, 1))
    given = [(what, got) for _, what, got in run.answers]
    assert given[:2] == [(("a", 1, 3), (1,)), (("a", 5, 7), (1,))]
    assert sorted(given[2:]) == sorted(
        [(("a", 1, 7), (3,)), (("a", 1, 3), (None,)), (("a", 5, 7), (None,))]
    )


def of_one_key(**columns: Any) -> pa.Table:
    """Rows of the key "a"; columns that are not given are as they come."""
    rows = drawn(len(columns["t"]), 0)
    for name, values in {"k": ["a"] * len(rows), **columns}.items():
        rows = rows.set_column(rows.column_names.index(name), name, pa.array(values))
    return rows


def test_early_answers_of_other_types() -> None:
    """What nothing sums to is an integer, and decimals have as many digits as they need."""
    rows = of_one_key(t=[1, 20, 21], x=pa.array([None, Decimal("1.50"), Decimal("14")]))
    run = Run(asked_for(sash.tumbling("5i"), 2, sash.Sum("x"), early=True))
    for at in range(3):
        run.feed(rows.slice(at, 1))
    assert now(run) == {("a", 0, 5): (0,), ("a", 20, 25): (Decimal("15.50"),)}


def test_early_answers_that_fail() -> None:
    """The row is told if it waits; if none does, at least why."""
    asked = asked_for(sash.tumbling("1000i"), 5, sash.Sum("d"), early=True)
    rows = of_one_key(t=[0, 1, 2, 3], d=[1, 2**62, 2**62, 1])
    with pytest.raises(FailedRowError) as caught:
        Run(asked).feed(rows)
    assert caught.value.row.times.tolist() == [2]
    with pytest.raises(OverflowError, match="does not fit in 64 bits"):
        Run(asked).feed(rows, newest=500)


def test_windows_that_share_their_bounds() -> None:
    """One may become final before the other: neither is given again, nor taken back."""
    asked = asked_for(sash.punctuated("mark"), 2, sash.Sum("x"), early=True)
    run = Run(asked)
    run.feed(of_one_key(t=[5, 5, 5], x=[1, 2, 3], mark=[True] * 3))
    given = len(run.answers)
    for newest in (6, 8, 9):
        run.feed(of_one_key(t=[5]).slice(0, 0), newest)
    assert len(run.answers) == given == 3


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
    assert run.unread == 0  # that key's rows may be anywhere
    expected = at_once(rows, asked).answers
    run.rebuild()
    run.feed(rows.slice(0, 0), FLUSH)
    assert by_what(run.answers) == by_what(expected)


def test_old_segments_are_not_read_if_no_row_of_theirs_is_held() -> None:
    asked = asked_for("6i", 0)
    run, rows = Run(asked, slack=50), drawn(2000, 1)
    for at in range(0, 2000, 10):
        run.feed(rows.slice(at, 10))
        assert run.size <= 2 * run.shard.held() + 50 + 40
        if at == 1000:
            run.rebuild()
    assert run.unread > 100
    run.feed(rows.slice(0, 0), FLUSH)
    assert by_what(run.answers) == by_what(at_once(rows, asked).answers)


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
    assert failed.row.columns["d"].to_pylist() == [2**62]
    assert [key.to_pylist() for key in failed.key] == [["a"]]
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

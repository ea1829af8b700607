"""Windows made of other windows: by a latency bound, and by sources."""

from __future__ import annotations

import random
from bisect import insort
from datetime import datetime, timedelta
from typing import Any

import pytest
from cases import CASES, Affine, Case
from oracle import alike, answer_for

import sash


class TestLatencyBound:
    @pytest.mark.parametrize(
        "case", [c for c in CASES if c.name in ("Collect()", "ArgMax()", "Max()")], ids=repr
    )
    def test_against_a_sorted_list(self, case: Case) -> None:
        chance = random.Random(5)
        window = sash.aggregator("latency_bound", case.operator, bound=20)
        entries: list[tuple[int, int, Any]] = []
        newest = 0
        for row in range(600):
            newest += chance.choice([0, 1, 3])
            time = newest - chance.randrange(21) if row % 3 else newest
            value = None if chance.random() < 0.2 else chance.choice(case.pool)
            window.insert(value, time)
            insort(entries, (time, row, value), key=lambda entry: entry[:2])
            if chance.random() < 0.2:
                cut = entries[0][0] + chance.randrange(40)
                window.bulk_evict(up_to=cut)
                entries = [entry for entry in entries if entry[0] > cut]
            elif chance.random() < 0.3:
                count = chance.randrange(1 + min(5, len(entries)))
                window.bulk_evict(count)
                del entries[:count]
            values = [value for _, _, value in entries]
            assert len(window) == len(values)
            if row % 5 == 0:
                window.check_invariants(values)
            assert alike(window.query(), answer_for(case.operator, values))

    def test_what_comes_too_late_changes_nothing(self) -> None:
        window = sash.aggregator("latency_bound", sash.Collect(), bound=10)
        window.insert("b", 100)
        with pytest.raises(ValueError, match=r"time 89 is later than the bound of 10 .* of 100"):
            window.insert("a", 89)
        with pytest.raises(ValueError, match="time 150 is later than the bound"):
            window.bulk_insert(["c", "d", "e"], [160, 161, 150])
        window.bulk_insert(["c", "d", "a"], [103, 104, 94])
        assert window.query() == ["a", "b", "c", "d"]

    def test_datetimes(self) -> None:
        window = sash.aggregator("latency_bound", sash.Max(), bound=timedelta(minutes=5))
        now = datetime(2026, 3, 1, 12)
        window.insert(3, now)
        window.insert(4, now - timedelta(minutes=5))
        with pytest.raises(ValueError, match="is later than the bound"):
            window.insert(9, now - timedelta(minutes=6))
        assert window.query() == 4

    @pytest.mark.parametrize(
        ("call", "error", "sentence"),
        [
            (lambda w: w.insert(1), TypeError, "needs a time for each row"),
            (lambda w: w.slide([1, 2], 2), TypeError, "needs a time for each row"),
            (lambda w: w.bulk_insert([1, 2]), TypeError, "needs a time for each row"),
            (lambda w: w.insert(1, datetime(2026, 1, 1)), TypeError, "the bound is a timedelta"),
            (lambda w: w.query(1), TypeError, "whole window only"),
            (lambda w: w.query(start=1), TypeError, "whole window only"),
        ],
    )
    def test_refusals(self, call: Any, error: type[Exception], sentence: str) -> None:
        window = sash.aggregator("latency_bound", sash.Max(), bound=10)
        with pytest.raises(error, match=sentence):
            call(window)
        assert len(window) == 0

    def test_a_bound_is_needed(self) -> None:
        with pytest.raises(TypeError, match="needs a bound"):
            sash.aggregator("latency_bound", sash.Max())
        with pytest.raises(ValueError, match="0 or more"):
            sash.aggregator("latency_bound", sash.Max(), bound=-1)


class TestPerSource:
    @pytest.mark.parametrize("operator", [sash.Sum(), sash.Max(), sash.CountDistinct()], ids=repr)
    def test_against_lists(self, operator: sash.Operator) -> None:
        chance = random.Random(4)
        window = sash.aggregator("per_source", operator)
        held: dict[str, list[tuple[int, Any]]] = {}
        clocks = dict.fromkeys("abcdefghijk", 0)
        for step in range(900):
            source = chance.choice("abcdefghijk"[: 2 + step // 90])
            move = chance.random()
            if move < 0.6:
                clocks[source] += chance.randrange(4)
                value = None if chance.random() < 0.2 else chance.randrange(50)
                window.insert(value, source=source, time=clocks[source])
                held.setdefault(source, []).append((clocks[source], value))
            elif move < 0.9 and held.get(source):
                window.evict(source)
                del held[source][0]
            elif move > 0.97:
                cut = chance.randrange(max(clocks.values()) + 1) // 2
                window.evict_up_to(cut)
                held = {s: [row for row in rows if row[0] > cut] for s, rows in held.items()}
            values = [value for rows in held.values() for _, value in rows]
            assert len(window) == len(values)
            assert sorted(window.sources()) == sorted(s for s, rows in held.items() if rows)
            window.check_invariants(values)
            assert window.query() == answer_for(operator, values)

    def test_order_matters_to_some(self) -> None:
        for operator in (sash.Collect(), Affine(), sash.ArgMax()):
            with pytest.raises(TypeError, match="is not commutative"):
                sash.aggregator("per_source", operator)

    def test_in_bulk_and_without_times(self) -> None:
        window = sash.aggregator("per_source", sash.Sum())
        window.bulk_insert([1, 2, 4], sources=["x", "y", "x"])
        window.evict("x")
        assert window.query() == 6
        with pytest.raises(TypeError, match="have no times"):
            window.evict_up_to(3)
        with pytest.raises(TypeError, match="have no times, and one was given"):
            window.insert(1, "x", 3)
        with pytest.raises(IndexError, match="holds nothing: 'z'"):
            window.evict("z")
        assert window.query() == 6

    @pytest.mark.parametrize(
        ("call", "error", "sentence"),
        [
            (lambda w: w.insert(1), TypeError, "needs the source of each row"),
            (lambda w: w.insert(1, "x", 4), ValueError, "'x' goes from 5 to 4"),
            (lambda w: w.insert(1, "x"), TypeError, "have times, and none was given"),
            (lambda w: w.bulk_evict(1), TypeError, "oldest per source only"),
            (lambda w: w.slide([1], 2), TypeError, "with their source only"),
            (lambda w: w.query(1), TypeError, "whole window only"),
        ],
    )
    def test_refusals(self, call: Any, error: type[Exception], sentence: str) -> None:
        window = sash.aggregator("per_source", sash.Sum())
        window.insert(2, "x", 5)
        with pytest.raises(error, match=sentence):
            call(window)
        assert (len(window), window.query()) == (1, 2)


def test_composites_are_no_algorithms_of_rolling() -> None:
    for card in sash.algorithms():
        if card.composed:
            with pytest.raises(ValueError, match=f"{card.name} is made with sash.aggregator"):
                sash.rolling([1, 2], 2, sash.Max(), algorithm=card.name)

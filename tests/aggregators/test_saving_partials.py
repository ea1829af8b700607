"""Partials and answers of every operator come back, answer the same and combine the same."""

from __future__ import annotations

import random
import struct
from typing import Any

import numpy as np
import pytest
from cases import CASES, Case
from hypothesis import given
from hypothesis import strategies as st
from oracle import alike
from saved import again, same, written

import sash
from sash.aggregators.saving import SavedError
from sash.aggregators.saving_sketches import check_hll, check_kll
from sash.operators.datasketches import Hll, Kll
from sash.operators.monoid import Monoid


def bound(case: Case) -> Monoid:
    firsts = [v[0] if isinstance(v, tuple) else v for v in case.pool]
    kind = np.asarray(firsts).dtype
    return case.operator.bind(kind if kind.kind in "biuf" else object)


def lifted(case: Case, monoid: Monoid, values: list[Any]) -> list[Any]:
    return [
        monoid.lift_cells(
            iter([v if isinstance(v, tuple) else (v,)] * len(case.operator.leaves)), row
        )
        for row, v in enumerate(values)
    ]


def combined(monoid: Monoid, partials: list[Any]) -> Any:
    total = monoid.identity()
    for p in partials:
        total = monoid.combine(total, p)
    return total


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@given(data=st.data())
def test_a_partial_goes_on_as_it_was(case: Case, data: st.DataObject) -> None:
    monoid = bound(case)
    values, more = (data.draw(st.lists(case.values, max_size=12)) for _ in range(2))
    p = combined(monoid, lifted(case, monoid, values))
    q = combined(monoid, lifted(case, monoid, more))
    found = again(p)
    assert type(found) is type(p)
    assert same(found, p) or found == p
    if values:
        assert alike(monoid.lower(found), monoid.lower(p))
        assert alike(monoid.lower(monoid.combine(found, q)), monoid.lower(monoid.combine(p, q)))
        assert alike(monoid.lower(monoid.combine(q, found)), monoid.lower(monoid.combine(q, p)))
        if monoid.inverse is not None:
            total = monoid.combine(p, q)
            left, expected = monoid.inverse(again(total), found), monoid.inverse(total, p)
            assert same(left, expected) or left == expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_answer_comes_back(case: Case) -> None:
    window = sash.aggregator("recalc", case.operator)
    for value in case.pool:
        window.insert(value)
    answer = window.query()
    assert same(again(answer), answer) or again(answer) == answer


@pytest.mark.parametrize("values", [[3, 1, 2] * 40, ["b", "a"] * 70], ids=["numbers", "texts"])
def test_what_an_algorithm_keeps_comes_back(values: list[Any]) -> None:
    together = sash.Together(all=sash.Collect(), hi=sash.Max(), some=sash.CountDistinct())
    for name in ("two_stacks", "daba", "daba_lite", "flat_fat", "slick_deque", "fiba"):
        operator = together if name != "slick_deque" else sash.Max()
        window = sash.aggregator(name, operator)
        for value in values:
            window.insert(value)
        kept = window._kept
        assert again((kept.rings, kept.state)) == (list(kept.rings), kept.state)


def test_a_window_of_shared_partials_is_not_written_n_times() -> None:
    window = sash.aggregator("two_stacks", sash.Collect())
    sizes = []
    for n in (1_000, 4_000):
        for i in range(len(window), n):
            window.insert(i)
        window.evict()
        window.insert(0)
        sizes.append(len(written(window._kept.rings)[0]))
    assert sizes[1] < 5 * sizes[0]


# Sketches: the library trusts their bytes, so they are checked before it sees them.


def sketches_of(chance: random.Random) -> list[bytes]:
    found = []
    for lg_k in (7, 8, 12):
        counting = sash.ApproxCountDistinct(lg_k=lg_k).bind()
        p = counting.identity()
        for _ in range(chance.choice([1, 7, 8, 40, 500])):
            p = counting.combine(p, counting.lift(chance.random()))
        found.append(p.data)
        found.append(counting.combine(p, p).data)
    return found


def quantiles_of(chance: random.Random) -> list[bytes]:
    found = []
    for k in (8, 30, 200):
        ranking = sash.ApproxQuantile(k=k).bind()
        p = ranking.identity()
        for _ in range(chance.choice([1, 2, 8, 100, 700])):
            p = ranking.combine(p, ranking.lift(chance.choice([chance.random(), 1.0, np.inf])))
        found.append(p[1].data)
        found.append(ranking.combine(p, ranking.combine(p, p))[1].data)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_sketches_as_the_library_writes_them_are_accepted(seed: int) -> None:
    for data in sketches_of(random.Random(seed)):
        check_hll(data)
        assert again(Hll(data)).data == data
    for data in quantiles_of(random.Random(seed)):
        check_kll(data)
        assert again(Kll(data)).data == data


@pytest.mark.parametrize("seed", range(20))
def test_sketches_with_other_counts_and_places_are_refused(seed: int) -> None:
    """Those that pass are used, which must neither fail nor take the process with it."""
    chance = random.Random(seed)
    refused = 0
    for check, datas, kind in (
        (check_hll, sketches_of(chance), Hll),
        (check_kll, quantiles_of(chance), Kll),
    ):
        for data in datas * 10:
            changed = bytearray(data)
            for _ in range(chance.choice([1, 1, 2, 5])):
                at = chance.randrange(min(len(changed), chance.choice([8, 24, 10**6])))
                changed[at] = chance.choice(
                    [0, 1, 127, 255, changed[at] ^ 1 << chance.randrange(8)]
                )
            cut = bytes(changed[: chance.choice([None, None, -1, -8, 9])])
            try:
                check(cut)
            except SavedError:
                refused += 1
                continue
            if kind is Hll:
                counting = sash.ApproxCountDistinct().bind()
                assert counting.lower(counting.combine(Hll(cut), Hll(data))) >= 0
            else:
                ranking = sash.ApproxQuantile().bind()
                ranking.lower(ranking.combine((0, Kll(cut)), (0, Kll(data))))
    assert refused > 60


def test_a_sketch_whose_highest_level_is_empty_is_refused() -> None:
    """The library would make room for fewer levels than there are."""
    ranking = sash.ApproxQuantile(k=8).bind()
    p = ranking.identity()
    for i in range(8):
        p = ranking.combine(p, ranking.lift(float(i)))
    data = p[1].data
    assert data[18] == 1
    check_kll(data)
    with pytest.raises(SavedError, match="a KLL sketch in it is not one"):
        check_kll(data[:18] + b"\2\0" + struct.pack("<II", 8, 16) + data[24:])

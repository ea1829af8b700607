"""Bloom, CountMin, ApproxCountDistinct and ApproxQuantile: their laws, and their errors."""

from __future__ import annotations

import math
import pickle
import random
import subprocess
import sys
from collections import Counter
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.operators.errors import OperatorError
from sash.operators.hashing import encoded, hashes
from sash.operators.laws import check_operator
from sash.operators.monoid import Monoid
from sash.operators.sketches import (
    ApproxCountDistinct,
    ApproxQuantile,
    Bloom,
    BloomFilter,
    CountMin,
)

NAN = float("nan")
VALUES = [3, "three", b"three", 2.5, (1, "a"), None, True, -7]
SKETCHES = [Bloom(), CountMin(width=50, depth=3), ApproxCountDistinct()]
each = pytest.mark.parametrize("op", SKETCHES, ids=lambda op: op.name)


def total(monoid: Monoid, values: Any, chance: random.Random | None = None) -> Any:
    """⊕ of the values, from the left, or grouped at random."""
    partials = [monoid.lift(v) for v in values]
    if chance is None:
        return reduce(monoid.combine, partials, monoid.identity())
    while len(partials) > 1:
        at = chance.randrange(len(partials) - 1)
        partials[at : at + 2] = [monoid.combine(partials[at], partials[at + 1])]
    return partials[0] if partials else monoid.identity()


@each
def test_laws(op):
    check_operator(op, [3, "three", b"three", 2.5, NAN, -7])


@each
@settings(deadline=None, max_examples=30)
@given(values=st.lists(st.one_of(st.integers(), st.text(max_size=3))), seed=st.integers(0, 2**32))
def test_any_grouping_and_any_order_give_the_same(op, values, seed):
    monoid = op.bind(object)
    one = total(monoid, values)
    chance = random.Random(seed)
    assert total(monoid, values, chance) == one
    chance.shuffle(values)
    other = total(monoid, values, chance)
    assert other == one
    assert monoid.lower(other) == monoid.lower(one)


@each
def test_combine_leaves_its_arguments_alone(op):
    monoid = op.bind(object)
    a, b = total(monoid, VALUES[:4]), total(monoid, VALUES[4:])
    before = pickle.dumps((a, b))
    monoid.combine(a, b)
    if monoid.inverse:
        monoid.inverse(a, monoid.lift(VALUES[0]))
    monoid.lower(a)
    assert pickle.dumps((a, b)) == before
    assert pickle.loads(before) == (a, b)


# Hashes


def test_equal_values_are_written_alike():
    noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    for same in (
        [1, 1.0, True, Decimal(1), Fraction(1), np.int8(1), np.float32(1), np.bool_(True)],
        [0, 0.0, -0.0, False],
        [0.5, Decimal("0.50"), Fraction(1, 2), np.float64(0.5)],
        [2**70, float(2**70)],
        [NAN, float("nan"), np.float32("nan"), Decimal("NaN"), np.datetime64("NaT")],
        [math.inf, Decimal("Infinity")],
        ["a", np.str_("a")],
        [noon, noon.astimezone(timezone(timedelta(hours=-5)))],
        [datetime(2024, 5, 1), np.datetime64("2024-05-01T00:00:00")],
        [(1, 2), [1.0, 2.0]],
    ):
        assert len({encoded(v) for v in same}) == 1


def test_different_values_are_not():
    different = [
        None, 0, 1, -1, 255, 256, -256, 0.1, Decimal("0.1"), Fraction(1, 3), NAN, math.inf,
        -math.inf, "", "1", b"", b"1", (), ("",), ("a", "b"), ("ab",), (("a",), "b"),
        date(2024, 5, 1), datetime(2024, 5, 1), datetime(2024, 5, 1, tzinfo=UTC),
        timedelta(1), timedelta(microseconds=1), UUID(int=1), np.datetime64(1, "ns"),
        np.timedelta64(1, "ns"), "\ud800",
    ]  # fmt: skip
    assert len({encoded(v) for v in different}) == len(different)


def test_hashes_are_the_same_in_every_process():
    assert hashes("sash", 2) == [16922882450274458354, 1885360973608135802]
    code = "from sash.operators.hashing import hashes; print(hashes(('a', 1.5), 20))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == repr(hashes(("a", 1.5), 20))
    assert len(set(hashes("a", 20))) == 20


def test_what_cannot_be_hashed_gets_a_sentence():
    with pytest.raises(OperatorError, match="a value of type object cannot be hashed"):
        Bloom().bind(object).lift(object())


# Bloom


def test_bloom_has_what_was_put_in_and_little_else():
    monoid = Bloom(bits=1024, hashes=4).bind(object)
    held = monoid.lower(total(monoid, range(100)))
    assert all(v in held for v in range(100))
    assert all(float(v) in held for v in range(100))
    wrongly = sum(v in held for v in range(1_000, 11_000)) / 10_000
    assert wrongly < 2 * (1 - math.exp(-4 * 100 / 1024)) ** 4
    assert held.bits == 1024
    assert BloomFilter.from_bytes(held.to_bytes()) == held
    assert held == monoid.lower(total(monoid, reversed(range(100))))


def test_an_empty_bloom_has_nothing():
    monoid = Bloom(bits=13, hashes=2).bind(object)
    empty = monoid.empty_answer()
    assert not any(v in empty for v in VALUES)
    assert BloomFilter.from_bytes(bytearray(empty.to_bytes())) == empty
    assert None not in empty


@pytest.mark.parametrize("options", [{"bits": 0}, {"hashes": 0}, {"bits": 8.0}])
def test_bloom_checks_its_options(options):
    with pytest.raises(OperatorError, match=r"Bloom: \w+ must be an integer of 1 or more"):
        Bloom(**options)


# CountMin


def test_count_min_never_counts_too_few_and_seldom_too_many():
    chance = random.Random(0)
    values = [int(chance.paretovariate(1)) for _ in range(5_000)]
    monoid = CountMin(epsilon=0.01, delta=0.01).bind(object)
    found, true = monoid.lower(total(monoid, values)), Counter(values)
    assert found.total == 5_000
    assert all(found.count(v) >= n for v, n in true.items())
    assert sum(found.count(v) > n + 50 for v, n in true.items()) <= 0.01 * len(true)
    assert found.count(-1) <= 50


def test_count_min_forgets_what_is_taken_off():
    monoid = CountMin().bind(object)
    assert monoid.inverse is not None
    old, new = total(monoid, ["a", "b", "a"]), total(monoid, ["b", "c"])
    left = monoid.inverse(monoid.combine(old, new), old)
    assert left == new
    assert [monoid.lower(left).count(v) for v in "abc"] == [0, 1, 1]
    assert monoid.inverse(new, new) == monoid.identity()


def test_count_min_of_none_and_one():
    monoid = CountMin().bind(object)
    empty = monoid.empty_answer()
    assert (empty.count("a"), empty.total) == (0, 0)
    one = monoid.lower(monoid.lift(NAN))
    assert (one.count(NAN), one.count("a"), one.total) == (1, 0, 1)


def test_count_min_takes_a_size_or_an_error():
    assert CountMin(epsilon=0.01, delta=0.01).options == {"width": 272, "depth": 5}
    assert CountMin("x", width=7).options == {"width": 7, "depth": 5}
    for options, sentence in (
        ({"epsilon": 0}, "epsilon must be between 0 and 1"),
        ({"delta": 2}, "delta must be between 0 and 1"),
        ({"epsilon": 0.1, "width": 10}, "give epsilon or width, not both"),
        ({"depth": 0}, "depth must be an integer of 1 or more"),
        ({"colour": 0}, "has no option 'colour'"),
    ):
        with pytest.raises(OperatorError, match=f"CountMin.*{sentence}"):
            CountMin(**options)


# ApproxCountDistinct


@pytest.mark.parametrize("count", [0, 1, 2, 10, 100, 300])
def test_few_distinct_values_are_counted_exactly(count):
    monoid = ApproxCountDistinct().bind(object)
    assert monoid.lower(total(monoid, [*range(count), *range(count)])) == count


@pytest.mark.parametrize("lg_k", [10, 12, 14])
def test_many_distinct_values_are_counted_within_the_error(lg_k):
    monoid = ApproxCountDistinct(lg_k=lg_k).bind(object)
    for count in (1_000, 5_000):
        found = monoid.lower(total(monoid, range(count)))
        assert abs(found - count) <= 4 * 1.04 / math.sqrt(2**lg_k) * count


def test_the_estimate_does_not_depend_on_the_grouping():
    """The library's own estimate would: it remembers in which order values came."""
    monoid = ApproxCountDistinct().bind(object)
    values = list(range(2_000))
    expected = total(monoid, values)
    for seed in range(3):
        chance = random.Random(seed)
        chance.shuffle(values)
        found = total(monoid, values, chance)
        assert found.estimate() == expected.estimate()


def test_values_of_any_type_are_told_apart():
    monoid = ApproxCountDistinct().bind(object)
    assert monoid.lower(total(monoid, ["", "a", b"a", 1, 1.0, True, NAN, float("nan"), 0.5])) == 6


# ApproxQuantile


def test_quantiles_of_few_values_are_exact():
    monoid = ApproxQuantile(q=(0.0, 0.25, 0.5, 1.0)).bind()
    values = [4.0, 1.0, 3.0, 2.0]
    assert monoid.lower(total(monoid, values)) == [1.0, 1.0, 2.0, 4.0]
    check_operator(ApproxQuantile(), [3.0, 1.0, NAN, -math.inf, 2.0])


@settings(deadline=None)
@given(
    values=st.lists(st.one_of(st.integers(-9, 9), st.just(NAN), st.just(math.inf)), min_size=1),
    q=st.integers(0, 8).map(lambda n: n / 8),
    seed=st.integers(0, 2**32),
)
def test_nan_is_the_greatest_value(values, q, seed):
    monoid = ApproxQuantile(q=q).bind()
    found = monoid.lower(total(monoid, values, random.Random(seed)))
    ordered = sorted(values, key=lambda v: (v != v, v))
    expected = ordered[max(math.ceil(q * len(values)) - 1, 0)]
    assert found == expected or (found != found and expected != expected)


def test_one_rank_gives_a_number_several_a_list_and_none_null():
    value = ApproxQuantile().bind().lift(5)
    assert ApproxQuantile().bind().lower(value) == 5.0
    assert ApproxQuantile(q=(0.5,)).bind().lower(value) == 5.0
    assert ApproxQuantile(q=(0.5, 0.9)).bind().lower(value) == [5.0, 5.0]
    assert ApproxQuantile().bind().empty_answer() is None
    assert ApproxQuantile(q=(0.5, 0.9)).bind().empty_answer() is None
    assert math.isnan(ApproxQuantile().bind().lower(ApproxQuantile().bind().lift(NAN)))


@pytest.mark.parametrize("grouped", [False, True])
def test_quantiles_of_many_values_are_within_the_error(grouped):
    ranks = (0.01, 0.1, 0.5, 0.9, 0.99)
    monoid = ApproxQuantile(q=ranks).bind()
    values = np.random.default_rng(0).lognormal(size=5_000)
    found = monoid.lower(total(monoid, values, random.Random(0) if grouped else None))
    places = np.searchsorted(np.sort(values), found) / len(values)
    assert np.abs(places - ranks).max() < 3 * 0.0133


def test_sketches_of_the_same_values_are_equal_up_to_their_error():
    monoid = ApproxQuantile().bind()
    values = np.random.default_rng(0).normal(size=3_000)
    one, other = total(monoid, values), total(monoid, values, random.Random(1))
    assert one == other
    assert one != total(monoid, values[:-1])
    shifted = np.where((values > -1) & (values < 1), values + 0.5, values)
    assert one != total(monoid, shifted)
    assert pickle.loads(pickle.dumps(one)) == one


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ApproxQuantile(q=1.5), "q must be a number from 0 to 1, or a tuple of such"),
        (lambda: ApproxQuantile(q="half"), "q must be a number from 0 to 1"),
        (lambda: ApproxQuantile(q=()), "q must be a number from 0 to 1"),
        (lambda: ApproxQuantile(k=1), "k must be an integer from 8 to 65535"),
        (lambda: ApproxCountDistinct(lg_k=30), "lg_k must be an integer from 7 to 21"),
    ],
)
def test_options_are_checked(make, sentence):
    with pytest.raises(OperatorError, match=sentence):
        make()


def test_without_the_extra_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasketches", None)
    for op in (ApproxCountDistinct(), ApproxQuantile()):
        assert op.bind().empty_answer() in (0, None)
        with pytest.raises(ImportError, match=f"{op.name} needs the extra: pip install"):
            op.bind().lift(1.0)

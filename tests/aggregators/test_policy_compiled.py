"""Slide policies in compiled loops, against windows that evict by them one row at a time."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from oracle import alike
from pools import leaves_of

import sash
from sash.aggregators.answers import dress
from sash.aggregators.compiling import Compiled
from sash.aggregators.plan import Plan
from sash.aggregators.pool import Pool
from sash.aggregators.registry import named
from sash.aggregators.rings import as_arrays, flatten
from sash.aggregators.running import types_of
from sash.aggregators.slide_policies import NotCompiledError, SlidePolicy

BOTH = ["amta", "log_mta"]
LIMIT = 30
TOGETHER = sash.Together(n=sash.Count(), sum=sash.Sum())


def at_least(total: Any, old: Any) -> bool:
    return total - old >= LIMIT


class Keys:
    """A pool, and a window of its own for each key."""

    def __init__(
        self, algorithm: str, operator: sash.Operator, policy: Any, raw: bool = False
    ) -> None:
        self.operator = operator
        self.policy = SlidePolicy(policy, raw)
        self.called = policy if callable(policy) else made(policy)
        self.sample = [1.0] if isinstance(operator, sash.Mean) else [1]
        types = types_of(leaves_of(operator, self.sample))
        self.pool = Pool(named(algorithm), operator, types)
        self.windows: list[sash.Aggregator] = []
        self.algorithm = algorithm

    def add(self, count: int) -> None:
        self.pool.add(count)
        dtype = np.array(self.sample).dtype
        for _ in range(count):
            self.windows.append(sash.aggregator(self.algorithm, self.operator, dtype=dtype))

    def slide(self, window: Any, value: Any) -> Any:
        window.insert(value)
        if self.policy.raw:
            window._evicted(window._kept.evict_while(self.called))
        else:
            window.evict_while(self.called)
        return window.query()

    def send(self, rows: dict[int, list[Any]]) -> None:
        flat = [value for values in rows.values() for value in values]
        counts = [len(values) for values in rows.values()]
        windows = [self.windows[k] for k in rows]
        plan = Plan(
            *(list(rows), np.cumsum(counts) - counts),
            *([w._out for w in windows], [w._in for w in windows]),
            count=np.array(counts),
        )
        leaves = leaves_of(self.operator, np.array(flat) if None not in flat else flat)
        found, starts = self.pool.follow_policy(leaves, plan, self.policy)
        dressed = dress(self.operator, found, "list")
        members = getattr(self.operator, "members", None)
        each = iter(list(zip(*dressed.values(), strict=True)) if members else dressed)
        begun = iter(starts.tolist())
        for window, values in zip(windows, rows.values(), strict=True):
            for value in values:
                expected = self.slide(window, value)
                assert next(begun) == window._out
                answer = next(each)
                assert len(window) == 0 or alike(answer, expected), (answer, expected)
        held = [len(window) for window in self.windows]
        assert self.pool.held.tolist() == held


def made(text: str) -> Callable[[Any, Any], bool]:
    scope: dict[str, Any] = {}
    exec(text, scope)
    function = scope["policy"]
    assert isinstance(function, FunctionType)
    return function


POLICIES: dict[str, tuple[sash.Operator, Any, bool]] = {
    "a function and what it takes from around it": (sash.Sum(), at_least, False),
    "several answers": (
        TOGETHER,
        "def policy(total, old):\n    return total.n - old.n >= 7 or total.sum - old.sum >= 40",
        False,
    ),
    "partials": (TOGETHER, "def policy(total, old): return total.n.n - old.n.n >= 5", True),
    "a field of a partial": (
        sash.Mean(),
        "def policy(total, old): return total.n - old.n >= 9",
        True,
    ),
    "a mean, which may be null": (sash.Mean(), "def policy(total, old): return old < 3", False),
    "all must leave": (sash.Sum(), "def policy(total, old): return total >= 20", False),
}


# Each takes long to compile.
COVERING = [
    *[("amta", name) for name in ("a function and what it takes from around it", "partials")],
    *[("log_mta", name) for name in ("a mean, which may be null", "all must leave")],
]


@pytest.mark.parametrize(("algorithm", "name"), COVERING)
def test_any_batches(algorithm: str, name: str) -> None:
    check(algorithm, name)


@pytest.mark.full
@pytest.mark.parametrize("algorithm", BOTH)
@pytest.mark.parametrize("name", POLICIES)
def test_every_pair(algorithm: str, name: str) -> None:
    check(algorithm, name)


def check(algorithm: str, name: str) -> None:
    keys = Keys(algorithm, *POLICIES[name])
    chance = random.Random(name)
    for step in range(25):
        keys.add(step % 3 + (step == 0))
        some = chance.sample(range(len(keys.windows)), chance.randint(1, len(keys.windows)))
        rows = {k: [chance.randint(0, 6) for _ in range(chance.randint(0, 9))] for k in some}
        if step == 20:
            rows[some[0]] = [0] * 300
        values = {k: [float(v) for v in vs] for k, vs in rows.items()}
        if any(rows.values()):
            keys.send(values if isinstance(keys.operator, sash.Mean) else rows)


def test_functions_without_readable_source() -> None:
    """A lambda is compiled too, in this process, with what it has from around it."""
    most = 12
    keys = Keys("log_mta", sash.Sum(), lambda total, old, least=1: total - old >= most + least - 1)
    keys.add(2)
    keys.send({0: [5, 5, 5, 1], 1: [12, 1, 1]})
    keys.send({1: [3, 12], 0: [1]})


def test_nulls_have_no_answer_now_or_later() -> None:
    """A batch without nulls meets a window that still begins with one."""

    def drops_nulls(total: Any, old: Any) -> bool:
        return old is None

    keys = Keys("log_mta", sash.Max(), drops_nulls)
    keys.add(2)
    keys.send({0: [None, 3, None, 7], 1: [None, None]})
    keys.send({1: [2, 9], 0: [4]})
    content = keys.pool.content()
    pool = Pool(named("log_mta"), sash.Max(), keys.pool.types)
    pool.restore(content)
    keys.pool = pool
    keys.send({1: [5], 0: [None, 1]})


@sash.operator(
    partial={"n": "int64", "hi": "int64"}, answer={"count": "int64", "most": "int64"}, empty=None
)
class CountAndMost:
    def identity():
        return 0, -100

    def lift(v):
        return 1, v

    def combine(a, b):
        return a.n + b.n, b.hi if b.hi > a.hi else a.hi

    def lower(p):
        return p.n, p.hi


def test_several_answers_by_name() -> None:
    """In Python they are a dict, and read as such here too."""

    def counts(total: Any, old: Any) -> bool:
        return total["count"] - old["count"] >= 4 or total["most"] - old["most"] >= 4

    keys = Keys("log_mta", CountAndMost(), counts)
    keys.add(1)
    keys.send({0: [1, 2, 3, 7, 2, 1, 2, 3, 4, 5]})


def test_windows_whose_lengths_nothing_bounds() -> None:
    """Room is found out by doubling, for all keys that need more at once."""
    operator = sash.Together(n=sash.Count(), last=sash.Max())
    policy = SlidePolicy("def policy(total, old): return total.n - old.n >= 1000")
    pool = Pool(named("log_mta"), operator, [("int64",), ("int64",)])
    pool.add(50)
    counts = np.arange(50) * 60
    rows = np.cumsum(counts) - counts
    leaves = leaves_of(operator, np.arange(counts.sum()))
    zeros = np.zeros(50)
    found, starts = pool.follow_policy(
        leaves, Plan(np.arange(50), rows, zeros, zeros, count=counts), policy
    )
    assert pool.held.tolist() == np.minimum(counts, 1000).tolist()
    numbers = np.concatenate([np.arange(count) for count in counts])
    assert np.array_equal(starts, np.maximum(numbers - 999, 0))
    assert np.array_equal(found[0].fields[""], np.minimum(numbers + 1, 1000))
    assert np.array_equal(found[1].fields[""], np.arange(counts.sum()))


def test_a_policy_that_fails_leaves_everything_as_it_was() -> None:
    """Two keys have got more room, and one has moved on, when the other divides by zero."""
    policy = SlidePolicy("def policy(total, old): return 10 // (2400 - total) > 9")
    pool = Pool(named("log_mta"), sash.Sum(), [("int64",)])
    pool.add(3)
    leaves = leaves_of(sash.Sum(), [3] * 1200)
    first = Plan([1, 0], [0, 300], [0, 0], [0, 0], count=[300, 300])
    pool.follow_policy(leaves, first, policy)
    before = pool.content()
    again = Plan([0, 1], [0, 100], [0, 0], [300, 300], count=[100, 1000])
    with pytest.raises(ZeroDivisionError):
        pool.follow_policy(leaves, again, policy)
    after = pool.content()
    assert all(np.array_equal(after[name], before[name]) for name in before)
    assert pool.held.tolist() == [300, 300, 0]
    fine = Plan([0, 1], [0, 100], [0, 0], [300, 300], count=[100, 400])
    found, _ = pool.follow_policy(leaves, fine, policy)
    assert found[0].fields[""][[99, 499]].tolist() == [1200, 2100]


@pytest.mark.parametrize(
    ("operator", "policy", "why"),
    [
        (sash.Sum(), "total - old >= 3", "not that of a function"),
        (sash.Sum(), "def policy(total, old): import os", "imports something"),
        (sash.Sum(), "def policy(total, old): return open_door(total)", "'open_door'"),
        (sash.Sum(), "def policy(total, old): return total.n > 3", "does not compile"),
        (sash.Sum(), "def policy(total, old): return total ** 2 > 3", "a power"),
        (sash.Sum(), lambda total, old: print(f"{total:03}", open), "does not compile"),
        (sash.Last(), "def policy(total, old): return total > old", "not a number"),
        (sash.MomentSketch(order=2), "def policy(total, old): return True", "not a number"),
    ],
)
def test_what_does_not_compile(operator: sash.Operator, policy: Any, why: str) -> None:
    """It says so before anything has changed, so that plain Python can take over."""
    leaves = leaves_of(operator, [1.0, 2.0])
    pool = Pool(named("log_mta"), operator, types_of(leaves))
    pool.add(1)
    with pytest.raises(NotCompiledError, match=why):
        pool.follow_policy(leaves, Plan([0], [0], [0], [0], count=[2]), SlidePolicy(policy))
    assert pool.held.tolist() == [0]


def test_answers_that_are_times_are_not_shown_as_numbers() -> None:
    times = np.array(["2024-01-01", "2024-01-02"], "datetime64[s]")
    pool = Pool(named("amta"), sash.Max(), [("int64",)])
    pool.add(1)
    policy = SlidePolicy("def policy(total, old): return total > old")
    with pytest.raises(NotCompiledError, match="a time or a truth"):
        plan = Plan([0], [0], [0], [0], count=[2])
        pool.follow_policy(leaves_of(sash.Max(), times), plan, policy)


def test_what_is_refused() -> None:
    policy = SlidePolicy("def policy(total, old): return total > old")
    leaves = leaves_of(sash.Sum(), [1, 2])
    pool = Pool(named("daba"), sash.Sum(), [("int64",)])
    pool.add(1)
    good = Plan([0], [0], [0], [0], count=[2])
    with pytest.raises(TypeError, match=r"daba does not evict by a slide policy.*amta"):
        pool.follow_policy(leaves, good, policy)
    pool = Pool(named("amta"), sash.Sum(), [("int64",)])
    pool.add(1)
    for bad in (
        Plan([1], [0], [0], [0], count=[2]),
        Plan([0], [1], [0], [0], count=[2]),
        Plan([0], [0], [0], [1], count=[2]),
        Plan([0], [0], [0], [0], count=[-1]),
    ):
        with pytest.raises(ValueError, match="at odds with its window"):
            pool.follow_policy(leaves, bad, policy)


@pytest.mark.parametrize("algorithm", BOTH)
def test_one_window(algorithm: str) -> None:
    """The loop for a window that is kept alone: it ends where there is no more room."""
    operator, module = sash.Sum(), named(algorithm)
    monoid = operator.bind("int64")
    code = Compiled(module, monoid, (False,), policy=SlidePolicy(at_least))
    rings = tuple(as_arrays(module, monoid, 4))
    values = np.array([10, 10, 40, 5, 5, 5, 5, 5])
    starts, out, at = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(1, np.int64)
    state = flatten((0, 0, 0, 0, 0, (0, 0), (0, 0)) if algorithm == "amta" else (0, 0, 0, (0, 0)))
    state = code.call("slide_policy", rings, state, (values, 0), at, 0, 8, 4, 100, starts, (out,))
    assert at[0] == 6  # rows 2 to 5 are held: there is no room for one more
    assert starts[:6].tolist() == [100, 100, 102, 102, 102, 102]
    assert out[:6].tolist() == [10, 20, 40, 45, 50, 55]


@pytest.mark.parametrize("algorithm", BOTH)
def test_a_policy_that_is_ambiguous_is_found_out(algorithm: str) -> None:
    window = sash.aggregator(algorithm, sash.Sum())
    for value in (1, 5, -3, 4):
        window.insert(value)
    with pytest.raises(ValueError, match="True for the 3 oldest values, but False for the 2 old"):
        window.evict_while(lambda total, old: old < 4, debug=True)
    assert len(window) == 4
    assert window.evict_while(lambda total, old: old < 7, debug=True) == 3

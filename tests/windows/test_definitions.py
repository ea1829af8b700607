"""Definitions of windows: what they hold, refuse, print, and how they are written in files."""

from __future__ import annotations

import inspect
import json
import pickle
import tomllib
from dataclasses import FrozenInstanceError, replace
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.aggregators.duration import Steps, Time, length, nanoseconds
from sash.windows import written
from sash.windows.definitions import (
    MAKERS,
    Definition,
    Delta,
    Last,
    Punctuated,
    Session,
    SlideWhile,
    definition,
    delta,
    from_dict,
    last,
    punctuated,
    session,
    slide_while,
    tumbling,
)
from sash.windows.policies import Policy

SECOND = 1_000_000_000
HOUR = 3600 * SECOND

# --- what is written, as a call and as a dict --------------------------------------------------

SPELLED: list[tuple[Definition, str, dict[str, Any]]] = [
    (last(1000), "last(1000)", {"last": 1000}),
    (last(1), "last(1)", {"last": 1}),
    (last("1h"), "last('1h')", {"last": "1h"}),
    (last("60i", "10i"), "last('60i', every='10i')", {"last": "60i", "every": "10i"}),
    (last(1000, every=10), "last(1000, every=10)", {"last": 1000, "every": 10}),
    (
        last("1h", every="1min", offset="15s"),
        "last('1h', every='1min', offset='15s')",
        {"last": "1h", "every": "1min", "offset": "15s"},
    ),
    (last(3, closed="left"), "last(3, closed='left')", {"last": 3, "closed": "left"}),
    (
        last(5, every=5, closed="both"),
        "last(5, every=5, closed='both')",
        {"last": 5, "every": 5, "closed": "both"},
    ),
    (
        last("1h", every=punctuated("flag")),
        "last('1h', every=punctuated('flag'))",
        {"last": "1h", "every": {"punctuated": "flag"}},
    ),
    (tumbling(5), "tumbling(5)", {"tumbling": 5}),
    (
        tumbling("1h", offset="15min"),
        "tumbling('1h', offset='15min')",
        {"tumbling": "1h", "offset": "15min"},
    ),
    (delta("km", 5), "delta('km', 5)", {"delta": "km", "width": 5}),
    (
        delta("km", 0.5, every="1min", offset="1s"),
        "delta('km', 0.5, every='1min', offset='1s')",
        {"delta": "km", "width": 0.5, "every": "1min", "offset": "1s"},
    ),
    (delta("at", "90s"), "delta('at', '90s')", {"delta": "at", "width": "90s"}),
    (punctuated("flag"), "punctuated('flag')", {"punctuated": "flag"}),
    (
        punctuated("flag", marks="end"),
        "punctuated('flag', marks='end')",
        {"punctuated": "flag", "marks": "end"},
    ),
    (session("30min"), "session('30min')", {"session": "30min"}),
    (
        slide_while("total-old>=10", raw=True),
        "slide_while('total - old >= 10', raw=True)",
        {"slide_while": "total - old >= 10", "raw": True},
    ),
    (
        slide_while("total.n > 9", every=punctuated("flag", "end")),
        "slide_while('total.n > 9', every=punctuated('flag'))",
        {"slide_while": "total.n > 9", "every": {"punctuated": "flag"}},
    ),
]


@pytest.mark.parametrize(("window", "call", "plain"), SPELLED, ids=[call for _, call, _ in SPELLED])
def test_call_and_dict(window: Definition, call: str, plain: dict[str, Any]) -> None:
    assert repr(window) == call
    assert window.to_dict() == plain
    assert from_dict(plain) == Definition.from_dict(plain) == definition(plain) == window
    assert pickle.loads(pickle.dumps(window)) == window


def test_options_in_files_are_those_of_the_calls() -> None:
    assert list(written.OPTIONS) == list(MAKERS)
    for name, maker in MAKERS.items():
        assert tuple(inspect.signature(maker).parameters)[1:] == written.OPTIONS[name]


# --- any definition ----------------------------------------------------------------------------

COLUMNS = st.text(min_size=1, max_size=8).filter(lambda s: s.isprintable())
ROWS = st.integers(1, 2**63 - 1)
TIMES = st.integers(1, 2**63 - 1).map(Time) | st.integers(1, 10**6).map(lambda s: Time(s * SECOND))
STEPS = st.integers(1, 2**63 - 1).map(Steps)
SOURCES = ["total - old >= 10", "total.n - old.n > 1", "abs(total) < 2 or not old"]


@st.composite
def windows(draw: st.DrawFn) -> Definition:
    kind = draw(st.sampled_from(["last", "delta", "punctuated", "session", "slide_while"]))
    clock = draw(st.sampled_from([TIMES, STEPS]))
    every: Any = draw(st.one_of(st.just(1), ROWS, clock, COLUMNS.map(punctuated)))
    offset = draw(st.none() | clock) if isinstance(every, (Time, Steps)) else None
    if kind == "last":
        size = draw(st.one_of(ROWS, clock, st.just(every)))
        if isinstance(size, Punctuated):
            size = 7
        closed = "right"
        if not isinstance(every, (Time, Steps)):
            closed = draw(st.sampled_from(["right", "left", "both", "neither"]))
        return last(size, every, offset=offset, closed=closed)
    if kind == "delta":
        width = draw(
            st.integers(0, 2**63 - 1) | st.floats(0, 2**62) | st.integers(0, 2**63 - 1).map(Time)
        )
        return delta(draw(COLUMNS), width, every, offset=offset)
    if kind == "punctuated":
        return punctuated(draw(COLUMNS), draw(st.sampled_from(["start", "end"])))
    if kind == "session":
        return session(draw(clock))
    return slide_while(draw(st.sampled_from(SOURCES)), every, raw=draw(st.booleans()))


def toml(value: Any) -> str:
    """A dict as one line of TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(v)}" for key, v in value.items()) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


@given(windows())
def test_any_window_comes_back_from_its_dict(window: Definition) -> None:
    plain = window.to_dict()
    for read in (
        plain,
        json.loads(json.dumps(plain)),
        tomllib.loads(f"window = {toml(plain)}")["window"],
    ):
        back = from_dict(read)
        assert back == window
        assert hash(back) == hash(window)
        assert type(back) is type(window)
        assert back.to_dict() == plain


@given(windows())
def test_any_window_comes_back_from_its_call(window: Definition) -> None:
    assert eval(repr(window), dict(MAKERS)) == window


@given(windows(), windows())
def test_equal_windows_and_only_they_are_written_alike(one: Definition, other: Definition) -> None:
    assert (one == other) == (one.to_dict() == other.to_dict())


# --- lengths -----------------------------------------------------------------------------------


@given(st.integers(0, 2**63 - 1) | st.integers(0, 10**6).map(lambda s: s * SECOND))
def test_a_length_of_time_is_read_as_it_is_written(amount: int) -> None:
    assert nanoseconds(str(Time(amount))) == amount
    assert length(str(Time(amount))) == Time(amount)
    assert length(str(Time(-amount))) == Time(-amount)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.25, "250ms"),
        (1.5, "1500ms"),
        (60, "1min"),
        (90, "90s"),
        (600, "10min"),
        (3600, "1h"),
        (3601, "1h1s"),
        (5400, "1h30min"),
        (36 * 3600, "36h"),
        (48 * 3600, "2d"),
        (8 * 86400, "8d"),
        (7 * 86400, "1w"),
        (86400.000001, "1d1us"),
    ],
)
def test_how_lengths_are_spelled(seconds: float, text: str) -> None:
    assert str(Time(round(seconds * SECOND))) == text


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (7, 7),
        (np.int32(7), 7),
        ("7i", Steps(7)),
        ("-7i", Steps(-7)),
        ("90 minutes", Time(5400 * SECOND)),
        (timedelta(hours=1), Time(HOUR)),
        (timedelta(hours=-1), Time(-HOUR)),
        (pd.Timedelta("1h"), Time(HOUR)),
        (np.timedelta64(1, "h"), Time(HOUR)),
        (np.timedelta64(2, "W"), Time(14 * 24 * HOUR)),
        (np.timedelta64(5_000, "ps"), Time(5)),
        (Time(5), Time(5)),
    ],
)
def test_what_a_length_may_be(given: Any, expected: Any) -> None:
    assert length(given) == expected
    assert type(length(given)) is type(expected)
    assert length(str(length(given)) if not isinstance(expected, int) else expected) == expected


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        (1.5, TypeError, "number of rows, such as 1000"),
        (True, TypeError, "not True"),
        (None, TypeError, "not None"),
        ("10", ValueError, "'10' has no unit: write 10 for rows, '10s' for time, or '10i'"),
        ("1 fortnight", ValueError, "write a number and one of"),
        ("", ValueError, "missing"),
        (np.timedelta64("NaT"), ValueError, "NaT"),
        (np.timedelta64(1, "M"), ValueError, "no fixed length"),
        (np.timedelta64(1), ValueError, "no fixed length"),
    ],
)
def test_what_no_length_is(given: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        length(given)


# --- parts -------------------------------------------------------------------------------------


def test_parts() -> None:
    window = last("90 minutes", timedelta(minutes=1), offset="75s")
    assert window == Last(Time(5400 * SECOND), Time(60 * SECOND), Time(15 * SECOND))
    assert (window.size, window.every, window.offset, window.closed) == (
        *(Time(5400 * SECOND), Time(60 * SECOND), Time(15 * SECOND)),
        "right",
    )
    assert last("60i").size == Steps(60)
    by_rows = last(np.int64(5), np.int8(2))
    assert (type(by_rows.size), type(by_rows.every)) == (int, int)
    distance = delta("km", np.float64(2.5), "1h")
    assert isinstance(distance, Delta)
    assert (distance.column, distance.width, distance.every) == ("km", 2.5, Time(HOUR))
    assert distance.offset is None
    assert type(distance.width) is float
    assert isinstance(delta("at", "5s").width, Time)
    assert isinstance(session("5i"), Session)
    assert session("5i").gap == Steps(5)
    assert (punctuated("f").column, punctuated("f").marks) == ("f", "start")
    sliding = slide_while("total > old", 5)
    assert isinstance(sliding, SlideWhile)
    assert (sliding.policy, sliding.every, sliding.raw) == (Policy("total > old"), 5, False)


def test_tumbling_is_last_with_every_as_long() -> None:
    assert tumbling(5) == last(5, every=5)
    assert tumbling("1h", offset="5min") == last("1h", "60min", offset="1h5min")
    assert tumbling(1) == last(1)
    assert tumbling(5) != last(5)
    assert from_dict({"last": "1h", "every": "1h"}) == tumbling("1h")


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        ("0s", None),
        ("1h", None),
        ("75min", Time(15 * 60 * SECOND)),
        ("-15min", Time(45 * 60 * SECOND)),
        (timedelta(minutes=-15), Time(45 * 60 * SECOND)),
    ],
)
def test_offsets_are_reduced(offset: Any, expected: Any) -> None:
    assert last("3h", every="1h", offset=offset).offset == expected
    assert delta("x", 1, every="1h", offset=offset).offset == expected


def test_marks_do_not_matter_where_answers_are_punctuated() -> None:
    assert last(3, punctuated("f", "end")) == last(3, punctuated("f"))
    assert punctuated("f", "end") != punctuated("f")


def test_definitions_are_frozen_and_can_be_varied() -> None:
    window = last("1h", every="1min")
    with pytest.raises(FrozenInstanceError):
        window.size = 5  # type: ignore[misc]
    assert replace(window, every="5min") == last("1h", every="5min")  # type: ignore[arg-type]
    assert replace(slide_while("total > 1"), raw=True) == slide_while("total > 1", raw=True)


def test_kinds_are_never_equal() -> None:
    assert len({window for window, _, _ in SPELLED}) == len(SPELLED)
    assert last(5) != last("5i") != last("5ns")
    assert slide_while("total > 1") != "total > 1"


def test_an_empty_window_can_be_asked_for() -> None:
    assert last(1, closed="neither").size == 1
    assert delta("x", 0).width == 0
    assert delta("x", "0s").width == Time(0)


# --- short for a window ------------------------------------------------------------------------


def test_what_is_short_for_a_window() -> None:
    assert definition(1000) == definition(np.int64(1000)) == last(1000)
    assert definition("1h") == definition(timedelta(hours=1)) == last("1h")
    assert definition(np.timedelta64(1, "h")) == definition(Time(HOUR)) == last("1h")
    assert definition("5i") == last("5i")
    window = session("1h")
    assert definition(window) is window
    assert definition({"tumbling": 5}) == tumbling(5)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (1.5, "last, tumbling, delta, punctuated, session, slide_while; not 1.5"),
        (True, "not True"),
        (None, "not None"),
        ([5], r"not \[5\]"),
        (session, r"write session\(…\)"),
        (lambda total, old: True, r"write slide_while\(policy\)"),
    ],
)
def test_what_no_window_is(given: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        definition(given)


# --- refusals ----------------------------------------------------------------------------------

REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: last(0), ValueError, "size must be more than nothing, not 0"),
    (lambda: last(-5), ValueError, "size must be more than nothing, not -5"),
    (lambda: last("0s"), ValueError, "size must be more than nothing, not '0s'"),
    (lambda: last("-1h"), ValueError, "size must be more than nothing, not '-1h'"),
    (lambda: last(timedelta(-1)), ValueError, "size must be more than nothing"),
    (lambda: last("0i"), ValueError, "size must be more than nothing"),
    (lambda: last(True), TypeError, "size: a length is a number of rows.*not True"),
    (lambda: last(5.0), TypeError, "size: a length is a number of rows.*not 5.0"),
    (lambda: last(None), TypeError, "not None"),
    (lambda: last(2**63), ValueError, "size must be below"),
    (lambda: last("1000000w"), ValueError, "size must be below"),
    (lambda: last("1 hoar"), ValueError, "size: '1 hoar' is not a length of time"),
    (lambda: last(5, 0), ValueError, "every must be more than nothing, not 0"),
    (lambda: last(5, None), TypeError, "every: .*not None"),
    (lambda: last(5, 2.5), TypeError, "every: .*not 2.5"),
    (lambda: last(5, session("1h")), TypeError, r"every is .*not session\('1h'\)"),
    (lambda: last("1h", "5i"), ValueError, "size '1h' and every '5i' do not go together"),
    (lambda: last("5i", "1h"), ValueError, "size '5i' and every '1h' do not go together"),
    (lambda: last("1h", offset="1s"), ValueError, "offset='1s' needs a grid of time"),
    (lambda: last(5, punctuated("f"), offset="1s"), ValueError, "needs a grid of time"),
    (lambda: tumbling(5, offset="1s"), ValueError, "needs a grid of time"),
    (lambda: last(5, "1h", offset=5), TypeError, "offset must be a length of time.*not 5"),
    (lambda: last(5, "1h", offset="5i"), ValueError, "offset '5i' and every '1h'"),
    (lambda: last(5, closed="middle"), ValueError, "closed must be one of right, left"),
    (lambda: last(5, closed=None), TypeError, "closed must be one of right, left"),
    (lambda: last(5, "1h", closed="left"), ValueError, "closed='left' is for windows that end at"),
    (lambda: delta("", 5), ValueError, "delta takes the name of a column, and '' is none"),
    (lambda: delta(5, 5), TypeError, "delta takes the name of a column"),
    (lambda: delta("x", -1), ValueError, "width must be a number from 0 to"),
    (lambda: delta("x", float("nan")), ValueError, "width must be .*not nan"),
    (lambda: delta("x", float("inf")), ValueError, "width must be .*not inf"),
    (lambda: delta("x", True), TypeError, "width must be a number.*not True"),
    (lambda: delta("x", [5]), TypeError, "width must be a number"),
    (lambda: delta("x", "5i"), ValueError, "width is a number for a column of numbers"),
    (lambda: delta("x", "-5s"), ValueError, "width must not be negative"),
    (lambda: delta("x", 5, "1h", offset="1i"), ValueError, "do not go together"),
    (lambda: punctuated(""), ValueError, "punctuated takes the name of a column"),
    (lambda: punctuated(None), TypeError, "punctuated takes the name of a column"),
    (lambda: punctuated("x", "middle"), ValueError, "marks must be one of start, end"),
    (lambda: session(0), ValueError, "gap must be more than nothing"),
    (lambda: session("0s"), ValueError, "gap must be more than nothing"),
    (lambda: session(30), TypeError, "write the gap as '30min', or as '30i'"),
    (lambda: slide_while(5), TypeError, r"a policy is a function of \(total, old\), or text"),
    (lambda: slide_while(lambda total: True), TypeError, "is called as policy"),
    (lambda: slide_while("total > x"), ValueError, "knows total and old, and no 'x'"),
    (lambda: slide_while("total > 1", raw="yes"), TypeError, "raw must be True or False"),
    (lambda: slide_while("total > 1", every=0), ValueError, "every must be more than nothing"),
]


@pytest.mark.parametrize(("make", "error", "says"), REFUSED, ids=range(len(REFUSED)))
def test_refused(make: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says) as caught:
        make()
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ("1h", TypeError, "is written as a dict, such as"),
        ({}, ValueError, "an empty dict is none"),
        ({"lst": 5}, ValueError, "did you mean 'last' for 'lst'"),
        ({"every": 5}, ValueError, "is one of last, tumbling"),
        ({"last": 5, "session": "1h"}, ValueError, "last and session are two"),
        ({"last": 5, "evry": 2}, ValueError, "last does not know 'evry'; did you mean 'every'"),
        ({"last": 5, "zzz": 2}, ValueError, "'zzz'; it knows every, offset, closed"),
        ({"last": 5, 7: 2}, ValueError, "last does not know 7"),
        ({"session": "1h", "every": 2}, ValueError, "'every'; it takes nothing else"),
        ({"tumbling": 5, "every": 2}, ValueError, "tumbling does not know 'every'"),
        ({"delta": "x"}, ValueError, "delta needs width"),
        ({"last": None}, TypeError, "size: "),
        ({"last": [5]}, TypeError, "size: "),
        ({"last": 5.0}, TypeError, "size: .*not 5.0"),
        ({"last": 5, "every": {"session": "1h"}}, ValueError, "every is .*not {'session': '1h'}"),
        ({"last": 5, "every": {"punctuatd": "f"}}, ValueError, "did you mean 'punctuated'"),
        ({"slide_while": 5}, TypeError, "a policy as text, not 5"),
        ({"slide_while": max}, TypeError, "a policy as text"),
        ({"slide_while": "total > 1", "raw": 1}, TypeError, "raw must be"),
    ],
)
def test_refused_dicts(given: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        from_dict(given)


# --- policies as functions ---------------------------------------------------------------------


def test_a_policy_given_as_a_function() -> None:
    limit = 10
    policy = lambda total, old: total - old >= limit  # noqa: E731
    window = slide_while(policy, raw=True)
    assert window.policy is policy
    assert window.to_dict() == {"slide_while": "total - old >= 10", "raw": True}
    assert repr(window) == "slide_while('total - old >= 10', raw=True)"
    assert window == from_dict(window.to_dict()) == slide_while("total-old >= 10", raw=True)
    assert hash(window) == hash(from_dict(window.to_dict()))


def test_a_policy_that_cannot_be_written() -> None:
    def policy(total: Any, old: Any) -> bool:
        return len(total) > 3

    def twin(total: Any, old: Any) -> bool:
        return len(total) > 3

    window = slide_while(policy, every=2)
    assert repr(window) == "slide_while(policy, every=2)"
    assert window == slide_while(policy, every=2)
    assert hash(window) == hash(slide_while(policy, every=2))
    assert window != slide_while(twin, every=2)
    assert window != slide_while(policy)
    with pytest.raises(TypeError, match="policy cannot be written down; write it as text"):
        window.to_dict()


def test_a_window_is_what_its_policy_said_when_it_was_made() -> None:
    limit = 10

    def policy(total: Any, old: Any) -> Any:
        return total - old >= limit

    before = slide_while(policy)
    limit = 20
    assert before.to_dict() == {"slide_while": "total - old >= 10"}
    assert before != slide_while(policy) == slide_while("total - old >= 20")

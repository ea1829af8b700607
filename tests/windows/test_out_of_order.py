"""Rows in any order that the lateness allows give what they give in order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from windows import naive
from windows.drawn_rows import cuts, rows, shuffled
from windows.naive import Row
from windows.ways import Event, Run, assert_same

import sash

WINDOWS = [
    sash.last(3),
    sash.last(3, every=2, closed="left"),
    sash.last("7i"),
    sash.last("7i", closed="neither"),
    sash.last("7i", every=3, closed="both"),
    sash.last("9i", every="4i"),
    sash.last("3i", every="5i", offset="1i"),
    sash.tumbling("6i"),
    sash.tumbling(3),
    sash.last(2, every="4i"),
    sash.last("7i", every=sash.punctuated("mark")),
    sash.last(3, every=sash.punctuated("mark")),
    sash.delta("d", 5),
    sash.delta("d", 5, every="4i"),
    sash.punctuated("mark"),
    sash.punctuated("mark", marks="end"),
    sash.session("4i"),
    sash.slide_while(lambda total, old: len(total) - len(old) >= 3),
]

# An early answer is known by its key, time and start. The open window of marked rows may have those
# of the one before.
KNOWN_BY_TIME = [window for window in WINDOWS if window != sash.punctuated("mark")]

IN_ORDER = sash.Collect("y")


def all_answers(
    definition: Any, arriving: list[Row], pieces: list[tuple[int, int, bool]], **options: Any
) -> tuple[list[Event], int]:
    """Everything that the rows give, and how many of them were late."""
    keyed = bool(arriving) and arriving[0].key is not None
    run = Run(definition, IN_ORDER, keyed=keyed, **options)
    found: list[Event] = []
    for start, end, alone in pieces:
        found += run.batch(arriving[start:end], "one by one" if alone else "whole")
    return [*found, *run.events(run.window.finish())], run.window.late


@pytest.mark.parametrize("definition", WINDOWS, ids=repr)
@given(data=st.data())
def test_any_order_within_the_lateness(definition: Any, data: st.DataObject) -> None:
    in_order = data.draw(rows(keyed=data.draw(st.booleans()), most=25))
    lateness = data.draw(st.integers(1, 12))
    arriving = data.draw(shuffled(in_order, lateness))
    pieces = data.draw(cuts(len(arriving)))
    found, late = all_answers(definition, arriving, pieces, lateness=f"{lateness}i")
    assert late == 0
    expected = naive.answers(definition, IN_ORDER, in_order, lateness=lateness, finish=True)
    assert_same(found, [Event(a.value, a.time, a.start, a.key) for a in expected], "naive")
    sorted_ones, _ = all_answers(definition, in_order, pieces, lateness=f"{lateness}i")
    assert_same(found, sorted_ones, "in order")


@pytest.mark.parametrize("definition", KNOWN_BY_TIME, ids=repr)
@given(data=st.data())
def test_early_answers_end_as_the_others(definition: Any, data: st.DataObject) -> None:
    """Of each answer the last revision counts; None has been taken back."""
    in_order = data.draw(rows(keyed=data.draw(st.booleans()), most=16, ties=False))
    lateness = data.draw(st.integers(1, 12))
    arriving = data.draw(shuffled(in_order, lateness, late=data.draw(st.booleans())))
    pieces = data.draw(cuts(len(arriving)))
    found, late = all_answers(definition, arriving, pieces, lateness=f"{lateness}i", emit="early")
    assert late == len(naive.late(arriving, lateness))
    last: dict[Any, Event] = {}
    for event in found:
        known = (event.key, event.time, event.start)
        before = last.get(known)
        if before is None or before.value is not None:  # what was taken back may come again as new
            assert event.revision == (0 if before is None else before.revision + 1)
        last[known] = event
    standing = {known[:2]: e.value for known, e in last.items() if e.value is not None}
    expected = naive.answers(definition, IN_ORDER, arriving, lateness=lateness, finish=True)
    assert standing == {(a.key, a.time): a.value for a in expected}

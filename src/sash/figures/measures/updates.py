"""How many ⊕ a FlatFAT does for m changes between two answers: counted, in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import sash
from sash.aggregators import flat_fat
from sash.aggregators.binding import Rows, bind
from sash.aggregators.rings import as_lists
from sash.figures.cases import Case, Group, Point
from sash.figures.measures.batches import step_of
from sash.testing import Counting

A_CHANGE, IN_ALL, HELD = "⊕ a change, at worst", "⊕ at worst", "partials held"
SIDE_BY_SIDE, ANYWHERE, TREE = "side by side", "anywhere", "tree"
RESIZING, A_TUPLE = "resizing", "⊕ a tuple"
TIMES = 12
LEAST_RESIZED = 4

operator: Any = sash.Sum()


def updates(*, sizes: Sequence[int], steps: Sequence[str]) -> list[Group]:
    """Rows that take the place of the oldest, values replaced anywhere, and the tree by itself."""

    def group(size: int) -> list[Case]:
        cases = [Case(TREE, "flat_fat", size, partial(_tree, size), timed=False)]
        for step in steps:
            m = step_of(step, size)
            if 0 < m <= size:
                for panel, count in ((SIDE_BY_SIDE, _slid), (ANYWHERE, _replaced)):
                    run = partial(count, size, m)
                    cases.append(Case(panel, f"m = {step}", size, run, timed=False))
        if size >= LEAST_RESIZED:
            runs = {"fixed": partial(_fixed, size), "oscillating": partial(_oscillating, size)}
            cases += [Case(RESIZING, name, size, run, timed=False) for name, run in runs.items()]
        return cases

    return [partial(group, size) for size in sizes]


def _slid(size: int, m: int) -> list[Point]:
    """m rows enter a full window, and the oldest m leave, as compiled loops do it."""
    counting = Counting()
    monoid = counting.of(operator).bind("int64")
    run, rings = bind(flat_fat, monoid), as_lists(flat_fat, monoid, size)
    # Not only where the buffer begins: windows that wrap around are among those counted.
    slides = max(-(-size // m), min(TIMES, size)) + 1
    rows = Rows([[list(range(size + slides * m))]])
    state = run.slide_bounds(rings, run.new(), rows, [0], [size], 0, 1, [None])
    counting.taken()
    most, S = 0, 0
    for _ in range(slides):
        bounds = [S + m], [S + size + m], 0, 1, S + m, S + size + m
        state = run.follow(rings, state, rows, S + size, S, S + size, *bounds, [None])
        most, S = max(most, counting.taken()), S + m
    return [Point(IN_ALL, most), Point(A_CHANGE, most / m)]


def _replaced(size: int, m: int) -> list[Point]:
    """Any m values of a full window, replaced together."""
    counting = Counting()
    window = sash.aggregator("flat_fat", counting.of(operator))
    handles = [window.insert(value) for value in range(size)]
    chance = np.random.default_rng(size)
    counting.taken()
    most = 0
    for _ in range(TIMES):
        picked = chance.choice(handles, m, replace=False)
        window.update({int(handle): 1 for handle in picked})
        most = max(most, counting.taken())
    return [Point(IN_ALL, most), Point(A_CHANGE, most / m)]


def _fixed(size: int) -> list[Point]:
    """A full window whose oldest value makes place for each that comes."""
    counting = Counting()
    monoid = counting.of(operator).bind("int64")
    run, rings = bind(flat_fat, monoid), as_lists(flat_fat, monoid, size)
    rows = Rows([[list(range(2 * size))]])
    state = run.bulk_insert(rings, run.new(), rows, size)
    counting.taken()
    run.slide(rings, state, rows, size, size, [None] * size)
    return [Point(A_TUPLE, counting.taken() / size)]


def _oscillating(size: int) -> list[Point]:
    """A cycle of `resizing.Oscillating`: many leave, the tree shrinks, fills again and doubles."""
    counting = Counting()
    monoid = counting.of(operator).bind("int64")
    run = bind(flat_fat, monoid)
    small, large = (as_lists(flat_fat, monoid, each) for each in (size, 2 * size))
    state = run.bulk_insert(large, run.new(), Rows([[list(range(size + 1))]]), size + 1)
    entering = size // 2 + 1
    counting.taken()
    state = run.bulk_evict(large, state, size + 1 - (size // 2 - 1))
    state = run.regrow(large, small, state)
    for value in range(entering):
        state = run.insert(small, state, monoid.lift(value))
    state = run.regrow(small, as_lists(flat_fat, monoid, 2 * size), state)
    return [Point(A_TUPLE, counting.taken() / (entering + 1))]


def _tree(size: int) -> list[Point]:
    """A new tree, what it keeps, and the sums of the whole, of a prefix and of a suffix."""
    counting = Counting()
    monoid = counting.of(operator).bind("int64")
    run, rings = bind(flat_fat, monoid), as_lists(flat_fat, monoid, size)
    state = run.bulk_insert(rings, run.new(), Rows([[list(range(size))]]), size)
    found = [Point("⊕ for a new tree", counting.taken())]
    run.query(rings, state)
    found.append(Point("⊕ for the whole", counting.taken()))
    for name, ask in (("prefix", run.prefix), ("suffix", run.suffix)):
        most = 0
        for leaf in range(size):
            ask(rings[0], leaf)
            most = max(most, counting.taken())
        found.append(Point(f"⊕ for a {name}, at worst", most))
    window = sash.aggregator("flat_fat", operator)
    for value in range(size):
        window.insert(value)
    return [*found, Point(HELD, window.partials_held())]

"""PBA, the parallel boundary aggregator: SBA, with the sums from the right done in passing.

order FIFO · needs associativity · time ≤ 3 ⊕ per slide, and ≤ 1 of the other thread · space n + 2
paper Parallel Boundary Aggregator (2022)

A chunk is a little more than half as long as the window, so a window covers at most three: a sum
that ends with the oldest one (lcs), the sum of the one between (ca), and that of the values of this
one so far (csa). The lcs of a chunk are needed only when values begin to leave it, about half a
window after its end: time enough for another thread to write them over the chunk's values. In
plain Python, where a second thread is no help, each insert takes one step of that work.

Invariants (F ≤ B ≤ A ≤ C ≤ E, C ≤ N):
  F ≤ i < B : slots[i] = v[i] ⊕ … ⊕ v[B-1]       lcs of the chunk that values leave
  B ≤ i < A : slots[i] = v[i]                     the chunk between: not yet summed,
  A ≤ i < C : slots[i] = v[i] ⊕ … ⊕ v[C-1]        and its lcs so far
  C ≤ i < E : slots[i] = v[i]
  ca = v[B] ⊕ … ⊕ v[C-1], csa = v[C] ⊕ … ⊕ v[E-1]
  this chunk is to end at N; if N = C, its length is not yet chosen

A window that begins with a chunk needs only its ca, so lcs stop at B + 1. A chunk does not end
while there is one between: of a window that grows, all that is young becomes one chunk. The first
values that leave such a window may wait for its sums; those of one that keeps its size never do.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np

from sash.aggregators.chunk_sizes import measure_call, optimal_chunk, optimal_chunk_of_time
from sash.aggregators.duration import nanoseconds
from sash.aggregators.primitives import (
    Partial,
    Ring,
    State,
    answer,
    clock,
    combine,
    fold,
    get,
    identity,
    load_int,
    load_shared,
    pause,
    put,
    read,
    same,
    store_shared,
    take_shared,
)
from sash.aggregators.second_thread import (
    DONE,
    END,
    FAILED,
    NEVER,
    START,
    STOP,
    TAKEN,
    drive_slices,
    drive_slide,
)
from sash.aggregators.two_stacks_lite import sum_from
from sash.operators.base import Operator

__all__ = ["drive_slices", "drive_slide", "optimal_chunk", "optimal_chunk_of_time"]

RINGS = ("slots",)
ENTRIES = (
    *("lead", "lead_alone", "lead_slices", "timed_lead", "serve", "settle"),
    *("fill", "combine_over"),
)
INDEXES = ("chosen",)
"""The length of every chunk, or 0 if it follows the window; the steps of lcs at each insert."""
SETTLED = INDEXES


def settings(
    operator: Operator,
    range: Any = None,
    slide: Any = None,
    unit: float | None = None,
    chunk: int = 0,
) -> dict[str, list[int]]:
    """The chunks for a window of this range and slide, each of whose values is one slice.

    Both are numbers of rows, or lengths of time ("1h", a timedelta); with these, `unit` is the time
    of one ⊕ in nanoseconds, and measured if it is not given. Or the length of a chunk, as it is.
    """
    if range is None:
        if slide is not None:
            raise TypeError("a slide is of no use without a range: give both.")
        if isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 0:
            raise ValueError(f"a chunk holds a number of values, not {chunk!r}.")
        return {"chosen": [chunk, 1]}
    if chunk:
        raise TypeError("range and slide say how long a chunk is: give them or chunk, not both.")
    of_time = [isinstance(given, (str, timedelta, np.timedelta64)) for given in (range, slide)]
    if all(of_time):
        r, s = nanoseconds(range), nanoseconds(slide)
        unit = measure_call(operator) if unit is None else unit
        return {"chosen": [optimal_chunk_of_time(r, s, unit), max(int(s // unit), 1)]}
    slide = 1 if slide is None else slide
    if any(of_time) or not all(isinstance(given, (int, np.integer)) for given in (range, slide)):
        raise TypeError(
            f"range and slide are both numbers of rows or both lengths of time, not {range!r} and "
            f"{slide!r}."
        )
    return {"chosen": [optimal_chunk(int(range), int(slide)), int(slide)]}


def new() -> State:
    return 0, 0, 0, 0, 0, 0, identity(), identity()


def chunk_for(chosen: Ring, length: int) -> int:
    """Theorem 1 for a window of this length that slides by one, unless the chunk was chosen."""
    found = load_int(chosen, 0)
    return found if found > 0 else (length + 2) // 2


def step_back(slots: Ring, A: int) -> int:
    """One more of the sums from the right."""
    put(slots, A - 1, combine(get(slots, A - 1), get(slots, A)))
    return A - 1


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    slots, chosen = rings
    F, E, B, A, C, N, ca, csa = state
    put(slots, E, v)
    E += 1
    csa = combine(csa, v)
    left = max(load_int(chosen, 1), 1)  # what the other thread does meanwhile
    while left > 0 and A > B + 1:
        A = step_back(slots, A)
        left -= 1
    if N == C:
        N = C + chunk_for(chosen, E - F)
    if E >= N and B == C:
        A, C, N = E - 1, E, E
        ca, csa = csa, identity()
    return F, E, B, A, C, N, ca, csa


def bulk_evict(rings: tuple[Ring, ...], state: State, count: int) -> State:
    slots, chosen = rings
    F, E, B, A, C, N, ca, csa = state
    F += count
    if F > C:  # the window lies inside this chunk: end the chunk here
        sum_from(slots, F, E)
        B, A, C, N = E, E, E, E
        ca, csa = identity(), identity()
    elif F > B:
        while A > F:
            A = step_back(slots, A)
        B, A, ca = C, C, identity()
    return F, E, B, A, C, N, ca, csa


def evict(rings: tuple[Ring, ...], state: State) -> State:
    return bulk_evict(rings, state, 1)


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    slots, chosen = rings
    F, E, B, A, C, N, ca, csa = state
    total = combine(ca, csa) if B < C else csa
    return combine(get(slots, F), total) if F < B else total


def sum_chunk(slots: Ring, rows: Any, first: int, start: int, end: int) -> None:
    """lcs for start ≤ i < end, of values that stand in rows from position `first` on."""
    total = identity()
    for i in range(end - 1, start - 1, -1):
        v = get(slots, i) if i < first else read(rows, i - first)
        total = combine(v, total)
        put(slots, i, total)


def serve(rings: tuple[Ring, ...], rows: Any, first: int, desk: Ring) -> None:
    """The other thread: the lcs of each chunk that is put on the desk, until told to stop."""
    slots, chosen = rings
    seen = 0
    while load_shared(desk, STOP) == 0:
        end = load_shared(desk, END)
        if end > seen:
            start = load_shared(desk, START)
            if take_shared(desk, TAKEN, end):
                sum_chunk(slots, rows, first, start, end)
                store_shared(desk, DONE, end)
            seen = end
        else:
            pause()


def lead(
    rings: tuple[Ring, ...],
    state: State,
    rows: Any,
    count: int,
    length: int,
    chunk: int,
    desk: Ring,
    out: Any,
) -> State:
    """`slide`, while another thread runs `serve`; the window holds less than `length` values.

    Values stay in the rows and are lifted twice: that costs less than to write them into slots for
    the other thread to read. `settle` writes those that the window still holds in the end.
    """
    slots, chosen = rings
    first = state[1]
    led = take_lead(state, chunk, desk)
    led = advance_all(slots, rows, first, desk, length, chunk, led, count, out, 0)
    return give_back_lead(led, desk)


def lead_alone(
    rings: tuple[Ring, ...], state: State, rows: Any, count: int, length: int, desk: Ring, out: Any
) -> State:
    """`lead` without another thread, in chunks as long as the window: this is SBA."""
    slots, chosen = rings
    first = state[1]
    led = take_lead(state, length, desk)
    led = advance_all(slots, rows, first, desk, length, length, led, count, out, 1)
    return give_back_lead(led, desk)


def timed_lead(
    rings: tuple[Ring, ...],
    state: State,
    rows: Any,
    count: int,
    length: int,
    chunk: int,
    desk: Ring,
    out: Any,
    ticks: Any,
) -> State:
    """`lead`, and how long each answer took by the clock."""
    slots, chosen = rings
    first = state[1]
    led = take_lead(state, chunk, desk)
    for i in range(count):
        begun = clock()
        led, total = advance(slots, rows, first, desk, length, chunk, led, read(rows, i), 0)
        answer(out, i, total)
        ticks[i] = clock() - begun
    return give_back_lead(led, desk)


def lead_slices(
    rings: tuple[Ring, ...],
    rows: Any,
    count: int,
    end: int,
    reach: int,
    every: int,
    chunk: int,
    desk: Ring,
    out: Any,
) -> None:
    """Answer j < count for the `reach` rows that end before row end + j · every.

    Each window begins with a slice of `every` rows, and ends with as many of the rows of a slice as
    are left over. Slices are summed once and slid over like rows.
    """
    slots, chosen = rings
    length = reach // every
    begin, i = end - reach, 0  # of the slice; of the rows not yet read
    led = take_lead(new(), chunk, desk)
    part = identity()
    for t in range(count + length - 1):
        begin += every
        while i < begin:
            part = combine(part, read(rows, i))
            i += 1
        put(slots, t, part)
        led, total = advance(slots, rows, NEVER, desk, length, chunk, led, part, 0)
        part = identity()
        while i < begin + reach % every:
            part = combine(part, read(rows, i))
            i += 1
        if t >= length - 1:
            whole = combine(total, part) if reach % every > 0 else total
            answer(out, t - length + 1, whole)


def take_lead(state: State, chunk: int, desk: Ring) -> State:
    """The state as `advance` has it: `due` is the end of the chunk on the desk, if there is one."""
    F, E, B, A, C, N, ca, csa = state
    due = 0
    if A > B + 1:
        due = A + 1
        hand_over(desk, B + 1, due)
    return F, E, B, C, C + chunk, due, ca, csa


def advance(
    slots: Ring,
    rows: Any,
    first: int,
    desk: Ring,
    length: int,
    chunk: int,
    led: State,
    v: Partial,
    alone: int,
) -> tuple[State, Partial]:
    """One slide by one value, and what it answers.

    With another thread a window nearly always has a chunk between: one ⊕ more where it has none
    costs less than a choice at each slide. Alone it nearly never has one.
    """
    F, E, B, C, N, due, ca, csa = led
    if length <= E - F:
        if F == B:
            if due > 0:
                await_sums(slots, rows, first, desk, B + 1, due)
                due = 0
            B, ca = C, identity()
        F += 1
    csa = combine(csa, v)
    E += 1
    total = csa if alone > 0 and B == C else combine(ca, csa)
    if F < B:
        total = combine(get(slots, F), total)
    if E >= N and B == C:
        if E > C + 1:
            due = E
            hand_over(desk, C + 1, due)
        C, N = E, E + chunk
        ca, csa = csa, identity()
    return (F, E, B, C, N, due, ca, csa), total


def advance_all(
    slots: Ring,
    rows: Any,
    first: int,
    desk: Ring,
    length: int,
    chunk: int,
    led: State,
    count: int,
    out: Any,
    alone: int,
) -> State:
    """`advance` for each row; slides at which it has nothing to decide are a loop of their own."""
    i = 0
    while i < count:
        many = slides_inside(led, length, count - i)
        led = slide_inside(slots, rows, led, i, many, out, alone)
        i += many
        if i < count:
            led, total = advance(slots, rows, first, desk, length, chunk, led, read(rows, i), alone)
            answer(out, i, total)
            i += 1
    return led


def slides_inside(led: State, length: int, left: int) -> int:
    """How many of the next slides leave no chunk and end none."""
    F, E, B, C, N, due, ca, csa = led
    many = min(B - 1 - F, left) if length == E - F else 0
    if B == C:
        many = min(many, N - 1 - E)
    return max(many, 0)


def slide_inside(
    slots: Ring, rows: Any, led: State, i: int, many: int, out: Any, alone: int
) -> State:
    F, E, B, C, N, due, ca, csa = led
    for k in range(many):
        csa = combine(csa, read(rows, i + k))
        total = csa if alone > 0 and B == C else combine(ca, csa)
        answer(out, i + k, combine(get(slots, F + 1 + k), total))
    return F + many, E + many, B, C, N, due, ca, csa


def give_back_lead(led: State, desk: Ring) -> State:
    F, E, B, C, N, due, ca, csa = led
    A = min(B + 1, C)
    if due > 0:  # if nobody has begun with it, it can wait
        if take_shared(desk, TAKEN, due):
            A = due - 1
        else:
            await_done(desk, due)
    return F, E, B, A, C, C, ca, csa


def hand_over(desk: Ring, start: int, end: int) -> None:
    store_shared(desk, START, start)
    store_shared(desk, END, end)


def await_sums(slots: Ring, rows: Any, first: int, desk: Ring, start: int, end: int) -> None:
    """Until the lcs for start ≤ i < end are there; if nobody has begun, this thread forms them."""
    if take_shared(desk, TAKEN, end):
        sum_chunk(slots, rows, first, start, end)
    else:
        await_done(desk, end)


def await_done(desk: Ring, end: int) -> None:
    while load_shared(desk, DONE) < end and load_shared(desk, FAILED) == 0:
        pause()


def settle(rings: tuple[Ring, ...], state: State, rows: Any, first: int) -> State:
    """Write the values that `lead` left in rows, whose first one stands at position `first`."""
    slots, chosen = rings
    F, E, B, A, C, N, ca, csa = state
    for i in range(max(B, first), E):
        if i < A or i >= C or i == C - 1:
            put(slots, i, read(rows, i - first))
    return state


def fill(slots: Ring, rows: Any, count: int) -> None:
    for i in range(count):
        put(slots, i, read(rows, i))


def combine_over(slots: Ring, count: int, out: Any) -> None:
    """So many ⊕ as lcs are formed, over partials that stand in slots: for `measure_unit`."""
    total = identity()
    for i in range(count):
        total = combine(get(slots, i), total)
    answer(out, 0, total)


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    F, E, B, A, C, N, ca, csa = state
    return 0 <= F <= B <= A <= C <= E and C <= N  # type: ignore[no-any-return]


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    slots, chosen = rings
    F, E, B, A, C, N, ca, csa = state
    assert sound(rings, state)
    assert len(window) == E - F
    for start, end, until in ((F, B, B), (A, C, C)):
        for i in range(start, end):
            assert same(get(slots, i), fold(window[i - F : until - F]))
    for start, end in ((B, A), (C, E)):
        for i in range(start, end):
            assert same(get(slots, i), window[i - F])
    assert same(ca, fold(window[B - F : C - F]))
    assert same(csa, fold(window[C - F :]))

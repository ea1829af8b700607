"""Where windows begin and end: which values each answer is for, as rows and time come.

One loop for every kind of window, in two parts: what a window holds (`SIZE`) and when it answers
(`TRIGGER`). Both are settled before the loop is compiled, so that a window of rows does not ask at
every row whether it is one of time. A single row goes through the same function in plain Python.

The values of a key are counted from the first that ever came: a window holds start ≤ i < end, and
neither ever goes back. What is known of a key between calls is six numbers:

  came    how many rows have come
  start   the first value that the window holds
  end     up to which value they are in it: all, or those before the newest if the right end is open
  next    rows since the last answer, if they trigger it; the next end, if time does
  newest  the time of the newest row
  begun   the time of the window's first row
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from sash.aggregators.compiling import compile_plain

ROWS, TIME, DELTA, MARKED, SESSION, POLICY = 0, 1, 2, 3, 4, 5
"""SIZE: so many rows; within a width of time, or of a column; from mark to mark; until time has
passed without a row; or as others decide."""

AT_ROWS, AT_ENDS, AT_MARKS, WHEN_OVER = 0, 1, 2, 3
"""TRIGGER: each so-many-th row; ends on a grid of time; marked rows; when the window is over."""

NEVER, FOREVER = -(2**63), 2**63 - 1
MANY = 2**24
"""More answers than this between two rows are a mistake: a clock that is off, or a wrong unit."""

SIZE = TRIGGER = 0
LEFT, RIGHT, MARK_ENDS, PLAIN = False, True, False, False
"""Settled for each kind of window: which of its ends are closed, what a mark is, and whether it is
plain: each row has an answer, so that its time and row need not be written."""

UNSORTED, GOES_BACK, TOO_MANY = 1, 2, 3
"""What may be wrong with a row."""


def cut(
    first: Any,
    last: Any,
    seen: Any,
    states: Any,
    offsets: Any,
    masks: Any,
    kept: Any,
    times: Any,
    along: Any,
    marks: Any,
    size: int,
    width: Any,
    every: int,
    offset: int,
    least: int,
    idle: int,
    now: int,
    finish: Any,
    writing: bool,
    found: Any,
    upto: Any,
) -> tuple[int, int]:
    """The windows of all groups of rows, first ≤ i < last, one group for each key.

    `seen` rows of a group have been here before: those that have come and are not in the window
    yet. `kept` has what is along its width for those that are: value p at offset + (p & mask).
    A row more than `idle` after the one before it begins anew, as if it were the key's first.
    After its rows a group's time goes on to `now`, or, where `finish` says so, it ends. Written to
    `found`, for each answer: start, end, time, time of begin and row; to `upto`, for each group, up
    to which answer they are its own. Returned: how many answers, and 0; or a row, and what is wrong
    with it.
    """
    came, start, end, following, newest, begun = states
    starts, ends, at, since, rows = found
    j = 0
    for g in range(len(first)):
        n, S, E, F, t = came[g], start[g], end[g], following[g], newest[g]
        E0, shift, into, mask = E, first[g] - E, offsets[g], masks[g]  # value p is row p + shift
        r = first[g] + seen[g]
        if SIZE == TIME and PLAIN and RIGHT and idle == FOREVER and r < last[g]:
            begin, limit = r, width + LEFT
            for k in range(begin, last[g]):
                if along[k] < (along[k - 1] if k > begin else t) and (n > 0 or k > begin):
                    return k, UNSORTED
                ends[j + k - begin] = k - shift + 1
            # Each turn takes a row in, or lets one go. Which it is cannot be foreseen, so there is
            # no branch on it: what is written too early is written again.
            j -= begin
            while r < last[g] and S < E0:
                stays = along[r] - kept[into + (S & mask)] < limit
                starts[j + r] = S
                S += 1 - stays
                r += stays
            while r < last[g]:
                stays = along[r] - along[S + shift] < limit
                starts[j + r] = S
                S += 1 - stays
                r += stays
            n, E, t, j = r - shift, r - shift, along[r - 1], j + r
        for i in range(r, last[g] + 1):
            is_row = i < last[g]
            ending = finish[g] and not is_row
            moment = now
            if is_row:
                moment = times[i] if len(times) > 0 else 0
                if moment < t and n > 0:
                    return i, UNSORTED
                ending = n > 0 and moment - t > idle  # the key has been away, and begins anew
            came_at = moment
            if ending:
                moment = FOREVER
            if n > 0 and (is_row or now > t or ending):
                if TRIGGER == AT_ENDS:
                    gives_all = (SIZE != TIME or least == 0) and not ending
                    if gives_all and (moment - F) // every > MANY:
                        return i, TOO_MANY
                    while moment >= F:
                        if SIZE == TIME:
                            while n > S:
                                v = kept[into + (S & mask)] if S < E0 else along[S + shift]
                                if F - v <= width:
                                    break
                                S += 1
                            if n == S and (least > 0 or ending):
                                break  # no end up to this moment has anything
                        if n - S >= least:
                            if writing:
                                starts[j], ends[j], at[j], rows[j] = S, n, F, i
                                if SIZE == TIME:
                                    since[j] = F - width
                            j += 1
                        if SIZE != TIME and ending:
                            break
                        F += every
                    if moment >= F and not ending:
                        F = moment - (moment - offset) % every + every
                elif TRIGGER == WHEN_OVER and n > S:
                    over, its_time = ending and not MARK_ENDS, t
                    if SIZE == SESSION:
                        over, its_time = ending or moment - t > width, t + width
                    elif is_row and not ending and not MARK_ENDS:
                        over, its_time = marks[i], moment
                    if over:
                        if n - S >= least:
                            if writing:
                                starts[j], ends[j], at[j], rows[j] = S, n, its_time, i
                                since[j] = begun[g]
                            j += 1
                        S = n
            if is_row:
                moment = came_at
                if ending and SIZE != POLICY:
                    S = n
                    F = 0
                if (n == 0 or ending) and TRIGGER == AT_ENDS:
                    F = moment - (moment - offset) % every + every
                if n == S:
                    begun[g] = moment
                n += 1
                t = moment
                E = n
                if SIZE == ROWS:
                    if not RIGHT:
                        E = n - 1
                    S = min(max(S, n - size - LEFT), E)
                elif SIZE == DELTA or (SIZE == TIME and TRIGGER != AT_ENDS):
                    x = along[i]
                    if SIZE == DELTA and n - 1 > S:
                        v = kept[into + ((n - 2) & mask)] if n - 2 < E0 else along[i - 1]
                        if x < v:
                            return i, GOES_BACK
                    while n - 1 > S:
                        v = kept[into + (S & mask)] if S < E0 else along[S + shift]
                        if x - v < width or (LEFT and x - v == width):
                            break
                        S += 1
                    if not RIGHT:
                        E = max(S, end[g])
                        while along[E + shift] < x:
                            E += 1
                        end[g] = E
                due = False
                if TRIGGER == AT_ROWS:
                    F += 1
                    if every == F:
                        F = 0
                        due = True
                elif TRIGGER == AT_MARKS or MARK_ENDS:
                    due = marks[i]
                if due and (TRIGGER == AT_ROWS or n - S >= least):
                    if writing:
                        starts[j], ends[j] = S, E
                        if not PLAIN:
                            at[j], since[j], rows[j] = moment, begun[g], i
                    j += 1
                if due and MARK_ENDS:
                    S = n
        if SIZE == TIME and TRIGGER == AT_ENDS:  # what the next end does not need
            while n > S:
                v = kept[into + (S & mask)] if S < E0 else along[S + shift]
                if F - v <= width:
                    break
                S += 1
        came[g], start[g], end[g], following[g], newest[g] = n, S, E, F, t
        upto[g] = j
    return j, 0


def settle(**constants: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`cut` for one kind of window: in plain Python, and compiled when it is first called."""
    python = FunctionType(cut.__code__, {**globals(), **constants}, "cut")

    def compiled(*args: Any) -> Any:
        return compile_plain(cut, **constants)(*args)

    return python, compiled

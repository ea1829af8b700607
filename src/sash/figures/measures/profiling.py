"""What a slide spends its calls and its time on: each function belongs to a part of Sash.

Calls are counted by `sys.setprofile`: functions of Python, each turn of a generator among them, and
functions of C. It is not told of types that are called, as `zip` and `dict` are. These numbers are
the same in each run, but for those of a store, whose thread comes in between.

Time is sampled: a timer interrupts about every quarter of a millisecond, and the part is noted that
Python is in then. Unlike a profiler that follows each call this adds the same to all parts, about
2 % here. Python looks for interrupts at calls and at the end of a loop, and so a function of C
counts for the one that called it. It is the time of a clock: waiting is in it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Self

import sash
from sash.aggregators.registry import MODULES

ANSWERS, ROWS, COMBINE = "policy and answers", "rows checked", "⊕"
ALGORITHM, KEEPING = "algorithm", "keeping"
BLOCKS, CHECKPOINTS, STORE = "blocks", "checkpoints", "store"
PARTS = (ANSWERS, ROWS, COMBINE, ALGORITHM, KEEPING, BLOCKS, CHECKPOINTS, STORE)
"""Sums made into answers and shown to the policy · values checked as they come · lift and ⊕ · the
algorithm's own functions · rings, and the window around them · what stands for rings if there is a
store, and reads it · what makes ready what is written · the store and its client."""
OUTSIDE = ""
"""What measures."""

ROOT = str(Path(sash.__file__).parent) + os.sep
ALGORITHMS = {*MODULES, "levels", "driving"}
IN_BLOCKS = ("stored", "shelf", "keeping_stored")
FOR_ALL = {"stored_blocks", "behind", "rings"}
"""Files whose functions serve several parts, as do the functions of these names:"""
SERVES = {
    *("settle", "content", "_made_with", "drop", "cut", "uncut", "release", "near", "end"),
    "as_partial",
}
LOWERS = {"lower", "guarded", "named_answers", "_answers"}
COMBINES = {"combine", "made_of_two"}
LIFTS = {"lift", "lift_cells", "made", "identity"}
TELLS = {"query", "_lowered", "_leaf_answer", "_finished", "_answer_for_oldest", "_nothing_in"}
CHECKS = {"_cells", "_given", "_check_cells", "_lifted", "_note", "_remember", "is_easy"}
POLICY = "<lambda>"
"""As the policies of all measurements are written."""


@cache
def part_of(code: CodeType) -> str | None:
    """Which part a function belongs to; None: to that of whoever called it."""
    if not code.co_filename.startswith(ROOT):
        return None
    where = Path(code.co_filename[len(ROOT) :]).with_suffix("").parts
    names = code.co_qualname.split(".")
    file = where[-1]
    if where[0] == "stores":
        return STORE
    if where[0] == "operators" or file == "own_operators":
        if LOWERS & set(names):
            return ANSWERS
        return COMBINE if (COMBINES | LIFTS) & set(names) else None
    if where[0] == "figures":
        return _of_measures(file, names)
    if where[0] != "aggregators":
        return None
    if file in FOR_ALL or file.startswith("saving") or SERVES & set(names):
        return None
    if file.startswith(IN_BLOCKS):
        return CHECKPOINTS if {"checkpoint", "_manifest", "_dropped"} & set(names) else BLOCKS
    if file == "aggregator":
        asks = names[-1] == "<lambda>" and "evict_while" in names
        if asks or TELLS & set(names):
            return ANSWERS
        return ROWS if CHECKS & set(names) else KEEPING
    return ALGORITHM if file in ALGORITHMS else KEEPING


def _of_measures(file: str, names: list[str]) -> str:
    """Windows without a tree are searched by what measures them: that is their algorithm."""
    if names[-1] == POLICY or names == ["Stepping", "answer"]:
        return ANSWERS
    if file == "policy_windows":
        if names[0] == "Stepping":
            return ALGORITHM
        if names[0] in ("Searching", "_value_at"):
            return KEEPING
    return OUTSIDE


class Calls:
    """Counts calls while it is entered, which may be several times."""

    def __init__(self) -> None:
        self.python: Counter[str] = Counter()
        self.c: Counter[str] = Counter()
        self.combined = self.shown = 0
        """⊕, one for all members of a composite; sums shown to the policy."""
        self._parts = [OUTSIDE]

    def __enter__(self) -> Self:
        self._parts = [OUTSIDE]
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: Any) -> None:
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        parts = self._parts
        if event == "call":
            code, caller = frame.f_code, parts[-1]
            own = part_of(code)
            part = caller if own is None else own
            parts.append(part)
            self.python[part] += 1
            if part == COMBINE != caller and code.co_name in COMBINES:
                self.combined += 1
            elif part == ANSWERS and code.co_name == POLICY and "figures" in code.co_filename:
                self.shown += 1
        elif event == "return":
            if len(parts) > 1:  # else of what has switched it on
                parts.pop()
        elif event == "c_call":
            self.c[parts[-1]] += 1


class Samples:
    """Notes while it is entered which part Python is in, at each tick of a clock."""

    def __init__(self, every: float = 0.00025) -> None:
        """every: seconds."""
        self.every = every
        self.found: Counter[str] = Counter()

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGALRM, self._note)
        signal.siginterrupt(signal.SIGALRM, False)  # a store's calls go on
        signal.setitimer(signal.ITIMER_REAL, self.every, self.every)
        return self

    def __exit__(self, *_: Any) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)

    def _note(self, _: int, frame: FrameType | None) -> None:
        part = None
        while frame is not None and part is None:
            part, frame = part_of(frame.f_code), frame.f_back
        self.found[part or OUTSIDE] += 1

    def shares(self) -> dict[str, float]:
        """By part, of the time of all parts; what measures is none."""
        total = sum(self.found[part] for part in PARTS)
        return {part: self.found[part] / total for part in PARTS if self.found[part]}

"""What a slide of PBA is made of: what each thread does, alone and both at a time.

The sums of a chunk are formed by the second thread, the answers from them by the first. Here both
are plain loops over all chunks, without handing anything over: as fast as two threads can be.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np

from sash.aggregators.chunk_sizes import optimal_chunk
from sash.aggregators.compiling import compile_plain
from sash.figures.cases import Case, Group, Point
from sash.figures.data import Array, values_of
from sash.figures.measures.sliding import NS_A_SLIDE

FIRST: Final = "answers (first thread)"
SECOND: Final = "sums (second thread)"
IN_TURN: Final = "both, one after the other"
AT_A_TIME: Final = "both at a time"


def two_parts(*, ranges: Sequence[int], slides: int, workloads: dict[str, str]) -> list[Group]:
    """A panel for each workload; x: the range in rows, which gives the length of chunks."""

    def group(panel: str, workload: str, size: int) -> list[Case]:
        parts = Parts(values_of(workload, max(slides, 2 * size)), optimal_chunk(size))
        runs = {
            FIRST: parts.answer,
            SECOND: parts.sum,
            IN_TURN: parts.in_turn,
            AT_A_TIME: parts.at_a_time,
        }
        return [
            Case(panel, name, size, partial(_timed, run, len(parts.values)))
            for name, run in runs.items()
        ]

    return [partial(group, *each, size) for each in workloads.items() for size in ranges]


def _timed(run: Callable[[], None], slides: int) -> list[Point]:
    start = time.perf_counter_ns()
    run()
    return [Point(NS_A_SLIDE, (time.perf_counter_ns() - start) / slides)]


class Parts:
    """Values in chunks, and room for their sums and answers."""

    def __init__(self, values: Array, chunk: int) -> None:
        self.values, self.chunk = values, chunk
        # Sums of the chunk before: two halves in turn, as in a ring.
        self.sums = np.zeros(2 * chunk, values.dtype)
        self.answers = np.zeros_like(values)
        self._sum, self._answer = compile_plain(sums_of_chunks), compile_plain(answers_in_chunks)

    def sum(self) -> None:
        self._sum(self.values, self.chunk, self.sums)

    def answer(self) -> None:
        self._answer(self.values, self.chunk, self.sums, self.answers)

    def in_turn(self) -> None:
        self.sum()
        self.answer()

    def at_a_time(self) -> None:
        other = threading.Thread(target=self.sum)
        other.start()
        self.answer()
        other.join()


def sums_of_chunks(values, chunk, sums):  # type: ignore[no-untyped-def]
    """The maxima of each chunk from its right; each chunk's take the place of the last but one."""
    for begin in range(0, len(values) - chunk + 1, chunk):
        place = begin // chunk % 2 * chunk
        greatest = values[begin + chunk - 1]
        for k in range(chunk - 1, -1, -1):
            greatest = max(values[begin + k], greatest)
            sums[place + k] = greatest


def answers_in_chunks(values, chunk, sums, answers):  # type: ignore[no-untyped-def]
    """The maxima from the left, joined with those that lie where an earlier chunk's sums were."""
    for begin in range(0, len(values) - chunk + 1, chunk):
        place = begin // chunk % 2 * chunk
        greatest = values[begin]
        for k in range(chunk):
            greatest = max(greatest, values[begin + k])
            answers[begin + k] = max(sums[place + k], greatest)

"""pba with its second thread at any window, as its paper has it.

Left to itself, it uses the thread only where a chunk is long enough to pay for handing it over.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from sash.aggregators import second_thread
from sash.aggregators.chunk_sizes import optimal_chunk
from sash.aggregators.running import Job
from sash.figures.measures.sliding import Slider

TWO_THREADS: Final = "pba, two threads"
"""The name of its line."""


class TwoThreads(Slider):
    """A `Slider` of pba that hands over every chunk."""

    def slide(self) -> None:
        call, rows, count, size = self.job.call, self.job.rows, self.slides, self.size
        state = call("bulk_evict", self.rings, self.state, 1)
        first = int(state[1])
        desk, chunk = second_thread.new_desk(), optimal_chunk(size)

        def lead(count: int, desk: Any) -> Any:
            return call("lead", self.rings, state, rows, count, size, chunk, desk, self.out)

        lead(0, second_thread.new_desk())  # compiled before the other thread waits for work
        with second_thread.Second(call, self.rings, rows, first, desk):
            state = lead(count, desk)
        self.state = call("settle", self.rings, state, rows, first)


def timed_in_two_threads(
    job: Job, rings: Any, count: int, size: int, out: Any, ticks: np.ndarray[Any, Any]
) -> None:
    """Slide an empty window over all rows; `ticks` tells how long each slide took."""
    desk, chunk = second_thread.new_desk(), optimal_chunk(size)

    def lead(count: int, desk: Any) -> None:
        given = (rings, job.new_state(), job.rows, count, size, chunk, desk, out, ticks)
        job.call("timed_lead", *given)

    lead(0, second_thread.new_desk())  # compiled before the other thread waits for work
    with second_thread.Second(job.call, rings, job.rows, 0, desk):
        lead(count, desk)

"""How much memory a window takes: a new process fills one and tells what it holds."""

from __future__ import annotations

import ctypes
import multiprocessing
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from sash.aggregators.registry import named
from sash.aggregators.running import Job
from sash.figures.asked import ASKED, values_of
from sash.figures.cases import Case, Group, Point

RESIDENT, MORE = "MB resident", "MB for the window"
BLOCK = 1 << 16


def memory(
    *, algorithms: Sequence[str], operators: Sequence[str], sizes: Sequence[int]
) -> list[Group]:
    """A window of each size in compiled loops' arrays, filled and slid through once."""

    def group(operator: str) -> list[Case]:
        return [
            Case(operator, name, 0, partial(_grown, name, operator, sizes), timed=False)
            for name in algorithms
        ]

    return [partial(group, operator) for operator in operators]


def resident() -> int:
    """What this process holds in memory now, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) << 10
    raise RuntimeError("this system does not tell what a process holds in memory.")


def give_back_what_is_freed() -> None:
    """What was freed leaves the process, so that the next array adds to what it holds."""
    with suppress(OSError, AttributeError):  # glibc's
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def in_new_process(target: Any, *given: Any) -> Iterator[Any]:
    """What a function sends, that is given a connection and runs in a process of its own."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(there, *given))
    process.start()
    there.close()
    try:
        while True:
            yield here.recv()
    except EOFError:
        process.join()
    if process.exitcode:
        raise RuntimeError(f"a process that measures memory ended with {process.exitcode}.")


def _grown(algorithm: str, operator: str, sizes: Sequence[int]) -> list[Point]:
    found = []
    for size, before, after in in_new_process(_fill, algorithm, operator, list(sizes)):
        found.append(Point(RESIDENT, after / 2**20, size))
        found.append(Point(MORE, (after - before) / 2**20, size))
    return found


def _fill(told: Connection, algorithm: str, operator: str, sizes: list[int]) -> None:
    """Rows come in blocks of the same few: only the window itself grows."""
    asked = ASKED[operator]
    for size in [1, *sizes]:  # the first one compiles
        block = min(size, BLOCK)
        job = Job(named(algorithm), asked.operator, asked.leaves(values_of("uniform", block)))
        out, _ = job.outputs(block)
        job.slide(job.rings(1), job.new_state(), block, 1, out)  # whose memory is not the window's
        give_back_what_is_freed()
        before = resident()
        rings, state = job.rings(size), job.new_state()
        for _ in range(2 * size // block):
            if algorithm == "recalc":  # what it answers takes no memory, and long
                held = int(state[1]) - int(state[0])
                state = job.call("bulk_evict", rings, state, max(held + block - size, 0))
                state = job.call("bulk_insert", rings, state, job.rows, block)
            else:
                state = job.slide(rings, state, block, size, out)
        if size > 1:
            told.send((size, before, resident()))
        del rings, state

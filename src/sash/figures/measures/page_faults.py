"""How often a window's memory is not there when it is touched: a new process counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from multiprocessing.connection import Connection

from sash.aggregators.registry import named
from sash.aggregators.running import Job
from sash.figures.asked import ASKED, values_of
from sash.figures.cases import Case, Group, Point
from sash.figures.measures.memory import BLOCK, in_new_process

OF_WINDOW, OF_PROCESS = "page faults", "page faults of the process"


def page_faults(
    *, algorithms: Sequence[str], operators: Sequence[str], sizes: Sequence[int], slides: int
) -> list[Group]:
    """As many slides for each size; each in a process of its own, which begins with nothing."""

    def group(operator: str, size: int) -> list[Case]:
        return [
            Case(operator, name, size, partial(_counted, name, operator, size, slides), timed=False)
            for name in algorithms
        ]

    return [partial(group, operator, size) for operator in operators for size in sizes]


def _counted(algorithm: str, operator: str, size: int, slides: int) -> list[Point]:
    ((before, after),) = in_new_process(_slid, algorithm, operator, size, slides)
    return [Point(OF_WINDOW, after - before), Point(OF_PROCESS, after)]


def _faults() -> int:
    import resource  # there is none on Windows

    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_minflt + used.ru_majflt


def _slid(told: Connection, algorithm: str, operator: str, size: int, slides: int) -> None:
    """Rows come in blocks of the same few: what else is touched is the window."""
    asked = ASKED[operator]
    job = Job(named(algorithm), asked.operator, asked.leaves(values_of("uniform", BLOCK)))
    out, _ = job.outputs(BLOCK)
    job.slide(job.rings(1), job.new_state(), BLOCK, 1, out)  # compiles
    before = _faults()
    rings, state = job.rings(size), job.new_state()
    for _ in range((size + slides) // BLOCK):
        state = job.slide(rings, state, BLOCK, size, out)
    told.send((before, _faults()))

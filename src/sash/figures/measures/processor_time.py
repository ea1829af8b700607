"""Processor time that Spark takes: its Java, by what threads are for, and the Python workers.

From /proc, which Linux has; elsewhere nothing is told. A worker that ends between two looks is lost
with what it took since the first: Spark's daemon, which has started it, does not wait for it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sash.figures.cases import Point

PROC = Path("/proc")
CORES = "cores busy"
COMPILING = ("C1 Compiler", "C2 Compiler")
GARBAGE = ("GC Thread", "G1 ")
"""How the names of Java's threads begin."""


@dataclass(frozen=True)
class Look:
    """Seconds of processor time, all that was taken up to now."""

    at: float
    java: float
    threads: dict[str, tuple[str, float]]
    """Of Java, by their numbers; with their names."""
    workers: dict[str, float]
    """Of all processes below Java, by their numbers."""


@dataclass(frozen=True)
class Spent:
    """Seconds between two looks; `compiling` and `garbage` are parts of `java`."""

    passed: float
    java: float
    python: float
    compiling: float
    garbage: float

    def points(self, rows: float, row: str) -> list[Point]:
        """For each of so many rows, which are called this."""
        parts = {
            "Java": self.java,
            "Python": self.python,
            "compiling": self.compiling,
            "garbage": self.garbage,
        }
        found = [Point(f"ns of {part} {row}", took * 1e9 / rows) for part, took in parts.items()]
        return [Point(CORES, (self.java + self.python) / self.passed), *found]


def java_of(spark: Any) -> int:
    """The process that a session's Java is."""
    return int(spark._jvm.java.lang.ProcessHandle.current().pid())


def timed(java: int, run: Callable[[], object]) -> tuple[float, Spent | None]:
    """How many seconds something takes, and what of the processors; nothing where it is not told.

    Looking is no part of either.
    """
    before = look(java)
    start = time.perf_counter()
    run()
    passed = time.perf_counter() - start
    after = look(java)
    return passed, between(before, after, passed) if before and after else None


def look(java: int) -> Look | None:
    """None where there is no /proc, or no such process."""
    own = _stat(PROC / str(java))
    if own is None:
        return None
    _, _, took, _ = own
    threads = {}
    for folder in (PROC / str(java) / "task").iterdir():
        thread = _stat(folder)
        if thread is not None:
            threads[folder.name] = thread[0], thread[2]
    return Look(time.perf_counter(), took, threads, dict(_below(str(java))))


def between(before: Look, after: Look, passed: float | None = None) -> Spent:
    """What was taken between two looks; passed: how long that was, if not from look to look."""

    def of_threads(names: tuple[str, ...]) -> float:
        return sum(
            took - before.threads.get(number, ("", 0.0))[1]
            for number, (name, took) in after.threads.items()
            if name.startswith(names)
        )

    return Spent(
        after.at - before.at if passed is None else passed,
        after.java - before.java,
        sum(took - before.workers.get(number, 0.0) for number, took in after.workers.items()),
        of_threads(COMPILING),
        of_threads(GARBAGE),
    )


def _below(ancestor: str) -> Iterator[tuple[str, float]]:
    """All processes below one, with what they took, and what those took that they waited for."""
    children: dict[str, list[tuple[str, float]]] = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            found = _stat(folder)
            if found is not None:
                _, parent, took, waited_for = found
                children.setdefault(parent, []).append((folder.name, took + waited_for))
    wanted = [ancestor]
    while wanted:
        own = children.get(wanted.pop(), [])
        yield from own
        wanted += [number for number, _ in own]


def _stat(folder: Path) -> tuple[str, str, float, float] | None:
    """Name, parent, and seconds: its own, and those of its children that it waited for."""
    try:
        text = (folder / "stat").read_text(errors="replace")
    except OSError:  # it has ended, or this is not Linux
        return None
    name, _, rest = text[text.index("(") + 1 :].rpartition(")")
    fields = rest.split()
    own, system, of_children, their_system = (int(ticks) for ticks in fields[11:15])
    second = os.sysconf("SC_CLK_TCK")
    return name, fields[1], (own + system) / second, (of_children + their_system) / second

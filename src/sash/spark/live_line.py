"""One line of a terminal that is drawn again and again, and what it says of running jobs."""

from __future__ import annotations

import os
import sys
from collections import deque
from contextlib import suppress
from threading import RLock
from typing import Any, ClassVar, TextIO

from sash.spark.jobs import Running

SECONDS_OF_RATE = 5.0
"""Rows come in with heartbeats, so a rate over less would jump."""

SHORTEST_NAME = 4


class LiveLine:
    """Plain carriage returns and blanks, no escape codes: works in notebooks and logs, too.

    A job's end is seen a moment late, and by then its caller may have printed the answer. So as
    long as there is something to be seen, whoever prints to the terminal erases it first.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream.behind if isinstance(stream, ErasesFirst) else stream
        self.drawn = 0
        """How many characters are to be seen."""
        self.lock = RLock()

    def draw(self, text: str) -> None:
        text = text[: self.width() - 1]  # in the last column some terminals go to the next line
        with self.lock:
            self._write(f"\r{text.ljust(self.drawn)}")
            self.drawn = len(text)
            for name in ("stdout", "stderr"):
                stream = getattr(sys, name)
                if stream is not None and stream.isatty() and not isinstance(stream, ErasesFirst):
                    setattr(sys, name, ErasesFirst.of(stream, self))

    def erase(self) -> None:
        with self.lock:
            for name in ("stdout", "stderr"):
                stream = getattr(sys, name)
                if isinstance(stream, ErasesFirst) and stream.line is self:
                    setattr(sys, name, stream.behind)
            blanks, self.drawn = " " * self.drawn, 0
            if blanks:
                self._write(f"\r{blanks}\r")

    def width(self) -> int:
        try:
            return os.get_terminal_size(self.stream.fileno()).columns or 80
        except (OSError, ValueError, AttributeError):
            return 80

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


class ErasesFirst:
    """A stream of the terminal that a line is drawn on; with none drawn it is just that stream.

    There is one for each stream, for good: Python's print holds sys.stdout without owning it, and
    crashes if it goes away meanwhile.
    """

    all: ClassVar[dict[int, ErasesFirst]] = {}
    """By the stream's id, which stays its own because it is kept here."""

    def __init__(self, behind: TextIO, line: LiveLine) -> None:
        self.behind = behind
        self.line = line

    @classmethod
    def of(cls, stream: TextIO, line: LiveLine) -> ErasesFirst:
        found = cls.all.setdefault(id(stream), cls(stream, line))
        found.line = line
        return found

    def write(self, text: str) -> int:
        with suppress(Exception):
            self.line.erase()  # where nothing is drawn, that does nothing
        return self.behind.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


class Rate:
    """Rows per second over the last few seconds: of those that come out, or go in, if more."""

    def __init__(self) -> None:
        self.seen: deque[tuple[float, Running]] = deque()

    def at(self, now: float, running: Running) -> float | None:
        self.seen.append((now, running))
        while len(self.seen) > 2 and now - self.seen[1][0] >= SECONDS_OF_RATE:
            self.seen.popleft()
        then, before = self.seen[0]
        rows = max(
            (running.rows_in or 0) - (before.rows_in or 0),
            (running.rows_out or 0) - (before.rows_out or 0),
        )
        return rows / (now - then) if now > then and rows > 0 else None


def line_for(running: Running, rate: float | None, width: int = 80) -> str:
    """What the line says. The name gets what room the numbers leave.

    >>> line = Running([(4, "save")], 1, 2, rows_in=2_000_000, rows_out=1_420_000)
    >>> line_for(line, 26e4)
    'stage 4 (save): 1 of 2 tasks, 2.00M rows in, 1.42M rows out, 260k rows/s'
    >>> line_for(Running([(4, "a name that is long"), (5, "")], 0, 16), None, width=40)
    'stages 4, 5 (a name th…): 0 of 16 tasks'
    """
    stages = f"stage{'s' * (len(running.stages) > 1)} "
    stages += ", ".join(str(stage) for stage, _ in running.stages)
    parts = [f": {running.done} of {running.tasks} tasks"]
    if running.rows_in is not None:
        parts.append(f"{short(running.rows_in)} rows in")
    if running.rows_out is not None:
        parts.append(f"{short(running.rows_out)} rows out")
    if rate is not None:
        parts.append(f"{short(rate)} rows/s")
    numbers = ", ".join(parts)
    names = ", ".join(dict.fromkeys(name for _, name in running.stages if name))
    room = width - 1 - len(stages) - len(numbers) - len(" ()")
    if len(names) > room:
        names = f"{names[: room - 1].rstrip()}…" if room >= SHORTEST_NAME else ""
    return f"{stages}{f' ({names})' if names else ''}{numbers}"


def short(number: float) -> str:
    """
    >>> [short(n) for n in (0, 9_999, 10_000, 999_999, 1_234_567, 45_600_000, 7.2e9)]
    ['0', '9999', '10.0k', '1.00M', '1.23M', '45.6M', '7.20G']
    """
    if number < 10_000:
        return f"{number:.0f}"
    for letter in "kMG":
        number /= 1000
        digits = max(2 - (number >= 10) - (number >= 100), 0)
        if round(number) < 1000 or letter == "G":
            break
    return f"{number:.{digits}f}{letter}"

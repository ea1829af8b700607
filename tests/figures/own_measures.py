"""Measurements for tests of how experiments are run, in processes of their own."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from pathlib import Path

from sash.figures.cases import Case, Group, Point
from sash.figures.measures.installed import missing


def _group(panel: str = "all") -> list[Case]:
    return [Case(panel, "a", x, lambda: [Point("ns", 1.0)], timed=False) for x in (1, 2)]


def fine(*, size: int) -> list[Group]:
    return [_group] * size


def timed(*, size: int) -> list[Group]:
    def group(x: int) -> list[Case]:
        return [Case("all", "a", x, lambda: [Point("ns", 1.0)])]

    return [partial(group, x) for x in range(size)]


def meeting(*, here: str, there: str) -> list[Group]:
    """Goes on only when another has come, or fails."""

    def group() -> list[Case]:
        Path(here).touch()
        end = time.monotonic() + 60
        while not Path(there).exists():
            assert time.monotonic() < end, "nobody came"
            time.sleep(0.01)
        return _group()

    return [group]


def nothing() -> list[Group]:
    return []


def absent() -> list[Group]:
    return [*missing(["no such library"]), _group]


def failing() -> list[Group]:
    def group() -> list[Case]:
        print("about to fail")
        raise ZeroDivisionError("of all things")

    return [_group, group]


def killed() -> list[Group]:
    def group() -> list[Case]:
        os.kill(os.getpid(), signal.SIGKILL)
        return []

    return [_group, group]

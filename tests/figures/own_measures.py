"""Measurements for tests of how experiments are run, in processes of their own."""

from __future__ import annotations

import os
import signal

from sash.figures.cases import Case, Group, Point
from sash.figures.measures.installed import missing


def _group(panel: str = "all") -> list[Case]:
    return [Case(panel, "a", x, lambda: [Point("ns", 1.0)], timed=False) for x in (1, 2)]


def fine(*, size: int) -> list[Group]:
    return [_group] * size


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

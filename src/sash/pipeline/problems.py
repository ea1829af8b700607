"""What is wrong with a pipeline file: where, in a sentence, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

MOST_LISTED = 40


@dataclass(frozen=True)
class Problem:
    """One mistake."""

    file: str
    line: int | None
    sentence: str

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.sentence}"

    def told(self) -> dict[str, Any]:
        """For scripts."""
        return {"file": self.file, "line": self.line, "problem": self.sentence}


class PipelineError(Exception):
    """A pipeline that cannot run as it is written."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(map(str, self.problems)))


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that this one is nearly, if there is one; case counts least.

    >>> closest("tiem", ["format", "time"]), closest("MEAN", ["Mean", "Max"])
    ('time', 'Mean')
    """
    names = list(known)
    lower = {each.lower(): each for each in reversed(names)}
    if name.lower() in lower:
        return lower[name.lower()]
    near = get_close_matches(name, names, 1)
    if near:
        return near[0]
    return next((lower[each] for each in get_close_matches(name.lower(), lower, 1)), None)


def nearest(name: str, known: Iterable[str]) -> str:
    """'; did you mean …?' for a name that is nearly a known one, or else what is known."""
    names = list(known)
    near = closest(name, names)
    if near is not None:
        return f"; did you mean {near!r}?"
    return f"; {listed(names)}." if names else "."


def listed(names: list[str]) -> str:
    """What there is.

    >>> listed(["Half"]), listed(["id", "ts"])
    ('there is Half', 'there are id, ts')
    """
    shown = ", ".join(names[:MOST_LISTED])
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return f"{'there is' if len(names) == 1 else 'there are'} {shown}{more}"

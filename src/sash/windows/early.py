"""Answers before they are final, and their corrections."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sash.aggregators.binding import equal

Name = tuple[Any, ...]
"""Which window an answer is for: its key, end, begin, and which of those that share them."""


class Early:
    """What has been answered and may still change."""

    def __init__(self) -> None:
        self.given: dict[Name, tuple[Any, int]] = {}

    def changes(
        self, final: list[tuple[Any, ...]], open_ones: list[tuple[Any, ...]]
    ) -> list[tuple[Any, int, tuple[Any, ...]]]:
        """What is new in these answers, each (key, time, begin, answer).

        `final` ones will not change any more. Of each that is new or changed: the answer, its
        revision, and the window. A window that is no more answers None.
        """
        found = []
        named = [*zip(_names(final), final, strict=True)]
        still = [*zip(_names(open_ones), open_ones, strict=True)]
        before, after = self.given, {}
        for is_final, answers in ((True, named), (False, still)):
            for name, window in answers:
                answer = window[3]
                known = before.pop(name, None)
                revision = 0 if known is None else known[1]
                if known is not None and not equal(known[0], answer):
                    revision += 1
                if known is None or revision > known[1]:
                    found.append((answer, revision, window))
                if not is_final:
                    after[name] = answer, revision
        for name, (answer, revision) in before.items():
            if answer is not None:
                found.append((None, revision + 1, (name[0], name[1], name[2], None)))
        self.given = after
        return found


def _names(windows: list[tuple[Any, ...]]) -> list[Name]:
    """Each window's name; those that share key, end and begin are numbered in their order."""
    seen: Counter[tuple[Any, ...]] = Counter()
    names = []
    for code, time, since, _ in windows:
        shared = (code, time, since)
        names.append((*shared, seen[shared]))
        seen[shared] += 1
    return names

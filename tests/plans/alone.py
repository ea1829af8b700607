"""What a plan must give: what each of its queries gives if it is run alone."""

from __future__ import annotations

from typing import Any

from oracle import alike

import sash
from sash.windows.answers import as_list


class Alone:
    """The queries of a plan, each with a window of its own."""

    def __init__(self, queries: dict[str, sash.Query], lateness: Any = None) -> None:
        self.lateness = lateness
        self.windows: dict[str, sash.Window] = {}
        for name, query in queries.items():
            self.add(name, query)

    def add(self, name: str, query: sash.Query) -> None:
        self.windows[name] = sash.Window(
            query.operator,
            query.window,
            min_size=query.min_size,
            emit=query.emit,  # type: ignore[arg-type]
            lateness=self.lateness,
        )

    def remove(self, name: str) -> None:
        del self.windows[name]

    def push_many(self, values: Any, times: Any = None) -> dict[str, Any]:
        return {name: window.push_many(values, times) for name, window in self.windows.items()}

    def advance(self, time: Any) -> dict[str, Any]:
        return {name: window.advance(time) for name, window in self.windows.items()}

    def finish(self) -> dict[str, Any]:
        return {name: window.finish() for name, window in self.windows.items()}


def assert_same_calls(
    queries: dict[str, sash.Query], calls: list[tuple[Any, Any]], lateness: Any = None
) -> sash.Plan:
    """Rows that any window refuses are refused by the plan, and have come to none of them."""
    plan, alone = sash.share(queries, lateness=lateness), Alone(queries, lateness)
    taken: list[tuple[Any, Any]] = []
    for call in calls:
        try:
            wanted: Any = alone.push_many(*call)
            taken.append(call)
        except (TypeError, ValueError, OverflowError) as refused:
            wanted = type(refused)
            alone = Alone(queries, lateness)
            for earlier in taken:
                alone.push_many(*earlier)
        try:
            found: Any = plan.push_many(*call)
        except (TypeError, ValueError, OverflowError) as refused:
            found = type(refused)
        if isinstance(wanted, type):
            assert found is wanted, (call, found)
        else:
            assert not isinstance(found, type), (call, found)
            assert_same(found, wanted)
    return plan


def assert_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert list(found) == list(wanted)
    for name, answers in found.items():
        mine, alone = _events(answers), _events(wanted[name])
        assert type(answers) is type(wanted[name]), name
        assert len(mine) == len(alone), (name, mine, alone)
        for one, other in zip(mine, alone, strict=True):
            assert one[1:] == other[1:], (name, one, other)
            assert alike(one[0], other[0]), (name, one, other)


def _events(answers: Any) -> list[tuple[Any, Any, Any]]:
    """Each answer with the times that it has."""
    if not isinstance(answers, sash.Answers):
        return [(each, None, None) for each in as_list(answers)]
    items = answers.items()
    times, starts = (
        [None] * len(items) if marks is None else as_list(marks)
        for marks in (answers.times, answers.starts)
    )
    return list(zip(items, times, starts, strict=True))

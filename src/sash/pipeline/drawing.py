"""A pipeline, and its windows, as small drawings of text."""

from __future__ import annotations

from math import gcd
from typing import Any

from sash.aggregators.duration import Steps, Time
from sash.pipeline.definition import Pipeline
from sash.windows.definitions import Definition, Delta, Last, Punctuated, Session, SlideWhile

CELL = 6
MOST_CELLS = 8


def flow(pipeline: Pipeline) -> list[str]:
    """From the source to the sinks."""
    source, sink = pipeline.source, pipeline.sink
    origin = source.topic or ", ".join(source.paths) or source.format
    ends = [
        (each.name, sink.path_of(each.name) if sink.is_files else _sent_to(pipeline, each.name))
        for each in pipeline.questions
    ]
    ends.append(("malformed", pipeline.quarantine))
    width = max(len(name) for name, _ in ends)
    lines = [f"{origin} ({source.format})", "│"]
    for k, (name, where) in enumerate(ends):
        branch = "└" if k == len(ends) - 1 else "├"
        lines.append(f"{branch}── {name:{width}} ──▶ {where}")
    return lines


def _sent_to(pipeline: Pipeline, question: str) -> str:
    sink = pipeline.sink
    return f"topic {sink.topic_of(question)}" if sink.topic else sink.format


def timeline(window: Definition) -> list[str]:
    """A window and the next ones, over slices of time or over rows."""
    if isinstance(window, Last) and isinstance(window.every, (Time, Steps)):
        return _grid(window)
    if isinstance(window, Session):
        gap = f"more than {window.gap} without a row"
        return [
            "rows     ● ●●  ●        ●●● ●        ●",
            f"windows  ├────┤        ├───┤        ├ …    {gap} lies between them",
        ]
    if isinstance(window, Punctuated):
        marked = f"◆ a row where {window.column} is true"
        if window.marks == "start":
            return [f"rows     ◆ ○ ○ ○ ◆ ○ ○ ◆ ○         {marked}", "windows  ├─────┤ ├───┤ ├ …"]
        return [f"rows     ○ ○ ○ ◆ ○ ○ ◆ ○ ○ …       {marked}", "windows  ├─────┤ ├───┤ ├ …"]
    return _at_rows(window)


def _grid(window: Last) -> list[str]:
    size, every = _number(window.size), _number(window.every)
    if not isinstance(window.size, (Time, Steps)):
        ends = f"the last {window.size} rows, at each end on a grid of {window.every}"
        return [f"ends     ┼─────┼─────┼─────┼   {ends}"]
    slice_ = gcd(size, every)
    cells, step = size // slice_, every // slice_
    kind = type(window.size)
    width = kind(slice_) if kind is Time else Steps(slice_)
    shown = cells if cells <= MOST_CELLS else MOST_CELLS
    step = min(step, shown)
    bar = "─" * (CELL - 1)
    scale = "├" + "┼".join([bar] * (shown + step)) + "┤"
    note = "" if shown == cells else f", {shown} of them drawn"
    one = "├" + "─" * (shown * CELL - 1) + "┤"
    return [
        f"grid     {scale}  of {width}, {cells} a window{note}",
        f"window   {one}  {window.size}",
        f"next     {' ' * (step * CELL)}{one}  {window.every} later",
    ]


def _at_rows(window: Any) -> list[str]:
    if isinstance(window, Last):
        counted = isinstance(window.size, int)
        what = f"the last {window.size} rows" if counted else f"the rows of the last {window.size}"
        begin = "" if counted else "  (how many there are varies)"
    elif isinstance(window, Delta):
        what, begin = f"rows whose {window.column} is within {window.width} of the newest", ""
    else:
        assert isinstance(window, SlideWhile)
        what, begin = "rows that the policy has not let go", ""
    every = window.every
    if isinstance(every, Punctuated):
        answered = f"answered where {every.column} is true"
    elif every == 1:
        answered = "answered at every row"
    else:
        answered = (
            f"answered each time so many rows have come: {every}"
            if isinstance(every, int)
            else f"every {every}"
        )
    return [
        "rows     ○ ○ ○ ○ ○ ○ ○ ○ …",
        f"window   ├───────┤           {what}{begin}",
        f"next       ├───────┤         {answered}",
    ]


def _number(length: Any) -> int:
    if isinstance(length, Time):
        return length.nanoseconds
    return length.count if isinstance(length, Steps) else int(length)

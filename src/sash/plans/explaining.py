"""How a plan computes its queries: in words, in numbers, and as a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sash.aggregators.duration import Steps, Time
from sash.plans.asked import Shared
from sash.plans.group import Group
from sash.plans.shares import Asking
from sash.plans.slicing import (
    Sliding,
    Technique,
    all_edges,
    composite_slide,
    cuts_between,
    slices_in,
)
from sash.plans.steps import Slices

WIDTH = 60
"""How many characters a drawing is wide."""
LONGEST = 10**6
"""A composite slide with more cuts than this is not gone through, not even to count them."""
WORK = {"slick_deque": (2.0, 0.0), "flat_fit": (0.0, 2.0), "subtract_on_evict": (2.0, 0.0)}
"""How many ⊕ an algorithm takes for a slice, and how many for an answer, roughly, in the long run;
of others they are 2 and 1."""


def explained(
    groups: Sequence[Group],
    asking: dict[str, Asking],
    alone: dict[str, tuple[Any, str]],
    technique: Technique,
    rate: float | None,
) -> str:
    """A plan in words. alone: windows and algorithms by name. rate: rows in a unit of time."""
    many = len(asking) + len(alone)
    lines = [f"{counted(many, 'query', 'queries')}, {counted(len(groups), 'partial')} kept"]
    for group in groups:
        names = {
            window: [name for name, each in asking.items() if _asks(each, group, window)]
            for window in group.slices.windows
        }
        lines += _of_group(group, names, technique, rate)
    for name, (window, algorithm) in alone.items():
        lines.append(f"{name}: {window!r} is kept alone, by {algorithm}")
    return "\n".join(lines)


def counted(count: int, one: str, several: str | None = None) -> str:
    return f"{count} {one if count == 1 else several or one + 's'}"


def _asks(asking: Asking, group: Group, window: Shared) -> bool:
    return asking.window is window and any(each is group for each, _ in asking.leaves)


def _of_group(
    group: Group, names: dict[Shared, list[str]], technique: Technique, rate: float | None
) -> list[str]:
    operators = ", ".join(dict.fromkeys(_named(each) for each in group.asks))
    fields = group.first.fields
    what = (
        "" if fields is None or len(group.asks) == 1 else f" from one partial ({', '.join(fields)})"
    )
    if not isinstance(group.slices, Slices):
        lines = [f"{operators}{what}: each row goes in by itself, kept by {group.algorithm}"]
        lines.append("  windows that end at every row begin at every row: there are no slices")
        wide = max(len(", ".join(each)) for each in names.values())
        lines += [f"  {', '.join(n):{wide}}  {w.shape.definition!r}" for w, n in names.items()]
        return lines
    lines = [f"{operators}{what}: in slices, by {technique}, kept by {group.algorithm}"]
    for by_time in (False, True):
        own = {w: n for w, n in names.items() if w.by_time == by_time}
        if own:
            lines += _of_slices(own, technique)
    cost = work(group, technique, rate)
    if cost is not None:
        apart = f"{cost.apart:.1f} if each query were computed alone"
        lines.append(f"  about {cost.shared:.1f} ⊕ a row, instead of {apart}")
    return lines


def _named(operator: Any) -> str:
    """An operator as it was asked for, also if another stands in for it."""
    name, _, stands = operator.name.partition("Of")
    shown = name if stands in ("Mean", "Whole", "Spread", "Range", "Count") else operator.name
    return f"{shown} of {', '.join(operator.columns)}" if operator.columns else shown


def _of_slices(names: dict[Shared, list[str]], technique: Technique) -> list[str]:
    windows = {window: _sliding(window) for window in names}
    shown = _Shown(next(iter(names)))
    edges = all_edges(windows.values(), technique)
    repeats = composite_slide(windows.values())
    cut = " and ".join(f"every {shown(each.step)}" for each in edges[:4])
    cut += " and …" if len(edges) > 4 else ""
    lines = [f"  cut {cut}; this repeats after {shown(repeats)}"]
    if sum(repeats // each.step for each in edges) <= LONGEST:
        cuts = len(cuts_between(edges, 0, repeats))
        marks = sum(
            repeats // each.step for window in windows.values() for each in window.edges(technique)
        )
        lines[-1] += f", with {counted(cuts, 'cut')}"
        if marks > cuts:
            lines[-1] += f" where windows alone would make {marks}"
    wide = max(len(", ".join(each)) for each in names.values())
    text = {window: repr(window.shape.definition) for window in windows}
    long = max(map(len, text.values()))
    for window, sliding in windows.items():
        end = sliding.offset + -(-sliding.range // sliding.slide) * sliding.slide
        now = slices_in(sliding, edges, end) if sliding.range // edges[0].step < LONGEST else None
        alone = sliding.slices(technique)
        more = "" if now in (None, alone) else f" ({alone} if it were alone)"
        slices = counted(now or alone, "slice")
        name = ", ".join(names[window])
        lines.append(f"  {name:{wide}}  {text[window]:{long}}  {slices} a window{more}")
    return [*lines, *(f"  {line}".rstrip() for line in drawn(windows, names, edges))]


def _sliding(window: Shared) -> Sliding:
    found: Sliding = window.sliding  # type: ignore[attr-defined]
    return found


class _Shown:
    """Numbers of rows, or of units of time, in words."""

    def __init__(self, window: Shared) -> None:
        self.by_time = window.by_time
        self.steps = isinstance(getattr(window.shape.definition, "size", None), Steps)

    def __call__(self, number: int) -> str:
        if not self.by_time:
            return counted(number, "row")
        return str(Steps(number) if self.steps else Time(number))


def drawn(
    windows: dict[Shared, Sliding], names: dict[Shared, list[str]], edges: Sequence[Any]
) -> list[str]:
    """A timeline: where it is cut, and a window of each query that ends at its end.

    cuts   |   |   |   |   |
    fast       [-----------)
    slow   [---------------)
    """
    longest = max(sliding.range for sliding in windows.values())
    end = max(
        sliding.offset % sliding.slide + -(-longest // sliding.slide) * sliding.slide
        for sliding in windows.values()
    )
    first = min(end - longest, 0)
    unit = -(-(end - first) // WIDTH)
    scale = max(1, WIDTH // (end - first)) if unit == 1 else 1

    def at(place: int) -> int:
        return (place - first) * scale // unit

    wide = max(4, *(len(", ".join(each)) for each in names.values()))
    rulers = [" "] * (at(end) + 1)
    few = sum(each.count_between(first, end + 1) for each in edges) <= LONGEST
    for cut in cuts_between(edges, first, end + 1).tolist() if few else ():
        rulers[at(cut)] = "|"
    lines = [f"{'cuts':{wide}}  {''.join(rulers)}"]
    for window, sliding in windows.items():
        closes = end - (end - sliding.offset) % sliding.slide
        begins = closes - sliding.range
        while begins < first:
            begins, closes = begins + sliding.slide, closes + sliding.slide
        bar = [" "] * (at(end) + 1)
        for place in range(at(begins), at(min(closes, end)) + 1):
            bar[place] = "-"
        bar[at(begins)], bar[at(min(closes, end))] = "[", ")"
        lines.append(f"{', '.join(names[window]):{wide}}  {''.join(bar)}")
    return lines


@dataclass(frozen=True)
class Work:
    """How many ⊕ a row costs, roughly: for all queries together, and if each is computed alone."""

    shared: float
    apart: float


def work(group: Group, technique: Technique, rate: float | None) -> Work | None:
    """An estimate, given how many rows there are in a unit of time; None if that is not known."""
    windows = group.slices.windows
    if any(window.by_time for window in windows) and not rate:
        return None
    shared = apart = 0.0
    edges: dict[bool, list[Sliding]] = {False: [], True: []}
    per_slice, per_answer = WORK.get(group.algorithm, (2.0, 1.0))
    mid = 1.0 if technique == "cutty" else 0.0
    for window in windows:
        unit = 1.0 / (rate or 1.0) if window.by_time else 1.0
        sliding = _sliding(window)
        edges[window.by_time].append(sliding)
        answers = 1.0 / (sliding.slide / unit)
        ends_inside = mid if sliding.range % sliding.slide else 0.0
        shared += answers * (per_answer + ends_inside)
        cuts = sum(unit / each.step for each in sliding.edges(technique))
        questions = sum(window in asked for asked in group.asks.values())
        apart += questions * (1.0 + 2.0 * min(cuts, 1.0) + answers * (1.0 + ends_inside))
    cuts = 0.0
    for by_time, own in edges.items():
        unit = 1.0 / (rate or 1.0) if by_time else 1.0
        cuts += sum(unit / each.step for each in all_edges(own, technique))
    return Work(1.0 + per_slice * min(cuts, 1.0) + shared, apart)

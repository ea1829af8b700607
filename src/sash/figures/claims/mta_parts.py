"""What the profile of a slide tells (`mta_profile`), for reasons to rest on."""

from __future__ import annotations

from collections.abc import Sequence

from sash.figures.claims.judging import Found
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve

SLIDE, CALLS, SHARE = "ns a slide", "calls", "% of time"
ANSWERS, ROWS, COMBINE = "policy and answers", "rows checked", "⊕"
ALGORITHM, KEEPING = "algorithm", "keeping"
BLOCKS, CHECKPOINTS, STORE = "blocks", "checkpoints", "store"
CONSTANT = "constant size"
ONE, HALF, ALL = "one leaves", "half leave", "all but one leave"


def seen(found: Found, metric: str, series: str, panel: str = CONSTANT) -> Curve:
    """One of the profile's numbers by window, or by dimensions; a KeyError if it has none."""
    curve = found["mta_profile"].curve(metric, series, panel)
    if not curve:
        raise KeyError(metric)
    return curve


def of_part(found: Found, metric: str, part: str, series: str, panel: str = CONSTANT) -> float:
    """The same of one part, in the longest window; 0 if the part has none."""
    curve = found["mta_profile"].curve(f"{metric}: {part}", series, panel)
    return curve.last if curve else 0.0


def share(found: Found, part: str, series: str, panel: str = CONSTANT) -> str:
    return f"{told(of_part(found, SHARE, part, series, panel), 2)} %"


def took(found: Found, part: str, series: str) -> float:
    """Nanoseconds of a slide that a part takes, in the longest window of constant size."""
    return of_part(found, SHARE, part, series) / 100 * seen(found, SLIDE, series).last


def calls_of(found: Found, names: Sequence[str], panel: str = CONSTANT, at: float = 0) -> str:
    """How many functions of Python each calls: `DABA 87, AMTA 88`."""
    curves = {name: seen(found, CALLS, name, panel) for name in names}
    each = {n: curve.at[at] if at else curve.last for n, curve in curves.items()}
    return ", ".join(f"{name} {told(calls)}" for name, calls in each.items())


def in_all_rounds(found: Found, metric: str, series: str, panel: str) -> float:
    """A number of all rounds together, in the longest window."""
    by_x = found["mta_profile"].rounds[panel, series, metric]
    return sum(by_x[max(by_x)].values())

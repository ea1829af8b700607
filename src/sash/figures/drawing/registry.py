"""All kinds of drawing by the names that experiments call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sash.figures.drawing.bars import bars
from sash.figures.drawing.drawn import Drawn
from sash.figures.drawing.growth import growth
from sash.figures.drawing.lines import lines, ratio
from sash.figures.drawing.proportion import proportion
from sash.figures.drawing.tables import break_even, matrix, ratios, summary
from sash.figures.drawing.traces import trace
from sash.figures.results import Results
from sash.figures.spec import Drawing

KINDS: dict[str, Callable[..., Any]] = {
    "lines": lines,
    "ratio": ratio,
    "bars": bars,
    "trace": trace,
    "break even": break_even,
    "matrix": matrix,
    "summary": summary,
    "ratios": ratios,
    "growth": growth,
    "proportion": proportion,
}


def drawn(drawing: Drawing, results: Results) -> Drawn:
    """One figure or table."""
    found: Drawn = KINDS[drawing.kind](results, **drawing.options)
    return found

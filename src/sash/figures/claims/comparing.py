"""How Sash is compared with a rival: how long each takes, panel by panel."""

from __future__ import annotations

from collections.abc import Iterable

from sash.figures.claims.judging import Found, NotMeasuredError, Verdict, along_each
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve, Results

ROW = "ns a row"


def span(curves: Iterable[Curve]) -> str:
    """The least and the greatest of all."""
    values = [value for curve in curves for value in curve.values]
    if not values:
        raise NotMeasuredError("nothing was measured")
    return " – ".join(dict.fromkeys([told(min(values)), told(max(values))]))


def ours(results: Results, metric: str = ROW) -> dict[str, Curve]:
    """What Sash has of a metric, by panel."""
    found = {panel: results.curve(metric, "sash", panel) for panel in results.panels(metric)}
    return {panel: curve for panel, curve in found.items() if curve}


def over(results: Results, above: str, below: str, metric: str = ROW) -> dict[str, Curve]:
    """One series over another, in each panel that has both."""
    found = {panel: results.ratio(metric, above, below, panel) for panel in results.panels(metric)}
    return {panel: curve for panel, curve in found.items() if curve}


def all_faster(found: Found, experiment: str, rival: str, metric: str = ROW) -> Verdict:
    """Whether Sash takes less time than a rival, in every panel and everywhere."""
    ratios = over(found[experiment], rival, "sash", metric)
    said = f"{rival} takes {span(ratios.values())} x the time"
    return along_each(ratios, lambda _, ratio: ratio > 1, said)


def all_at_most(curves: dict[str, Curve], most: float, unit: str) -> Verdict:
    return along_each(curves, lambda _, value: value <= most, f"{span(curves.values())} {unit}")

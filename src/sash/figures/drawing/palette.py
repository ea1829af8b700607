"""How each line looks: the same algorithm has the same colour and mark in every figure."""

from __future__ import annotations

from typing import Any, Final

INK: Final = "#20242c"
FAINT: Final = "#dde1e7"

LOOKS: Final[dict[str, tuple[str, str]]] = {
    "recalc": ("#7a7f87", "x"),
    "subtract_on_evict": ("#c51b7d", "+"),
    "flat_fat": ("#0072b2", "s"),
    "b_int": ("#56b4e9", "D"),
    "flat_fit": ("#d55e00", "o"),
    "two_stacks": ("#009e73", "^"),
    "two_stacks_lite": ("#66c2a4", "^"),
    "aba": ("#e69f00", "v"),
    "daba": ("#cc79a7", "P"),
    "daba_cached": ("#882255", "X"),
    "daba_lite": ("#b07aa1", "X"),
    "log_mta": ("#999933", "<"),
    "amta": ("#117733", ">"),
    "sba": ("#332288", "d"),
    "pba": ("#aa4499", "*"),
    "slick_deque": ("#8c510a", "h"),
    "slide_side": ("#6699cc", "p"),
    "fiba": ("#aa3377", "8"),
    # Rivals.
    "sash": (INK, "o"),
    "pandas": ("#4b3f9e", "s"),
    "polars": ("#0091ea", "D"),
    "duckdb": ("#c9a500", "^"),
    "bottleneck": ("#2e7d32", "v"),
    "numbagg": ("#00838f", "P"),
    "river": ("#8d6e63", "X"),
    "numpy": ("#7a7f87", "x"),
    "python": ("#7a7f87", "+"),
    "spark": ("#b2182b", "s"),
    # Where one has many ways, each looks as itself.
    "spark, segment tree": ("#f4a582", "D"),
    "spark, pandas_udf": ("#67001f", "P"),
    "spark, shuffle and sort alone": ("#7a7f87", "x"),
    "spark, applyInPandasWithState": ("#b2182b", "s"),
    "spark, mapInArrow alone": ("#7a7f87", "x"),
    "spark, window()": ("#f4a582", "D"),
    "spark, window() as it comes": ("#d6604d", "^"),
    "spark, transformWithState": ("#67001f", "P"),
}

ORDERED: Final = ("#0b3c5d", "#1d7874", "#679436", "#c9a227", "#d1603d", "#8f2d56", "#5c5c5c")
"""For lines that are no algorithm's, from the first to the last."""


def look(series: str, place: int, variants: list[str]) -> dict[str, Any]:
    """Colour, mark and stroke of a line. `amta, RocksDB` is a variant of amta: stroked otherwise.

    variants: what follows the comma, in any of the figure's lines.
    """
    if series in LOOKS:
        colour, mark = LOOKS[series]
        return {"color": colour, "marker": mark, "linestyle": "-"}
    name, _, variant = series.partition(", ")
    strokes = ["-", "--", ":", "-."]
    stroke = strokes[variants.index(variant) % len(strokes)] if variant else "-"
    if name in LOOKS:
        colour, mark = LOOKS[name]
        return {"color": colour, "marker": mark, "linestyle": stroke}
    colour = ORDERED[place % len(ORDERED)]
    return {"color": colour, "marker": "o^sDvPX"[place % 7], "linestyle": "-"}


def looks(series: list[str]) -> dict[str, dict[str, Any]]:
    """Of all lines of a figure."""
    plain = any(", " not in name for name in series)
    variants = list(dict.fromkeys(name.partition(", ")[2] for name in series if ", " in name))
    variants = ["", *variants] if plain else variants
    return {name: look(name, place, variants) for place, name in enumerate(series)}

"""A figure as SVG: the same numbers give the same bytes, and text stays text."""

from __future__ import annotations

import io
import re

import matplotlib
from matplotlib.figure import Figure


def svg(figure: Figure) -> str:
    file = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sash"}):
        figure.savefig(file, format="svg", facecolor="white", dpi=130, metadata={"Date": None})
    drawn = file.getvalue()
    drawn = drawn[drawn.index("<svg ") :]
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r"'DejaVu Sans'[^;\"]*", "system-ui, 'DejaVu Sans', sans-serif", drawn)
    return re.sub(r"[ \t]+\n", "\n", drawn)


def unique(drawn: str, name: str) -> str:
    """The same with ids of its own, to stand beside others on one page."""
    drawn = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', drawn)
    drawn = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', drawn)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", drawn)

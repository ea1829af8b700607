"""The picture of the demo on a page of its own: one file, nothing is fetched, light or dark."""

from __future__ import annotations

import io
import os
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

import matplotlib
from matplotlib.figure import Figure

from sash.demo.colours import FAINT, IN_THE_DARK, INK


@dataclass(frozen=True)
class Table:
    """What a page shows below the picture, as text; all but the first column aligned right."""

    caption: str
    header: list[str]
    rows: list[list[str]]


_STYLE: Final = """
:root { color-scheme: light dark; --paper: #ffffff; LIGHT }
@media (prefers-color-scheme: dark) { :root { --paper: #14171c; DARK } }
body {
  margin: 0 auto; max-width: 70rem; padding: 1rem;
  background: var(--paper); color: var(--ink);
  font: 1rem/1.45 system-ui, sans-serif;
}
h1 { font-size: 1.35rem; line-height: 1.2; margin: 0.5rem 0 1rem; }
figure, .wide { margin: 0 0 1.5rem; overflow-x: auto; }
svg { display: block; width: 100%; min-width: 44rem; height: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 0.5rem 0; }
th, td { padding: 0.3rem 1.2rem 0.3rem 0; text-align: right; border-top: 1px solid FAINT; }
th:first-child, td:first-child, .words td { text-align: left; }
thead th { border-top: 0; font-weight: 600; }
tbody th { font-weight: 400; }
"""

_NAMES: Final = {
    colour: "--ink" if colour == INK else f"--colour-{number}"
    for number, colour in enumerate(IN_THE_DARK)
}


def page(
    figure: Figure,
    summary: list[tuple[str, str]],
    tables: list[Table],
    html_path: str | os.PathLike[str],
) -> None:
    """Writes a page with the figure, what there is to say in short, and tables."""
    title = escape(figure.get_suptitle())
    short = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>\n'
        for name, value in summary
    )
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{_style()}</style>",
        "</head>",
        "<body>",
        f"<h1>{title}</h1>",
        f"<figure>{_svg(figure)}</figure>",
        '<div class="wide"><table class="words"><caption>In short</caption>'
        f"<tbody>{short}</tbody></table></div>",
        *map(_table, tables),
        "</body>",
        "</html>",
    ]
    Path(html_path).write_text("\n".join(parts) + "\n", encoding="utf-8")


def _table(table: Table) -> str:
    header = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.header)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    return (
        f'<div class="wide"><table><caption>{escape(table.caption)}</caption>'
        f"<thead><tr>{header}</tr></thead><tbody>\n{rows}</tbody></table></div>"
    )


def _style() -> str:
    light = " ".join(f"{name}: {colour};" for colour, name in _NAMES.items())
    dark = " ".join(f"{name}: {IN_THE_DARK[colour]};" for colour, name in _NAMES.items())
    faint = f"var({_NAMES[FAINT]})"
    return _STYLE.replace("LIGHT", light).replace("DARK", dark).replace("FAINT", faint)


def _svg(figure: Figure) -> str:
    """The figure as an element of the page: its colours and letters are the page's."""
    title = figure.get_suptitle()
    headings = [text for text in figure.texts if text.get_text() == title]
    file = io.StringIO()
    # Text stays text. A fixed salt, so that the same series give the same bytes.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sash"}):
        for heading in headings:
            heading.set_text("")  # the page has it already
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
        for heading in headings:
            heading.set_text(title)
    drawn = file.getvalue()
    drawn = drawn[drawn.index("<svg ") :]
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r' (width|height)="[\d.]+pt"', "", drawn, count=2)
    drawn = re.sub(r"'DejaVu Sans'[^;\"]*", "system-ui, sans-serif", drawn)
    for colour, name in _NAMES.items():
        drawn = drawn.replace(colour, f"var({name})")
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1)

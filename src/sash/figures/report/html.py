"""A document as one page of HTML that needs nothing else: style and pictures are in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from sash.figures.drawing.drawn import Table
from sash.figures.report.blocks import Block, Code, Document, Heading, Items, Picture, Text

STYLE = """
:root {
  color-scheme: light dark; --paper: #fff; --ink: #20242c; --faint: #dde1e7; --link: #0b5cad;
}
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171c; --ink: #e4e7ec; --faint: #39404b; --link: #7ab8ff; }
}
body {
  margin: 0 auto; max-width: 72rem; padding: 1rem;
  background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.7rem; line-height: 1.2; }
h2 {
  font-size: 1.35rem; margin-top: 2.5rem; border-top: 1px solid var(--faint); padding-top: 1rem;
}
h3 { font-size: 1.08rem; margin-top: 2rem; }
a { color: var(--link); }
code, pre { font-family: ui-monospace, monospace; font-size: 0.92em; }
figure { margin: 1rem 0; padding: 0.5rem; background: #fff; border-radius: 4px; overflow-x: auto; }
svg { display: block; max-width: 100%; height: auto; margin: 0 auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.92rem; }
th, td {
  padding: 0.3rem 1rem 0.3rem 0; text-align: right; vertical-align: top;
  border-top: 1px solid var(--faint);
}
th:first-child, td:first-child, table.words th, table.words td { text-align: left; }
table.words td:nth-child(2), table.words td:nth-child(3):not(:last-child) { white-space: nowrap; }
thead th { border-top: 0; font-weight: 600; }
.holds { color: #14803c; } .part { color: #b26a00; } .not { color: #c0392b; }
@media (prefers-color-scheme: dark) {
  .holds { color: #5fd38d; } .part { color: #ffb454; } .not { color: #ff8a7a; }
}
"""

VERDICTS = {"holds": "holds", "holds in part": "part", "does not hold here": "not"}


def html(document: Document) -> str:
    """The whole page."""
    title = escape(document.title)
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    )
    body = "".join(part for block in document.blocks for part in _parts(block))
    return f"{head}{body}</body>\n</html>\n"


def _parts(block: Block) -> Iterator[str]:
    match block:
        case Heading(level, text, anchor):
            own = f' id="{anchor}"' if anchor else ""
            yield f"<h{level}{own}>{_inline(text)}</h{level}>\n"
        case Text(text):
            yield f"<p>{_inline(text)}</p>\n"
        case Items(items):
            yield f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</ul>\n"
        case Code(text):
            yield f"<pre>{escape(text)}</pre>\n"
        case Picture(_, title, svg):
            named = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1)
            yield f"<figure>{named}</figure>\n"
        case Table(header, rows, words):
            kind = ' class="words"' if words else ""
            cells = "".join(f"<th>{_inline(cell)}</th>" for cell in header)
            yield f'<div class="wide"><table{kind}><thead><tr>{cells}</tr></thead><tbody>\n'
            for row in rows:
                yield f"<tr>{''.join(map(_cell, row))}</tr>\n"
            yield "</tbody></table></div>\n"


def _cell(text: str) -> str:
    kind = f' class="{VERDICTS[text]}"' if text in VERDICTS else ""
    return f"<td{kind}>{_inline(text)}</td>"


def _inline(text: str) -> str:
    found = escape(text, quote=False)
    found = re.sub(r"`([^`]+)`", r"<code>\1</code>", found)
    found = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", found)
    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", r'<a href="\2">\1</a>', found)

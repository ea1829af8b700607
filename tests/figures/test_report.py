"""The report, from files of results alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sash.cli import app
from sash.figures import results
from sash.figures.cases import Row
from sash.figures.drawing.drawn import Table
from sash.figures.report import writing
from sash.figures.report.blocks import Code, Document, Heading, Items, Picture, Text
from sash.figures.report.html import html
from sash.figures.report.markdown import markdown
from sash.figures.report.svg import unique

ROWS = [
    Row("Max", series, n, "ns a slide", turn, (9.0 if series == "flat_fat" else 3.0) + turn)
    for series in ("recalc", "flat_fat", "b_int", "flat_fit")
    for n in (1, 2, 4, 8)
    for turn in range(3)
]

DOCUMENT = Document(
    "A & B",
    [
        Heading(2, "Some `code`", "some"),
        Text("**bold** and a [link](#some) for a < b"),
        Items(["one", "two"]),
        Code("sash figures"),
        Table(["", "n"], [["a|b", "1"]]),
        Table(["claim", "verdict"], [["x", "holds"]], words=True),
        Picture("p", "A picture", '<svg viewBox="0"><use href="#m"/></svg>'),
    ],
)


def test_markdown() -> None:
    text = markdown(DOCUMENT, "evaluation")
    assert '<a id="some"></a>\n\n## Some `code`\n' in text
    assert "- one\n- two\n" in text
    assert "    sash figures\n" in text
    assert "|---|---:|\n| a\\|b | 1 |\n" in text
    assert "|---|---|\n| x | holds |\n" in text
    assert "![A picture](evaluation/p.svg)" in text


def test_html_needs_nothing_else() -> None:
    text = html(DOCUMENT)
    assert "<title>A &amp; B</title>" in text
    assert '<h2 id="some">Some <code>code</code></h2>' in text
    assert '<strong>bold</strong> and a <a href="#some">link</a> for a &lt; b' in text
    assert '<td class="holds">holds</td>' in text
    assert 'aria-label="A picture"' in text
    assert not re.findall(r'(?:src|href)="(?!#)[^"]*"', text)


def test_ids_of_figures_do_not_meet() -> None:
    drawn = '<svg><path id="m1"/><use href="#m1"/><g clip-path="url(#p2)"/></svg>'
    assert unique(drawn, "a") == (
        '<svg><path id="a-m1"/><use href="#a-m1"/><g clip-path="url(#a-p2)"/></svg>'
    )


@pytest.fixture
def out(tmp_path: Path) -> Path:
    facts = {"processor": "any", "scale": "quick"}
    results.write(tmp_path / "evaluation" / "flat_fit_one_query.csv", ROWS, facts)
    return tmp_path


def test_written_from_results(out: Path) -> None:
    stale = out / "evaluation" / "old.svg"
    stale.write_text("<svg/>")
    written = writing.write(out)
    page, whole = written.page.read_text("utf-8"), written.html.read_text("utf-8")
    assert [each.label for each in written.drawn if each.paper == "flat_fit"] == ["Figure 13"]
    assert "flat_fit_calls was not run" in written.missing["flat_fit-figure-8"]
    assert (out / "evaluation" / "flat_fit-figure-13.svg").exists() and not stale.exists()
    assert "![Figure 13: " in page and "<svg " in whole
    assert "1 of 1 experiments ran with `--quick`" in page
    assert "| at best 2.6 times the throughput of FlatFAT with one query |" in page
    assert "| processor | any |" in page
    counts = written.counts("flat_fit")
    assert counts["holds"] >= 2 and counts["not measured"] >= 5
    again = writing.write(out)
    assert again.page.read_text("utf-8") == page and again.html.read_text("utf-8") == whole


def test_other_machines_are_told(out: Path) -> None:
    for name, processor in (("one", "any"), ("other", "another")):
        results.write(out / "evaluation" / f"{name}.csv", ROWS, {"processor": processor})
    page = writing.write(out).page.read_text("utf-8")
    assert "| processor | any; another (other) |" in page


def test_verdicts_by_the_shortest_rounds(tmp_path: Path) -> None:
    """Those that would be others are told beside those that medians give."""
    alike = [row._replace(value=row.value - row.round) for row in ROWS]
    one_apart = [row._replace(value=1.0) if row.round == 0 else row for row in alike]
    told = []
    for rows in (alike, one_apart):
        results.write(tmp_path / "evaluation" / "flat_fit_one_query.csv", rows, {"scale": "full"})
        told.append(writing.write(tmp_path).page.read_text("utf-8"))
    assert "By the shortest round" not in told[0] and "By the shortest round" in told[1]


def invoked(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["figures", *arguments])
    return done.exit_code, done.stdout, done.stderr


def test_draw_again(out: Path) -> None:
    code, said, _ = invoked("--draw", "--out", str(out), "--only", "flat_fit_one_query")
    assert code == 0 and "1 figures and tables" in said
    code, _, complaint = invoked("--draw", "--out", str(out), "--only", "flat_fit")
    assert code == 1 and "flat_fit-figure-8 is missing: flat_fit_calls was not run." in complaint


def test_sentences(tmp_path: Path) -> None:
    code, _, complaint = invoked("--only", "flatfit")
    assert code == 2 and "there is no experiment 'flatfit'" in complaint
    code, _, complaint = invoked("--draw", "--out", str(tmp_path))
    assert code == 1 and "holds no results: run without --draw first" in complaint
    code, _, complaint = invoked("--debs2012", str(tmp_path / "none"))
    assert code == 2 and "there is no file" in complaint


def test_list() -> None:
    code, said, _ = invoked("--list")
    assert code == 0 and "flat_fit_one_query" in said

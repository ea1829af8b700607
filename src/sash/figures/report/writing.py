"""The report, from the results of all experiments: what was claimed, measured, and drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.figure import Figure

from sash.figures import results
from sash.figures.claims.judging import HOLDS, IN_PART, NOT_HERE, NOT_MEASURED, Found, Judged
from sash.figures.claims.registry import judged
from sash.figures.drawing.drawn import NothingToDrawError, Table
from sash.figures.drawing.registry import drawn
from sash.figures.papers import PAPERS, Paper
from sash.figures.report.blocks import Code, Document, Heading, Items, Picture, Text
from sash.figures.report.html import html
from sash.figures.report.markdown import markdown
from sash.figures.report.surprises import surprises
from sash.figures.report.svg import svg, unique
from sash.figures.spec import Drawing, drawings, specs

Render = Callable[[Figure], str]

KINDS = (HOLDS, IN_PART, NOT_HERE, NOT_MEASURED)

INTRODUCTION = """\
Every experiment of the five papers that Sash implements, run again on Sash: every figure and table,
with what the paper says of it, and whether that holds here. Beside them are the libraries that
compute such windows today. All of this page is written by `sash figures`, from the CSV files in its
folder; no number and no verdict is entered by hand.
"""

METHOD = [
    "Algorithms are compared on this implementation, whose loops Numba compiles for each operator, "
    "not with the authors' code. Absolute times are those of this machine; what is compared with a "
    "paper are ratios, and where lines cross.",
    "What is compared runs in turn, round after round, forwards and backwards, after one run that "
    "does not count: what the machine does besides hits all of them. Where windows of different "
    "sizes are compared in nanoseconds, most experiments go through all sizes several times, with "
    "some of the rounds each time. Lines are medians, the shade "
    "behind them reaches from the least to the greatest round. A ratio is formed in each round; "
    "what is told is the median of those.",
    "Before anything is timed, all that is compared must have given the same answers.",
    "Experiments may have been run on different machines, which the last table tells. What is "
    "compared is of one experiment, and so of one machine; a reason that names a profile may speak "
    "of two.",
    "A window is full before the clock starts, and is slid through at least twice, so that what is "
    "amortised is seen.",
    "Latencies are read from the processor's clock around each slide. The same slides are run "
    "several times, and each has the mean of its times without those that are far from its "
    "shortest: what interrupts the machine is not the algorithm's.",
    "Numbers in brackets, as in 12 [17], are the paper's own.",
    "A claim **holds** if it is met by the numbers; it **holds in part** if it is met for some "
    "sizes or functions, or in direction but not in size; else it **does not hold here**. What is "
    "asked of the numbers for each claim is in `src/sash/figures/claims`.",
]


READING = (
    "Numbers and counts of ⊕ are measured. Where a reason names a profile, the same was measured "
    "with one part changed, or its calls were counted; where it names none, it is our reading of "
    "the numbers."
)


SHORTEST = (
    "Whatever else a machine does makes rounds longer. By the shortest round of each time instead "
    "of the median, these verdicts would be others:"
)


OF_ONE = ("experiment", "scale", "seconds", "passes")
"""What results say of their own experiment, not of the machine."""


@dataclass
class Written:
    """What a report came to."""

    page: Path
    html: Path
    judged: list[Judged]
    by_shortest: list[Judged]
    """The same claims, judged by the shortest round of each instead of the median."""
    drawn: list[Drawing] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    """By the name of a figure or table, why it is not there."""

    def counts(self, paper: str) -> Counter[str]:
        return Counter(each.verdict.kind for each in self.judged if each.claim.paper == paper)


def found_in(folder: Path) -> Found:
    """The results of all experiments in a folder."""
    return Found({path.stem: results.read(path) for path in sorted(folder.glob("*.csv"))})


def to_write(out: Path, found: Found) -> Written:
    """All claims judged, and nothing drawn yet."""
    shortest = Found({name: each.shortest() for name, each in found.items()})
    pages = out / "evaluation.md", out / "evaluation.html"
    return Written(*pages, judged(found), judged(shortest))


def write(out: Path) -> Written:
    """Draw, judge and write: `evaluation.md`, `evaluation.html`, and figures in `evaluation/`."""
    folder = out / "evaluation"
    found = found_in(folder)
    written = to_write(out, found)
    document = the_report(found, written)
    pictures = [block for block in document.blocks if isinstance(block, Picture)]
    for old in folder.glob("*.svg"):
        old.unlink()
    for picture in pictures:
        (folder / f"{picture.name}.svg").write_text(picture.svg, encoding="utf-8")
    written.page.write_text(markdown(document, folder.name), encoding="utf-8")
    document.blocks = [
        Picture(block.name, block.title, unique(block.svg, block.name))
        if isinstance(block, Picture)
        else block
        for block in document.blocks
    ]
    written.html.write_text(html(document), encoding="utf-8")
    return written


def the_report(found: Found, written: Written, render: Render = svg) -> Document:
    """The whole document; render: makes text of a figure."""
    document = Document("Evaluation: five papers, and the rivals of today")
    document.add(Text(INTRODUCTION.replace("\n", " ").strip()))
    quick = sorted(name for name, each in found.items() if each.scale == "quick")
    if quick:
        document.add(
            Text(
                f"**{len(quick)} of {len(found)} experiments ran with `--quick`: sizes are small, "
                "and the numbers and verdicts show that everything runs, no more.**"
            )
        )
    document.add(Heading(2, "In short"), _counts(written))
    told = [text for each in surprises() if (text := each(found))]
    if told:
        document.add(Heading(2, "What surprised us"), Items(told))
    for paper in PAPERS.values():
        _chapter(document, paper, found, written, render)
    document.add(Heading(2, "How it was measured"), Items(METHOD))
    document.add(
        Heading(2, "Running it"),
        Code(
            "make figures                     # everything, into docs/\n"
            "sash figures --quick             # everything with small sizes, in minutes\n"
            "sash figures --only flat_fit     # one paper, or one experiment\n"
            "sash figures --draw              # draw and judge again what was measured\n"
            "sash figures --list              # all experiments, and how long they take"
        ),
        Text(
            "With `--debs2012 FILE` and `--debs2014 FILE` the recorded data of the two challenges "
            "is read; without, readings like them are made from a seed."
        ),
    )
    document.add(Heading(2, "The machine"), _machine(found))
    return document


def _counts(written: Written) -> Table:
    rows = []
    for paper in PAPERS.values():
        counts = written.counts(paper.name)
        if counts:
            link = f"[{paper.short}](#{paper.name})"
            rows.append([link, *(str(counts[kind]) for kind in (*KINDS,)), str(counts.total())])
    sums = [str(sum(int(row[k]) for row in rows)) for k in range(1, len(KINDS) + 2)]
    return Table(["claims of", *KINDS, "all"], [*rows, ["all", *sums]])


def _chapter(
    document: Document, paper: Paper, found: Found, written: Written, render: Render
) -> None:
    title = paper.short if paper.year is None else f"{paper.short} ({paper.year})"
    document.add(Heading(2, title, paper.name))
    if paper.setting:
        document.add(Text(f"“{paper.title}”. Its authors measured on: {paper.setting}."))
    own = [each for each in written.judged if each.claim.paper == paper.name]
    if own:
        document.add(_claims(own))
        reasons = _reasons(own)
        if reasons:
            document.add(
                Heading(3, "Where it is otherwise here, and why"), Text(READING), Items(reasons)
            )
        others = _otherwise(own, written.by_shortest)
        if others:
            document.add(Text(SHORTEST), Items(others))
    told: set[str] = set()
    for drawing in drawings():
        if drawing.paper == paper.name:
            _drawing(document, drawing, found, written, told, render)


def _reasons(own: list[Judged]) -> list[str]:
    """Why claims do not hold wholly; those that fail for the same reason together."""
    alike: dict[str, list[str]] = {}
    for each in own:
        if each.why:
            alike.setdefault(each.why, []).append(f"{each.claim.where}: {each.claim.says}")
    return [f"**{'; '.join(claims)}.** {why}" for why, claims in alike.items()]


def _otherwise(own: list[Judged], by_shortest: list[Judged]) -> list[str]:
    """Claims of which the shortest rounds would say something else than the medians."""
    other = {each.claim: each for each in by_shortest}
    pairs = [(each, other[each.claim]) for each in own]
    return [
        f"{each.claim.where}: {each.claim.says}: **{less.verdict.kind}** "
        f"({less.verdict.measured}), instead of {each.verdict.kind}"
        for each, less in pairs
        if each.verdict.kind != less.verdict.kind
    ]


def _claims(own: list[Judged]) -> Table:
    shown = {f"{each.paper} {each.label}": each.name for each in drawings()}
    rows = []
    for each in own:
        places = []
        for where in each.claim.where.split(", "):
            name = shown.get(f"{each.claim.paper} {where}")
            places.append(f"[{where}](#{name})" if name else where)
        row = [each.claim.says, ", ".join(places), each.verdict.kind, each.verdict.measured]
        rows.append(row)
    return Table(["claim", "where", "verdict", "here"], rows, words=True)


def _drawing(
    document: Document,
    drawing: Drawing,
    found: Found,
    written: Written,
    told: set[str],
    render: Render,
) -> None:
    title = f"{drawing.label}: {drawing.title}"
    document.add(Heading(3, title, drawing.name))
    if drawing.experiment not in told:
        document.add(Text(specs()[drawing.experiment].about))
        told.add(drawing.experiment)
    try:
        if drawing.experiment not in found:
            raise NothingToDrawError(f"{drawing.experiment} was not run.")
        made = drawn(drawing, found[drawing.experiment])
    except NothingToDrawError as nothing:
        written.missing[drawing.name] = str(nothing)
        document.add(Text(f"Not drawn: {nothing}"))
        return
    written.drawn.append(drawing)
    document.add(made if isinstance(made, Table) else Picture(drawing.name, title, render(made)))
    own = [
        each
        for each in written.judged
        if each.claim.paper == drawing.paper and drawing.label in each.claim.where.split(", ")
    ]
    document.add(*([Items([_in_a_line(each) for each in own])] if own else []))


def _in_a_line(each: Judged) -> str:
    return f"{each.claim.says}: **{each.verdict.kind}** ({each.verdict.measured})"


def _machine(found: Found) -> Table:
    """What the results have on top; where that differs, most of them first, and which do not."""
    facts: dict[str, dict[str, list[str]]] = {}
    for experiment, each in found.items():
        for name, fact in each.facts.items():
            if name not in OF_ONE:
                facts.setdefault(name, {}).setdefault(fact, []).append(experiment)
    rows = []
    for name, those in facts.items():
        most, *others = sorted(those, key=lambda fact: -len(those[fact]))
        said = [most, *(f"{fact} ({', '.join(those[fact])})" for fact in others)]
        rows.append([name, "; ".join(said)])
    return Table(["what", "here"], rows, words=True)

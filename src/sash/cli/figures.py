"""`sash figures`: the papers' experiments, measured, drawn and judged."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table

from sash.cli.telling import WRONG_FILE, fail, sentences, stderr, stdout

OUT = Path("figures")
MOST_AT_ONCE = 4
"""Some start a Spark session, which takes gigabytes."""


def figures(
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, in minutes.")] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="An experiment, or all of a paper. May be repeated.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the report is written.")] = OUT,
    draw: Annotated[
        bool, typer.Option("--draw", help="Measure nothing: draw and judge what is in the folder.")
    ] = False,
    listed: Annotated[bool, typer.Option("--list", help="Tell what there is to run.")] = False,
    debs2012: Annotated[Path | None, typer.Option(help="The recorded data: a file.")] = None,
    debs2014: Annotated[Path | None, typer.Option(help="The recorded data: a file.")] = None,
) -> None:
    """Run the experiments of five papers, draw their figures and tables, judge their claims.

    The report is evaluation.md and evaluation.html; results are CSV files in the folder
    evaluation beside them.

    **Examples**

    - `sash figures --quick`
    - `sash figures --only flat_fit --only pba_latency`
    - `sash figures --draw --out docs`
    """
    with sentences("figures"):
        try:
            import sash.figures.report.writing as report
            from sash.aggregators.cores import cores
            from sash.figures import data
            from sash.figures.machine import facts
            from sash.figures.running import run
        except ImportError as error:
            raise ImportError(
                f"{error.name} is not installed: sash figures needs pip install 'sash[figures]'."
            ) from None

        scale = "quick" if quick else "full"
        names = chosen(only)
        if listed:
            _list(names)
            return
        for name, path in ((data.DEBS_2012, debs2012), (data.DEBS_2014, debs2014)):
            if path is not None:
                if not path.exists():
                    raise fail("figures", f"there is no file {path}.", WRONG_FILE)
                os.environ[name] = str(path.resolve())
        folder = out / "evaluation"
        folder.mkdir(parents=True, exist_ok=True)
        failed = []
        if not draw:
            # Small sizes show that all of it runs; only numbers need the machine alone.
            at_once = min(cores(), MOST_AT_ONCE) if quick else 1
            with _progress(names, scale, at_once) as told:
                specs = [_specs()[name] for name in names]
                known = {**facts(), **data.sources()}
                outcomes = run(specs, scale, folder, known, told, at_once=at_once)
            failed = [each for each in outcomes if each.failure]
        if not any(folder.glob("*.csv")):
            raise fail("figures", f"{folder} holds no results: run without --draw first.")
        written = report.write(out)
    _summary(written)
    for each in failed:
        stderr().print(f"\n{each.spec.name} failed: {each.failure}", style="red", markup=False)
    wanted = {each.name for name in names for each in _specs()[name].drawings}
    missing = {name: why for name, why in written.missing.items() if name in wanted}
    for name, why in missing.items():
        stderr().print(f"{name} is missing: {why}", style="red", markup=False)
    if failed or missing:
        raise typer.Exit(1)


def _specs() -> Any:
    from sash.figures.spec import specs

    return specs()


def chosen(only: list[str] | None) -> list[str]:
    """The experiments that are asked for, by their own names or by their papers'."""
    specs = _specs()
    if not only:
        return list(specs)
    asked = [name for given in only for name in given.split(",")]
    known = {*specs, *(spec.paper for spec in specs.values())}
    for name in asked:
        if name not in known:
            papers = sorted({spec.paper for spec in specs.values()})
            raise fail(
                "figures",
                f"there is no experiment {name!r}; sash figures --list tells all of them, and "
                f"--only also takes {', '.join(papers)}.",
                WRONG_FILE,
            )
    return [name for name, spec in specs.items() if name in asked or spec.paper in asked]


def _list(names: list[str]) -> None:
    table = Table("experiment", "figures and tables", "what", "quick", "full", box=None)
    for name in names:
        spec = _specs()[name]
        labels = ", ".join(each.label for each in spec.drawings)
        takes = [_minutes(spec.takes[scale]) for scale in ("quick", "full")]
        table.add_row(name, labels, spec.title, *takes)
    stdout().print(table)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


@contextmanager
def _progress(names: list[str], scale: str, at_once: int) -> Iterator[Any]:
    """Tells which experiment runs, how far it is, and about how long all of them will take."""
    console = stderr()
    expected = {name: _specs()[name].takes[scale] for name in names}
    total = sum(expected.values())
    start = time.monotonic()
    parts: dict[str, float] = {}
    shown = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %  {task.fields[left]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with shown:
        bar = shown.add_task("", total=total, left="")

        def told(spec: Any, done: int, groups: int) -> None:
            new = spec.name not in parts
            parts[spec.name] = done / groups
            now = sum(expected[name] * part for name, part in parts.items())
            spent = time.monotonic() - start
            # Until something is done, what was measured elsewhere is all that is known.
            left = (total - now) * (spent / now if now > 0.05 * total else 1 / at_once)
            place = f"{len(parts)}/{len(names)}"
            text = f"about {_minutes(left)} left"
            shown.update(bar, completed=now, description=f"{place} {spec.name}", left=text)
            if new and not console.is_terminal:
                console.print(f"{place} {spec.name}, {text}", style="dim", markup=False)

        yield told


def _summary(written: Any) -> None:
    """How many claims hold, by paper, and where to read on."""
    from sash.figures.papers import PAPERS
    from sash.figures.report.writing import KINDS

    out = stdout()
    table = Table("claims of", *KINDS, box=None)
    for paper in PAPERS.values():
        counts = written.counts(paper.name)
        if counts:
            table.add_row(paper.short, *(str(counts[kind]) for kind in KINDS))
    out.print(table)
    out.print(
        f"{len(written.drawn)} figures and tables: {written.page}, {written.html}", markup=False
    )

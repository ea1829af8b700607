"""`sash demo`: the whole way, from readings to a picture of answers."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from sash.cli.run import AS_JSON
from sash.cli.starting import started
from sash.cli.telling import fail, sentences, stderr, stdout, told_as_json

ROWS = 3_000_000


def demo(
    folder: Annotated[Path, typer.Option(help="Where it is made.")] = Path("demo"),
    rows: Annotated[int, typer.Option(min=2_000, help="How many readings.")] = ROWS,
    master: Annotated[str | None, typer.Option(help="Where Spark runs.")] = None,
    as_json: AS_JSON = False,
) -> None:
    """Make readings of smart plugs, run a pipeline over them in batch and as a stream, compare.

    The folder holds the pipeline file afterwards, to be changed and run again, the answers, and a
    picture of them: answers.png and answers.html.

    **Examples**

    - `sash demo`
    - `sash demo --rows 200000 --folder small`
    """
    with sentences("demo", as_json):
        from sash.demo.touring import DisagreementError, prepare, readings, tour
        from sash.pipeline.running import settings

        console = stderr()
        prepare(folder)
        shown = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        with shown:
            step = shown.add_task("making readings", total=rows)
            written = readings(folder, rows, lambda done: shown.update(step, completed=done))

        def tell(said: str) -> None:
            console.print(f"{said} …", style="dim", markup=False)

        def spark(pipeline: Any) -> AbstractContextManager[Any]:
            tell("starting Spark")
            return started("sash demo", master, None, settings(pipeline, {}))

        try:
            made = tour(folder, spark, written, tell, quiet=as_json)
        except DisagreementError as error:
            raise fail("demo", str(error)) from None
    if as_json:
        told_as_json(made.told())
        return
    out = stdout()
    for name, said in made.summary():
        out.print(f"{name:10} {said}", markup=False)
    out.print(f"{'picture':10} {made.picture}, {made.page}", markup=False)
    out.print(f"{'pipeline':10} {folder / 'smart_home.toml'}", markup=False)

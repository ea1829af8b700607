"""The `sash` command."""

from __future__ import annotations

from typing import Annotated

import typer

import sash
from sash.cli.demo import demo
from sash.cli.explain import explain
from sash.cli.figures import figures
from sash.cli.lists import algorithms, operators
from sash.cli.run import check, run
from sash.cli.state import state

app = typer.Typer(
    help="Incremental aggregation over sliding windows.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
for command in (run, check, explain, demo, figures, algorithms, operators, state):
    app.command()(command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"sash {sash.__version__}")
        raise typer.Exit


@app.callback()
def _sash(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Which version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    app()

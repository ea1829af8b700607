"""How commands speak: what was asked for on stdout, all else on stderr; colours in a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console

WRONG_FILE = 2
"""The exit code for what the user can mend in a file or on the command line."""
FAILED = 1
STOPPED = 130


def stderr() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=True)


def stdout() -> Console:
    return Console(highlight=False, soft_wrap=True)


def told_as_json(told: Any) -> None:
    typer.echo(json.dumps(told, indent=2, default=str))


def fail(command: str, sentence: str, code: int = FAILED) -> typer.Exit:
    """Say what went wrong; the exit to raise."""
    stderr().print(f"sash {command}: {sentence}", style="red", markup=False)
    return typer.Exit(code)


@contextmanager
def sentences(command: str, as_json: bool = False) -> Iterator[None]:
    """What the user can mend is told in sentences, without a traceback."""
    from sash.pipeline.problems import PipelineError
    from sash.stores.contract import StoreError

    try:
        yield
    except (typer.Exit, typer.BadParameter):  # is a RuntimeError to Python
        raise
    except PipelineError as error:
        if as_json:
            told_as_json({"problems": [problem.told() for problem in error.problems]})
        for problem in error.problems:
            stderr().print(str(problem), style="red", markup=False)
        raise typer.Exit(WRONG_FILE) from None
    except (
        *(ImportError, LookupError, OSError, RuntimeError, TypeError, ValueError),
        StoreError,
    ) as error:
        raise fail(command, first_lines(error)) from None
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        raise fail(command, first_lines(error)) from None


def first_lines(error: BaseException) -> str:
    """What Spark says is long: its first sentence, or that of the row that failed."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith(("RowError", "SavedError", "sash."))]
    said = next(iter(ours), None) or next(iter(lines), type(error).__name__)
    if said.startswith("An error occurred while calling"):  # Java, by no name that PySpark knows
        from sash.pipeline.causes import root_cause

        said = root_cause(error) or said
    return said.partition("JVM stacktrace")[0].strip()

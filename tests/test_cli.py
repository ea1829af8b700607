"""The `sash` command, as far as it needs no Spark."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

import sash
from sash.cli import app


def test_version() -> None:
    told = CliRunner().invoke(app, ["--version"])
    assert (told.exit_code, told.stdout) == (0, f"sash {sash.__version__}\n")


def test_help_tells_of_commands() -> None:
    told = CliRunner().invoke(app, [])
    assert "state" in told.output
    told = CliRunner().invoke(app, ["state", "--help"])
    assert told.exit_code == 0
    assert "sash state out/checkpoint --top 10" in told.output


def test_what_is_no_checkpoint(tmp_path: Path) -> None:
    """One sentence, and an exit code that scripts see."""
    told = CliRunner().invoke(app, ["state", str(tmp_path)])
    assert told.exit_code == 1
    assert "is not the checkpoint of a stream with state" in " ".join(told.output.split())
    assert "Traceback" not in told.output

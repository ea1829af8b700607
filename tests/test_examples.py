"""Each example runs as a reader would run it, and ends with what it should have shown."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"

SHOWN = {
    "tour.py": r"evict -> 6 +insert 1, evict -> 5$",
    "longest_calls.py": r"^\d\d changes; as looked up among all calls at \d+ minutes\.$",
}
"""A line of each that tells it went well. Examples check their answers themselves."""


def test_all_are_listed() -> None:
    assert {path.name for path in FOLDER.glob("*.py")} == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_example(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(FOLDER / name), "--quick"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(SHOWN[name], done.stdout, re.MULTILINE), done.stdout

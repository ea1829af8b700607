"""`sash figures --quick`: every experiment runs, and every figure, table and verdict is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sash.figures.claims.judging import NOT_MEASURED, Found
from sash.figures.claims.registry import judged
from sash.figures.report.writing import found_in
from sash.figures.spec import drawings, specs

FEW = 16
"""So many claims may need what small sizes do not show, or what no program is told here."""

# On one core, so one experiment at a time (test_running.py has several): the tests beside this
# one keep a core, and Spark, which gives up on a Python that is slow to start, is answered in time.
PROGRAM = """
import os

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from sash.cli import main

main()
"""


def test_everything(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "figures", "--quick", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5_000:]
    found: Found = found_in(tmp_path / "evaluation")
    assert set(found) == set(specs())
    page = (tmp_path / "evaluation.md").read_text("utf-8")
    whole = (tmp_path / "evaluation.html").read_text("utf-8")
    for drawing in drawings():
        assert f"### {drawing.label}: {drawing.title}" in page
        assert f'id="{drawing.name}"' in whole
    assert "Not drawn" not in page
    verdicts = judged(found)
    assert len(verdicts) >= 30
    missing = [each for each in verdicts if each.verdict.kind == NOT_MEASURED]
    assert len(missing) <= FEW, [each.claim.says for each in missing]

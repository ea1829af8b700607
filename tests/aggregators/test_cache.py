"""Compiled code on disk: found by the next process, safe for several at once, never in the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import numpy as np, sash
print(sash.rolling(np.arange(6.0), 3, sash.{operator}()).tolist())
"""


def start(cache: Path, operator: str = "Max") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(operator=operator)],
        env={**os.environ, "SASH_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.strip()


def code(cache: Path) -> dict[str, int]:
    """The machine code in the cache, and when each file was written."""
    return {p.name: p.stat().st_mtime_ns for p in cache.rglob("*.nb?")}


def test_another_process_finds_it(tmp_path: Path) -> None:
    first = finish(start(tmp_path))
    written = code(tmp_path)
    assert written
    assert finish(start(tmp_path)) == first
    assert code(tmp_path) == written


def test_several_cold_processes_at_once(tmp_path: Path) -> None:
    answers = {finish(process) for process in [start(tmp_path) for _ in range(4)]}
    assert answers == {"[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]"}
    assert finish(start(tmp_path)) in answers


def test_a_file_that_was_tampered_with_is_written_anew(tmp_path: Path) -> None:
    first = finish(start(tmp_path))
    for path in tmp_path.glob("*.py"):
        path.write_text("raise SystemExit('not ours')")
    assert finish(start(tmp_path)) == first


def test_machine_code_that_was_damaged_is_compiled_anew(tmp_path: Path) -> None:
    first = finish(start(tmp_path))
    for path in tmp_path.rglob("*.nb?"):
        path.write_bytes(path.read_bytes()[:40])
    assert finish(start(tmp_path)) == first


def test_no_place_to_write(tmp_path: Path) -> None:
    """A file stands where the folder should be: compiled in memory then."""
    occupied = tmp_path / "cache"
    occupied.write_text("")
    assert finish(start(occupied)) == "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]"

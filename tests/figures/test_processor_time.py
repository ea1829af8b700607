"""Processor time is that of a process and of all below it, those that have ended as well."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sash.figures.measures import processor_time
from sash.figures.measures.processor_time import Look, Spent, between, look, timed

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")

BURN = "import time\nwhile time.process_time() < 0.5: pass\n"
OF_A_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}])\n"
THEN_WAIT = "print('done', flush=True); input()"
TICK = 0.02
"""What is counted in hundredths of a second may be off by two of them."""


@linux
@pytest.mark.parametrize("program", [BURN, OF_A_CHILD], ids=["a child", "one that has ended"])
def test_what_is_below_a_process_is_counted(program: str) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", program + THEN_WAIT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    _, spent = timed(os.getpid(), child.stdout.readline)
    child.communicate("\n")
    assert spent is not None and spent.python >= 0.5 - TICK
    points = {point.metric: point.value for point in spent.points(10, "a row")}
    assert points["ns of Python a row"] >= (0.5 - TICK) * 1e8
    assert points["cores busy"] > 0


@linux
def test_a_process_itself_is_not_below_it() -> None:
    def burn() -> None:
        until = time.process_time() + 0.2
        while time.process_time() < until:
            pass

    passed, spent = timed(os.getpid(), burn)
    assert spent is not None and passed >= spent.passed > 0
    assert spent.java >= 0.2 - TICK


@linux
def test_threads_go_by_their_names() -> None:
    found = look(os.getpid())
    assert found is not None
    assert str(threading.main_thread().native_id) in found.threads


def test_parts_of_java() -> None:
    before = Look(1.0, 2.0, {"7": ("C2 CompilerThre", 1.0)}, {"8": 3.0, "9": 1.0})
    threads = {"7": ("C2 CompilerThre", 1.5), "10": ("GC Thread#0", 0.25), "11": ("main", 4.0)}
    after = Look(5.0, 4.0, threads, {"8": 3.5, "12": 0.5})
    assert between(before, after) == Spent(4.0, 2.0, 1.0, 0.5, 0.25)


def test_nothing_without_proc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(processor_time, "PROC", tmp_path)
    assert look(os.getpid()) is None
    passed, spent = timed(os.getpid(), lambda: None)
    assert passed >= 0 and spent is None

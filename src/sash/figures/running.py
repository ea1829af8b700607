"""Run experiments: each in a process of its own, so that one that fails takes no other along.

A process that measures sends its rows after each group; they are written when the experiment is
done. What it prints goes to a log, whose end is shown if it fails.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from sash.figures import results
from sash.figures.cases import Row, measured
from sash.figures.measures.registry import measure_named
from sash.figures.spec import Spec

TAIL = 15


@dataclass
class Outcome:
    """How one experiment ended."""

    spec: Spec
    rows: list[Row] = field(default_factory=list)
    seconds: float = 0.0
    failure: str = ""


Told = Callable[[Spec, int, int], None]
"""Is told how many groups of an experiment are done, of how many."""


def run(
    experiments: Sequence[Spec],
    scale: str,
    folder: Path,
    facts: dict[str, str],
    told: Told,
    *,
    at_once: int = 1,
) -> list[Outcome]:
    """Measure these experiments; those that end well are in the folder at once, as CSV.

    at_once: how many run beside each other, where what they measure is not what matters.
    """
    outcomes = [Outcome(spec) for spec in experiments]
    waiting = list(outcomes)
    if at_once > 1:
        # What takes longest begins first, so that nothing long is left over at the end.
        waiting.sort(key=lambda outcome: outcome.spec.takes[scale], reverse=True)
    running: list[_Running] = []
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(_Running(waiting.pop(0), scale, folder, told))
            ready = wait([each.here for each in running])
            for each in [each for each in running if each.here in ready]:
                if not each.goes_on():
                    running.remove(each)
                    _end(each, folder, {**facts, "scale": scale})
    except BaseException:
        for each in running:
            each.process.terminate()
        for each in running:
            each.process.join()
        raise
    logs = folder / "logs"
    if logs.exists() and not any(logs.iterdir()):
        logs.rmdir()
    return outcomes


class _Running:
    """An experiment in a process of its own, and what that process has told."""

    def __init__(self, outcome: Outcome, scale: str, folder: Path, told: Told) -> None:
        self.outcome, self.told = outcome, told
        self.log = folder / "logs" / f"{outcome.spec.name}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        context = _context()
        self.here, there = context.Pipe(duplex=False)
        arguments = (outcome.spec, scale, str(self.log), there)
        self.process = context.Process(target=_measure, args=arguments)
        self.start = time.monotonic()
        told(outcome.spec, 0, 1)
        self.process.start()
        there.close()

    def goes_on(self) -> bool:
        """Take the next that it tells; False if that was all, and its process has ended."""
        outcome = self.outcome
        try:
            kind, *said = self.here.recv()
        except (EOFError, OSError):  # the latter in the middle of what it tells
            kind, said = "died", []
        if kind == "rows":
            done, groups, rows = said
            outcome.rows += rows
            self.told(outcome.spec, done, groups)
            return True
        self.process.join()
        self.here.close()
        outcome.seconds = time.monotonic() - self.start
        if kind == "failed":
            outcome.failure = said[0]
        elif kind == "died":
            outcome.failure = f"its process ended with exit code {self.process.exitcode}."
            if self.log.exists():
                printed = self.log.read_text(errors="replace").splitlines()
                outcome.failure = "\n".join([outcome.failure, *printed[-TAIL:]])
        elif not outcome.rows:
            outcome.failure = "it has measured nothing."
        return False


def _end(ended: _Running, folder: Path, facts: dict[str, str]) -> None:
    """Write what was measured, if it ended well."""
    outcome, name = ended.outcome, ended.outcome.spec.name
    if outcome.failure:
        ended.told(outcome.spec, 1, 1)
        return
    known = {**facts, "experiment": name, "seconds": f"{outcome.seconds:.0f}"}
    known["passes"] = str(outcome.spec.passes[facts["scale"]])
    results.write(folder / f"{name}.csv", outcome.rows, known)
    ended.log.unlink(missing_ok=True)
    for missing in results.Results(outcome.rows, {}).missing:
        print(f"{name}: {missing} is not installed, and left out.", file=sys.stderr)


def _context() -> Any:
    """Processes that begin with everything imported, where the system can do that."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["sash.figures.measures.registry"])
    return context


def _measure(spec: Spec, scale: str, log: str, told: Connection) -> None:
    """What the other process does."""
    _into_log(log)
    try:
        groups = measure_named(spec.measure)(**spec.settings[scale])
        passes = spec.rounds_by_pass(scale)
        for done, (turns, group) in enumerate(product(passes, groups), 1):
            rows = list(measured(group, turns))
            told.send(("rows", done, len(passes) * len(groups), rows))
            gc.collect()
        told.send(("done",))
    except BaseException:
        told.send(("failed", traceback.format_exc()))
        raise
    finally:
        told.close()


def _into_log(log: str) -> None:
    """Whatever this process and those it starts print goes to a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)

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
from multiprocessing.connection import Connection
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
    experiments: Sequence[Spec], scale: str, folder: Path, facts: dict[str, str], told: Told
) -> list[Outcome]:
    """Measure these experiments; those that end well are in the folder at once, as CSV."""
    found = []
    for spec in experiments:
        log = folder / "logs" / f"{spec.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        outcome = _apart(spec, scale, log, told)
        if not outcome.failure and not outcome.rows:
            outcome.failure = "it has measured nothing."
        if not outcome.failure:
            known = {**facts, "experiment": spec.name, "scale": scale}
            known["seconds"] = f"{outcome.seconds:.0f}"
            results.write(folder / f"{spec.name}.csv", outcome.rows, known)
            log.unlink(missing_ok=True)
            for name in results.Results(outcome.rows, {}).missing:
                print(f"{spec.name}: {name} is not installed, and left out.", file=sys.stderr)
        found.append(outcome)
    logs = folder / "logs"
    if logs.exists() and not any(logs.iterdir()):
        logs.rmdir()
    return found


def _apart(spec: Spec, scale: str, log: Path, told: Told) -> Outcome:
    """Measure one experiment in another process."""
    context = _context()
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(spec, scale, str(log), there))
    outcome = Outcome(spec)
    start = time.monotonic()
    told(spec, 0, 1)
    process.start()
    there.close()
    try:
        while True:
            kind, *said = here.recv()
            if kind == "rows":
                done, groups, rows = said
                outcome.rows += rows
                told(spec, done, groups)
            elif kind == "failed":
                outcome.failure = said[0]
            else:
                break
    except EOFError:
        process.join()
        if not outcome.failure:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-TAIL:])
            outcome.failure = f"its process ended with exit code {process.exitcode}.\n{tail}"
    except BaseException:
        process.terminate()
        raise
    finally:
        process.join()
        here.close()
    outcome.seconds = time.monotonic() - start
    return outcome


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
        for done, group in enumerate(groups, 1):
            rows = list(measured(group, spec.rounds[scale]))
            told.send(("rows", done, len(groups), rows))
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

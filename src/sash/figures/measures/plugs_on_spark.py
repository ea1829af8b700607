"""Smart plugs on Spark: the maximum over each plug's last rows, with one task at a time and more.

Each number of tasks has a session of its own, and each session a process of its own. All of them
are there at once, and are asked in turn.
"""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Sequence
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sash
from sash.figures.cases import Case, Group, Point
from sash.figures.data import plug_loads
from sash.figures.measures import spark_ground
from sash.figures.measures.installed import installed, missing
from sash.figures.measures.processor_time import java_of, timed

NS_AN_EVENT = "ns an event"
SERIES = ("sash", "spark", "spark, segment tree")


def plugs_on_spark(
    *,
    rows: int,
    size: int,
    parallelism: Sequence[int],
    fewer: dict[str, int],
    sample: int,
    warm: bool,
) -> list[Group]:
    """One panel; x is how many tasks run at a time.

    fewer: how many rows those have that would take minutes; sample: how many there are whose
    answers are compared; warm: whether each runs once before it is timed.
    """
    if not installed(["spark"]):
        return missing(["spark"])

    def group() -> list[Case]:
        folder = spark_ground.folder()
        for count in {rows, sample, *fewer.values()}:
            _write(folder / f"{count}.parquet", count)
        sessions = {many: Session(many, size, folder) for many in parallelism}
        for session in sessions.values():
            session.wait()
        return [
            Case(
                "Max",
                name,
                many,
                partial(session.ask, name, "points", fewer.get(name, rows)),
                partial(session.ask, name, "answers", sample),
                timed=warm,
            )
            for many, session in sessions.items()
            for name in SERIES
        ]

    return [group]


def _write(path: Path, rows: int) -> None:
    loads = plug_loads(rows)
    names = {"k": "plug", "t": "timestamp", "v": "value"}
    table = pa.table({new: np.ascontiguousarray(loads[old]) for new, old in names.items()})
    pq.write_table(table, path, row_group_size=100_000)


class Session:
    """A Spark session in another process, which does what it is asked."""

    def __init__(self, tasks: int, size: int, folder: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_serve, args=(there, tasks, size, folder))
        self._process.start()
        there.close()
        Finalize(None, self.close, exitpriority=20)

    def wait(self) -> Any:
        """For the answer to what was asked, or for the session to be there."""
        try:
            kind, said = self._here.recv()
        except EOFError:
            raise RuntimeError("the process of a Spark session has ended.") from None
        if kind == "failed":
            raise RuntimeError(said)
        return said

    def ask(self, name: str, what: str, rows: int) -> Any:
        """What one of SERIES needs for so many rows: its `answers`, or the `points`."""
        self._here.send((name, what, rows))
        return self.wait()

    def close(self) -> None:
        self._here.close()
        self._process.join()


def _serve(told: Connection, tasks: int, size: int, folder: Path) -> None:
    """What the other process does, until nobody asks any more."""
    try:
        from sash.figures.measures import sparks_own as own

        spark = spark_ground.session(f"local[{tasks}]")
        most: Any = sash.Max
        asked = {
            "sash": lambda df: own.slid(df, size, most("v")),
            "spark": lambda df: own.windowed(df, own.SPARKS["Max"], own.frame(size), False),
            "spark, segment tree": lambda df: own.windowed(
                df, own.SPARKS["Max"], own.frame(size), True
            ),
        }
        told.send(("there", None))
        while True:
            name, what, rows = told.recv()
            df = spark.read.parquet(str(folder / f"{rows}.parquet"))
            if what == "answers":
                told.send(("answers", own.in_order(asked[name](df))))
                continue
            seconds, spent = timed(java_of(spark), partial(own.answer_into_noop, asked[name], df))
            points = [Point(NS_AN_EVENT, seconds * 1e9 / rows)]
            told.send(("points", points + (spent.points(rows, "an event") if spent else [])))
    except EOFError:
        return
    except BaseException:
        told.send(("failed", traceback.format_exc()))
        raise

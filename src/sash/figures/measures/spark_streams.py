"""Windows on a stream: `sash.spark.sliding`, and what Spark has of its own there."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from sash.figures.cases import Case, Group, Point
from sash.figures.measures.processor_time import Look, between, java_of, look
from sash.figures.measures.spark_data import first_files, write_batches

ROWS_A_SECOND = "rows/s"
EACH_ROW = "last hour at each row"
EACH_SECOND = "last minute at each second"
MANY_KEYS = "last hour, a row of each key"
PARTITIONS = {"spark.sql.shuffle.partitions": "2"}
TASKS = 2
"""So many run at a time."""
FEW = ", few rows"
WITH_FEW = {"sash": 6, "spark, mapInArrow alone": 6, "spark, window() as it comes": 2}
"""Run with few rows as well, in so many micro-batches: what one costs whatever its rows."""


class Ground(Protocol):
    """Where streams run."""

    @property
    def folder(self) -> Path: ...

    @property
    def spark(self) -> Any: ...


class Stream:
    """One question to the files of a folder, one in each micro-batch."""

    def __init__(
        self, ground: Ground, made: Callable[[Any], Any], folder: Path, sample: Path, rows: int
    ) -> None:
        self._ground, self._made, self._rows = ground, made, rows
        self._folder, self._sample = folder, sample
        self.settings: dict[str, str] = PARTITIONS
        self.few: Path | None = None
        self._told: list[Any] = []
        self._looks: dict[int, Look | None] = {}

    def _run(self, folder: Path, into: list[Any] | None = None) -> list[Any]:
        from sash.figures.measures import sparks_own as own

        spark = self._ground.spark
        java = java_of(spark)
        looks = self._looks = {}

        def done(batch: int) -> None:
            looks[batch] = look(java)

        with own.settings_of(spark, self.settings):
            made = self._made(own.source(spark, folder))
            return own.run_stream(made, tempfile.mkdtemp(dir=self._ground.folder), into, done)

    def run(self) -> list[Point]:
        """What counts is the median of the later half of micro-batches.

        In the first ones workers start and compile, and windows are not full yet.
        """
        later = _later_half(self._told or self._run(self._folder))
        seconds = median(each["durationMs"]["triggerExecution"] / 1000 for each in later)
        points = [Point(ROWS_A_SECOND, self._rows / seconds), *_parts(later)]
        before = self._looks.get(later[0]["batchId"] - 1)
        after = self._looks.get(later[-1]["batchId"])
        if before and after:
            points += between(before, after).points(self._rows * len(later), "a row")
        if self.few:
            points += _parts(_later_half(self._run(self.few)), FEW)
        return points

    def answers(self) -> Any:
        """By key and time, up to where the last file begins: what follows may still be open."""
        import pandas as pd

        found: list[Any] = []
        told = self._run(self._sample, found)
        if self._sample == self._folder:
            self._told = told
        last = pd.read_parquet(max(self._sample.glob("*.parquet")))
        until = last["t"].min().value // 1_000
        answers = pd.concat(found).sort_values(["k", "t"])
        return answers["a"].to_numpy(float)[answers["t"].to_numpy() < until]


def _later_half(told: list[Any]) -> list[Any]:
    return told[len(told) // 2 :]


def _parts(told: list[Any], which: str = "") -> list[Point]:
    """What Spark tells of the time of a micro-batch.

    What it tells of the state is that of all tasks together, of which some run at a time. Updates
    are all that is done with rows there, in Python too.
    """

    def state(each: Any, name: str) -> float:
        return float(sum(operator[name] for operator in each["stateOperators"])) / TASKS

    def beside(each: Any) -> float:
        spent = each["durationMs"]
        return float(spent["triggerExecution"] - spent["addBatch"])

    parts: dict[str, Callable[[Any], float]] = {
        "ms a micro-batch": lambda each: float(each["durationMs"]["triggerExecution"]),
        "ms of plans and logs": beside,
        "ms of updates": lambda each: state(each, "allUpdatesTimeMs"),
        "ms of commits": lambda each: state(each, "commitTimeMs"),
    }
    return [Point(name + which, median(map(part, told))) for name, part in parts.items()]


class Streams:
    """Micro-batches of `rows` rows of `keys` keys, each of which has one in a second on average.

    many_keys: as many keys, and rows in a micro-batch, where each key has one; batches: how many
    micro-batches there are; fewer: how many for some; sample: how many rows a micro-batch has in
    which answers are compared, or 0 if those that are timed are; left_out: what takes too long.
    """

    def __init__(
        self,
        ground: Ground,
        *,
        rows: int,
        keys: int,
        many_keys: int,
        batches: int,
        sample: int,
        fewer: dict[str, int],
        left_out: list[str],
    ) -> None:
        self._ground = ground
        self._rows, self._keys, self._many_keys, self._batches = rows, keys, many_keys, batches
        self._sample, self._fewer, self._left_out = sample, fewer, left_out

    def groups(self) -> list[Group]:
        return [partial(self._group, panel) for panel in (EACH_ROW, EACH_SECOND, MANY_KEYS)]

    def _group(self, panel: str) -> list[Case]:
        from sash.figures.measures import sparks_own as own

        asked: Mapping[str, Callable[[Any], Any]] = {
            EACH_ROW: {
                "sash": own.each_row,
                "spark, applyInPandasWithState": own.by_lists,
                "spark, mapInArrow alone": own.untouched,
            },
            EACH_SECOND: {
                "sash": own.each_second,
                "spark, window()": own.by_window,
                "spark, window() as it comes": own.by_window,
            },
            MANY_KEYS: {
                "sash": own.each_row,
                "spark, transformWithState": own.by_state_of_key,
            },
        }[panel]
        many = panel == MANY_KEYS
        rows = keys = self._many_keys
        if not many:
            rows, keys = self._rows, self._keys
        folder = self._files(f"{rows} of {keys}", rows, keys, many)
        sample = folder
        if self._sample:
            few = self._sample if many else min(self._sample, 3)
            sample = self._files(f"sample of {few}", self._sample, few, many)
        cases = []
        for name, made in asked.items():
            if name in self._left_out:
                continue
            own_folder = first_files(folder, self._fewer[name]) if name in self._fewer else folder
            stream = Stream(
                self._ground, made, own_folder, sample if self._sample else own_folder, rows
            )
            if name.endswith("as it comes"):
                stream.settings = own.SPARKS_SETTINGS
            if self._sample and not many and name in WITH_FEW:
                stream.few = first_files(self._few_rows(), WITH_FEW[name])
            answers = None if made is own.untouched else stream.answers
            cases.append(Case(panel, name, keys, stream.run, answers, timed=False))
        return cases

    def _few_rows(self) -> Path:
        folder = self._ground.folder / "few rows"
        if not folder.exists():
            batches, keys = max(WITH_FEW.values()), min(self._sample, 3)
            write_batches(folder, batches, self._sample, keys, 1_000_000 // keys, False)
        return folder

    def _files(self, name: str, rows: int, keys: int, in_turn: bool) -> Path:
        folder = self._ground.folder / name
        if not folder.exists():
            step = 100 if in_turn else 1_000_000 // keys
            batches = self._batches if rows != self._sample else 3
            write_batches(folder, batches, rows, keys, step, in_turn)
        return folder

"""Windows on a stream: `sash.spark.sliding`, and what Spark has of its own there."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from sash.figures.cases import Case, Group, Point
from sash.figures.measures.spark_data import first_files, write_batches

ROWS_A_SECOND = "rows/s"
EACH_ROW = "last hour at each row"
EACH_SECOND = "last minute at each second"
MANY_KEYS = "last hour, a row of each key"
PARTITIONS = {"spark.sql.shuffle.partitions": "2"}


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
        self._told: list[Any] = []

    def _run(self, folder: Path, into: list[Any] | None = None) -> list[Any]:
        from sash.figures.measures import sparks_own as own

        spark = self._ground.spark
        with own.settings_of(spark, self.settings):
            made = self._made(own.source(spark, folder))
            return own.run_stream(made, tempfile.mkdtemp(dir=self._ground.folder), into)

    def run(self) -> list[Point]:
        """What counts is the median of the later half of micro-batches.

        In the first ones workers start and compile, and windows are not full yet.
        """
        told = self._told or self._run(self._folder)
        spent = [each["durationMs"]["triggerExecution"] / 1000 for each in told]
        return [Point(ROWS_A_SECOND, self._rows / median(spent[len(spent) // 2 :]))]

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
            answers = None if made is own.untouched else stream.answers
            cases.append(Case(panel, name, keys, stream.run, answers, timed=False))
        return cases

    def _files(self, name: str, rows: int, keys: int, in_turn: bool) -> Path:
        folder = self._ground.folder / name
        if not folder.exists():
            step = 100 if in_turn else 1_000_000 // keys
            batches = self._batches if rows != self._sample else 3
            write_batches(folder, batches, rows, keys, step, in_turn)
        return folder

"""Running a pipeline as a stream whose windows are in a store.

Each micro-batch comes to the driver, goes into the windows there, and its answers are written;
then the store has the windows, and with them the number of the micro-batch. So one that Spark runs
again after a stop is either in a window already, with its answers written, or not at all: then it
goes in now, and its answers take the place of those that may have been written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sash.pipeline.definition import Pipeline, State
from sash.pipeline.problems import PipelineError
from sash.pipeline.rows import ASIDE, Frame
from sash.pipeline.running import refused
from sash.pipeline.sinks import OPEN
from sash.pipeline.states import place_of
from sash.pipeline.streaming import StreamRun
from sash.spark.files import Files
from sash.spark.stored_stream import StoredStream
from sash.stores.addresses import store_at
from sash.stores.contract import Store, StoreError
from sash.windows.cutting import NEVER


class StoredStreamRun(StreamRun):
    """A pipeline that runs as a stream, with [state]."""

    def _ask(self, rows: Frame, several: list[dict[str, Any]]) -> None:
        self.stored = StoredStream(rows, several, ASIDE)
        self.stream = self.stored

    @contextmanager
    def _windows(self) -> Iterator[None]:
        try:
            store = store_at(self._state.address)
        except StoreError as error:
            raise self._no_store(error) from error
        try:
            self._open(store)
            yield
        finally:
            self.stored.let_go()
            store.close()

    @property
    def _state(self) -> State:
        assert self.pipeline.state is not None  # or it is for StreamRun
        return self.pipeline.state

    def _no_store(self, error: Exception) -> PipelineError:
        return refused(self.pipeline, ("state", "store"), f"state: store: {error}")

    def _open(self, store: Store) -> None:
        begun = self._committed()
        for k, question in enumerate(self.pipeline.questions):
            try:
                had = self.stored.open(k, store, place_of(self.pipeline, question))
                if begun is not None:
                    self.stored.windows[k].check_has(*begun)
            except StoreError as error:
                raise self._no_store(error) from error
            except ValueError as error:  # of another window, or tampered with
                raise refused(
                    self.pipeline,
                    ("queries", question.name),
                    f"queries.{question.name}: its window in {self._state} cannot go on: {error}",
                ) from error
            if had and begun is None:
                self.tell(f"{question.name} goes on with its window of {had:,} rows in the store")

    def _committed(self) -> tuple[str, int] | None:
        """The stream of the checkpoint, and its last micro-batch; None if there is none."""
        folder = Files(self.spark, self.pipeline.checkpoint)
        batches = [int(name) for name in folder.names(within="commits") if name.isdigit()]
        known = folder.read("metadata")
        return (json.loads(known)["id"], max(batches)) if batches and known else None

    def _answer(self, shared: Frame, batch: int) -> None:
        stored, ran = self.stored, self.ran
        rows = stored.good(shared)
        most_late = 0
        for k, question in enumerate(self.pipeline.questions):
            window = stored.windows[k]
            if window.has(self.id, batch):
                continue  # its answers were written before it was stored
            found, late = window.push(rows.of(window.asked.sent), rows.newest)
            ran.given += self._write(question, stored.answered(k, found, shared), batch)
            window.sync(self.id, batch)
            most_late = max(most_late, late)
            if window.watermark != NEVER:
                ran.watermark = stored.shown(window.watermark)
        ran.batches = (ran.batches or 0) + 1
        ran.rows += rows.count
        ran.late += most_late

    def _answer_open(self) -> None:
        for k, question in enumerate(self.pipeline.questions):
            found = self.stored.windows[k].if_no_more_came()
            answers = self.stored.answered(k, found, self.stored.answers)
            self.ran.open_answers[question.name] = self.writer.micro_batch(question, answers, OPEN)


def stream_run(pipeline: Pipeline, spark: Any, **options: Any) -> StreamRun:
    """The pipeline as a stream, with its windows where the file says."""
    kind = StreamRun if pipeline.state is None else StoredStreamRun
    return kind(pipeline, spark, **options)

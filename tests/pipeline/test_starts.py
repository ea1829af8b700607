"""How often a stream is started, without Spark: it is a fake that comes too late, or fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
from sash.pipeline import read_pipeline
from sash.pipeline.streaming import STARTS, StreamRun

FILE = """
[source]
format = "csv"
path   = "data"
schema = { ts = "timestamp", load = "double" }
time   = "ts"

[queries.recent]
window = 3
mean   = { op = "Mean", of = "load" }

[sink]
format = "json"
path   = "answers"
"""
LATE = "java.io.IOException: Python worker failed to connect back."


class Starting(StreamRun):
    """A run of which each start ends with the next of these errors, then none."""

    def start(self, *errors: Exception | None) -> int:
        self.errors, self.said = list(errors), list[str]()
        self.tell = self.said.append
        self.stream = Anything()
        self._stream()
        return len(errors) - len(self.errors)

    def _until_ended(self, query: Any) -> None:
        error = self.errors.pop(0)
        if error is not None:
            raise error


class Anything:
    """Whatever is asked of it, it is itself."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self


@pytest.fixture
def run(tmp_path: Path) -> Starting:
    (tmp_path / "data").mkdir()
    path = tmp_path / "some.toml"
    path.write_text(FILE, encoding="utf-8")
    return Starting(read_pipeline(path), spark=None)


def test_again_if_python_came_late(run: Starting) -> None:
    assert run.start(RuntimeError(LATE), None) == 2
    assert run.said == ["Spark gave up on a Python that was slow to start; starting again"]


def test_not_for_ever(run: Starting) -> None:
    with pytest.raises(RuntimeError, match="failed to connect back"):
        run.start(*[RuntimeError(LATE)] * STARTS, None)
    assert run.errors == [None]


def test_not_for_other_reasons(run: Starting) -> None:
    with pytest.raises(ValueError, match="other"):
        run.start(ValueError("other"), None)
    assert not run.said


def test_not_in_the_middle_of_a_micro_batch(run: Starting) -> None:
    """It has begun, and would count or push its rows again."""
    run.failure = RuntimeError(LATE)
    with pytest.raises(RuntimeError, match="failed to connect back"):
        run.start(run.failure, None)
    assert run.errors == [None]

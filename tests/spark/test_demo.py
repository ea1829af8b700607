"""The demo, on few readings: what it finds, draws and refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from sash.demo import touring
from sash.demo.comparing import difference

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_whole_way(spark: SparkSession, settings: Callable[..., None], tmp_path: Path) -> None:
    settings(**{"spark.sql.shuffle.partitions": 2})

    @contextmanager
    def session(pipeline: Any) -> Iterator[Any]:
        yield spark

    folder = tmp_path / "demo"
    touring.prepare(folder)
    written = touring.readings(folder, 12_000, lambda done: None)
    made = touring.tour(folder, session, written, lambda said: None)
    assert made.batch.answers.keys() == {"load_1h", "recent"}
    assert made.batch.rows == made.stream.rows == made.batch.answers["recent"]
    assert sum(made.batch.set_aside.values()) == sum(written.malformed.values()) > 0
    assert made.stream.batches == 6
    assert made.picture.stat().st_size > 20_000
    told = made.page.read_text(encoding="utf-8")
    for _, said in made.summary():
        assert said in told
    touring.prepare(folder)  # what it left is its own to remove
    assert not (folder / "answers").exists()


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(ValueError, match=r"such as thesis\.txt: choose another folder"):
        touring.prepare(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_differences_are_found() -> None:
    one = pa.table({"k": ["a", "b"], "n": [1, 2], "x": [1.0, 2.0]})
    assert difference(one, one.take([1, 0])) is None
    almost = one.set_column(2, "x", pa.array([1.0, 2.0 + 4e-16]))
    assert difference(one, almost) is None
    for other, why in (
        (one.slice(1), "there are 2 answers and 1"),
        (one.rename_columns(["k", "n", "y"]), "columns are"),
        (one.set_column(1, "n", pa.array([1, 3])), "n differs"),
        (one.set_column(2, "x", pa.array([1.0, 2.1])), "x is 2.0 in one and 2.1 in the other"),
        (one.set_column(2, "x", pa.array([1.0, None])), "x is null in different rows"),
    ):
        found = difference(one, other)
        assert found is not None and why in found


def test_lost_rows_are_found(tmp_path: Path) -> None:
    """The demo does not trust its own pipeline."""
    from sash.pipeline import read_pipeline
    from sash.pipeline.running import Ran

    touring.prepare(tmp_path / "demo")
    written = touring.readings(tmp_path / "demo", 2_000, lambda done: None)
    pipeline = read_pipeline(tmp_path / "demo" / "smart_home.toml")
    good = Ran(pipeline, rows=10, set_aside=dict(written.malformed))
    touring.check_counts(written, good, good)
    for bad in (replace(good, rows=9), replace(good, late=1), replace(good, set_aside={})):
        with pytest.raises(touring.DisagreementError):
            touring.check_counts(written, good, bad)

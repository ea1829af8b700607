"""The answers of Spark's window() and session_window, recorded in tests/fixtures/spark_windows.

`make fixtures` asks Spark anew. A window is told by its key, start and end; each must be there
once, and no other, however the rows are given.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash.windows import definitions

FILES = sorted((Path(__file__).parents[1] / "fixtures" / "spark_windows").glob("*.json"))
UNKEYED = [path for path in FILES if '"key"' not in path.read_text(encoding="utf-8")]

OPERATOR = sash.Together(
    rows=sash.Count("row"),  # count(*): this column is never null
    n=sash.Count("value"),
    sum=sash.Sum("value"),
    min=sash.Min("value"),
    max=sash.Max("value"),
    mean=sash.Mean("value"),
    std=sash.StdDev("value"),
)

Where = tuple[str | None, datetime, datetime]
"""Key, start, end."""


@dataclass(frozen=True)
class Recorded:
    definition: Any
    times: pa.Array
    keys: pa.Array | None
    values: pa.Table
    answers: dict[Where, dict[str, Any]]

    @classmethod
    def read(cls, path: Path) -> Recorded:
        given = json.loads(path.read_text(encoding="utf-8"))
        rows, answers = given["rows"], given["answers"]
        columns = {"row": [1] * len(rows), "value": [number(row["value"]) for row in rows]}
        types = pa.schema([("row", pa.int64()), ("value", pa.float64())])
        keyed = "key" in rows[0]
        return cls(
            definitions.from_dict(given["definition"]),
            pa.array([time(row["time"]) for row in rows], pa.timestamp("us")),
            pa.array([row["key"] for row in rows]) if keyed else None,
            pa.table(columns, types),
            {
                (row.pop("key", None), time(row.pop("start")), time(row.pop("end"))): {
                    name: number(v) for name, v in row.items()
                }
                for row in answers
            },
        )

    def window(self, **options: Any) -> Any:
        kind = sash.Window if self.keys is None else sash.KeyedWindow
        return kind(OPERATOR, self.definition, **options)

    def push(self, window: Any, rows: Any) -> Any:
        """Push the rows at these positions."""
        keys = {} if self.keys is None else {"keys": self.keys.take(rows)}
        return window.push_many(self.values.take(rows), self.times.take(rows), **keys)


def time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def number(value: Any) -> Any:
    """JSON has no words for NaN and infinity: they are recorded as text."""
    return float(value) if isinstance(value, str) else value


def told(answers: Any) -> Iterator[tuple[Where, dict[str, Any]]]:
    keys = [None] * len(answers) if answers.keys is None else pa.array(answers.keys).to_pylist()
    starts, ends = (
        np.asarray(times).astype("datetime64[us]").tolist()
        for times in (answers.starts, answers.times)
    )
    found = answers.values.to_pylist()
    return zip(zip(keys, starts, ends, strict=True), found, strict=True)


def agree(found: list[tuple[Where, dict[str, Any]]], recorded: Recorded) -> None:
    where = [window for window, _ in found]
    assert len(where) == len(set(where)), "a window was answered twice"
    assert set(where) == set(recorded.answers)
    for window, answer in found:
        same(answer, recorded.answers[window], window)


def same(found: dict[str, Any], spark: dict[str, Any], window: Any) -> None:
    for name, expected in spark.items():
        if name == "sum" and expected is None:  # of no value: Spark's is null, ours 0
            expected = 0
        if expected is None:
            assert found[name] is None, (window, name)
        else:
            np.testing.assert_allclose(
                found[name], expected, rtol=1e-9, atol=1e-9, err_msg=f"{name} of {window}"
            )


def name(path: Path) -> str:
    return path.stem


@pytest.fixture(params=FILES, ids=name)
def recorded(request: pytest.FixtureRequest) -> Recorded:
    return Recorded.read(request.param)


@pytest.fixture(params=UNKEYED, ids=name)
def unkeyed(request: pytest.FixtureRequest) -> Recorded:
    return Recorded.read(request.param)


def test_something_is_recorded() -> None:
    assert len(FILES) >= 20 and len(UNKEYED) >= 5


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_in_chunks(recorded: Recorded, chunk: int) -> None:
    window = recorded.window()
    found: list[Any] = []
    for start in range(0, len(recorded.times), chunk):
        rows = np.arange(start, min(start + chunk, len(recorded.times)))
        found += told(recorded.push(window, rows))
    found += told(window.finish())
    agree(found, recorded)


def test_in_any_order(recorded: Recorded) -> None:
    """No row is late if rows may be as late as they are far apart."""
    micros = recorded.times.cast(pa.int64()).to_numpy()
    window = recorded.window(lateness=f"{micros[-1] - micros[0]}us")
    found: list[Any] = []
    for rows in np.array_split(np.random.default_rng(5).permutation(len(micros)), 4):
        found += told(recorded.push(window, rows))
    found += told(window.finish())
    assert window.late == 0
    agree(found, recorded)


def test_rolling(unkeyed: Recorded) -> None:
    found = sash.rolling(unkeyed.values, unkeyed.definition, OPERATOR, times=unkeyed.times)
    agree(list(told(found)), unkeyed)


def test_row_by_row(unkeyed: Recorded) -> None:
    """push gives one answer or None where a row completes at most one window, else Answers."""
    window = unkeyed.window()
    found: list[Any] = []
    for row, when in zip(unkeyed.values.to_pylist(), unkeyed.times.to_pylist(), strict=True):
        given = window.push(row, when)
        if isinstance(given, sash.Answers):
            found += given
        elif given is not None:
            found.append(given)
    found += window.finish()
    in_order = sorted(unkeyed.answers, key=lambda where: where[2])
    assert len(found) == len(in_order)
    for answer, where in zip(found, in_order, strict=True):
        same(answer._asdict(), unkeyed.answers[where], where)

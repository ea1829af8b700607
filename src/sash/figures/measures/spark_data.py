"""Rows for Spark, as Parquet files: of keys, times and values."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def write_rows(path: Path, rows: int, keys: int) -> Path:
    """One file, in order of time, as rows would have come, of any key."""
    rng = np.random.default_rng(rows)
    columns = {
        "k": pa.array(rng.integers(0, keys, rows)),
        "t": pa.array(np.cumsum(rng.integers(1, 2_000_000, rows)), pa.timestamp("us", "UTC")),
        "v": pa.array(rng.normal(size=rows)),
    }
    pq.write_table(pa.table(columns), path, row_group_size=200_000)
    return path


def write_batches(
    folder: Path, batches: int, rows: int, keys: int, step: int, in_turn: bool
) -> Path:
    """A file for each micro-batch; `step` microseconds lie between rows.

    in_turn: keys come one after the other, not any.
    """
    folder.mkdir(parents=True)
    draw = np.random.default_rng(2)
    for number in range(batches):
        own = np.arange(rows) % keys if in_turn else draw.integers(0, keys, rows)
        times = (np.arange(number * rows, (number + 1) * rows) * step).astype("datetime64[us]")
        table = pa.table(
            {
                "k": pa.array(np.char.add("key ", own.astype(str))),
                "t": pa.array(times, pa.timestamp("us", "UTC")),
                "v": draw.normal(size=rows),
            }
        )
        path = folder / f"{number:04d}.parquet"
        pq.write_table(table, path, row_group_size=max(rows // 4, 1))
        os.utime(path, (number + 1, number + 1))
    return folder


def first_files(folder: Path, count: int) -> Path:
    """A folder of the first files of another."""
    few = folder.parent / f"{folder.name}-{count}"
    if not few.exists():
        few.mkdir()
        for path in sorted(folder.glob("*.parquet"))[:count]:
            os.link(path, few / path.name)
    return few

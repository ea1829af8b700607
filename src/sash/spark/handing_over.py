"""What one worker leaves for another on the disk of their machine, as going by Spark takes longer.

Segments are for workers that have missed them: Spark hands a shard's task to any that is free, and
reading state through Spark takes ten times as long as reading a file. What is found is only
believed if its tokens are those that were committed. Answers are for the worker that unpacks them,
which belongs to the same task.

The folder is one that Spark removes when it ends.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

KEPT = 16
"""So many segments of a shard are left at most."""
WORTH = 1 << 16
"""Shorter ones are read through Spark as fast."""


def leave(stream: bytes, shard: int, number: int, data: bytes) -> None:
    """Leave a segment. If that fails, whoever needs it reads it through Spark."""
    with suppress(OSError):
        path = _path(stream, shard, number)
        if path is None:
            return
        old = _path(stream, shard, number - KEPT)
        assert old is not None
        old.unlink(missing_ok=True)
        if len(data) < WORTH:
            path.unlink(missing_ok=True)  # of a task that was tried before
            return
        beside = path.with_suffix(f".{os.getpid()}")
        try:
            beside.write_bytes(data)
            beside.replace(path)
        except OSError:  # the disk is full, say
            beside.unlink(missing_ok=True)


def find(stream: bytes, shard: int, number: int) -> bytes | None:
    with suppress(OSError):
        path = _path(stream, shard, number)
        return None if path is None else path.read_bytes()
    return None


def leave_answers(stream: bytes, shard: int, number: int, batch: pa.RecordBatch) -> str | None:
    """Leave a step's answers under the name that is told; None if it is not worth it, or fails.

    What tasks of earlier steps have left, if they failed before it was taken, is of no use now.
    """
    folder = _folder()
    if folder is None:
        return None
    ours = f"sash-answers-{stream.hex()}-{shard}"
    with suppress(OSError):
        for path in folder.glob(f"{ours}-*"):
            if not path.name.startswith(f"{ours}-{number}-"):
                path.unlink(missing_ok=True)
    if batch.nbytes < WORTH:
        return None
    name = f"{ours}-{number}-{uuid4().hex}"
    try:
        with (
            pa.OSFile(str(folder / name), "wb") as file,
            pa.ipc.new_stream(file, batch.schema) as writer,
        ):
            writer.write_batch(batch)
    except OSError:
        (folder / name).unlink(missing_ok=True)
        return None
    return name


def take_answers(name: str) -> list[pa.RecordBatch]:
    """Answers that were left; the file is gone then."""
    folder = _folder()
    assert folder is not None  # the same task has found one
    path = folder / name
    with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as stream:
        batches = list(stream)
    path.unlink()
    return batches


def _path(stream: bytes, shard: int, number: int) -> Path | None:
    folder = _folder()
    return None if folder is None else folder / f"sash-{stream.hex()}-{shard}-{number}"


def _folder() -> Path | None:
    folders = os.environ.get("SPARK_LOCAL_DIRS", "")
    return Path(folders.split(",")[0]) if folders else None

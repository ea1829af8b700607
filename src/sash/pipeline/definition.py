"""A pipeline, as its file says it: where rows come from, what is asked, where answers go."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sash.operators.base import Operator
from sash.pipeline.lines import Lines
from sash.stores.redis_errors import where
from sash.windows.definitions import Definition

ELSEWHERE = re.compile(r"[A-Za-z][\w+.-]+:")
"""Paths that begin so are not of this machine: hdfs:, s3a: …"""


def is_local(path: str) -> bool:
    return not ELSEWHERE.match(path) or path.startswith("file:")


def local(path: str) -> Path:
    """A path of this machine."""
    return Path(path.removeprefix("file://").removeprefix("file:"))


def absolute(file: Path, path: str) -> str:
    """Paths are told from the folder of the file, wherever it is run from."""
    if not is_local(path) or path.startswith("file:"):
        return path
    given = Path(path)
    with suppress(RuntimeError):  # of a user who is not known
        given = given.expanduser()
    return str((file.absolute().parent / given).resolve())


@dataclass(frozen=True)
class Source:
    """Where rows come from."""

    format: str
    time: str
    paths: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    order_by: tuple[str, ...] = ()
    """Columns that order rows of the same time."""
    lateness: str | None = None
    idle: str | None = None
    schema: Mapping[str, str] | None = None
    """Types by column; what is not of its type is malformed."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Columns that are computed of others, in SQL."""
    where: str | None = None
    required: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    """Columns whose values windows are measured by, which must be there, and numbers."""
    earliest: str | None = None
    latest: str | None = None
    """Rows before the one, or from the other on, are malformed."""
    servers: str | None = None
    topic: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_text(self) -> bool:
        """Whether values come as text, which may not be what it should."""
        return self.format in ("csv", "json", "kafka")


@dataclass(frozen=True)
class Question:
    """One of the queries: a window, and what is asked of it."""

    name: str
    window: Definition
    aggregates: Mapping[str, Operator]
    key: tuple[str, ...]
    emit: str = "every"
    min_size: int = 1
    columns: tuple[str, ...] | None = None
    algorithm: str = "auto"


@dataclass(frozen=True)
class Sink:
    """Where answers go."""

    format: str
    path: str | None = None
    mode: str = "error"
    """What to do if there are answers already: error, append or overwrite."""
    servers: str | None = None
    topic: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_files(self) -> bool:
        return self.path is not None

    def path_of(self, question: str) -> str:
        assert self.path is not None
        if "{query}" in self.path:
            return self.path.replace("{query}", question)
        return f"{self.path.rstrip('/')}/{question}"

    def topic_of(self, question: str) -> str:
        assert self.topic is not None
        return self.topic.replace("{query}", question)


@dataclass(frozen=True)
class State:
    """The store that a stream's windows are kept in."""

    address: str = field(repr=False)
    """As `sash.stores.store_at` takes it; there may be a password in it."""

    def __str__(self) -> str:
        return self.address if self.folder is not None else where(self.address)

    @property
    def folder(self) -> str | None:
        """Where it is on this machine; None if it is on a server."""
        scheme, _, rest = self.address.partition(":")
        return rest if scheme == "rocksdb" else None


@dataclass(frozen=True)
class Pipeline:
    """All of a file."""

    file: Path
    source: Source
    questions: tuple[Question, ...]
    sink: Sink
    quarantine: str
    checkpoint: str
    trigger: str | None = None
    """On a stream, how often a micro-batch begins; None: when the one before has ended."""
    state: State | None = None
    """Where a stream keeps windows; None: in Spark's state."""
    spark: Mapping[str, str] = field(default_factory=dict)
    """Settings of Spark."""
    lines: Lines = field(default_factory=dict, repr=False)
    """Where in the file what is said."""

    @property
    def name(self) -> str:
        return self.file.stem

    @property
    def needs_kafka(self) -> bool:
        return "kafka" in (self.source.format, self.sink.format)

    def question(self, name: str) -> Question:
        return next(each for each in self.questions if each.name == name)

    def arguments(self, question: Question) -> dict[str, Any]:
        """What `sash.spark.sliding` is called with, besides the rows."""
        source = self.source
        return {
            "window": question.window,
            "aggs": question.aggregates,
            "by": question.key,
            "order_by": (source.time, *source.order_by),
            "lateness": source.lateness,
            "idle": source.idle,
            "emit": question.emit,
            "columns": question.columns,
            "min_size": question.min_size,
            "algorithm": question.algorithm,
        }

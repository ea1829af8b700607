"""What is asked of a stream's rows: one window, or several, all of the same rows.

The answers of several windows go together: for rows they stand side by side, an answer of each
window for a row; windows of their own stand below one another, and each tells which it is of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.operators.base import Operator
from sash.windows import cutting
from sash.windows.batches import Batch
from sash.windows.definitions import Definition
from sash.windows.engine import Engine, Given
from sash.windows.failing_rows import first_failing
from sash.windows.grouped import Told, algorithm_for, as_batch, joined, told_of
from sash.windows.ordered_rows import StreamRows
from sash.windows.shapes import Shape

Array = np.ndarray[Any, Any]
Columns = Callable[[Mapping[str, pa.Array], int], dict[str, pa.Array]]


def as_they_are(columns: Mapping[str, pa.Array], count: int) -> dict[str, pa.Array]:
    return dict(columns)


@dataclass(frozen=True)
class Question:
    """An aggregate over a window."""

    operator: Operator
    window: Definition
    """In the units of the times."""
    columns: Columns = as_they_are
    """What goes into the window, made of the columns of so many rows."""
    algorithm: str = "auto"


class RefusedError(Exception):
    """A row, by its place, that windows cannot take, or an operator fails on."""

    def __init__(self, at: int, error: Exception) -> None:
        super().__init__(error)
        self.at = at
        self.error = error


class Answering:
    """The windows of one question, one for each key."""

    def __init__(self, question: Question, min_size: int, idle: int | None) -> None:
        self.question = question
        self.min_size = min_size
        self.shape = Shape(question.window)
        self.engine = Engine(
            question.operator,
            self.shape,
            least=min_size,
            idle=cutting.FOREVER if idle is None else idle,
            algorithm=algorithm_for(question.operator, question.window, question.algorithm),
            keyed=True,
            keeps_times=True,
        )

    @property
    def begins_tell(self) -> bool:
        """Whether windows that end together are told apart by when they begin.

        The last so many rows at a time are the same window, whenever they begin.
        """
        return self.shape.sliced or self.shape.trigger != cutting.AT_ENDS

    def batch(self, rows: StreamRows) -> Batch:
        columns = self.question.columns(rows.columns, len(rows))
        return replace(as_batch(columns, rows.times), codes=rows.codes)

    def run(self, rows: StreamRows, copied: bool = False, **how: Any) -> Given:
        """Rows come. copied: what would be given then; nothing is changed."""
        engine = self.engine.copy() if copied else self.engine
        try:
            return engine.run(self.batch(rows), **how)
        except Exception as error:
            if not len(rows):
                raise
            raise self._refused(rows, error, how) from error

    def _refused(self, rows: StreamRows, error: Exception, how: dict[str, Any]) -> RefusedError:
        """Which row it is. A call that fails has changed nothing."""

        def fails(many: int) -> Exception | None:
            try:
                self.engine.copy().run(self.batch(rows.take(np.arange(many))), **how)
            except Exception as found:
                return found
            return error if many == len(rows) else None

        return RefusedError(*first_failing(len(rows), fails))

    def told(self, given: Given) -> Told:
        return told_of(given, given.codes, self.question.operator, self.shape, self.min_size)


def together(each: list[Answering], given: list[Given]) -> Told:
    """What all questions were answered."""
    told = [one.told(answers) for one, answers in zip(each, given, strict=True)]
    if len(told) == 1:
        return told[0]
    if each[0].shape.at_rows:
        return side_by_side(told)
    told = [replace(one, of=np.full(len(one.groups), k)) for k, one in enumerate(told)]
    return joined([one for one in told if len(one.groups)] or told[:1])


def side_by_side(told: list[Told]) -> Told:
    """Answers for rows: all that there are for a row; null where a question has none."""
    first = told[0]
    if all(np.array_equal(one.rows, first.rows) for one in told):
        return replace(first, answers=[each for one in told for each in one.answers])
    rows, at = np.unique(np.concatenate([one.rows for one in told]), return_index=True)
    answers = []
    for one in told:
        where = np.full(len(rows), -1, np.int64)
        where[np.searchsorted(rows, one.rows)] = np.arange(len(one.rows))
        answers += [_at(each, where) for each in one.answers]
    marks = (
        np.concatenate([getattr(one, name) for one in told])[at]
        for name in ("groups", "rows", "times", "since")
    )
    return Told(answers, *marks)


def _at(values: Any, where: Array) -> Any:
    """The values at these places; nothing at those before the first."""
    if isinstance(values, list):
        return [None if k < 0 else values[k] for k in where.tolist()]
    return values.take(pa.array(where, mask=where < 0))

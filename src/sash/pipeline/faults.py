"""What `sliding` would refuse of a query, and which setting is at fault: the one that cures it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sash.operators.base import Operator
from sash.operators.known import KNOWN
from sash.pipeline.columns import found_in
from sash.pipeline.definition import Pipeline, Question, Source
from sash.pipeline.lines import Path
from sash.pipeline.wording import key_in_toml, reworded
from sash.spark.asking import told_of, wrong_with
from sash.spark.schemas import type_named
from sash.spark.stored_stream import wrong_in_store
from sash.windows.definitions import Delta, last

Fault = tuple[Path, str]
COUNT: Operator = KNOWN["Count"]()
"""An aggregate that nothing is wrong with."""
TO_DOUBLE = ("cast the column to double", "cast it to double")


def faults(
    pipeline: Pipeline, question: Question, types: Mapping[str, Any], stream: bool, whole: bool
) -> Iterator[Fault]:
    """Settings that are at fault, and why.

    types   None where one is not known
    whole   look at all of the query; or only at its aggregates, each by itself
    """
    asked = _Asked(pipeline, question, types, stream)
    if whole and asked.wrong() is None:
        return
    alone = asked.aggregates_alone()
    for name, sentence in alone.items():
        columns = asked.aggs[name].columns
        yield (*asked.at, name), asked.in_words_of_files(sentence, columns[0] if columns else None)
    if not whole:
        return
    mended = {"aggs": {n: COUNT if n in alone else op for n, op in asked.aggs.items()}}
    left = asked.wrong(mended)
    if left is not None:
        along = question.window.column if isinstance(question.window, Delta) else None
        yield asked.cured_by(mended), asked.in_words_of_files(left, along)


class _Asked:
    """A query, of which parts can be changed to see whether that helps."""

    def __init__(
        self, pipeline: Pipeline, question: Question, types: Mapping[str, Any], stream: bool
    ) -> None:
        self.source = pipeline.source
        self.question = question
        self.stream = stream
        self.in_store = pipeline.state is not None
        self.at = ("queries", question.name)
        # A column of unknown type has at least a name; what is asked of it is not known.
        self.types = {n: type_named("string") if k is None else k for n, k in types.items()}
        self.unknown = {name for name, kind in types.items() if kind is None}
        self.aggs = {n: self._known(op) for n, op in question.aggregates.items()}
        self.arguments = pipeline.arguments(question) | {"aggs": self.aggs}

    def _known(self, op: Operator) -> Operator:
        names = {found_in(self.types, column) for column in op.columns}
        return COUNT if names & self.unknown else op

    def wrong(self, *changes: Mapping[str, Any]) -> str | None:
        """What is wrong with the query, after these changes."""
        arguments = dict(self.arguments)
        for each in changes:
            arguments |= each
        window = arguments["window"]
        along = [getattr(each, "column", None) for each in (window, getattr(window, "every", None))]
        places = (*arguments["by"], *arguments["order_by"], *filter(None, along))
        if self.unknown & {found_in(self.types, name) for name in places}:
            return None
        try:
            sentence = wrong_with(self.types, arguments)
            if sentence is None and self.stream:
                told_of(self.types, arguments, stream=True)
            if sentence is None and self.in_store:
                sentence = wrong_in_store(self.types, arguments)
            return sentence
        except Exception as error:  # whatever operators of the user's do
            return str(error) or repr(error)

    def aggregates_alone(self) -> dict[str, str]:
        """What is wrong with each aggregate, whatever the window is."""
        plain = {"window": last(1), "algorithm": "auto", "emit": "every", "columns": ()}
        plain |= {"min_size": 1, "lateness": None, "idle": None, "by": ()}
        found = {name: self.wrong(plain, {"aggs": {name: op}}) for name, op in self.aggs.items()}
        return {name: sentence for name, sentence in found.items() if sentence is not None}

    def cured_by(self, *changes: Mapping[str, Any]) -> Path:
        """The setting without which nothing is wrong."""
        for where, change in self._cures():
            if self.wrong(*changes, change) is None:
                return where
        return (*self.at, "window")

    def _cures(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """What may be at fault, first what is most likely meant to be changed."""
        yield (*self.at, "algorithm"), {"algorithm": "auto"}
        for name in self.aggs:
            others = {each: op for each, op in self.aggs.items() if each != name}
            yield (*self.at, name), {"aggs": others or {"(rows)": COUNT}}
        yield (*self.at, "columns"), {"columns": ()}
        yield (*self.at, "emit"), {"emit": "every"}
        yield ("source", "lateness"), {"lateness": None}
        yield ("source", "idle"), {"idle": None}
        yield (*self.at, "window"), {"window": last(1)}
        own = self.question.key != self.source.key
        yield (*self.at, "key") if own else ("source", "key"), {"by": ()}
        yield ("source", "order_by"), {"order_by": (self.source.time,)}
        yield ("source", "time"), {"order_by": self.source.order_by}

    def in_words_of_files(self, sentence: str, column: str | None) -> str:
        """column: the one that is to be of another type, if that is what is wrong."""
        said = reworded(sentence, self.question.window, *self.aggs.values())
        for words in TO_DOUBLE if column is not None else ():
            said = said.replace(words, as_type(self.source, str(column), "double"))
        if "needs booleans or numbers" in said:
            said = f'{said.rstrip(".")}: write columns = {{ mark = "load > 10" }} in [source].'
        return said if said.endswith((".", "?")) else f"{said}."


def as_type(source: Source, column: str, kind: str) -> str:
    """How a column becomes one of another type."""
    key = key_in_toml(column)
    if column in (source.schema or {}) and column not in source.columns:
        return f'write {key} = "{kind}" in its schema'
    return f'write columns = {{ {key} = "try_cast({column} AS {kind})" }} in [source]'

"""How a pipeline will run, in words and drawings, without starting Spark."""

from __future__ import annotations

from dataclasses import dataclass

from sash.pipeline.columns import known_columns
from sash.pipeline.definition import Pipeline
from sash.pipeline.drawing import flow, timeline
from sash.spark.asking import told_of
from sash.spark.stored_stream import told_in_store


@dataclass(frozen=True)
class Explained:
    """What is told of a query: topics in words, and a drawing."""

    name: str
    topics: list[tuple[str, str]]
    drawing: list[str]


def explained(pipeline: Pipeline, stream: bool) -> tuple[list[str], str, list[Explained]]:
    """The flow as a drawing, what is shared, and each query."""
    types = known_columns(pipeline.source)
    found = []
    for question in pipeline.questions:
        topics = [("window", repr(question.window))]
        if types is not None and all(kind is not None for kind in types.values()):
            arguments = pipeline.arguments(question)
            if stream and pipeline.state is not None:
                topics = told_in_store(types, arguments, str(pipeline.state))
            else:
                topics = told_of(types, arguments, stream)
        found.append(Explained(question.name, topics, timeline(question.window)))
    return flow(pipeline), shared(pipeline, stream), found


def shared(pipeline: Pipeline, stream: bool) -> str:
    many = len(pipeline.questions)
    whose = "all queries" if many > 1 else "the query"
    if stream and pipeline.state is not None:
        return (
            f"rows are read and checked in one pass for {whose}, and come to the driver; the "
            f"windows of {whose} are kept in {pipeline.state}"
        )
    if stream:
        return (
            f"rows are read, checked and sent to their keys' shards in one pass for {whose}; one "
            f"checkpoint holds the windows of {whose}"
        )
    return f"rows are read and checked once, and kept while {whose} run over them"

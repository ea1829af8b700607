"""Where a pipeline reads and writes: is there something to read, and does nothing get mixed up?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePath

from sash.pipeline.columns import (
    data_files,
    exists,
    first_bytes,
    is_known_pattern,
    is_pattern,
    matching,
)
from sash.pipeline.definition import Pipeline, Source, is_local, local
from sash.pipeline.formats import READ
from sash.pipeline.lines import Path as Where
from sash.pipeline.problems import closest
from sash.pipeline.tables import File

BEGINS = {"parquet": b"PAR1", "orc": b"ORC"}


def check_source_places(source: Source, file: File) -> None:
    """Note what is wrong with the paths of a source that lie on this machine."""
    if not (file.is_right("source", "path") and file.is_right("source", "format")):
        return
    for path in source.paths:
        if (
            is_local(path)
            and not matching(path)
            and (not is_pattern(path) or is_known_pattern(path))
        ):
            file.problem(("source", "path"), f"source: path: {_nothing_at(path)}")
            return
    known = READ.get(source.format)
    here = source.paths and all(map(is_local, source.paths))
    if known is None or not here or any(is_pattern(p) and not matching(p) for p in source.paths):
        return
    first = next(data_files(source), None)
    if first is not None:
        _check_begin(source, first, file)
    elif known.typed:
        file.problem(
            ("source", "path"),
            f"source: path: there is no file in {source.paths[0]} to tell which columns there are: "
            f"write the path of a folder that has {source.format} files, or put one there.",
        )


def _nothing_at(path: str) -> str:
    if is_pattern(path):
        return f"nothing is called like {path}: write the path of a file or a folder."
    at = local(path)
    if not (exists(at.parent) and at.parent.is_dir()):
        return f"there is nothing at {path}, nor is there a folder {at.parent}: write another path."
    near = closest(at.name, [each for each in os.listdir(at.parent) if _may_be_data(each)])
    if near is None:
        return f"there is nothing at {path}: write the path of a file or a folder."
    return f"there is nothing at {path}; did you mean {str(at.with_name(near))!r}?"


def _may_be_data(name: str) -> bool:
    return not name.endswith((".toml", ".py"))


def _check_begin(source: Source, first: Path, file: File) -> None:
    """Formats that tell themselves by how their files begin are not taken for others."""
    data = first_bytes(source)[:8]
    real = next((form for form, begin in BEGINS.items() if data.startswith(begin)), None)
    if real == source.format or (real is None and source.format not in BEGINS):
        return
    if real is None and not data:
        return
    instead = real or (first.suffix[1:] if first.suffix[1:] in READ else None)
    write = "a path without it" if instead is None else f'format = "{instead}"'
    said = "no" if real is None else f"{real}, no"
    file.problem(
        ("source", "format" if instead else "path"),
        f"source: {first} is {said} {source.format} file: write {write}.",
    )


def check_sink_places(pipeline: Pipeline, file: File) -> None:
    """Note what would be read again, mixed up, or written over."""
    places = list(_places(pipeline, file))
    for k, (where, what, path) in enumerate(places):
        if not file.is_right(*where):
            continue  # the same of another query
        read = next((each for each in pipeline.source.paths if _overlap(path, each)), None)
        same = next((other for _, other, each in places[:k] if _plain(each) == _plain(path)), None)
        if _is_file(path):
            why = f"{what} would go to {path}, which is a file: write another path."
        elif read is not None:
            why = (
                f"{what} in {path} would be read again by the source: write a path outside of "
                f"{read}."
            )
        elif same is not None:
            why = f"{what} and {same} would both go to {path}: write another path."
        else:
            continue
        file.problem(where, f"{where[0]}: {where[1]}: {why}")


def _places(pipeline: Pipeline, file: File) -> Iterator[tuple[Where, str, str]]:
    """Where something is written: which setting says so, what it is, and the path."""
    sink = pipeline.sink
    if sink.path is not None and file.is_right("sink", "path"):
        if "{query}" not in sink.path and _is_file(sink.path):
            yield ("sink", "path"), "answers", sink.path
            return
        for question in pipeline.questions:
            yield ("sink", "path"), "answers", sink.path_of(question.name)
    for where, what, path in (
        (("sink", "quarantine"), "malformed rows", pipeline.quarantine),
        (("stream", "checkpoint"), "the state of a stream", pipeline.checkpoint),
    ):
        table = file.content.get(where[0])
        if isinstance(table, dict) and where[1] in table and file.is_right(*where):
            yield where, what, path
    if pipeline.state is not None and pipeline.state.folder is not None:
        yield ("state", "store"), "windows", pipeline.state.folder


def _is_file(path: str) -> bool:
    return is_local(path) and exists(local(path)) and local(path).is_file()


def _overlap(written: str, read: str) -> bool:
    """Whether one lies within the other."""
    one, other = PurePath(_plain(written)), PurePath(_plain(read))
    if is_pattern(read):
        return any(each.match(str(other)) for each in (one, *one.parents))
    return (
        one == other or one in other.parents or (other in one.parents and not _hidden(one, other))
    )


def _hidden(path: PurePath, folder: PurePath) -> bool:
    """Whether Spark passes over it when it reads the folder."""
    return any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)


def _plain(path: str) -> str:
    return str(local(path)) if is_local(path) else path

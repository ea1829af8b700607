"""Tables of a pipeline file, whose keys are taken one by one; what is wrong is noted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from sash.pipeline import lines
from sash.pipeline.problems import PipelineError, Problem, closest, listed, nearest
from sash.pipeline.syntax import parsed
from sash.pipeline.wording import shown

KINDS = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
    datetime: "a time",
    date: "a date",
}

SETTINGS = {
    "source": (
        *("format", "path", "servers", "topic", "schema", "options", "columns", "where"),
        *("time", "key", "order_by", "required", "earliest", "latest", "lateness", "idle"),
    ),
    "queries": ("window", "key", "emit", "min_size", "columns", "algorithm"),
    "sink": ("format", "path", "servers", "topic", "mode", "quarantine", "options"),
    "stream": ("checkpoint", "trigger"),
    "state": ("store",),
}
"""What may be said in each table; in that of a query there are aggregates besides."""

EXAMPLES = {
    "source": '[source] with format = "parquet", path = "data/plugs" and time = "ts"',
    "queries": '[queries.load_1h] with window = { last = "1h" } and '
    'highest = { op = "Max", of = "load" }',
    "sink": '[sink] with format = "parquet" and path = "out/plugs"',
    "stream": '[stream] with checkpoint = "out/checkpoint"',
    "state": '[state] with store = "rocksdb:state/plugs"',
    "spark": '[spark] with "spark.driver.memory" = "4g"',
}


class File:
    """A pipeline file, and what is wrong with it so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self.faulty: set[lines.Path] = set()
        """Settings that something is wrong with."""
        text = self._text()
        self.lines = lines.lines_of(text)
        try:
            self.content = parsed(text)
        except ValueError as error:
            line, sentence = error.args
            raise PipelineError([Problem(str(path), line, sentence)]) from None
        if not self.content:
            needed = "; ".join(EXAMPLES[name] for name in ("source", "queries", "sink"))
            raise PipelineError([Problem(str(path), 1, f"the file says nothing: write {needed}.")])

    def _text(self) -> str:
        line = None
        try:
            return self.path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        except FileNotFoundError:
            why = f"there is no such file{_other_than(self.path)}"
        except IsADirectoryError:
            why = f"this is a folder, and no pipeline file{_within(self.path)}"
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            why = "this is not UTF-8: save the file as UTF-8."
        except OSError as error:
            why = f"the file cannot be read: {error.strerror}."
        raise PipelineError([Problem(str(self.path), line, why)])

    def problem(self, where: lines.Path, sentence: str, meant: lines.Path | None = None) -> None:
        """Note what is wrong with a setting. meant: which one it should be, if it is misspelt."""
        self.faulty |= {where, meant or where}
        line = lines.line_of(self.lines, where) or 1
        self.problems.append(Problem(str(self.path), line, sentence))

    def is_right(self, *where: str) -> bool:
        """Whether nothing is wrong with this setting, or within this table, as far as is known."""
        return not any(each[: len(where)] == where for each in self.faulty)

    def done(self) -> None:
        if self.problems:
            found = dict.fromkeys(self.problems)
            raise PipelineError(sorted(found, key=lambda each: each.line or 0))


def _other_than(path: Path) -> str:
    others = sorted(each.name for each in path.parent.glob("*.toml"))
    near = closest(path.name, others)
    if near is not None:
        return f"; did you mean {str(path.with_name(near))!r}?"
    return f"; {listed(others)} in {path.parent.absolute()}." if others else "."


def _within(folder: Path) -> str:
    inside = sorted(map(str, folder.glob("*.toml")))
    return f"; {listed(inside)}." if inside else ": write the name of one."


class Table:
    """A table of a file."""

    def __init__(
        self,
        file: File,
        given: Mapping[str, Any],
        path: lines.Path = (),
        known: Sequence[str] | None = None,
    ) -> None:
        """known: the keys that it may have; None if any."""
        self.file = file
        self.given = given
        self.path = path
        self.known = known

    def problem(self, key: str | None, sentence: str) -> None:
        self.file.problem(self.path if key is None else (*self.path, key), sentence)

    def named(self, key: str) -> str:
        return key if not self.path else f"{'.'.join(self.path)}: {key}"

    def has(self, key: str) -> bool:
        return key in self.given

    def unknown(self) -> Iterator[str]:
        """Keys that the table may not have."""
        return (key for key in self.given if self.known is not None and key not in self.known)

    def take(self, key: str, *kinds: type, example: str, needed: bool = False) -> Any:
        """The value of a key, if it is of one of these kinds; else None."""
        if key not in self.given:
            # If it is misspelt, that is the mistake.
            if needed and not any(
                closest(each, self.known or ()) == key for each in self.unknown()
            ):
                self.problem(key, f"{self.named(key)} is missing: write {example}.")
            return None
        value = self.given[key]
        is_number_for_bool = isinstance(value, bool) and bool not in kinds
        if isinstance(value, kinds) and not is_number_for_bool:
            return value
        wanted = " or ".join(dict.fromkeys(KINDS[kind] for kind in kinds))
        self.problem(key, f"{self.named(key)} is {wanted}, not {shown(value)}: write {example}.")
        return None

    def text(self, key: str, *, example: str, needed: bool = False) -> str | None:
        found = self.take(key, str, example=example, needed=needed)
        if found is None or _says_something(found):
            return None if found is None else str(found)
        self.problem(key, f"{self.named(key)} is empty: write {example}.")
        return None

    def one_of(self, key: str, known: Sequence[str], default: str) -> str:
        found = self.text(key, example=f'{key} = "{default}"')
        if found is None:
            return default
        if found not in known:
            self.problem(key, f"{self.named(key)} cannot be {found!r}{nearest(found, known)}")
            return default
        return found

    def texts(self, key: str, *, example: str, needed: bool = False) -> tuple[str, ...] | None:
        """One text, or a list of them; such as are needed are one at least."""
        found = self.take(key, str, list, example=example, needed=needed)
        if found is None:
            return None
        several = [found] if isinstance(found, str) else found
        wrong = [each for each in several if not isinstance(each, str)]
        if wrong:
            said = f"is a list of text, and {shown(wrong[0])} is none"
        elif (needed and not several) or not all(map(_says_something, several)):
            said = "is empty"
        else:
            return tuple(several)
        self.problem(key, f"{self.named(key)} {said}: write {example}.")
        return None

    def table(
        self, key: str, *, example: str, needed: bool = False, known: Sequence[str] | None = None
    ) -> Table | None:
        found = self.take(key, dict, example=example, needed=needed)
        return None if found is None else Table(self.file, found, (*self.path, key), known)

    def options(self, key: str, example: str) -> dict[str, str]:
        """Settings of Spark's, as it takes them: text."""
        given = self.take(key, dict, example=example) or {}
        found = {}
        for path, value in _flat(given):
            name = ".".join(path)
            if isinstance(value, bool):
                found[name] = str(value).lower()
            elif isinstance(value, (str, int, float)):
                found[name] = str(value)
            else:
                self.file.problem(
                    (*self.path, key, *path),
                    f"{self.named(key)}: {name} is text, a number, true or false, not "
                    f"{shown(value)}: write {example}.",
                )
        return found

    def no_more(self) -> None:
        """Note the keys that it may not have."""
        for key in self.unknown():
            self.refuse(key)

    def refuse(self, key: str) -> None:
        where = ".".join(self.path) or "the file"
        near = closest(key, self.known or ())
        elsewhere = [name for name, known in SETTINGS.items() if key in known]
        if elsewhere:
            named = "a query" if elsewhere == ["queries"] else f"[{elsewhere[0]}]"
            hint = f"; it belongs in {named}."
        else:
            hint = nearest(key, self.known or ())
        meant = (*self.path, key if near is None else near)
        self.file.problem((*self.path, key), f"{where} does not know {key!r}{hint}", meant)


def _says_something(text: str) -> bool:
    return bool(text.strip()) and "\0" not in text  # which ends a name, for the system


def _flat(given: Mapping[str, Any], above: lines.Path = ()) -> Iterator[tuple[lines.Path, Any]]:
    """kafka.group.id may be written without quotes, and is then a table in a table."""
    for key, value in given.items():
        if isinstance(value, Mapping):
            yield from _flat(value, (*above, key))
        else:
            yield (*above, key), value

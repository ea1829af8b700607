"""Operators as they are named in a file: ours by name, users' by module."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

from sash.operators.base import Operator
from sash.operators.catalogue import WITHIN
from sash.operators.functions import EMPTY
from sash.operators.known import KNOWN
from sash.pipeline.problems import closest, nearest
from sash.pipeline.wording import in_toml, reworded

OURS = {name: kind for name, kind in KNOWN.items() if name not in WITHIN}
ELSEWHERE = {
    **{"avg": "Mean", "average": "Mean", "std": "StdDev", "median": "ApproxQuantile"},
    **{"quantile": "ApproxQuantile", "percentile": "ApproxQuantile", "len": "Count"},
}
"""What some operators are called by others."""
OF_A_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
CALL = re.compile(r"(\w+)\s*\(\s*['\"]?(\w*)['\"]?\s*\)")


def operator_kind(name: str, beside: Path) -> type[Operator]:
    """The operator of this name; a ValueError says in a sentence what is wrong.

    beside: the folder of the file, where modules of the user's may lie.
    """
    found = _imported(name, beside) if ":" in name else _ours(name)
    if isinstance(found, type) and issubclass(found, Operator):
        return found
    if isinstance(found, Operator):
        raise ValueError(
            f"{name} is an operator with its columns already: name the class, {found.name}, "
            f"and write its columns as of."
        )
    raise ValueError(f"{name} is no operator: write it as a class with @sash.operator(…).")


def options_of(kind: type[Operator]) -> tuple[str, ...]:
    """The names of an operator's options."""
    typed = kind.for_type is not None  # options without a default come from the type then
    own = [name for name, value in kind.defaults.items() if value is not EMPTY or not typed]
    parameters = inspect.signature(kind.__init__).parameters.values()
    own += [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    return tuple(dict.fromkeys(own))


def made(kind: type[Operator], columns: tuple[str, ...], options: dict[str, Any]) -> Operator:
    """An operator of these columns; a ValueError says in a sentence what is wrong."""
    plain = {key: tuple(v) if isinstance(v, list) else v for key, v in options.items()}
    missing = [
        each
        for each in options_of(kind)
        if each in kind.defaults and kind.defaults[each] is EMPTY and each not in options
    ]
    if missing:
        value = "10" if kind.name in OURS else "…"
        raise ValueError(f"{kind.name} needs {missing[0]}: write {missing[0]} = {value} beside op.")
    try:
        alone = kind(**plain)
        least, most = alone.column_counts()
        if columns and not least <= len(columns) <= (most or len(columns)):
            example = [*columns, *["…"] * least][: most or max(least, len(columns))]
            wanted = f"{least} column{'s' * (least > 1)}{'' if most == least else ' or more'}"
            raise ValueError(
                f"{kind.name} reads {wanted}, not {len(columns)}: write of = {in_toml(example)}."
            )
        return kind(*columns, **plain)
    except Exception as error:  # whatever a class of the user's does
        said = reworded(str(error) or repr(error), options)
        raise ValueError(said if said.endswith(".") else f"{kind.name} fails: {said}.") from error


def _ours(name: str) -> Any:
    if name in OURS:
        return OURS[name]
    module, _, last = name.rpartition(".")
    call = CALL.fullmatch(name)
    if call and call[1] in OURS:
        of = call[2] or "load"
        raise ValueError(f'an operator stands by its name: write op = "{call[1]}", of = "{of}".')
    if name == "Together":
        raise ValueError("Together is for Python: write its members as aggregates of their own.")
    if last in OURS:
        raise ValueError(f"there is no operator {name!r}; did you mean {last!r}?")
    if module:
        raise ValueError(
            f"there is no operator {name!r}; one of your own is {module + ':' + last!r}."
        )
    if name.lower() in ELSEWHERE and closest(name, OURS) is None:
        raise ValueError(
            f"there is no operator {name!r}; did you mean {ELSEWHERE[name.lower()]!r}?"
        )
    raise ValueError(f"there is no operator {name!r}{nearest(name, OURS)}")


def _imported(name: str, beside: Path) -> Any:
    if not OF_A_MODULE.fullmatch(name) or name.partition(":")[0].endswith(".py"):
        stem = Path(name.partition(":")[0].removesuffix(".py")).name or "module"
        kind = name.rpartition(":")[2] or "Name"
        raise ValueError(
            f"an operator of your own is named by its module and its class, and {name!r} is not: "
            f"write op = {in_toml(f'{stem}:{kind}')}."
        )
    module, _, attribute = name.partition(":")
    for folder in (str(beside), str(Path.cwd())):
        if folder not in sys.path:
            sys.path.append(folder)  # last: a file beside must not stand in for a library
    found: Any = _module(module, beside)
    for part in attribute.split("."):
        if not hasattr(found, part):
            there = [each for each, value in vars(found).items() if _is_operator(value)]
            raise ValueError(f"there is no {part!r} in {module!r}{nearest(part, there)}")
        found = getattr(found, part)
    return found


def _module(name: str, beside: Path) -> Any:
    try:
        importlib.invalidate_caches()  # the file may have been written just now
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = str(error.name)
        if name != missing and not name.startswith(f"{missing}."):
            raise ValueError(
                f"the module {name!r} cannot be imported: it imports {missing!r}, and there is "
                f"none: install that."
            ) from error
        near = closest(name, [each.stem for each in beside.glob("*.py")])
        hint = "." if near is None else f"; did you mean {near!r}?"
        raise ValueError(
            f"there is no module {name!r} in the folder of the file, in the current one, or "
            f"installed{hint}"
        ) from error
    except SyntaxError as error:
        where = f"line {error.lineno} of {error.filename}"
        raise ValueError(
            f"the module {name!r} is not Python: {error.msg}, in {where}: mend it there."
        ) from error
    except (Exception, SystemExit) as error:  # whatever the user's module does
        said = f"{type(error).__name__}: {error}".rstrip(". ")
        raise ValueError(
            f"the module {name!r} fails when it is imported: {said}: mend it there."
        ) from error


def _is_operator(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Operator) and value is not Operator

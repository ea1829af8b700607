"""Windows as dicts of text and numbers, as in a TOML file, and as calls."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

OPTIONS: dict[str, tuple[str, ...]] = {
    "last": ("every", "offset", "closed"),
    "tumbling": ("offset",),
    "delta": ("width", "every", "offset"),
    "punctuated": ("marks",),
    "session": (),
    "slide_while": ("every", "raw"),
}
"""What can be said of each window besides what its own key says."""

POSITIONAL = {"delta": ("width",)}
"""Of these, what must be said."""


def taken_apart(given: Any) -> tuple[str, Any, dict[str, Any]]:
    """The window's name, what its key says, and the rest."""
    if not isinstance(given, Mapping):
        raise TypeError(f"a window is written as a dict, such as {{'last': '1h'}}, not {given!r}.")
    names = [name for name in OPTIONS if name in given]
    if len(names) != 1:
        said = f"{' and '.join(names)} are two" if names else _none(given)
        raise ValueError(f"a window is one of {', '.join(OPTIONS)}; {said}.")
    (name,) = names
    for key in given:
        if key != name and key not in OPTIONS[name]:
            raise ValueError(f"{name} does not know {key!r}{_nearest(key, OPTIONS[name])}.")
    for key in POSITIONAL.get(name, ()):
        if key not in given:
            raise ValueError(f"{name} needs {key}, and {dict(given)} has none.")
    return name, given[name], {key: given[key] for key in given if key != name}


def call(parts: dict[str, Any], bare: bool = False) -> str:
    """A dict as the call that makes the window. bare: what its key says is printed as it is."""
    (name, first), *rest = parts.items()
    arguments = [first if bare else repr(first)]
    for key, value in rest:
        shown = call(value) if isinstance(value, dict) else repr(value)
        arguments.append(shown if key in POSITIONAL.get(name, ()) else f"{key}={shown}")
    return f"{name}({', '.join(arguments)})"


def _none(given: Mapping[str, Any]) -> str:
    if not given:
        return "an empty dict is none"
    for key in given:
        near = get_close_matches(str(key), OPTIONS, 1)
        if near:
            return f"{dict(given)} is none; did you mean {near[0]!r} for {key!r}?"
    return f"{dict(given)} is none"


def _nearest(key: Any, known: tuple[str, ...]) -> str:
    near = get_close_matches(str(key), known, 1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; it knows {', '.join(known)}" if known else "; it takes nothing else"

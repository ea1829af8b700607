"""Which types can be saved: what stands for a value of each, and how it is made again.

A kind turns a value into plainer content and back. Those of Sash have a tag of one character;
a user's own class gets one by `register`, with a tag of two or more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LONGEST_TAG = 100
STRUCTURE = "NTFifsb([{<>PAR;@k"
"""The tags of what the format writes itself."""


class SavedError(ValueError):
    """Something saved cannot be loaded; the message says why."""


@dataclass(frozen=True)
class Kind:
    """How values of one type are saved.

    `encode` gives content that stands for the value, made of what can be saved; `decode` gives
    the value again, or raises. If the kind is `raw`, encode gives a buffer with it, which decode
    takes as a second argument.
    """

    tag: str
    encode: Callable[[Any], Any]
    decode: Callable[..., Any]
    raw: bool = False
    type: type | None = None


BY_TYPE: dict[type, Kind] = {}
BY_TAG: dict[str, Kind] = {}
FINDERS: list[Callable[[type], Kind | None]] = []
"""Where else to look for the kind of a type: those of many types, or of types not imported."""

BUILT_IN: set[type] = set()
"""What the format writes itself."""


def register(
    cls: type, tag: str, encode: Callable[[Any], Any], decode: Callable[[Any], Any]
) -> None:
    """Let values of a class of yours be saved: those of an operator with object partials, say.

    encode  gives content that stands for a value: plain Python values, arrays, or other values
            that can be saved, nested as you like
    decode  makes the value again of such content; it should refuse what encode cannot have given

    The tag (two characters or more) names the class in what is saved, so it must stay the same.
    What was saved can be loaded where the same tag has been registered.

    >>> from sash.aggregators import saving
    >>> class Span:
    ...     def __init__(self, low, high): self.low, self.high = low, high
    >>> saving.register(Span, "an example", lambda s: (s.low, s.high), lambda c: Span(*c))
    >>> saving.unpack("example", saving.pack("example", [Span(1, 2)]))[0].high
    2
    """
    if not isinstance(cls, type):
        raise TypeError(f"register takes a class, not {cls!r}.")
    if not isinstance(tag, str) or not 2 <= len(tag) <= LONGEST_TAG:
        raise ValueError(f"the tag of {cls.__name__} must be a string of 2 to 100 characters.")
    known = BY_TYPE.get(cls)
    if cls in BUILT_IN or (known is not None and len(known.tag) == 1):
        raise ValueError(f"{cls.__name__} can be saved as it is; register a class of your own.")
    taken = BY_TAG.get(tag)
    if taken is not None and taken.type is not None:
        if _name(taken.type) != _name(cls):
            raise ValueError(f"the tag {tag!r} is that of {_name(taken.type)}; choose another.")
        BY_TYPE.pop(taken.type, None)  # the same class, defined again
    if known is not None:
        BY_TAG.pop(known.tag, None)
    BY_TYPE[cls] = BY_TAG[tag] = Kind(tag, encode, decode, type=cls)


def own(
    which: type | Callable[[type], bool],
    tag: str,
    encode: Callable[[Any], Any],
    decode: Callable[..., Any],
    *,
    raw: bool = False,
) -> None:
    """Add one of Sash's own kinds, with a tag of one character, for a type or for several."""
    assert len(tag) == 1 and tag not in BY_TAG and tag not in STRUCTURE, tag
    kind = BY_TAG[tag] = Kind(tag, encode, decode, raw, which if isinstance(which, type) else None)
    if isinstance(which, type):
        BY_TYPE[which] = kind
    else:
        FINDERS.append(lambda cls: kind if which(cls) else None)


def kind_of(cls: type) -> Kind:
    """The kind that saves values of a type."""
    kind = BY_TYPE.get(cls)
    if kind is None:
        kind = next((found for find in FINDERS if (found := find(cls)) is not None), None)
    if kind is None:
        raise TypeError(
            f"a value of type {_name(cls)} cannot be saved; "
            f"say how with sash.aggregators.saving.register({cls.__name__}, tag, encode, decode)."
        )
    return kind


def checked(content: Any, *types: type) -> tuple[Any, ...]:
    """The content, if it is a tuple of values of just these types."""
    if type(content) is not tuple or tuple(map(type, content)) != types:
        raise SavedError("a value is not what its kind is made of")
    return content


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"

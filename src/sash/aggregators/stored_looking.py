"""What a store has of its windows, to look at: none is opened, and others may have them open.

A window is told from its manifest (see shelf), which is checked as when it is opened, and from the
keys beside it. What cannot be read is told in a sentence, in the place of what it would have told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sash.aggregators.saving import SavedError, unpack
from sash.aggregators.shelf import BLOCK, KIND, LAYOUT, MANIFEST, MOST_COLUMNS
from sash.aggregators.stored import NONSENSE, NULLS, PAYLOADS
from sash.aggregators.stored_blocks import HEAD, Seal
from sash.aggregators.stored_levels import LEVELS
from sash.stores.contract import Store, StoreError

MEASURES = 192
"""The number of the first column of what a window's rows are measured by."""
LOOKS = 3
"""Who writes meanwhile may add blocks between our reading the keys and the manifest."""


@dataclass(frozen=True)
class LookedColumn:
    """A column of a window in a store."""

    number: int
    holds: str
    """values, sums, nulls, payloads or measures"""
    level: int | None
    """Of a tree's column: a value of it is the sum of 2^level values."""
    first: int
    """No position before this one is needed."""
    base: int
    """Positions from this one on are not in blocks yet."""
    blocks: int
    bytes: int
    missing: int
    """Blocks that are needed and are not there."""


@dataclass(frozen=True)
class LookedManifest:
    """What a manifest tells."""

    secret: bool
    """Whether it was sealed with one."""
    op: str
    window: Any
    """A definition as plain values; None for an aggregator."""
    algorithm: str
    pushed: int
    waiting: int
    """Rows that wait for late ones, and are not in the window yet."""
    held: int
    block: int
    """Values of a block."""
    columns: tuple[LookedColumn, ...]

    @property
    def levels(self) -> int:
        return sum(column.level is not None for column in self.columns)


@dataclass(frozen=True)
class LookedWindow:
    """A window in a store. Of its manifest and the problem with it, at least one is there."""

    name: str
    keys: int
    blocks: int
    bytes: int
    manifest: LookedManifest | None
    problem: str | None


@dataclass
class _Keys:
    """What lies in a window's space."""

    count: int = 0
    size: int = 0
    manifest: bytes | None = None
    blocks: dict[int, dict[int, int]] = field(default_factory=dict)
    """Of each column, the bytes of each block."""

    def add(self, key: bytes, value: bytes) -> None:
        size = len(key) + len(value)
        self.count, self.size = self.count + 1, self.size + size
        if key == MANIFEST:
            self.manifest = value
        elif len(key) == BLOCK.size and key[:1] == b"b":
            _, column, number = BLOCK.unpack(key)
            self.blocks.setdefault(column, {})[number] = size


def windows_in(store: Store, secret: bytes = b"") -> Iterator[LookedWindow]:
    """All windows of a store, in the order of their names."""
    return (window_in(store, name, secret) for name in store.names())


def window_in(store: Store, name: str, secret: bytes = b"") -> LookedWindow:
    """One of them. An error if the store cannot be asked, and not if what it has is no window."""
    for left in reversed(range(LOOKS)):
        found = _window(store, name, secret)
        whole = found.manifest is None or not any(c.missing for c in found.manifest.columns)
        if whole or not left:
            break
    return found


def _window(store: Store, name: str, secret: bytes) -> LookedWindow:
    keys, manifest, problem = _Keys(), None, None
    try:
        for key, value in store.peek(name):
            keys.add(key, value)
        manifest = _manifest(name, keys, secret)
        gone = sum(column.missing for column in manifest.columns)
        if gone:
            problem = f"{gone} of its blocks are gone from the store."
    except StoreError as error:
        if error.passing:
            raise
        problem = str(error)
    except SavedError as error:
        problem = str(error)
    except (*NONSENSE, RecursionError) as error:
        problem = f"what the store has of the window {name!r} is none: {error}."
    blocks = sum(map(len, keys.blocks.values()))
    return LookedWindow(name, keys.count, blocks, keys.size, manifest, problem)


def _manifest(name: str, keys: _Keys, secret: bytes) -> LookedManifest:
    if keys.manifest is None:
        has = "has blocks in the store and" if keys.blocks else "has"
        raise SavedError(f"the window {name!r} {has} no manifest.")
    sealed, content = _unsealed(name, keys.manifest, secret)
    found = unpack(KIND, content)
    if found["layout"] != LAYOUT:
        raise ValueError("it was written by another version of sash")
    bits, inside = found["bits"], found["content"]
    if type(bits) is not int or not 0 <= bits <= 20:
        raise ValueError("its blocks have no size")
    columns = [
        _column(number, numbers, bits, keys.blocks.get(number, {}))
        for number, numbers in sorted(found["columns"].items())
    ]
    window, kept, waiting = None, inside, 0
    if "window" in inside:
        window, kept = inside["window"]["window"], inside["aggregator"]
        order = inside["stands"]["order"]
        if order is not None and order["pending"] is not None:
            waiting = order["pending"]["rows"]
    came, left = kept["in"], kept["out"]
    pushed = inside["pushed"] if window is not None else came
    if not all(type(n) is int for n in (came, left, pushed, waiting)) or not 0 <= left <= came:
        raise ValueError("its counts are at odds")
    return LookedManifest(
        secret=sealed,
        op=_operator(kept["op"]),
        window=window,
        algorithm=str(kept["algorithm"]),
        pushed=pushed,
        waiting=waiting,
        held=came - left,
        block=1 << bits,
        columns=tuple(columns),
    )


def _unsealed(name: str, data: bytes, secret: bytes) -> tuple[bool, bytes]:
    """Whether a manifest is sealed with a secret, and its content."""
    named = b"manifest of " + name.encode()
    try:
        return bool(secret), Seal(secret, named).open(MANIFEST, data)[1]
    except SavedError:
        if secret:  # not all windows of a store need have one
            try:
                return False, Seal(b"", named).open(MANIFEST, data)[1]
            except SavedError:
                pass
        if _is_whole(data):
            which = "another secret" if secret else "a secret, which is needed to read it"
            raise SavedError(f"it is sealed with {which}, or it is another window's.") from None
        raise


def _is_whole(data: bytes) -> bool:
    """Whether a manifest is undamaged, whoever has sealed it: its content has a checksum too."""
    try:
        unpack(KIND, data[HEAD.size :])
    except SavedError:
        return False
    return True


def _column(number: int, numbers: Any, bits: int, blocks: dict[int, int]) -> LookedColumn:
    base, first, swept = numbers
    whole = all(type(n) is int and 0 <= n < 2**62 for n in (base, first, swept))
    if not whole or base & ((1 << bits) - 1) or not 0 <= number < MOST_COLUMNS:
        raise ValueError("a column begins nowhere")
    needed = range(first >> bits, base >> bits)
    level = number if number in LEVELS else None
    return LookedColumn(
        number=number,
        holds=_holds(number),
        level=level,
        first=first,
        base=base,
        blocks=len(blocks),
        bytes=sum(blocks.values()),
        missing=len(needed) - sum(number in needed for number in blocks),
    )


def _holds(number: int) -> str:
    if number < NULLS:
        return "sums" if number else "values"
    return "nulls" if number < PAYLOADS else "payloads" if number < MEASURES else "measures"


def _operator(described: Any) -> str:
    """An operator as it would be written."""
    if "together" in described:
        members = described["together"].items()
        return f"Together({', '.join(f'{name}={_operator(each)}' for name, each in members)})"
    given = [repr(name) for name in described["columns"]]
    given += [f"{name}={value!r}" for name, value in described["options"].items()]
    return f"{described['name']}({', '.join(given)})"

"""What `sash state` shows of a store: the windows in it, or one with its columns."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from sash.aggregators.stored_looking import LookedManifest, LookedWindow, window_in, windows_in
from sash.cli.telling import fail, stderr, told_as_json
from sash.stores import Store, StoreError, store_at
from sash.stores.redis_client import SCHEMES
from sash.windows.definitions import from_dict

PIPED = 120
"""How wide a table is where no terminal says it."""


def is_address(text: str) -> bool:
    """Whether it begins as the address of a store does, be it a right one or not."""
    scheme, colon, _ = text.partition(":")
    return bool(colon) and scheme.lower() in ("rocksdb", "memory", *SCHEMES)


def show_store(address: str, name: str | None, secret_file: str | None, as_json: bool) -> None:
    """Print what a store has; an exit with one sentence if it cannot be asked."""
    try:
        secret = b"" if secret_file is None else Path(secret_file).read_bytes()
        with (
            store_at(address, read_only=True) as store,
            stderr().status("The store is read …"),
        ):
            durability = store.durability()
            found = list(windows_in(store, secret)) if name is None else [_one(store, name, secret)]
            where = repr(store)
    except UnicodeDecodeError:
        raise fail("state", "the store has keys that are none of sash's.") from None
    except (ImportError, LookupError, OSError, StoreError, ValueError) as error:
        said = error.args[0] if isinstance(error, LookupError) else error
        raise fail("state", str(said)) from None
    if as_json:
        windows = [_as_json(each, columns=name is not None) for each in found]
        told: dict[str, Any] = {"store": where, "durability": durability}
        told_as_json(told | ({"windows": windows} if name is None else {"window": windows[0]}))
        return
    _print(_facts({"store": where, "survives": durability}))
    if name is not None:
        _show_one(found[0])
    elif found:
        _print("", _table(found))
    else:
        _print("", "There are no windows in it.")


def _one(store: Store, name: str, secret: bytes) -> LookedWindow:
    names = store.names()
    if name not in names:
        there = f"there are {', '.join(map(_plain, names))}" if names else "there are none"
        raise LookupError(f"there is no window {name!r} in {store!r}; {there}.")
    return window_in(store, name, secret)


# For scripts


def _as_json(window: LookedWindow, columns: bool) -> dict[str, Any]:
    told = {key: value for key, value in asdict(window).items() if key != "manifest"}
    manifest = window.manifest
    if manifest is None:  # the same names, so that scripts need not ask which there are
        return told | dict.fromkeys([*(each.name for each in fields(LookedManifest)), "levels"])
    told |= asdict(manifest) | {"window": _definition(manifest), "levels": manifest.levels}
    if not columns:
        told["columns"] = len(manifest.columns)
    return told


# For readers


def _table(windows: Iterable[LookedWindow]) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("name", overflow="fold")
    table.add_column("what it is", overflow="fold")
    for title in ("pushed", "held", "levels", "columns", "blocks", "keys", "bytes"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("secret", no_wrap=True)
    for each in windows:
        found = each.manifest
        inside: tuple[Any, ...] = ("",) * 4
        if found is not None:
            inside = found.pushed, found.held, found.levels, len(found.columns)
        what = Text(_plain(_what(found)))
        if each.problem is not None:
            what.append("\n" if found else "").append(_plain(each.problem), style="red")
        secret = "" if found is None else "yes" if found.secret else "no"
        counts = (*inside, each.blocks, each.keys, each.bytes)
        table.add_row(Text(_plain(each.name)), what, *map(_count, counts), secret)
    return table


def _show_one(window: LookedWindow) -> None:
    found = window.manifest
    told: dict[str, Any] = {"window": window.name}
    if found is not None:
        told |= {"what it is": _what(found), "rows pushed": found.pushed}
        told |= {"rows waiting": found.waiting} if found.waiting else {}
        told |= {"values held": found.held, "levels": found.levels, "block": found.block}
    told |= {"blocks": window.blocks, "keys": window.keys, "bytes": window.bytes}
    if found is not None:
        told["secret"] = "yes" if found.secret else "no"
    if window.problem is not None:
        told["problem"] = window.problem
    _print("", _facts(told))
    if found is None:
        return
    table = Table("column", "holds", box=None, header_style="bold", padding=(0, 2, 0, 0))
    for title in ("level", "first", "base", "blocks", "missing", "bytes"):
        table.add_column(title, justify="right")
    for column in found.columns:
        level = "" if column.level is None else column.level
        counts = (column.first, column.base, column.blocks, column.missing, column.bytes)
        table.add_row(str(column.number), column.holds, *map(_count, (level, *counts)))
    _print("", table)


def _what(found: LookedManifest | None) -> str:
    if found is None:
        return ""
    if found.window is None:
        return f"{found.op}, an aggregator, by {found.algorithm}"
    return f"{found.op} over {_definition(found)}, by {found.algorithm}"


def _definition(found: LookedManifest) -> str | None:
    """A window as it would be written."""
    written = found.window
    if written is None:
        return None
    try:
        return str(written["as"]) if "as" in written else repr(from_dict(written))
    except (LookupError, TypeError, ValueError, AttributeError):
        return str(written)


def _facts(told: dict[str, Any]) -> Table:
    grid = Table.grid(padding=(0, 2))
    for topic, text in told.items():
        grid.add_row(topic, Text(_plain(_count(text))))
    return grid


def _count(number: Any) -> str:
    return f"{number:,}" if isinstance(number, int) else str(number)


def _plain(text: str) -> str:
    """Without signs that a terminal would obey: anyone may have written what a store has."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def _print(*parts: RenderableType) -> None:
    """Without blanks at the ends of lines."""
    out = Console(highlight=False, markup=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = PIPED
    with out.capture() as text:
        out.print(*parts, sep="\n")
    for line in text.get().splitlines():
        typer.echo(line.rstrip())

"""`sash state`: what a stream's checkpoint holds, or a store."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from sash.cli.stored_windows import is_address, show_store
from sash.cli.telling import fail

if TYPE_CHECKING:
    from sash.spark.stored_state import StoredState


def state(
    checkpoint: Annotated[
        str,
        typer.Argument(
            metavar="CHECKPOINT|STORE",
            help="The folder that checkpointLocation named; or a store's address: rocksdb:PATH, "
            "redis://HOST:PORT/0, valkey://… (rediss:// and valkeys:// with TLS).",
        ),
    ],
    top: Annotated[
        int, typer.Option(help="Also show so many keys with the longest windows (reads the log).")
    ] = 0,
    name: Annotated[
        str | None, typer.Option(help="Of a store: show one window, with its columns.")
    ] = None,
    secret_file: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Of a store: the secret that windows are sealed with, all bytes of this file.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> None:
    """What the checkpoint of a stream holds: keys, windows, bytes, watermark. Or which windows are
    in a store, and how large they are.

    Nothing is changed; the stream may be running, and others may have the windows open.

    **Examples**

    - `sash state out/checkpoint`
    - `sash state out/checkpoint --top 10`
    - `sash state out/checkpoint --json`
    - `sash state rocksdb:state`
    - `sash state redis://localhost:6379/0 --name calls --secret-file secret.bin`
    """
    if is_address(checkpoint):
        if top:
            raise fail("state", "--top is for the checkpoints of streams, not for stores.")
        show_store(checkpoint, name, secret_file, as_json)
        return
    if name is not None or secret_file is not None:
        raise fail("state", "--name and --secret-file are for stores, such as rocksdb:PATH.")
    quiet = Console(stderr=True)
    try:
        import sash.spark

        with quiet.status("Spark reads the state …"):
            found = sash.spark.state(checkpoint)
            longest = found.longest(top) if top else []
            told = _as_json(found, longest)
    except (ImportError, LookupError, ArithmeticError, OSError, RuntimeError, ValueError) as error:
        quiet.print(f"sash state: {error}", style="red", markup=False, highlight=False)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps(told, indent=2))
        return
    _show(found, longest)


def _as_json(found: StoredState, longest: list[tuple[Any, int]]) -> dict[str, Any]:
    told: dict[str, Any] = {"asked": found.asked, "watermark": found.watermark_shown}
    if len(found.questions) > 1:
        told["questions"] = found.questions
    told |= {"batch": found.batch, "shards": [asdict(shard) for shard in found.shards]}
    if longest:
        told["longest"] = [{"key": _text(key), found.holds: held} for key, held in longest]
    return told


def _show(found: StoredState, longest: list[tuple[Any, int]]) -> None:
    out = Console()
    several = len(found.questions) > 1
    for k, question in enumerate(found.questions):
        asked = Table.grid(padding=(0, 2))
        if several:
            asked.add_row("question", str(k + 1))
        for name, given in question.items():
            if given not in (None, [], {}):
                asked.add_row(name, _text(given))
        out.print(asked, markup=False, highlight=False)
        out.print()
    stand = Table.grid(padding=(0, 2))
    stand.add_row("watermark", found.watermark_shown or "none: rows are answered as they come")
    stand.add_row("batch", str(found.batch))
    out.print(stand, markup=False, highlight=False)
    out.print()
    table = Table("shard", box=None, header_style="bold", show_footer=True)
    if several:
        table.add_column("question", justify="right")
    columns = ("keys", "held", "bytes", "steps", "late")
    for name in columns:
        total = sum(getattr(shard, name) for shard in found.shards)
        footer = "" if name == "steps" else f"{total:,}"
        table.add_column(name, justify="right", footer=footer)
    table.columns[0].footer = "all"
    for shard in found.shards:
        own = [str(shard.question + 1)] if several else []
        counts = (f"{getattr(shard, name):,}" for name in columns)
        table.add_row(str(shard.number), *own, *counts)
    out.print(table)
    out.print(f"held: {found.holds} in windows, or waiting", highlight=False)
    if longest:
        out.print()
        keys = Table("longest windows", box=None, header_style="bold")
        keys.add_column(found.holds, justify="right")
        for key, rows in longest:
            keys.add_row(_text(key), f"{rows:,}")
        out.print(keys)


def _text(given: Any) -> str:
    if isinstance(given, dict):
        return ", ".join(f"{name} = {_text(each)}" for name, each in given.items())
    return ", ".join(map(_text, given)) if isinstance(given, (list, tuple)) else str(given)

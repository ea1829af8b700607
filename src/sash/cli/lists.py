"""`sash algorithms` and `sash operators`: what there is, and what each needs and costs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from difflib import get_close_matches
from importlib import import_module
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from sash.aggregators.registry import Card
from sash.aggregators.registry import algorithms as all_cards
from sash.operators.catalogue import Entry, catalogue

PIPED = 120
"""How wide a table is where no terminal says it."""

NARROW = 110
"""Where a table of cards has no room for their words."""

AS_JSON = typer.Option("--json", help="For scripts.")


def algorithms(
    name: Annotated[str | None, typer.Argument(help="Tell all of one, not some of all.")] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """The algorithms that keep windows: what each needs, and what it costs.

    ⊕ is the operator's combine, n the number of values in the window.

    **Examples**

    - `sash algorithms`
    - `sash algorithms daba`
    - `sash algorithms --json`
    """
    cards = {card.name: card for card in all_cards()}
    if name is not None and name not in cards:
        _unknown("algorithm", name, cards)
    if as_json:
        told = [asdict(card) | {"year": year(card)} for card in cards.values()]
        _print_json(told if name is None else next(t for t in told if t["name"] == name))
    elif name is not None:
        _show_card(cards[name])
    else:
        _show_cards(cards.values())


def operators(
    name: Annotated[str | None, typer.Argument(help="Tell all of one, not some of all.")] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """The operators: what each answers, what it takes, and what may be assumed of it.

    **Examples**

    - `sash operators`
    - `sash operators ArgMax`
    - `sash operators --json`
    """
    entries = catalogue()
    if name is not None and name not in entries:
        _unknown("operator", name, entries)
    if as_json:
        told = [entry.as_dict() for entry in entries.values()]
        _print_json(told if name is None else entries[name].as_dict())
    elif name is not None:
        _show_entry(entries[name])
    else:
        _show_entries(entries.values())


def year(card: Card) -> int | None:
    """When its paper came out."""
    found = re.search(r"\((\d{4})\)", card.paper)
    return int(found[1]) if found else None


def _unknown(what: str, name: str, known: Iterable[str]) -> None:
    """One sentence, and an exit code that scripts see."""
    lower = {each.lower(): each for each in known}
    near = get_close_matches(name.lower(), lower, n=1)
    hint = f"did you mean {lower[near[0]]}?" if near else f"`sash {what}s` lists all."
    typer.echo(f"sash {what}s: there is no {what} {name!r}; {hint}", err=True)
    raise typer.Exit(2)


def _print_json(told: Any) -> None:
    typer.echo(json.dumps(told, indent=2, ensure_ascii=False))


# For readers


def _show_cards(cards: Iterable[Card]) -> None:
    if _console().width < NARROW:
        facts = "order {0.order} · needs {0.needs} · time {0.time} · space {0.space}"
        _show_lines({card.name: (card.title, facts.format(card)) for card in cards})
        return
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("algorithm", no_wrap=True)
    for title, width in (("order", 16), ("needs", 20), ("time", None), ("space", 16)):
        table.add_column(title, max_width=width)
    table.add_column("year", no_wrap=True)
    for card in cards:
        when = str(year(card) or "")
        table.add_row(card.name, card.order, card.needs, card.time, card.space, when)
    _print(table)


def _show_entries(entries: Iterable[Entry]) -> None:
    told = {}
    for entry in entries:
        facts = [f"columns {entry.columns_told}"]
        facts += [f"options {entry.options_told}"] if entry.options_told else []
        facts += [entry.traits] if entry.traits else []
        facts += [f"partial {entry.partial_told}", f"empty: {entry.empty_told}"]
        told[entry.name] = entry.answers, " · ".join(facts)
    _show_lines(told)


def _show_lines(told: Mapping[str, tuple[str, str]]) -> None:
    """Two lines each, where many columns side by side would be columns of single words."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    for name, lines in told.items():
        grid.add_row(name, "\n".join(lines))
    _print(grid)


def _show_card(card: Card) -> None:
    told = {"order": card.order, "needs": card.needs, "time": card.time}
    told |= {"space": card.space, "paper": card.paper}
    _show_one(card.name, card.title, told, _below(card))


def _show_entry(entry: Entry) -> None:
    partial = entry.partial_told
    if entry.partial is not None:
        partial = ", ".join(f"{name} {kind}" for name, kind in entry.partial.items())
    told = {"columns": entry.columns_told, "options": entry.options_told, "traits": entry.traits}
    told |= {"partial": partial, "empty": entry.empty_told}
    _show_one(entry.name, entry.answers, told, entry.more)


def _show_one(name: str, title: str, told: Mapping[str, str], more: str) -> None:
    grid = Table.grid(padding=(0, 2))
    for topic, text in told.items():
        grid.add_row(topic, text or "none")
    _print(Text(name, style="bold"), Text(f"{title}\n"), grid)
    if more:  # formulas and drawings stay as they are
        typer.echo(f"\n{more}")


def _console() -> Console:
    out = Console(highlight=False, markup=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = PIPED
    return out


def _print(*parts: RenderableType) -> None:
    """Without blanks at the ends of lines."""
    out = _console()
    with out.capture() as text:
        out.print(*parts, sep="\n")
    for line in text.get().splitlines():
        typer.echo(line.rstrip())


def _below(card: Card) -> str:
    """What an algorithm's file says below its card: how it works, invariants, a trace."""
    text = import_module(f"sash.aggregators.{card.name}").__doc__ or ""
    _, _, rest = text.partition("\npaper ")
    return rest.partition("\n\n")[2].rstrip()

"""All algorithms by name, with their cards."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import ModuleType

from sash.aggregators import (
    aba,
    daba,
    daba_cached,
    daba_lite,
    pba,
    recalc,
    sba,
    subtract_on_evict,
    two_stacks,
    two_stacks_lite,
)
from sash.operators.base import Operator
from sash.operators.monoid import Monoid

MODULES: dict[str, ModuleType] = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        recalc,
        subtract_on_evict,
        two_stacks,
        two_stacks_lite,
        aba,
        daba,
        daba_cached,
        daba_lite,
        sba,
        pba,
    )
}


@dataclass(frozen=True)
class Card:
    """What an algorithm is for and what it costs, as its file says."""

    name: str
    title: str
    order: str
    needs: str
    time: str
    space: str
    paper: str


CARD = re.compile(
    r"order (?P<order>.*?) · needs (?P<needs>.*?) · time (?P<time>.*?) · space (?P<space>.*?)\n"
    r"paper (?P<paper>.*?)\n",
    re.DOTALL,
)


def card(name: str) -> Card:
    """The card at the top of an algorithm's file."""
    text = MODULES[name].__doc__ or ""
    found = CARD.search(text + "\n")
    assert found is not None, f"{name} has no card"
    fields = {key: " ".join(value.split()) for key, value in found.groupdict().items()}
    return Card(name, text.splitlines()[0], **fields)


def algorithms() -> list[Card]:
    """The card of every algorithm."""
    return [card(name) for name in MODULES]


def named(name: str) -> ModuleType:
    """An algorithm's module; an unknown name is an error that lists the known ones."""
    if name not in MODULES:
        raise ValueError(f"there is no algorithm {name!r}; there are {', '.join(MODULES)}.")
    return MODULES[name]


def for_operator(name: str, operator: Operator) -> ModuleType:
    """An algorithm's module, refused if the operator lacks what it needs."""
    module = named(name)
    lacking = [leaf.name for leaf in operator.leaves if not leaf.invertible]
    if lacking:
        _refuse_inverse(module, ", ".join(lacking))
    return module


def check_fits(module: ModuleType, monoid: Monoid) -> None:
    """The same once types are settled: decimals, say, are summed by something without inverse."""
    lacking = [leaf.name for leaf in monoid.leaves() if not leaf.invertible]
    if lacking:
        _refuse_inverse(module, f"{', '.join(lacking)} of such values")


def _refuse_inverse(module: ModuleType, lacking: str) -> None:
    if getattr(module, "NEEDS", None) == "inverse":
        name = module.__name__.rpartition(".")[2]
        raise TypeError(
            f"{name} needs an operator that can be taken back, and {lacking} has no inverse; "
            f"use algorithm='auto'."
        )

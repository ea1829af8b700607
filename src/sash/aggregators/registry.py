"""All algorithms by name, with their cards."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from sash.aggregators import (
    aba,
    amta,
    b_int,
    daba,
    daba_cached,
    daba_lite,
    fiba,
    flat_fat,
    flat_fit,
    log_mta,
    pba,
    recalc,
    sba,
    slick_deque,
    slick_deque_inv,
    slide_side,
    slide_side_inv,
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
        flat_fat,
        b_int,
        flat_fit,
        log_mta,
        amta,
        sba,
        pba,
        slick_deque,
        slide_side,
        fiba,
    )
}

VARIANTS: dict[str, tuple[ModuleType, ...]] = {
    "slick_deque": (slick_deque, slick_deque_inv),
    "slide_side": (slide_side_inv, slide_side),
}
"""Algorithms with a file for each kind of operator: the first that serves it is taken."""


COMPOSED = ("latency_bound", "per_source")
"""Windows that are made of others' algorithms: files of the same name, with cards too."""


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
    composed: bool = False
    """Whether it is made of other algorithms, and has its own ways of insert and evict."""


CARD = re.compile(
    r"order (?P<order>.*?) · needs (?P<needs>.*?) · time (?P<time>.*?) · space (?P<space>.*?)\n"
    r"paper (?P<paper>.*?)\n\s*\n",
    re.DOTALL,
)


def card(name: str) -> Card:
    """The card at the top of an algorithm's file."""
    composed = name in COMPOSED
    module = import_module(f"sash.aggregators.{name}") if composed else MODULES[name]
    text = module.__doc__ or ""
    found = CARD.search(text + "\n\n")
    assert found is not None, f"{name} has no card"
    fields = {key: " ".join(value.split()) for key, value in found.groupdict().items()}
    return Card(name, text.splitlines()[0], **fields, composed=composed)


def algorithms() -> list[Card]:
    """The card of every algorithm."""
    return [card(name) for name in (*MODULES, *COMPOSED)]


def named(name: str) -> ModuleType:
    """An algorithm's module; an unknown name is an error that lists the known ones."""
    if name in COMPOSED:
        raise ValueError(f"{name} is made with sash.aggregator({name!r}, …) only.")
    if name not in MODULES:
        raise ValueError(
            f"there is no algorithm {name!r}; there are {', '.join((*MODULES, *COMPOSED))}."
        )
    return MODULES[name]


def for_operator(name: str, operator: Operator) -> ModuleType:
    """An algorithm's module, refused if the operator lacks what it needs."""
    module = named(name)
    if not any(_serves(variant, operator) for variant in _variants(module)):
        raise TypeError(_refusal(module, operator, ""))
    return module


def check_slides_by_policy(module: ModuleType) -> None:
    """Refuse an algorithm that does not find how many leave by a slide policy."""
    if not hasattr(module, "evict_while"):
        name = module.__name__.rpartition(".")[2]
        able = [known for known, other in MODULES.items() if hasattr(other, "evict_while")]
        raise TypeError(f"{name} does not evict by a slide policy; {' and '.join(able)} do.")


def fitting(module: ModuleType, monoid: Monoid) -> ModuleType:
    """The file that serves an operator once types are settled; refused if there is none.

    Decimals, say, are summed by something without inverse.
    """
    for variant in _variants(module):
        if _serves(variant, monoid):
            return variant
    raise TypeError(_refusal(module, monoid, " of such values"))


def _variants(module: ModuleType) -> tuple[ModuleType, ...]:
    return VARIANTS.get(module.__name__.rpartition(".")[2], (module,))


def _serves(variant: ModuleType, operator: Operator | Monoid) -> bool:
    needs = getattr(variant, "NEEDS", "")
    if needs == "exact inverse":
        return isinstance(operator, Monoid) and _takes_back_exactly(operator)
    return not needs or (operator.selective if needs == "selective" else operator.invertible)


def _takes_back_exactly(monoid: Monoid) -> bool:
    """Floats do not come back: what a huge value has rounded away is gone when it leaves."""
    kinds = [dtype.kind for leaf in monoid.leaves() for _, dtype in leaf.fields or ()]
    return monoid.invertible and monoid.fixed_width and "f" not in kinds


def _refusal(module: ModuleType, operator: Operator | Monoid, given: str) -> str:
    name = module.__name__.rpartition(".")[2]
    leaves: list[Any] = list(operator.leaves() if isinstance(operator, Monoid) else operator.leaves)
    if any(getattr(variant, "NEEDS", "") == "selective" for variant in _variants(module)):
        names = [leaf.name for leaf in leaves]
        lacking = names[0] if len(names) == 1 else f"Together of {', '.join(names)}"
        return (
            f"{name} needs an operator that picks one of its values or that can be taken back, "
            f"and {lacking}{given} is neither; use algorithm='auto'."
        )
    lacking = ", ".join(leaf.name for leaf in leaves if not leaf.invertible)
    return (
        f"{name} needs an operator that can be taken back, and {lacking}{given} has no inverse; "
        f"use algorithm='auto'."
    )

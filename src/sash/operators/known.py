"""Our operators by name, and any operator as plain values: for files and saved windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sash.operators import collections, extremes, moments, positions, runs, sketches, sums
from sash.operators.base import Operator
from sash.operators.errors import OperatorError
from sash.operators.together import Together

FILES = (sums, extremes, moments, positions, runs, collections, sketches)
KNOWN: dict[str, Any] = {
    name: value
    for file in FILES
    for name, value in vars(file).items()
    if isinstance(value, type) and issubclass(value, Operator) and not name.startswith("_")
}


def described(operator: Operator) -> dict[str, Any]:
    """An operator by its name, columns and options."""
    if isinstance(operator, Together):
        return {"together": {name: described(m) for name, m in operator.members.items()}}
    kind = KNOWN.get(operator.name)
    return {
        "name": operator.name,
        "ours": kind is not None and isinstance(operator, kind),
        "columns": list(operator.columns),
        "options": dict(operator.given()),
    }


def known_operator(description: Mapping[str, Any]) -> Operator:
    """The operator of ours that is described so."""
    if "together" in description:
        members = description["together"]
        return Together(**{name: known_operator(member) for name, member in members.items()})
    name = description["name"]
    if not description.get("ours") or name not in KNOWN:
        raise OperatorError(f"{name} is not an operator of sash: give it, as in op={name}().")
    made: Operator = KNOWN[name](*description["columns"], **description["options"])
    return made

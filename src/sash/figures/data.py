"""The values that experiments aggregate: made from a seed, or read from the real files if given.

The environment tells where those are: SASH_DEBS_2012 and SASH_DEBS_2014, each a file or a folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sash.workloads import manufacturing, recorded, smart_plugs

Array = npt.NDArray[Any]

DEBS_2012: Final = "SASH_DEBS_2012"
DEBS_2014: Final = "SASH_DEBS_2014"


def energy(rows: int) -> Array:
    """Readings of manufacturing equipment, 100 a second; a file that ends begins again."""
    path = os.environ.get(DEBS_2012)
    if not path:
        return manufacturing.energy(rows)
    return np.resize(recorded.debs2012(path, rows=rows), rows)


def uniform(rows: int) -> Array:
    """Any value as likely as any other."""
    return np.random.default_rng(0).integers(1, 1 << 20, rows)


def in_a_byte(rows: int) -> Array:
    """Small enough for partials of one byte."""
    return np.random.default_rng(0).integers(-100, 100, rows)


def plug_loads(rows: int) -> dict[str, Array]:
    """Loads of smart plugs: `timestamp`, `value`, `plug`, in order of arrival."""
    path = os.environ.get(DEBS_2014)
    if path:
        return recorded.debs2014(path, rows=rows)
    made = smart_plugs.table(int(rows * 2.1) + 1_000, malformed=0)
    columns = {name: made[name].to_numpy() for name in made.column_names}
    loads = np.flatnonzero(columns["property"] == 1)[:rows]
    plug = (columns["house_id"] * 1_000 + columns["household_id"]) * 1_000 + columns["plug_id"]
    found = {"timestamp": columns["timestamp"], "value": columns["value"], "plug": plug}
    return {name: column[loads] for name, column in found.items()}


WORKLOADS: Final[dict[str, Callable[[int], Array]]] = {
    "debs2012": energy,
    "uniform": uniform,
    "in a byte": in_a_byte,
}

_made: dict[str, Array] = {}


def values_of(workload: str, rows: int) -> Array:
    """So many values; the first of more are the same, so the most that were made are kept."""
    made = _made.get(workload)
    if made is None or len(made) < rows:
        made = _made[workload] = WORKLOADS[workload](rows)
        made.flags.writeable = False
    return made[:rows]


def sources() -> dict[str, str]:
    """Where values come from, for the facts of a file of results."""
    return {
        "DEBS 2012": "recorded" if os.environ.get(DEBS_2012) else "made from a seed",
        "DEBS 2014": "recorded" if os.environ.get(DEBS_2014) else "made from a seed",
    }

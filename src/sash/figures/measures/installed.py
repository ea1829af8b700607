"""Which rivals are there: one that is not installed is left out, and named as missing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from importlib.util import find_spec

from sash.figures.cases import NOT_INSTALLED, Case, Group, Point

OURS = {"sash", "numpy", "python"}
PACKAGES = {"spark": "pyspark"}


def package_of(series: str) -> str:
    """What must be installed for a line: `pandas, numba` is of pandas."""
    name = series.partition(", ")[0]
    return PACKAGES.get(name, name)


def installed(series: Iterable[str]) -> list[str]:
    """Those whose library is there."""
    return [name for name in series if package_of(name) in OURS or find_spec(package_of(name))]


def missing(series: Iterable[str]) -> list[Group]:
    """For those whose library is not there a case that says so, and nothing else."""
    names = list(series)
    there = installed(names)
    absent = dict.fromkeys(package_of(name) for name in names if name not in there)
    return [partial(_absent, list(absent))] if absent else []


def _absent(packages: list[str]) -> list[Case]:
    said = [Point(NOT_INSTALLED, 1)]
    return [Case("", name, 0, lambda: said, timed=False) for name in packages]

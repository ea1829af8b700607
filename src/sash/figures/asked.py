"""The aggregation functions of the papers, by the papers' names, and values to give them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import sash
from sash.aggregators import columns
from sash.aggregators.columns import Leaf
from sash.workloads import manufacturing

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Asked:
    """An operator, and the type of the values that it is given."""

    operator: Any
    """A `sash.Operator`; what is made by the decorator has no type of its own."""
    dtype: str = "int64"
    needs_rows: bool = False
    """Whether it is given a payload beside the value."""

    def leaves(self, values: Array) -> list[Leaf]:
        """The values as a compiled loop reads them."""
        given: Any = values.astype(self.dtype, copy=False)
        if self.needs_rows:
            given = {"v": given, "who": np.arange(len(values))}
        return columns.leaves(columns.table(given), self.operator)[0]


# Operators that a decorator makes have no signature that mypy knows.
ops: Any = sash

ASKED = {
    "Count": Asked(ops.Count()),
    "Sum": Asked(ops.Sum()),
    "Sum<Double>": Asked(ops.Sum(), "float64"),
    "Max": Asked(ops.Max()),
    "Max<Double>": Asked(ops.Max(), "float64"),
    "ArithmeticMean": Asked(ops.Mean(), "float64"),
    "GeometricMean": Asked(ops.GeometricMean(), "float64"),
    "MinCount": Asked(ops.MinCount()),
    "SampleStdDev": Asked(ops.StdDev(), "float64"),
    "PopulationStdDev": Asked(ops.StdDev(ddof=0), "float64"),
    "ArgMax": Asked(ops.ArgMax("v", "who"), needs_rows=True),
    "ArgMax<Double>": Asked(ops.ArgMax("v", "who"), "float64", needs_rows=True),
    "Bloom": Asked(ops.Bloom(bits=2**14)),
    "Collect": Asked(ops.Collect()),
    "MomentSketch": Asked(ops.MomentSketch(), "float64"),
}
"""Of those without <Double>, integers where the answer is one of the values, or a sum of them."""


def debs_2012(rows: int) -> Array:
    """Readings of manufacturing equipment, 100 a second."""
    return manufacturing.energy(rows)


def uniform(rows: int) -> Array:
    """Any value as likely as any other."""
    return np.random.default_rng(0).integers(1, 1 << 20, rows)


WORKLOADS = {"debs2012": debs_2012, "uniform": uniform}


def values_of(workload: str, rows: int) -> Array:
    """So many values; the first of more are the same."""
    return WORKLOADS[workload](rows)

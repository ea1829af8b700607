"""The aggregation functions of the papers, by the papers' names, and values to give them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import sash
from sash.aggregators import columns
from sash.aggregators.columns import Leaf
from sash.figures import own_operators
from sash.figures.data import Array, values_of

__all__ = ["ASKED", "Array", "Asked", "values_of"]


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
    # Like some of those above, with fewer bytes.
    "Sum, 8 bytes": Asked(own_operators.NarrowSum()),
    "GeometricMean, 8 bytes": Asked(own_operators.NarrowGeometricMean(), "float64"),
    "Bloom, 64 bits": Asked(ops.Bloom(bits=64)),
    "Greatest, 24 bytes": Asked(own_operators.GreatestOfThree()),
    "Greatest, 1 byte": Asked(own_operators.greatest_of("int8"), "int8"),
}
"""Of those without <Double>, integers where the answer is one of the values, or a sum of them."""

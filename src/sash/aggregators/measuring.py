"""How long one ⊕ takes, here and now: the T_u by which chunks of time are chosen."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

import numpy as np

from sash.aggregators import pba
from sash.aggregators.columns import leaves
from sash.aggregators.running import Job
from sash.operators.base import Operator

SAMPLES = 1_024
STEPS = 100_000
ROUNDS = 5


def measure_unit(operator: Operator, dtype: Any = "float64") -> float:
    """Nanoseconds for one ⊕ of this operator over values of a type; the best of some rounds.

    Compiled if the operator compiles, and else in plain Python. For `optimal_chunk_of_time` and
    the option `unit` of `pba`.
    """
    values = np.random.default_rng(0).integers(1, 100, SAMPLES).astype(dtype)
    named = {name: values for leaf in operator.leaves for name in leaf.columns}
    most = max(leaf.column_counts()[0] for leaf in operator.leaves)
    job = Job(pba, operator, leaves(named or (values,) * most, operator)[0])
    slots, *_ = job.rings(SAMPLES)
    out, _ = job.outputs(1)
    steps = STEPS if job.compiled is not None else SAMPLES
    job.call("fill", slots, job.rows, SAMPLES)
    job.call("combine_over", slots, SAMPLES, out)
    best = None
    for _ in range(ROUNDS):
        start = perf_counter_ns()
        job.call("combine_over", slots, steps, out)
        spent = perf_counter_ns() - start
        best = spent if best is None else min(best, spent)
    assert best is not None
    return best / steps

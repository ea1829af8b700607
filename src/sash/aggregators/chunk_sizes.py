"""How long the chunks of a boundary aggregator should be: the theorems of its paper.

A window of range r that slides by s is made of q = ⌊r/s⌋ slices, and r mod s more. While the main
thread takes in the slices after a boundary, the other one sums the b slices before it from the
right. The longest chunk for which that is done before a window begins inside it is the best one:
no window waits, and none covers a whole chunk more than once (⌊q/b⌋ = 1).
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

from sash.operators.base import Operator

CALLS = 200


def optimal_chunk(range: int, slide: int = 1) -> int:
    """The slices of a chunk for a window of `range` rows that slides by `slide` (Theorem 1).

    Each thread is taken to do one ⊕ for each row that comes.

    >>> optimal_chunk(1_000), optimal_chunk(1_000, 10)
    (501, 91)
    """
    _check(range, slide)
    q, rest = divmod(range, slide)
    if q <= slide + rest + 1:
        return q
    return (slide * (q + 1) + rest + 1) // (slide + 1)


def optimal_chunk_of_time(range: float, slide: float, unit: float) -> int:
    """The slices of a chunk for a window of time (Theorem 2).

    range, slide  lengths of time
    unit          the time that one ⊕ takes, T_u in the paper; `measure_unit` finds it

    All three are in the same unit. Where slide does not divide range, an answer is due r mod s
    after the slice, and takes one ⊕ more: C = r mod s + T_u. The paper prints s (r mod s) + 1 T_u,
    which would add a product of two times to a time.

    >>> optimal_chunk_of_time(3_600.0, 1.0, 1e-7), optimal_chunk_of_time(1_000, 1, 2)
    (3600, 601)
    """
    _check(range, slide)
    if not unit > 0:
        raise ValueError(f"the time that one ⊕ takes is more than nothing, not {unit}.")
    q, rest = divmod(range, slide)
    q = int(q)
    C = rest + unit if rest else 0
    if q * unit <= slide + 2 * unit + C:
        return q
    return int((q * (slide + unit) + slide + 2 * unit + C) // (slide + 2 * unit))


def _check(range: float, slide: float) -> None:
    if not range >= slide > 0:
        raise ValueError(
            f"a window slides by more than nothing and by no more than its range, not by {slide} "
            f"in a range of {range}."
        )


def measure_call(operator: Operator, dtype: Any = None) -> float:
    """Nanoseconds for one ⊕ called from Python, as single calls do; the best of some rounds."""
    kinds = [(dtype or "float64",) * max(leaf.inputs, 1) for leaf in operator.leaves]
    monoid = operator.bind_leaves(kinds)
    p, combine = monoid.identity(), monoid.combine
    best = float("inf")
    for _ in range(5):
        start = perf_counter_ns()
        for _ in range(CALLS):
            combine(p, p)
        best = min(best, (perf_counter_ns() - start) / CALLS)
    return max(best, 1.0)

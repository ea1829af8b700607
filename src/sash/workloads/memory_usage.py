"""How much memory of a computer is in use, made up from a seed: a reading a second, in KiB.

A server of 16 GiB, of which a quarter to a half is used:

- a runtime with a heap that fills for minutes, steadily, until what is dead is collected;
- jobs that come, hold memory for ten minutes to an hour and a half, and go;
- more by day than by night;
- caches that grow and shrink, in seconds as in hours.

So readings mostly rise, for seconds to a minute, and fall all at once. The first ones are the same
however many are asked for.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from sash.workloads import machine_signals as signals
from sash.workloads.machine_signals import BLOCK, Curve

INSTALLED: Final = 16 << 20
"""KiB."""
DAY: Final = 86_400

_BASE: Final = 4_500_000
_BY_DAY: Final = 900_000
_CACHES: Final = (2e3, 1.5e3, 2e3, 3e3, 6e3, 12e3, 25e3, 50e3, 90e3)
_JOBS: Final = 16
"""So many begin in a block, on average."""

# Streams of random numbers, so that no two parts share one.
_WAVERING, _HEAP, _STARTED = range(3)


def in_use(rows: int, seed: int = 19) -> npt.NDArray[np.int64]:
    """What is in use at each second, from midnight on."""
    if rows < 0:
        raise ValueError(f"rows={rows}: there cannot be less than none")
    found = np.empty(rows, np.int64)
    for block in range(-(-rows // BLOCK)):
        part = found[block * BLOCK : (block + 1) * BLOCK]
        hour = 2 * np.pi * (signals.rows_of(block) % DAY) / DAY
        used = _BASE + _BY_DAY * (1 - np.cos(hour))
        used += signals.wander([seed, _WAVERING], block, _CACHES)
        used += _heap(np.random.default_rng([seed, _HEAP, block]))
        used += _jobs(np.random.default_rng([seed, _STARTED, block]))
        part[:] = used[: len(part)]
    return found


def _heap(rng: np.random.Generator) -> Curve:
    """
    full      ╱│  ╱│    ╱│
            ╱  │╱  │  ╱  │
    empty ╱        │╱    │╱    so much survives as a collection leaves
    """
    heap = np.empty(BLOCK)
    at = 0
    while at < BLOCK:
        seconds = int(rng.uniform(60, 400))
        survives, full = rng.uniform(100_000, 250_000), rng.uniform(600_000, 1_000_000)
        heap[at : at + seconds] = np.linspace(survives, full, seconds)[: BLOCK - at]
        at += seconds
    return heap


def _jobs(rng: np.random.Generator) -> Curve:
    """Each takes its memory within a minute, and ends within the block."""
    taken = np.zeros(BLOCK)
    for _ in range(rng.poisson(_JOBS)):
        seconds = int(rng.uniform(600, 5_400))
        at = int(rng.integers(0, BLOCK - seconds))
        held = min(100_000 + rng.exponential(300_000), 1_500_000)
        taken[at : at + seconds] += held * np.minimum(np.arange(seconds) / 60, 1)
    return taken

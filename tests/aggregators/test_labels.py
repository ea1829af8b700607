"""A process may compile as many operators as it likes, though Numba's numbers of blocks grow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from sash.aggregators.compiling import LABELS

PROGRAM = """
import numpy as np, sash
from sash.aggregators.compiling import LABELS

rows = np.arange(6.0)
before = LABELS._value
sash.aggregator("daba", sash.Max()).slide(rows, 3)
assert LABELS._value > before
LABELS._value = 10**1100  # as after many more
print(sash.aggregator("daba", sash.Min()).slide(rows, 3).tolist())
"""


def test_after_many_operators(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "SASH_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == ("[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]", 0), (
        done.stderr
    )


def test_numba_still_has_them() -> None:
    assert LABELS is not None, "Numba has been reshaped: does it number blocks anew by itself?"

"""Where the arrays of a ring lie in memory."""

from __future__ import annotations

import numpy as np

import sash
from sash.aggregators import daba_lite, pba
from sash.aggregators.columns import leaves
from sash.aggregators.rings import apart
from sash.aggregators.running import Job


def test_fields_begin_at_different_lines_of_a_page() -> None:
    """Else a loop over many of them finds nothing in the cache: it takes five times as long."""
    op = sash.MomentSketch()
    job = Job(pba, op, leaves(np.ones(2_000), op)[0])
    for arrays in (job.rings(1_000)[0], job.outputs(2_000)[0], job.buffer(1_000)):
        assert len(arrays) == 26
        for i, array in enumerate(arrays):
            assert array.ctypes.data - array.base.ctypes.data == 64 * i
            assert array.flags.c_contiguous and array.flags.aligned


def test_one_field_is_an_array_of_its_own() -> None:
    job = Job(daba_lite, sash.Max(), leaves(np.ones(10), sash.Max())[0])
    (array,) = job.rings(10)[0]
    assert array.base is None or array.base.size == array.size == 16


def test_so_many_values_whatever_their_type() -> None:
    for dtype in ("int8", "int16", "float32", "int64"):
        for i in (0, 1, 25, 63, 64, 100):
            array = apart(i, np.zeros, 10, np.dtype(dtype))
            assert (len(array), array.dtype, array.sum()) == (10, dtype, 0)

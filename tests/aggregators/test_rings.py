"""Where the arrays of a ring lie in memory."""

from __future__ import annotations

import numpy as np

import sash
from sash.aggregators import daba_lite, pba
from sash.aggregators.columns import leaves
from sash.aggregators.rings import apart
from sash.aggregators.running import Job

PAGE = 4_096


def test_fields_begin_at_different_lines_of_a_page() -> None:
    """Else a loop over many of them finds nothing in the cache: it takes five times as long."""
    op = sash.MomentSketch()
    job = Job(pba, op, leaves(np.ones(200_000), op)[0])
    for arrays in (job.rings(100_000)[0], job.outputs(200_000)[0], job.buffer(100_000)):
        places = {array.ctypes.data % PAGE // 64 for array in arrays}
        assert len(arrays) == 26
        assert len(places) > 20  # one or two may come from memory that was used before
        assert all(array.flags.c_contiguous and array.flags.aligned for array in arrays)


def test_one_field_is_an_array_of_its_own() -> None:
    job = Job(daba_lite, sash.Max(), leaves(np.ones(10), sash.Max())[0])
    (array,) = job.rings(10)[0]
    assert array.base is None or array.base.size == array.size == 16


def test_so_many_values_whatever_their_type() -> None:
    for dtype in ("int8", "int16", "float32", "int64"):
        for i in (0, 1, 25, 63, 64, 100):
            array = apart(i, np.zeros, 10, np.dtype(dtype))
            assert (len(array), array.dtype, array.sum()) == (10, dtype, 0)

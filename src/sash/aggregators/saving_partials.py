"""What partials and answers of Sash's own operators hold, as it is saved."""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.aggregators.saving_kinds import SavedError, checked, own
from sash.aggregators.saving_sketches import check_hll, check_kll
from sash.operators.datasketches import Hll, Kll
from sash.operators.extremes import HIGHEST, LOWEST
from sash.operators.sketches import BloomFilter, Counts, Frequencies


def _extreme(content: Any) -> Any:
    (lowest,) = checked((content,), bool)
    return LOWEST if lowest else HIGHEST


def _bloom(content: Any) -> BloomFilter:
    field, bits, hashes = checked(content, int, int, int)
    if field < 0 or min(bits, hashes) < 1 or field.bit_length() > bits:
        raise SavedError("a Bloom filter has more bits than it may")
    return BloomFilter(field, bits, hashes)


def _counts(content: Any) -> Counts:
    cells, table, total = content
    if type(cells) is not tuple or any(type(c) is not int or c < 0 for c in cells):
        raise SavedError("a table of counts has no cells")
    if type(total) is not int or (table is None and total != (1 if cells else 0)):
        raise SavedError("a table of counts has another total")
    if table is not None:
        fits = type(table) is np.ndarray and table.ndim == 1 and table.dtype == np.int64
        if not fits or cells:
            raise SavedError("a table of counts is not one")
        table = table.copy()  # it will refuse to be changed, and may be shared
    return Counts(cells, table, total)


def _frequencies(content: Any) -> Frequencies:
    counts, width, depth = checked(content, Counts, int, int)
    size = width * depth
    fits = min(width, depth) > 0 and all(cell < size for cell in counts.cells)
    if not fits or (counts.table is not None and len(counts.table) != size):
        raise SavedError("a table of counts has another size")
    return Frequencies(counts, width, depth)


def _hll(content: Any) -> Hll:
    check_hll(*checked((content,), bytes))
    return Hll(content)


def _kll(content: Any) -> Kll:
    check_kll(*checked((content,), bytes))
    return Kll(content)


own(type(LOWEST), "x", lambda v: v is LOWEST, _extreme)
own(BloomFilter, "B", lambda v: (v.field, v.bits, v.hashes), _bloom)
own(Counts, "C", lambda v: (v.cells, v.table, v.total), _counts)
own(Frequencies, "Q", lambda v: (v.counts, v.width, v.depth), _frequencies)
own(Hll, "H", lambda v: v.data, _hll)
own(Kll, "K", lambda v: v.data, _kll)

"""Sketches of the DataSketches library, checked byte by byte before the library reads them.

The library takes the counts and places in a sketch's bytes on trust: wrong ones make it read and
write past the end of its memory. So everything in them that it goes by is computed again here.
The formats are those of the library's C++ core, as it writes them for our two operators.
"""

from __future__ import annotations

import math
import struct
from itertools import pairwise
from typing import Any

import numpy as np

from sash.aggregators.saving_kinds import SavedError

HLL_HEAD = struct.Struct("<8B")
HLL_SUMS = struct.Struct("<dddII")
HLL_8 = 2
LIST, SET, REGISTERS = 0, 1, 2
EMPTY, COMPACT, MERGED = 4, 8, 16
LIST_ROOM = 3
SMALLEST_SET = 5
LARGEST_REGISTER = 63

KLL_HEAD = struct.Struct("<4BHBB")
KLL_COUNTS = struct.Struct("<QHBB")
KLL_EMPTY, KLL_SORTED, KLL_SINGLE = 1, 2, 4
NARROWEST = 8
MOST_LEVELS = 48
"""So that no sum of a few sketches has more values than the library can count."""


def check_hll(data: bytes) -> None:
    """Raise SavedError if these are not the bytes of a HyperLogLog sketch."""
    if not _is_hll(data):
        raise SavedError("a HyperLogLog sketch in it is not one")


def check_kll(data: bytes) -> None:
    """Raise SavedError if these are not the bytes of a KLL sketch of doubles."""
    if not _is_kll(data):
        raise SavedError("a KLL sketch in it is not one")


def _is_hll(data: bytes) -> bool:
    if len(data) < HLL_HEAD.size or len(data) % 4:
        return False
    ints, version, family, lg_k, lg_room, flags, count, mode = HLL_HEAD.unpack_from(data)
    if version != 1 or family != 7 or not 4 <= lg_k <= 21 or mode >> 2 != HLL_8:
        return False
    if not flags & COMPACT or flags & ~(EMPTY | COMPACT | MERGED):
        return False
    if bool(flags & EMPTY) != (mode & 3 == LIST and count == 0):
        return False
    words = np.frombuffer(data, "<u4", offset=HLL_HEAD.size)
    if mode & 3 == LIST:
        shape = ints == 2 and lg_room == LIST_ROOM and count < 1 << LIST_ROOM
        return shape and _are_coupons(words, count)
    if mode & 3 == SET:
        shape = ints == 3 and count == 0 and SMALLEST_SET <= lg_room <= lg_k - 3
        shape = shape and 0 < len(words) <= 1 + (3 << lg_room) // 4
        return shape and _are_coupons(words[1:], int(words[0]))
    shape = ints == 10 and mode & 3 == REGISTERS and lg_room == count == 0
    return shape and _are_registers(data, 1 << lg_k)


def _are_coupons(coupons: np.ndarray[Any, Any], count: int) -> bool:
    """A coupon is a place in 26 bits, and above them the value there, which is never 0."""
    values = coupons >> 26
    return len(coupons) == count == len(np.unique(coupons)) and bool(np.all(values > 0))


def _are_registers(data: bytes, count: int) -> bool:
    start = HLL_HEAD.size + HLL_SUMS.size
    if len(data) != start + count:
        return False
    by_history, low, high, zeros, exceptions = HLL_SUMS.unpack_from(data, HLL_HEAD.size)
    registers = np.frombuffer(data, np.uint8, offset=start)
    found = np.bincount(registers, minlength=LARGEST_REGISTER + 1)
    # Powers of two: these sums are exact in any order.
    shares = found[: LARGEST_REGISTER + 1] * np.exp2(-np.arange(LARGEST_REGISTER + 1.0))
    return (
        len(found) == LARGEST_REGISTER + 1
        and (low, high) == (shares[:32].sum(), shares[32:].sum())
        and zeros == found[0]
        and exceptions == 0
        and 0 <= by_history < np.inf
    )


def _is_kll(data: bytes) -> bool:
    if len(data) < KLL_HEAD.size:
        return False
    ints, version, family, flags, k, narrowest, unused = KLL_HEAD.unpack_from(data)
    if family != 15 or k < NARROWEST or narrowest != NARROWEST or unused:
        return False
    if flags & KLL_EMPTY:
        return (ints, version, len(data)) == (2, 1, 8) and flags & ~KLL_SORTED == KLL_EMPTY
    if flags & KLL_SINGLE:
        shape = (ints, version, len(data)) == (2, 2, 16) and flags & ~KLL_SORTED == KLL_SINGLE
        return shape and not math.isnan(struct.unpack_from("<d", data, 8)[0])
    shape = (ints, version) == (5, 1) and not flags & ~KLL_SORTED
    return shape and _are_levels(data, k, bool(flags & KLL_SORTED))


def _are_levels(data: bytes, k: int, is_sorted: bool) -> bool:
    start = KLL_HEAD.size + KLL_COUNTS.size
    if len(data) < start:
        return False
    n, least_k, count, unused = KLL_COUNTS.unpack_from(data, KLL_HEAD.size)
    if not 1 <= count <= MOST_LEVELS or not NARROWEST <= least_k <= k or unused:
        return False
    room = sum(_room(k, above) for above in range(count))
    after = start + 4 * count + 16
    if len(data) < after:
        return False
    starts = [int(at) for at in np.frombuffer(data, "<u4", count, start)] + [room]
    sizes = [end - begin for begin, end in pairwise(starts)]
    if min(sizes) < 0 or len(data) != after + 8 * sum(sizes):
        return False
    # It counts on a highest level that is not empty, and on n for how many levels there can be.
    if not sizes[-1] or n != sum(size << level for level, size in enumerate(sizes)):
        return False
    lowest, highest = struct.unpack_from("<dd", data, start + 4 * count)
    values = np.frombuffer(data, "<f8", offset=after)
    if not lowest <= highest or not ((lowest <= values) & (values <= highest)).all():
        return False  # or one of them is NaN
    at = 0
    for level, size in enumerate(sizes):
        held = values[at : at + size]
        if (level or is_sorted) and (held[1:] < held[:-1]).any():
            return False
        at += size
    return True


def _room(k: int, above: int) -> int:
    """How many values a level may hold that has so many levels above it: about k·(2/3)^above."""
    if above > 30:
        return max(NARROWEST, _shrunk(_shrunk(k, above // 2), above - above // 2))
    return max(NARROWEST, _shrunk(k, above))


def _shrunk(k: int, above: int) -> int:
    return ((2 * k << above) // int(3**above) + 1) // 2

"""Filters and tables of counts as bytes: read back as they were, or refused."""

from __future__ import annotations

import struct
import zlib
from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash.operators.sketch_bytes import written

values = st.lists(st.one_of(st.integers(), st.text(max_size=3)), max_size=40)


def answer(operator: sash.Operator, held: list[Any]) -> Any:
    monoid = operator.bind(object)
    return monoid.lower(reduce(monoid.combine, map(monoid.lift, held), monoid.identity()))


@given(values, st.integers(1, 200), st.integers(1, 9))
def test_a_filter_comes_back(held, bits, hashes):
    seen = answer(sash.Bloom(bits=bits, hashes=hashes), held)
    back = sash.BloomFilter.from_bytes(seen.to_bytes())
    assert back == seen and all(value in back for value in held)


@given(values, st.integers(1, 40), st.integers(1, 5), st.sampled_from([1, 300]))
def test_a_table_comes_back(held, width, depth, times):
    counts = answer(sash.CountMin(width=width, depth=depth), held * times)
    back = sash.Frequencies.from_bytes(memoryview(counts.to_bytes()))
    assert back == counts and back.total == len(held) * times
    assert all(back.count(value) == counts.count(value) for value in held)


def test_counts_take_as_few_bytes_as_they_need():
    few = answer(sash.CountMin(width=100, depth=2), [1] * 255)
    more = answer(sash.CountMin(width=100, depth=2), [1] * 256)
    assert len(more.to_bytes()) == len(few.to_bytes()) + 200


BLOOM = answer(sash.Bloom(bits=13), ["a", "b"]).to_bytes()
TABLE = answer(sash.CountMin(width=3, depth=2), ["a", "b"]).to_bytes()
BOTH = [(sash.BloomFilter, BLOOM), (sash.Frequencies, TABLE)]


@pytest.mark.parametrize(("kind", "data"), BOTH)
def test_any_damage_is_found(kind, data):
    for at in range(len(data)):
        for wrong in (data[:at], data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]):
            with pytest.raises(ValueError, match=rf"not the bytes of a {kind.__name__}|version"):
                kind.from_bytes(wrong)
    with pytest.raises(ValueError, match="their checksum is wrong"):
        kind.from_bytes(data + b"\0")


@pytest.mark.parametrize(
    ("kind", "content", "why"),
    [
        (b"B", b"", "they end too early"),
        (b"B", struct.pack("<QI", 13, 4) + bytes([0, 32]), "their parts do not go together"),
        (b"B", struct.pack("<QI", 13, 4) + bytes(3), "their parts do not go together"),
        (b"B", struct.pack("<QI", 0, 4), "their parts do not go together"),
        (b"B", struct.pack("<QI", 2**60, 4) + bytes(2), "their parts do not go together"),
        (b"C", b"", "they end too early"),
        (b"C", struct.pack("<QQQB", 2, 1, 1, 1) + bytes([1]), "their parts do not go together"),
        (b"C", struct.pack("<QQQB", 2, 1, 1, 3) + bytes(6), "their parts do not go together"),
        (b"C", struct.pack("<QQQB", 2**62, 4, 0, 1), "their parts do not go together"),
        (b"C", struct.pack("<QQQB", 2, 2, 2, 1) + bytes([1, 1, 2, 1]), "counts do not add up"),
    ],
)
def test_sound_bytes_of_no_sketch_are_refused(kind, content, why):
    read = sash.BloomFilter if kind == b"B" else sash.Frequencies
    with pytest.raises(ValueError, match=why):
        read.from_bytes(written(kind, content))


def test_one_kind_is_not_the_other_nor_a_later_version():
    with pytest.raises(ValueError, match="not the bytes of a Frequencies: they begin otherwise"):
        sash.Frequencies.from_bytes(BLOOM)
    later = BLOOM[:5] + b"\x02" + BLOOM[6:-4]
    later += struct.pack("<I", zlib.crc32(later))
    with pytest.raises(ValueError, match="version 2 of its format, and this release reads version"):
        sash.BloomFilter.from_bytes(later)
    with pytest.raises(TypeError, match="from_bytes takes bytes, not str"):
        sash.BloomFilter.from_bytes("text")

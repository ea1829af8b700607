"""Nothing but a SavedError comes of bytes that were damaged, or forged with a right checksum."""

from __future__ import annotations

import random
import struct
import tracemalloc
import zlib
from collections import deque
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from saved import forged, sealed, written

import sash
from sash.aggregators import saving
from sash.aggregators.saving import SavedError, pack, unpack
from sash.operators.monoid import answers_class, partial_class
from sash.operators.rope import Rope


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The same bytes with bits flipped, cut, put in, or exchanged."""
    changed = bytearray(data)
    kind = chance.randrange(5)
    at, other = sorted(chance.sample(range(len(data)), 2))
    if kind == 0:
        for _ in range(chance.choice([1, 1, 2, 8])):
            changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == 1:
        del changed[at:]
    elif kind == 2:
        changed[at:at] = chance.randbytes(chance.choice([1, 2, 100]))
    elif kind == 3:
        del changed[at:other]
    else:
        size = min(chance.choice([1, 4, 16]), other - at, len(data) - other)
        changed[at : at + size], changed[other : other + size] = (
            data[other : other + size],
            data[at : at + size],
        )
    return bytes(changed)


def a_partial() -> Any:
    monoid = sash.Together(
        n=sash.Count(), all=sash.Collect(), some=sash.CountDistinct(), sketch=sash.CountMin()
    ).bind()
    total = monoid.identity()
    for row, value in enumerate([1.5, 2.5, 1.5, float("nan")] * 40):
        total = monoid.combine(total, monoid.lift_cells(iter([(value,)] * 4), row))
    return total


@pytest.mark.parametrize("content", [a_partial(), np.arange(40_000.0)], ids=["partial", "array"])
def test_every_damage_is_found(content: Any) -> None:
    data = pack("window", content)
    chance = random.Random(4)
    tried = 0
    while tried < 1_000:
        changed = damaged(data, chance)
        if changed != data:  # the parts exchanged may be alike
            tried += 1
            with pytest.raises(SavedError):
                unpack("window", changed)


def test_every_bit_counts() -> None:
    data = pack("window", (1, "two", [3.0]))
    for at in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[at] ^= 1 << bit
            with pytest.raises(SavedError):
                unpack("window", changed)
    for end in range(len(data)):
        with pytest.raises(SavedError):
            unpack("window", data[:end])


# Forged: the checksum is right


ROPE = Rope(range(70)) + Rope("ab") + Rope([(1,)] * 80)
CONTENTS: dict[str, Any] = {
    "plain": [
        *(None, True, -1, 2**70, 10**200, 1.5, "text", "long enough text", b"bytes", 1j),
        *(Decimal("1.50"), Fraction(1, 3), range(3), UUID(int=5), deque([1], 3), (), (1, (2,))),
        {"a": [1], (1, "b"): {2, 3}, frozenset({4}): {}},
    ],
    "times": [
        *(datetime(2020, 1, 2, 3, tzinfo=UTC), date(2020, 1, 2), time(1, 2), timedelta(1)),
        *(datetime(2020, 1, 2, tzinfo=ZoneInfo("Europe/Berlin")), pd.Timestamp("2020", tz="UTC")),
        *(np.datetime64("2020"), pd.Timedelta("1h"), pd.NaT),
    ],
    "arrays": [
        *(
            np.arange(5),
            np.zeros((2, 3), "f4"),
            np.array(["a", "bc"]),
            np.array(["2020"], "M8[ns]"),
        ),
        *(np.array([None, 1], object), np.float32(1), np.str_("x"), np.bytes_(b"y")),
    ],
    "arrow": [
        pa.array([1, None, 3]),
        pa.array(["a", None, "bc"]),
        pa.array([[1], None]),
        pa.chunked_array([["x"], ["y"]]).dictionary_encode(),
    ],
    "partials": [
        *(partial_class(("n", "total"))(1, 2.0), partial_class(("n", "total"))(3, 4.0)),
        *(answers_class(("lo", "hi"))(1, 2), ROPE, ROPE + Rope([1]), a_partial()),
        *(sash.Max().bind(object).identity(), sash.Bloom().bind().lower(1 << 9)),
        sash.CountMin().bind().lower(sash.CountMin().bind().lift(1)),
        sash.ApproxCountDistinct().bind().lift(1),
        sash.ApproxQuantile().bind().lift(1.0),
    ],
}


def mutated(values: bytes, chance: random.Random) -> bytes:
    """Bytes changed with a liking for tags and for lengths that lead astray."""
    changed = bytearray(values)
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        at = chance.randrange(len(changed))
        kind = chance.randrange(6)
        if kind == 0:
            changed[at] = chance.choice(b"NTFifsb([{<>PAR;@kd/jrqugacnDtmpozhxBCQHK")
        elif kind == 1:
            changed[at] = chance.choice([0, 1, 2, 127, 128, 255])
        elif kind == 2:
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 3:
            changed[at:at] = values[chance.randrange(len(values)) :][: chance.choice([1, 3, 20])]
        elif kind == 4:
            changed[at:at] = b"\xff" * 8 + b"\x01"
        else:
            del changed[at : at + chance.choice([1, 2, 9])]
        changed = changed or bytearray(b"N")
    return bytes(changed)


@pytest.mark.parametrize("name", CONTENTS)
def test_of_forged_values_come_values_or_a_saved_error(name: str) -> None:
    values, blocks = written(CONTENTS[name])
    chance = random.Random(name)
    refused = 0
    for _ in range(2_000):
        data = forged(mutated(values, chance), blocks)
        try:
            unpack("test", data)
        except SavedError:
            refused += 1
    assert 200 < refused < 2_000


@pytest.mark.parametrize("seed", range(10))
def test_of_noise_comes_a_saved_error(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(200):
        values = chance.randbytes(chance.choice([1, 5, 50]))
        with suppress(SavedError):
            unpack("test", forged(values))


def varint(count: int) -> bytes:
    found = bytearray()
    while count > 127:
        found.append(count & 127 | 128)
        count >>= 7
    return bytes([*found, count])


def text(value: str) -> bytes:
    return b"s" + varint(len(value)) + value.encode()


def halved(leaf: bytes, joined: bytes, times: int) -> bytes:
    """A value made of two of a value, which is made of two of a value, …"""
    levels = [leaf, *(joined + (b"@" + varint(i)) * 2 for i in range(times))]
    return b";" + varint(len(levels)) + b"".join(levels)


FORGED = {
    "a tuple of more than there is": b"(" + varint(2**60),
    "a dict of more than there is": b"{" + varint(2**40) + b"N",
    "a length without end": b"s" + b"\xff" * 100,
    "a text of more than there is": b"s" + varint(2**62) + b"x",
    "a text that is none": b"s\2\xff\xff",
    "a number of more than there is": b"i" + varint(2**62) + b"\1",
    "a block that is not there": b"b" + varint(10**6),
    "a value that is not there": b"[\1@\0",
    "a value not ended yet": b"[\2" + text("long enough") + b"@\1",
    "nothing at all": b"",
    "nothing of several": b";\0",
    "an unhashable key": b"{\1[\0N",
    "an unhashable member": b"<\1[\0",
    "a key twice": b"{\2i\1\1i\1\1NN",
    "an equal key twice": b"<\2i\1\1T",
    "a key that takes forever to hash": b"(\2"
    + halved(b"(\1N", b"(\2", 150)
    + b"<\1@"
    + varint(150),
    "a key of keys": b"(\2" + halved(b"(\1N", b"(\2", 150) + b"{\1(\1@" + varint(150) + b"N",
    "names that take forever to hash": b"(\2"
    + halved(b"(\1N", b"(\2", 150)
    + b"P\2@"
    + varint(150)
    + b"NN",
    "a rope of 2^150 values": halved(b"R(\1N(\0", b"R", 150),
    "a rope of no parts": b"RNN",
    "a rope of texts": b"R" + text("a") + text("b"),
    "a rope without its first part": b"R(\0(\1N",
    "a rope of numbers": b"Ri\1\1i\1\1",
    "fields without names": b"P\1i\1\1N",
    "fields of another number": b"P\1(\2s\1as\1bN",
    "a field twice": b"P\2(\2s\1as\1aNN",
    "a field that is code": b"P\1(\1" + text("__class__") + b"N",
    "a field that is a word of Python": b"P\1(\1" + text("lambda") + b"N",
    "a field with something behind": b"P\1(\1" + text("a=print('!')") + b"N",
    "fields twice, for Python": b"P\2(\2" + text("fi") + b"s\3\xef\xac\x81" + b"NN",
    "a kind without a name": b"kNN",
    "a kind of ours by name": b"ks\1dN",
    "a name without end": b"k" + text("x" * 200) + b"N",
    "a decimal that is none": b"d" + text("1_0"),
    "a decimal in other words": b"d" + text("1.0E+0"),
    "a decimal out of range": b"d" + text("1E+99999999999999999999"),
    "a ratio by zero": b"/(\2i\1\1i\1\0",
    "a ratio of texts": b"/(\2" + text("1") + text("2"),
    "a range by zero": b"r(\3i\1\1i\1\1i\1\0",
    "a deque longer than it may be": b"q(\2[\2NNi\1\1",
    "a deque of less than nothing": b"q(\2[\0i\1\xff",
    "a short complex": b"jb\1x",
    "a UUID that is none": b"ub\3abc",
    "a day that is none": b"Db\4" + struct.pack("<HBB", 2020, 2, 30),
    "an hour that is none": b"tb\10" + struct.pack("<BBBIB", 25, 0, 0, 0, 0),
    "a time in a text": b"t(\2b\10" + bytes(8) + text("UTC"),
    "days without end": b"pb\14" + struct.pack("<iii", 2**31 - 1, 0, 0),
    "an offset of days": b"o(\2pb\14" + struct.pack("<iii", 5, 0, 0) + b"N",
    "a zone in another folder": b"z" + text("../../etc/passwd"),
    "a zone at the root": b"z" + text("/etc/passwd"),
    "a zone in a package": b"z" + text("os.path"),
    "a zone that is a folder": b"z" + text("Europe"),
    "a zone that is unknown": b"z" + text("Nowhere/Town"),
    "an array of objects by bytes": b"n\10" + bytes(8) + b"(\2(\1i\1\1" + text("|O"),
    "an array of records": b"n\10" + bytes(8) + b"(\2(\1i\1\1" + text("i4,i4"),
    "an array of nothing": b"n\0(\2(\1i\5\0\0\0\0\1" + text("<U0"),
    "an array of more than there is": b"n\10" + bytes(8) + b"(\2(\1i\1\2" + text("<f8"),
    "an array of less than nothing": b"n\10" + bytes(8) + b"(\2(\2i\1\xffi\1\xff" + text("<f8"),
    "an array of no shape": b"n\10" + bytes(8) + b"(\2N" + text("<f8"),
    "an array of too many objects": b"n\0(\2(\2i\5\0\0\0\0\1i\1\0[\1N",
    "an array with a side without end": b"n\0(\2(\2i\1\0i\14" + b"\xff" * 11 + b"\1" + text("<f8"),
    "a scalar of two": b"g\2\0\0(\1" + text("|i1"),
    "an Arrow stream that is none": b"a\3abcF",
    "a Bloom filter with too many bits": b"B(\3i\2\0\1i\1\3i\1\1",
    "a table without cells": b"C(\3NNi\1\0",
    "a table of floats": b"C(\3(\0n\10" + bytes(8) + b"(\2(\1i\1\1" + text("<f8") + b"i\1\1",
    "a sketch of nothing": b"Hb\0",
    "a sketch of one byte": b"Kb\1\0",
    "an extreme of another name": b"x" + text("LOWEST"),
    "a time of pandas that is a text": b"h(\2" + text("2020") + b"N",
}


@pytest.mark.parametrize("values", FORGED.values(), ids=FORGED.keys())
def test_what_was_never_saved_is_refused(values: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(SavedError, match=r"^the saved test cannot be read: .*\.$"):
            unpack("test", forged(values))
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


def test_too_many_lists_of_fields_are_refused() -> None:
    """Each would leave a class behind."""
    several = [b"P\1(\1" + text(f"x{i}") + b"N" for i in range(1_001)]
    with pytest.raises(SavedError, match="too many lists of fields"):
        unpack("test", forged(b"[" + varint(len(several)) + b"".join(several)))


def test_a_bomb_is_refused() -> None:
    bomb = zlib.compress(bytes(10**8))
    for stored, size in ((len(bomb), 10**5), (len(bomb), 10**9), (len(bomb) - 9, 10**8)):
        table = saving.COUNT.pack(1) + saving.BLOCK.pack(1, stored, size)
        tracemalloc.start()
        try:
            with pytest.raises(SavedError, match=r"length|follows"):
                unpack("test", sealed(table + bomb))
            assert tracemalloc.get_traced_memory()[1] < 2.1 * size + 1e6
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize(
    "table",
    [
        b"",
        saving.COUNT.pack(0),
        saving.COUNT.pack(2**32 - 1),
        saving.COUNT.pack(1) + saving.BLOCK.pack(0, 2**60, 2**60) + b"N",
        saving.COUNT.pack(1) + saving.BLOCK.pack(2, 1, 1) + b"N",
        saving.COUNT.pack(1) + saving.BLOCK.pack(0, 1, 2) + b"N",
        saving.COUNT.pack(1) + saving.BLOCK.pack(0, 1, 1) + b"NN",
        saving.COUNT.pack(1) + saving.BLOCK.pack(1, 1, 1) + b"N",
        saving.COUNT.pack(1) + saving.BLOCK.pack(1, 8, 0) + zlib.compress(b""),
        saving.COUNT.pack(2) + saving.BLOCK.pack(0, 1, 1) * 2 + b"NN",
    ],
)
def test_blocks_that_are_none_are_refused(table: bytes) -> None:
    with pytest.raises(SavedError, match=r"^the saved test cannot be read: .*\.$"):
        unpack("test", sealed(table))


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
@pytest.mark.parametrize("dictionary", [False, True])
def test_a_compressed_arrow_stream_is_refused(codec: str, dictionary: bool) -> None:
    """It may unfold to any size."""
    array = pa.array(["x" * 100] * 1000)
    array = array.dictionary_encode() if dictionary else array
    schema = pa.schema([pa.field("", array.type)])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as out:
        out.write_batch(pa.record_batch([array], schema=schema))
    stream = sink.getvalue().to_pybytes()
    with pytest.raises(SavedError, match="an Arrow array is compressed"):
        unpack("test", forged(b"a" + varint(len(stream)) + stream + b"F"))


def test_an_arrow_stream_of_an_extension_is_refused() -> None:
    array = pa.array([b"0" * 16], pa.uuid())
    sink = pa.BufferOutputStream()
    schema = pa.schema([pa.field("", pa.list_(array.type))])
    with pa.ipc.new_stream(sink, schema):
        pass
    stream = sink.getvalue().to_pybytes()
    with pytest.raises(SavedError, match="an Arrow array is of type"):
        unpack("test", forged(b"c" + varint(len(stream)) + stream + b"T"))


def test_an_arrow_array_with_places_out_of_its_text_is_refused() -> None:
    values, _ = written(pa.array(["ab", "cd"]))
    offsets = struct.pack("<III", 0, 2, 4)
    assert values.count(offsets) == 1
    with pytest.raises(SavedError, match="ArrowInvalid"):
        unpack("test", forged(values.replace(offsets, struct.pack("<III", 0, 2**30, 4))))

"""What is saved comes back: the same types, the same bits, the same sharing."""

from __future__ import annotations

import enum
import math
import struct
import sys
import zoneinfo
from collections import OrderedDict, deque, namedtuple
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from saved import again, forged, same, written

from sash.aggregators import saving, saving_kinds
from sash.aggregators.saving import SavedError, pack, register, unpack
from sash.operators.monoid import answers_class, partial_class
from sash.operators.rope import Rope

QUIET_NAN, ODD_NAN = math.nan, struct.unpack("<d", b"\1\2\3\4\5\6\xfc\xff")[0]
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")

NEPAL = timezone(timedelta(hours=5, minutes=45), "Nepal")

zones = st.sampled_from([None, UTC, BERLIN, timezone(timedelta(hours=-3, minutes=-30)), NEPAL])
texts = st.text(st.characters(exclude_categories=[]), max_size=20)
hashable = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**600), 2**600),
    st.floats().map(lambda v: ODD_NAN if v == 0.5 else v),
    st.complex_numbers(),
    texts,
    st.binary(max_size=20),
    st.decimals(allow_nan=False) | st.sampled_from(list(map(Decimal, ("NaN12", "-0E+7", "-Inf")))),
    st.fractions(),
    st.datetimes(timezones=zones),
    st.dates(),
    st.times(),
    st.timedeltas(),
    st.uuids(),
    st.builds(range, st.integers(), st.integers(), st.integers(1)),
    st.sampled_from([UTC, NEPAL, BERLIN]),
)
numbers = st.sampled_from(
    ["?", "i1", "u1", "i2", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "M8[ns]", "m8[3h]"]
).map(np.dtype)
strings = st.sampled_from(["S1", "S7", "U1", "U5"]).map(np.dtype)
arrays = npst.arrays(
    numbers | strings, npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
)
leaves = hashable | arrays | numbers.flatmap(npst.from_dtype)
keys = st.recursive(hashable, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)


def nested(inner: Any) -> Any:
    several = st.lists(inner, max_size=4)
    return st.one_of(
        several,
        several.map(tuple),
        several.map(Rope),
        st.builds(deque, several, st.none() | st.integers(4, 9)),
        st.dictionaries(keys, inner, max_size=4),
        st.sets(keys, max_size=4),
        st.frozensets(keys, max_size=4),
        several.map(lambda values: partial_class(("n", "total"))(*(values * 4 + [0, 0])[:2])),
        several.map(lambda values: answers_class(("lo", "hi"))(*(values * 4 + [0, 0])[:2])),
        several.map(lambda values: np.fromiter(values, object, len(values))),
    )


@given(st.recursive(leaves, nested, max_leaves=12))
def test_nested_values_come_back_as_they_were(value: Any) -> None:
    assert same(again(value), value)


@pytest.mark.parametrize(
    "value",
    [
        -0.0,
        ODD_NAN,
        5e-324,
        complex(-0.0, ODD_NAN),
        np.float32(struct.unpack("<f", b"\1\2\xc0\x7f")[0]),
        np.float64(ODD_NAN),
        np.float16(1.5),
        np.datetime64("NaT"),
        np.datetime64("2020-01-01T00:00:00.000000001"),
        np.timedelta64(7, "25s"),
        np.datetime64(3, "Y"),
        np.str_("naïve"),
        np.str_(""),
        np.bytes_(b"a\0"),
        np.bool_(True),
        0,
        -1,
        127,
        128,
        -128,
        -129,
        2**63,
        -(2**63),
        10**1000,
        -(1 << 100_000),
        "\ud800 alone",
        "long " * 100_000,
        b"\0" * 70_000,
        Decimal("1E-999999"),
        Decimal("sNaN7"),
        datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=BERLIN),
        datetime.max,
        time(1, 2, 3, 4, tzinfo=UTC, fold=1),
        timedelta.min,
        timedelta.max,
        date.min,
        UUID(int=1),
        range(0, -(10**30), -7),
        deque([1, 2], maxlen=2),
        {(1, (2.0, "x")): {frozenset({1, b"y"})}, None: [()]},
        {1: "in", 0: "this", 2: "order"},
    ],
    ids=lambda value: (
        repr(value)[:30] if not isinstance(value, int) else f"int {value.bit_length()}"
    ),
)
def test_exactly(value: Any) -> None:
    assert same(again(value), value)


def test_equal_keys_of_several_kinds_stay_apart() -> None:
    value = {1: "a", "1": "b", (1,): "c", 1.5: "d", Decimal(2): "e", math.nan: "f"}
    assert same(again(value), value)
    assert len(again({math.nan, float("nan")})) == 2


# Arrays


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4),
        np.asfortranarray(np.arange(12).reshape(3, 4)),
        np.arange(20)[::-3],
        np.zeros((0, 3), "int8"),
        np.array(["", "ab", "é"]),
        np.array([b"", b"ab"]),
        np.array(["2020", "NaT"], "M8[us]"),
        np.array([True, False]),
        np.arange(100_000, dtype="uint16"),
        np.array([None, "x", (1, 2), [3], {}, np.array(5)], object),
        np.array([[1, None], ["x", 2.5]], object),
        np.array(3.5),
    ],
    ids=lambda array: f"{array.dtype} {array.shape}",
)
def test_numpy_arrays(array: np.ndarray[Any, Any]) -> None:
    found = again([array, array])
    assert same(found[0], array)
    assert found[0] is found[1]
    assert found[0].flags.writeable and found[0].flags.aligned


def test_an_array_of_the_other_byte_order_keeps_its_values() -> None:
    found = again(np.array([1.5, -2.0], ">f8"))
    assert same(found, np.array([1.5, -2.0]))


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, None, 3]),
        pa.array([1, None, 3, 4])[1:3],
        pa.array([], pa.string()),
        pa.array(["a", None, "ü"]),
        pa.array([[1, 2], None, []]),
        pa.array([{"a": 1, "b": "x"}, None]),
        pa.array(["x", "y", "x"]).dictionary_encode(),
        pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int8())),
        pa.array([datetime(2020, 1, 1, tzinfo=UTC)], pa.timestamp("ns", "Europe/Berlin")),
        pa.array([Decimal("1.50"), None]),
        pa.nulls(3),
        pa.array(range(50_000)),
        pa.chunked_array([[1, 2], [None], []]),
        pa.chunked_array([], pa.string()),
        pa.chunked_array(
            [pa.array(["x"]).dictionary_encode(), pa.array(["y"]).dictionary_encode()]
        ),
    ],
    ids=lambda array: f"{type(array).__name__} {array.type}"[:40],
)
def test_arrow_arrays(array: Any) -> None:
    found = again({"column": array})["column"]
    assert same(found, array)
    if isinstance(array, pa.ChunkedArray):
        assert [len(chunk) for chunk in found.chunks] == [len(chunk) for chunk in array.chunks]


@pytest.mark.parametrize(
    "value",
    [
        pd.Timestamp("2020-01-01T00:00:00.000000001"),
        pd.Timestamp("2024-10-27 01:30", tz="UTC").tz_convert("Europe/Berlin"),
        pd.Timestamp("2020").as_unit("s"),
        pd.Timestamp("1800", tz="UTC"),
        pd.Timedelta("1 days 1ns"),
        pd.NaT,
    ],
    ids=str,
)
def test_times_of_pandas(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = pack("test", {"at": value})
    found = unpack("test", saved)["at"]
    assert type(found) is type(value)
    assert repr(found) == repr(value) and getattr(found, "unit", 0) == getattr(value, "unit", 0)
    monkeypatch.setitem(sys.modules, "pandas", None)
    bare = unpack("test", saved)["at"]
    assert isinstance(bare, np.datetime64 | np.timedelta64)
    assert str(bare) == str(value.asm8)


def test_large_arrays_are_compressed_only_if_they_shrink() -> None:
    noise = np.random.default_rng(0).integers(0, 2**63, 300_000)
    zeros = np.zeros(300_000)
    assert len(pack("test", zeros)) < zeros.nbytes / 50
    assert noise.nbytes < len(pack("test", noise)) < noise.nbytes + 200
    both = pack("test", [noise, zeros, "text " * 1000])
    assert len(both) < noise.nbytes + zeros.nbytes / 50 + 1000
    assert same(unpack("test", both), [noise, zeros, "text " * 1000])


# Sharing


def test_what_is_shared_stays_shared_and_is_written_once() -> None:
    long = tuple(range(1000))
    table = np.arange(1000)
    big = 1 << 5000
    texts = "some text", b"some bytes"
    once, often = ([(long, table, big, texts)] * count for count in (1, 100))
    assert len(written(often)[0]) < len(written(once)[0]) + 500
    found = again(often)
    assert same(found, often)
    assert found[0] is found[99]
    empty: list[Any] = []
    a, b, c = again([empty, empty, []])
    assert a is b is not c


def test_keys_are_written_in_full() -> None:
    key = ("some long text", ("some long text", 10**200), partial_class(("n",))(1))
    value = {key: key, "again": {key}, "some long text": [key]}
    assert same(again(value), value)
    assert written(value)[0].count(b"some long text") >= 5


def test_suffixes_of_a_rope_take_room_in_proportion_to_the_values() -> None:
    def suffixes(n: int) -> list[Rope]:
        ropes = [Rope((i,)) for i in range(n)]
        for i in reversed(range(n - 1)):
            ropes[i] = ropes[i] + ropes[i + 1]
        return ropes

    short, long = suffixes(1_000), suffixes(8_000)
    assert len(written(long)[0]) < 9 * len(written(short)[0])
    found = again(long)
    assert len(found[0]) == 8_000
    assert found[::500] == long[::500]


def test_a_long_rope_that_grew_at_one_end() -> None:
    rope = Rope()
    for i in range(40_000):  # hundreds of ropes within ropes
        rope = rope + Rope((i,))
    assert again(rope).values() == list(range(40_000))
    assert (again(rope) + Rope((1,))).values() == [*range(40_000), 1]


def test_a_rope_made_of_itself_is_written_out() -> None:
    rope = Rope(range(65))
    for _ in range(8):
        rope = rope + rope
    assert again([rope, rope])[1].values() == rope.values()
    outer = Rope(range(100)) + rope + Rope([object] * 0) + Rope(range(20_000))
    assert again(outer) == outer


# Depth


def deep(depth: int) -> Any:
    value: Any = 1
    for i in range(depth):
        value = [value] if i % 2 else {"x": value}
    return value


def test_nesting_is_limited_by_us_and_not_by_python() -> None:
    value = deep(200)
    limit = sys.getrecursionlimit()
    frames = len(list(_frames()))
    try:
        sys.setrecursionlimit(frames + 40)
        saved = pack("test", value)
        found = unpack("test", saved)
    finally:
        sys.setrecursionlimit(limit)
    assert found == value
    with pytest.raises(TypeError, match="nested more than 200 deep"):
        pack("test", deep(201))
    with pytest.raises(SavedError, match="nested more than 200 deep"):
        unpack("test", forged(b"[\1" * 201 + b"N"))


def _frames() -> Iterator[Any]:
    frame: Any = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(TypeError, match="holds itself"):
        pack("test", value)


# What cannot be saved


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Shout(str):
    __slots__ = ()


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "value",
    [
        *(object(), Colour.RED, Level.LOW, Shout("a"), Point(1, 2), OrderedDict(a=1), len, int),
        *(bytearray(), memoryview(b""), pa.scalar(1), np.ma.masked_array([1])),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_of_another_type_is_refused_with_what_to_do(value: Any) -> None:
    name = type(value).__name__
    with pytest.raises(TypeError, match=rf"{name} cannot be saved; say how with sash.*register\("):
        pack("test", [{"x": (value,)}])


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(2, [("a", "i4")]),
        np.zeros(2, np.longdouble),
        np.longdouble(1),
        np.void(b"ab"),
        np.array(["a"], np.dtypes.StringDType()),
    ],
    ids=lambda value: str(value.dtype),
)
def test_an_array_of_another_type_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=r"an array of type .* cannot be saved"):
        pack("test", value)


def test_arrow_extensions_and_nameless_zones_are_refused() -> None:
    with pytest.raises(TypeError, match="save its storage"):
        pack("test", pa.array([b"0" * 16], pa.uuid()))
    with open(zoneinfo.TZPATH[0] + "/Europe/Berlin", "rb") as file:
        nameless = zoneinfo.ZoneInfo.from_file(file)
    with pytest.raises(TypeError, match="without a name"):
        pack("test", datetime(2020, 1, 1, tzinfo=nameless))


# Classes of the user's own


class Span:
    def __init__(self, low: Any, high: Any) -> None:
        if low > high:
            raise ValueError("low is above high")
        self.low, self.high = low, high

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and (self.low, self.high) == (other.low, other.high)

    def __hash__(self) -> int:
        return hash((self.low, self.high))


@pytest.fixture
def span() -> Iterator[None]:
    register(Span, "span", lambda v: [v.low, v.high], lambda c: Span(*c))
    yield
    forget("span")


def forget(tag: str) -> None:
    known = saving_kinds.BY_TAG.pop(tag)
    assert known.type is not None
    del saving_kinds.BY_TYPE[known.type]


@pytest.mark.usefixtures("span")
def test_a_registered_class() -> None:
    one = Span(1, 2)
    value = {one: [one, one, Span("a", "b" * 20)], "nested": Span((0, one.low), (0, Decimal(5)))}
    found = again(value)
    assert found == value
    assert found[one][0] is found[one][1]


def test_where_it_is_not_registered_it_cannot_be_loaded(span: None) -> None:
    saved = pack("test", [Span(1, 2)])
    forget("span")
    try:
        with pytest.raises(SavedError, match="of the kind 'span', which is not registered here"):
            unpack("test", saved)
    finally:
        register(Span, "span", lambda v: [v.low, v.high], lambda c: Span(*c))


@pytest.mark.usefixtures("span")
def test_what_decode_refuses_is_a_saved_error() -> None:
    values = written(Span(1, 2))[0].replace(b"i\1\1", b"i\1\3")
    with pytest.raises(SavedError, match="ValueError"):
        unpack("test", forged(values))


@pytest.mark.usefixtures("span")
def test_a_class_defined_again_takes_its_own_tag() -> None:
    class Other:
        pass

    again_defined = type("Span", (), {"__module__": Span.__module__})
    with pytest.raises(ValueError, match=r"'span' is that of .*Span; choose another"):
        register(Other, "span", repr, repr)
    register(again_defined, "span", lambda v: 7, lambda c: again_defined())
    with pytest.raises(TypeError, match="cannot be saved"):
        pack("test", Span(1, 2))
    assert type(again(again_defined())) is again_defined
    register(again_defined, "span2", lambda v: 7, lambda c: again_defined())
    assert type(again(again_defined())) is again_defined
    register(Span, "span", lambda v: [v.low, v.high], lambda c: Span(*c))
    forget("span2")


@pytest.mark.parametrize(
    ("cls", "tag", "says"),
    [
        (int, "integer", "int can be saved as it is"),
        (deque, "queue", "deque can be saved as it is"),
        (Rope, "rope", "Rope can be saved as it is"),
        (Span, "s", "a string of 2 to 100 characters"),
        (Span, None, "a string of 2 to 100 characters"),
        (Span(1, 2), "span", "register takes a class"),
    ],
)
def test_what_cannot_be_registered(cls: Any, tag: Any, says: str) -> None:
    with pytest.raises((TypeError, ValueError), match=says):
        register(cls, tag, repr, repr)


# The file


def test_the_layout() -> None:
    saved = pack("window", None)
    assert saved[:6] == b"SASH\1\0"
    assert int.from_bytes(saved[6:14], "little") == len(saved)
    assert saved[14:21] == b"\6window"
    assert saved[21:-16] == saving.COUNT.pack(1) + saving.BLOCK.pack(0, 1, 1) + b"N"
    assert unpack("window", bytearray(saved)) is None
    assert unpack("window", memoryview(saved)) is None


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "this is not a saved window"),
        (b"PK\3\4 something else", "this is not a saved window"),
        (b"SA", "the saved window is cut off: only 2 bytes"),
        (pack("window", 1)[:30], "the saved window is cut off: only 30 bytes"),
        (pack("window", "text")[:-3], "the saved window is cut off: it has 61 of 64 bytes"),
        (pack("window", "text") + b"!", "the saved window is damaged"),
        (pack("window", "text").replace(b"text", b"test"), "the saved window is damaged"),
        (pack("plan", 1), "this is a saved plan, not a window"),
        (forged(b"?", kind="window", version=7), r"a newer version, 7 \(this is version 1\)"),
        (forged(b"N", kind="window", version=0), "there is no version 0"),
        (forged(b"?", kind="window"), "a value of no known kind"),
        (forged(b"NN", kind="window"), "something follows its end"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_what_is_wrong_is_said_in_a_sentence(data: bytes, says: str) -> None:
    with pytest.raises(SavedError, match=says) as caught:
        unpack("window", data)
    assert str(caught.value).endswith(".")

"""Types of answers, told beforehand: those that answers then have, for every operator and type."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import CASES, COMPILED

import sash
from sash.windows.answer_types import answer_types, as_arrow, signed

NAN = float("nan")
DAYS = [datetime(2026, 1, day, 1, 2, 3, 456) for day in (3, 1, 4, 1)]
NUMBERS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int8": (pa.int8(), [3, 1, 4, 1]),
    "int16": (pa.int16(), [3, 1, 4, 1]),
    "int32": (pa.int32(), [3, 1, 4, 1]),
    "int64": (pa.int64(), [3, 1, 4, 1]),
    "float": (pa.float32(), [3.0, 1.5, NAN, 1.0]),
    "double": (pa.float64(), [3.0, 1.5, NAN, 1.0]),
    "bool": (pa.bool_(), [True, False, True, True]),
}
OTHERS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "decimal": (pa.decimal128(10, 2), [Decimal(d) for d in ("3.10", "1", "4.25", "1")]),
    "string": (pa.string(), ["c", "a", "d", "a"]),
    "binary": (pa.binary(), [b"c", b"a", b"d", b"a"]),
    "date32": (pa.date32(), [date(2026, 1, day) for day in (3, 1, 4, 1)]),
    "timestamp": (pa.timestamp("us"), DAYS),
    "timestamp with a zone": (pa.timestamp("us", "UTC"), [d.replace(tzinfo=UTC) for d in DAYS]),
    "timestamp elsewhere": (
        pa.timestamp("us", "America/New_York"),
        [d.replace(tzinfo=UTC) for d in DAYS],
    ),
    "duration": (pa.duration("us"), [timedelta(days) for days in (3, 1, 4, 1)]),
    "time64": (pa.time64("us"), [time(hour) for hour in (3, 1, 4, 1)]),
    "list": (pa.list_(pa.int32()), [[3], [1, None], [4], [1, None]]),
    "struct": (
        pa.struct([("a", pa.float32()), ("b", pa.string())]),
        [{"a": a, "b": b} for a, b in ((3.0, "x"), (NAN, "y"), (4.0, None), (NAN, "y"))],
    ),
    "map": (pa.map_(pa.string(), pa.int32()), [[("a", 1)], [("b", 2)], [("c", None)], []]),
    "null": (pa.null(), [None] * 4),
}
TYPES = NUMBERS | OTHERS
OPERATORS = list({case.name: case.operator for case in CASES}.values())
NAMES = [repr(operator) for operator in OPERATORS]
NO_TYPE = {("Sum", "decimal"), ("Range", "decimal")}
"""What is answered, but in no type that would hold all answers."""
UNDECLARED = ("Spread", "PlainMean", "Affine")
"""Numbers whose type the compiler finds: in plain Python it is that of the numbers at hand."""

WORKING = ("Min", "Max", "First", "Last", "Collect", "TopK", "ArgMax", "Count", "CountDistinct")
COMPARED = ("decimal", "string", "binary", "date32", "timestamp", "timestamp with a zone", "bool")


def column(name: str, nulls: bool) -> pa.Array:
    kind, values = TYPES[name]
    return pa.array([None, *values[:2], None, *values[2:]] if nulls else values, kind)


def table(operator: sash.Operator, given: pa.Array) -> tuple[sash.Operator, pa.Table]:
    """The operator, bound to columns of a table if it reads several."""
    if operator.takes == "rest":
        return type(operator)("v", "w"), pa.table({"v": given, "w": given})
    return operator, pa.table({"v": given})


def rolled(operator: sash.Operator, rows: pa.Table) -> Any:
    return sash.rolling(rows, 2, operator)


def by_rows(operator: sash.Operator, rows: pa.Table) -> Any:
    return sash.Window(operator, 2).push_many(rows)


def by_key(operator: sash.Operator, rows: pa.Table) -> Any:
    """In two batches, of which the second answers with rows of the first too."""
    window = sash.KeyedWindow(operator, 3)
    window.push_many(rows.slice(0, 2), keys=["a", "b"])
    rest = rows.slice(2)
    return window.push_many(rest, keys=["a"] * len(rest))


def check(way: Any, operator: sash.Operator, kind: str, nulls: bool) -> None:
    """What was told is what is answered, or both are refused."""
    if operator.name == "Affine" and kind in ("float", "double"):
        return  # it computes with integers, and says so when the first value comes
    operator, rows = table(operator, column(kind, nulls))
    try:
        told = answer_types(operator, rows.schema)
    except TypeError as error:
        assert str(error).endswith(".") and "fails" not in str(error), error
        if (operator.name, kind) not in NO_TYPE:
            with pytest.raises(TypeError):
                way(operator, rows)
        return
    found = way(operator, rows)
    if not isinstance(told, dict):
        told, found = {"": told}, {"": found}
    for name, wanted in told.items():
        answers = found[name]
        if isinstance(answers, list):  # sketches, which a table holds as bytes
            assert wanted == pa.binary()
        elif way is not by_rows or operator.name not in UNDECLARED:
            assert signed(answers.type) == wanted, (operator, kind)
        made = as_arrow(answers, wanted)
        assert isinstance(made, pa.Array) and made.type == wanted
        made.validate(full=True)
        if way is not by_key and not isinstance(answers, list):
            plain = way(operator, {name: rows[name].to_pylist() for name in rows.column_names})
            assert alike(made.to_pylist(), plain[name] if name else plain), (operator, kind)


def alike(one: Any, other: Any) -> bool:
    """Equal, with NaN equal to itself."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[k], other[k]) for k in one)
    return bool(one == other or (one != one and other != other))


@pytest.mark.parametrize("operator", OPERATORS, ids=NAMES)
def test_row_by_row(operator):
    for kind in TYPES:
        check(by_rows, operator, kind, nulls=False)
        check(by_rows, operator, kind, nulls=True)


@pytest.mark.parametrize("operator", OPERATORS, ids=NAMES)
def test_in_bulk(operator):
    for kind in ("int32", *OTHERS):
        check(rolled, operator, kind, nulls=True)


@pytest.mark.parametrize("case", COMPILED[:3], ids=lambda case: case.name)
def test_by_key(case):
    for kind in ("double", *OTHERS):
        check(by_key, case.operator, kind, nulls=True)


@pytest.mark.parametrize("operator", [sash.First(), sash.ArgMax(), sash.Collect(), sash.Concat()])
def test_earlier_rows_by_key(operator):
    """Answers that hold rows of an earlier batch."""
    for kind in ("int8", "float", "bool", *OTHERS):
        check(by_key, operator, kind, nulls=False)


@pytest.mark.full
@pytest.mark.parametrize("operator", OPERATORS, ids=NAMES)
@pytest.mark.parametrize("way", [rolled, by_key])
def test_every_type(operator, way):
    for kind in TYPES:
        check(way, operator, kind, nulls=False)
        check(way, operator, kind, nulls=True)


@pytest.mark.parametrize("name", WORKING)
def test_what_has_an_order_can_be_compared_and_collected(name):
    options = {"k": 2} if name == "TopK" else {}
    for kind in COMPARED:
        given = column(kind, nulls=True)
        operator, rows = table(getattr(sash, name)(**options), given)
        expected: Any = given.type
        if name in ("Collect", "TopK"):
            expected = pa.list_(given.type)
        elif name.startswith("Count"):
            expected = pa.int64()
        assert answer_types(operator, rows.schema) == expected


def test_a_time_beyond_pythons():
    far = pa.array([2**60], pa.int64()).cast(pa.timestamp("us"))
    assert sash.rolling(far, 2, sash.Max()).equals(far)
    with pytest.raises(ValueError, match=r"timestamp\[us\] is beyond what Python can hold \(.*fil"):
        sash.rolling(far, 2, sash.Collect())


# What is told


def schema(**types: pa.DataType) -> pa.Schema:
    return pa.schema(list(types.items()))


def test_several_columns_are_a_struct():
    rows = schema(v=pa.int32(), w=pa.string(), x=pa.date32(), unread=pa.binary())
    told = answer_types(sash.ArgMax("v", "w", "x"), rows)
    assert told == pa.struct([("w", pa.string()), ("x", pa.date32())])


def test_together_tells_by_name():
    rows = schema(v=pa.int32(), w=pa.string())
    both = sash.Together(hi=sash.Max("v"), all=sash.Collect("w"), mean=sash.Mean("v"))
    assert answer_types(both, rows) == {
        "hi": pa.int32(),
        "all": pa.list_(pa.string()),
        "mean": pa.float64(),
    }


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        (sash.ApproxQuantile(q=0.9), pa.float64()),
        (sash.ApproxQuantile(q=(0.1, 0.9)), pa.list_(pa.float64())),
        (sash.ApproxQuantile(q=(0.1,)), pa.float64()),
        (sash.MomentSketch(order=2, quantiles=(0.1, 0.9)), pa.list_(pa.float64())),
        (sash.Bloom(), pa.binary()),
        (sash.CountMin(), pa.binary()),
        (sash.LongestRise(), pa.struct([(n, pa.int64()) for n in ("start", "end", "length")])),
    ],
    ids=repr,
)
def test_sketches_and_runs(operator, expected):
    rows = pa.table({"v": pa.array([1.0, None, 5.0, 2.0, 3.0])})
    assert answer_types(operator, rows.schema) == expected
    for way in (rolled, by_rows, by_key):
        assert as_arrow(way(operator, rows), expected).type == expected


def test_a_column_that_is_not_there():
    with pytest.raises(ValueError, match=r"Max\('x'\): there is no column 'x' among v, w"):
        answer_types(sash.Max("x"), schema(v=pa.int32(), w=pa.int32()))
    with pytest.raises(ValueError, match=r"Max\(\) reads 1 column and was given 2; name those"):
        answer_types(sash.Max(), schema(v=pa.int32(), w=pa.int32()))
    with pytest.raises(TypeError, match=r"give an operator, not its class: write Max\(\)"):
        answer_types(sash.Max, schema(v=pa.int32()))


@pytest.mark.parametrize(
    ("operator", "kind", "sentence"),
    [
        (sash.Sum("v"), "decimal", r"Sum\('v'\) of decimal128\(10, 2\) has no type that holds all"),
        (sash.Sum("v"), "decimal", r"cast the column to double, or to whole numbers of its small"),
        (sash.Sum("v"), "string", r"takes numbers or decimals, and was given string; cast the co"),
        (sash.Sum("v"), "timestamp", r"was given timestamp\[us\]; convert them to numbers\."),
        (sash.Mean("v"), "decimal", r"needs numbers, and was given decimal128\(10, 2\); cast the"),
        (sash.Mean("v"), "string", r"needs numbers, and was given string; cast the column to dou"),
        (sash.Mean("v"), "date32", r"Mean of date32\[day\] values is not defined; convert them"),
        (sash.Max("v"), "struct", r"decimals, text or times, and was given struct<.*one of its f"),
        (sash.Max("v"), "map", r"was given map<string, int32>; give one of its values as a colu"),
        (sash.TopK("v", k=2), "list", r"was given list<item: int32>; give a column of single"),
        (sash.CountDistinct("v"), "struct", r"and was given struct<.*; give one of its fields as"),
        (sash.Bloom("v"), "struct", r"takes numbers, decimals, text, times or lists, and was giv"),
        (sash.ApproxQuantile("v"), "string", r"takes numbers or decimals, and was given string"),
        (sash.Concat("v"), "int8", r"Concat\('v'\) takes text or lists, and was given int8\."),
    ],
    ids=str,
)
def test_refused_with_what_to_write_instead(operator, kind, sentence):
    with pytest.raises(TypeError, match=sentence):
        answer_types(operator, schema(v=TYPES[kind][0]))


# Operators of a user


@sash.operator(partial=object, answer="string")
class Longest:
    def identity():
        return ""

    def lift(v):
        return str(v)

    def combine(a, b):
        return a if len(a) >= len(b) else b

    def lower(p):
        return p


class Untold(Longest):
    answer = None

    def lower(p):
        return p


class Pieces(Longest):
    answer = pa.list_(pa.int32())

    def lower(p, *, by=1):
        return [len(p) / by, None]


def test_a_users_objects_say_what_they_answer():
    rows = schema(v=pa.int32())
    assert answer_types(Longest("v"), rows) == pa.string()
    assert answer_types(Pieces("v"), rows) == pa.list_(pa.int32())
    sentence = (
        r"^Untold\('v'\) does not say what it answers; write "
        r"@sash.operator\(partial=object, answer='string'\), or whatever type it is\.$"
    )
    with pytest.raises(sash.OperatorError, match=sentence):
        answer_types(Untold("v"), rows)


def test_a_users_numbers_are_told_by_the_compiler():
    @sash.operator(partial={"n": "int32", "hi": "value"}, empty=-1)
    class Share:
        def identity():
            return 0, 0

        def lift(v):
            return 1, v

        def combine(a, b):
            return a.n + b.n, max(a.hi, b.hi)

        def lower(p):
            return p.hi > 2

    # True, False, or -1 for no value
    rows = pa.table({"v": pa.array([1, None, 3], pa.int64())})
    assert answer_types(Share("v"), rows.schema) == pa.int8()
    found = sash.rolling(rows, 1, Share("v"))
    assert found.type == pa.int8() and found.to_pylist() == [0, -1, 1]
    assert sash.rolling(rows.slice(2), 1, Share("v")).type == pa.int8()


@pytest.mark.parametrize(
    ("answer", "partial", "sentence"),
    [
        ("strng", object, "answer='strng' is not a type that Arrow knows; write such as"),
        ([int], object, "is not a type that Arrow knows"),
        ("string", {"n": "int64"}, "answer='string' is not a type of numbers; write such as"),
        (pa.date32(), {"n": "int64"}, "is not a type of numbers"),
        ({"a": "int64", "b": "oops"}, {"n": "int64"}, "answer='oops' is not a type of numbers"),
    ],
)
def test_an_answer_that_is_no_type_is_refused_where_it_is_written(answer, partial, sentence):
    with pytest.raises(sash.OperatorError, match=sentence):

        @sash.operator(partial=partial, answer=answer)
        class Mine:
            def identity():
                return 0

            def lift(v):
                return 0

            def combine(a, b):
                return 0

            def lower(p):
                return 0


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (float, pa.float64()),
        (np.int16, pa.int16()),
        (pa.float32(), pa.float32()),
        ("uint32", pa.int64()),
        ("uint64", pa.decimal128(20, 0)),
        ({"a": "uint8", "b": bool}, pa.struct([("a", pa.int16()), ("b", pa.bool_())])),
    ],
    ids=str,
)
def test_spellings_and_unsigned_numbers(answer, expected):
    @sash.operator(partial={"n": "int64"}, answer=answer)
    class Given:
        def identity():
            return 0

        def lift(v):
            return 1

        def combine(a, b):
            return a.n + b.n

        def lower(p):
            return p.n

    if isinstance(answer, dict):

        class Given(Given):
            def lower(p):
                return p.n, p.n > 1

    rows = pa.table({"v": [1, 2, 3]})
    assert answer_types(Given("v"), rows.schema) == expected
    for way in (rolled, by_rows):
        assert as_arrow(way(Given("v"), rows), expected).type == expected


# Answers that do not fit


def test_an_answer_that_does_not_fit_is_named():
    rows = pa.table({"v": [1, 22, 3]})
    assert as_arrow(rolled(Pieces("v"), rows), pa.list_(pa.int32())).to_pylist()[1] == [2, None]
    odd = rolled(Pieces("v", by=4), rows)
    with pytest.raises(TypeError, match=r"^Pieces\('v', by=4\) answered \[0.25, None\], of type l"):
        as_arrow(odd, pa.list_(pa.int32()), Pieces("v", by=4))


@pytest.mark.parametrize(
    ("values", "wanted", "shown"),
    [
        (pa.array([1, 300]), pa.int8(), "300, of type int"),
        (pa.array([1.0, 2.5]), pa.int64(), "2.5, of type float"),
        ([1, "x"], pa.int64(), "'x', of type str"),
        (pa.array([1, 2]), pa.string(), "1, of type int"),
        ([Decimal("1.234")], pa.decimal128(10, 2), r"Decimal\('1.234'\), of type Decimal"),
        ([object()], pa.binary(), "<object object at"),
        ([{"a": 0.5}], pa.struct([("a", pa.int8())]), "{'a': 0.5}, of type dict"),
    ],
)
def test_nothing_is_cut_off_or_made_text(values, wanted, shown):
    with pytest.raises(TypeError, match=f"^the operator answered {shown}"):
        as_arrow(values, wanted)


def test_numbers_of_another_width_are_taken_if_they_fit():
    assert as_arrow(pa.array([1, None, 3]), pa.int8()).equals(pa.array([1, None, 3], pa.int8()))
    assert as_arrow(pa.chunked_array([[1.0], [2.0]]), pa.int64()).to_pylist() == [1, 2]
    assert as_arrow([], pa.map_(pa.string(), pa.int8())).type == pa.map_(pa.string(), pa.int8())
    assert as_arrow(pa.nulls(2), pa.date32()).type == pa.date32()
    large = as_arrow(pa.array([2**64 - 1], pa.uint64()), pa.decimal128(20, 0))
    assert large.to_pylist() == [Decimal(2**64 - 1)]

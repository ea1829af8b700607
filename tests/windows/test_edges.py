"""Where windows have broken before: null payloads, types that change, idle keys, odd keys."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash.aggregators.saving import SavedError, pack, unpack

W, K = sash.Window, sash.KeyedWindow


def test_windows_without_a_value_take_no_row() -> None:
    window = K(sash.First("v"), 1)
    for _ in range(2):
        found = window.push_many({"v": [None, 1, None, 2]}, keys=["x", "y", "y", "x"])
        assert list(found) == [None, 1, None, 2]
    window = K(sash.ArgMax("v", "p"), sash.last(2, closed="left"))
    found = window.push_many({"v": [3, 1, 2], "p": ["a", "b", "c"]}, keys=[1, 2, 1])
    assert list(found) == [None, None, "a"]


@pytest.mark.parametrize(
    "definition",
    [sash.delta("km", 5), sash.punctuated("km"), sash.last(3, every=sash.punctuated("km"))],
    ids=repr,
)
def test_an_operator_without_a_column_reads_what_the_window_does_not(definition: Any) -> None:
    rows = {"x": [1, 2, 3], "km": [1, 2, 9]}
    one, many = W(sash.Sum(), definition), K(sash.Sum(), definition)
    for _ in range(2):
        given = [one.push_many(rows), many.push_many(rows, keys=["a"] * len(rows["x"]))]
        assert list(given[0]) == list(given[1])
        rows = {"x": [1], "km": [10]}


def test_idle_keys_answer_what_is_open() -> None:
    for definition, end in ((sash.tumbling("100i"), 100), (sash.last(2, every="100i"), 100)):
        window = K(sash.Concat(), definition, idle="20i")
        assert list(window.push_many(["a"], [0], keys=["x"])) == []
        found = window.push_many(["b"], [30], keys=["y"])
        assert (list(found), list(found.keys), list(found.times)) == (["a"], ["x"], [end])
        assert list(window.finish()) == ["b"]


def test_a_key_that_comes_back_begins_anew_however_rows_are_batched() -> None:
    rows = ([1] * 4, [0, 100, 101, 102], ["x", "y", "x", "x"])
    whole = K(sash.Count(), 3, idle="20i").push_many(rows[0], rows[1], keys=rows[2])
    window = K(sash.Count(), 3, idle="20i")
    single = [window.push(v, t, key=k) for v, t, k in zip(*rows, strict=True)]
    assert list(whole) == single == [1, 1, 1, 2]
    alone = K(sash.Count(), 3, idle="20i").push_many([1, 1], [0, 50], keys=["x", "x"])
    assert list(alone) == [1, 1]


def test_a_key_that_gets_the_code_of_another_has_not_its_last_answer() -> None:
    window = K(sash.Sum(), sash.session("5i"), idle="20i", emit="changes")
    window.push_many([7], [0], keys=["x"])
    window.push_many([1], [100], keys=["y"])
    window.push_many([7], [101], keys=["z"])
    assert sorted(window.finish()) == [1, 7]


def test_a_row_that_closes_idle_keys_tells_them_all() -> None:
    window = K(sash.Concat(), sash.session("5i"), idle="20i")
    window.push("a", 0, key="x")
    window.push("b", 1, key="y")
    assert sorted(window.push("c", 100, key="z")) == ["a", "b"]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (np.array(["abc", "d"]), np.array(["e"])),
        ([0.5, 1.0], pa.array([7])),
        (np.array([2**60 + 1, 1]), np.array([0.5])),
        (["text", "d"], pa.array([7])),
        (pa.array(["text", "d"]), [7]),
        ([None, "d"], np.array([1.5])),
    ],
)
def test_payloads_stay_what_they_were(first: Any, then: Any) -> None:
    wanted = first.tolist()[0] if hasattr(first, "tolist") else first[0]
    wanted = wanted.as_py() if hasattr(wanted, "as_py") else wanted
    for window, keys in (
        (K(sash.ArgMax("v", "t"), 3), lambda n: {"keys": [1] * n}),
        (W(sash.ArgMax("v", "t"), 3), lambda n: {}),
    ):
        window.push_many({"v": [5, 1], "t": first}, **keys(2))
        found = window.push_many({"v": [2], "t": then}, **keys(1))
        (got,) = found.tolist() if hasattr(found, "tolist") else list(found)
        assert got == wanted and type(got) is type(wanted)
        assert window.query(*([1] if keys(1) else [])) == wanted


def test_no_rows_for_one_key_of_objects() -> None:
    window = K(sash.Concat(), 2)
    window.push_many(["a"], keys=["x"])
    assert list(window.push_many([], keys=[])) == []
    window = K(sash.Concat(), sash.last(2), lateness="10i")
    found = [a for t in (1, 50, 51) for a in window.push_many(["a"], [t], keys=["x"])]
    assert [*found, *window.finish()] == ["a", "aa", "aa"]


@pytest.mark.parametrize(
    ("first", "then", "answers"),
    [
        ([1.5], np.array([2]), [1.5, 3.5]),
        ([1.5], pa.array([2]), [1.5, 3.5]),
        (pa.array([1.5]), pa.array([2]), [1.5, 3.5]),
        ([1.0, None], np.array([2.0]), [1.0, 1.0, 3.0]),
    ],
)
def test_rows_that_wait_stay_what_they_were(first: Any, then: Any, answers: list[Any]) -> None:
    window = W(sash.Sum(), 3, lateness="10i")
    window.push_many(first, list(range(len(first))))
    window.push_many(then, [5])
    assert list(window.finish()) == answers


def test_text_that_waits_is_not_cut() -> None:
    window = W(sash.Concat(), 3, lateness="10i")
    window.push_many(["abc"], [0])
    window.push_many(np.array(["d"]), [1])
    assert list(window.finish()) == ["abc", "abcd"]


@pytest.mark.parametrize("emit", ["every", "early"])
def test_what_cannot_go_in_later_is_refused_at_once(emit: Any) -> None:
    window = W(sash.Sum(), 3, lateness="10i", emit=emit)
    window.push(1, 0)
    with pytest.raises(TypeError):
        window.push("text", 1)
    with pytest.raises(TypeError):
        window.push_many(["text", "x"], [1, 2])
    window.push(2, 20)
    window.push(2, 40)
    window.finish()
    assert window.query() == 5
    texts = W(sash.Concat(), 3, lateness="10i")
    texts.push("a", 0)
    with pytest.raises(TypeError):
        texts.push(7, 1)
    assert list(texts.finish()) == ["a"]


def test_keyed_objects_are_loaded_whatever_triggers() -> None:
    window = K(sash.Concat(), sash.last(2, every=3))
    window.push_many(list("abcdef"), [1, 2, 3, 7, 8, 30], keys=["x"] * 6)
    assert K.load(window.save()).query("x") == window.query("x") == "ef"


def test_keys_that_are_equal_are_one() -> None:
    assert list(K(sash.Sum(), 3).push_many([1, 2], keys=[0.0, -0.0])) == [1, 3]
    window = K(sash.Sum(), 3)
    window.push_many([1], keys=[1])
    assert list(window.push_many([1], keys=[1.0])) == [2]
    assert K.load(window.save()).query(1) == 2
    window = K(sash.Count(), 9)
    assert list(window.push_many([0] * 3, keys=[float("nan"), float("nan"), None])) == [1, 2, 1]


@pytest.mark.parametrize(
    "keys",
    [
        [date(2020, 1, 1), datetime(2020, 1, 1, 5)],
        ["x", b"x"],
        [("a", "b"), ("a", "c")],
        [("a", 1), ("b", 2)],
        np.array(["a", 1], object),
        [True, 1],
        [None, "None"],
        [2**70, 1],
    ],
    ids=str,
)
def test_keys_that_are_not_equal_are_two(keys: Any) -> None:
    window = K(sash.Count(), 9)
    assert list(window.push_many([0, 0], keys=keys)) == [1, 1]
    assert len(window.keys()) == 2
    assert [window.query(key) for key in list(keys)] == [1, 1]
    assert K.load(window.save()).keys() == window.keys()


def test_keys_of_many_columns() -> None:
    columns = {f"k{i}": np.arange(512) % (7 + i) for i in range(20)}
    window = K(sash.Count("v"), 9, by=list(columns))
    counts = window.push_many({"v": np.ones(512), **columns})
    assert len(window.keys()) == len({*zip(*(c.tolist() for c in columns.values()), strict=True)})
    assert counts.max() == 1 or len(window.keys()) < 512
    with pytest.raises(TypeError, match="cannot be"):
        K(sash.Count(), 3).push_many([1], keys=[[1, 2]])


def test_rows_that_are_refused_settle_nothing() -> None:
    window = K(sash.Sum(), sash.last("9i"))
    with pytest.raises(ValueError, match="go back"):
        window.push_many([1, 2], [5, 4], keys=["a", "a"])
    with pytest.raises(KeyError):
        window.query("b")
    assert window.keys() == []
    assert list(window.push_many([1.5, 2.5], [5, 6], keys=["a", "a"])) == [1.5, 4.0]
    window = K(sash.Max("v"), sash.tumbling("10i"))
    window.push_many({"v": [1]}, [1], keys=["a"])
    with pytest.raises(ValueError, match="no column 'v'"):
        window.push_many({"z": [1]}, [2], keys=["a"])
    assert list(window.finish()) == [1]


def test_an_advance_that_fails_has_not_happened() -> None:
    window = W(sash.Count(), sash.last("10i", every="1i"), min_size=0)
    window.push(1, 0)
    with pytest.raises(ValueError, match="is the unit of the times right"):
        window.advance(10**9)
    assert list(window.push(1, 5)) == [1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("options", "times"),
    [
        ({"lateness": "1h"}, [1, 2]),
        ({"lateness": "60i"}, np.array([1, 2], "datetime64[s]")),
        ({"idle": "1h", "by": "k"}, [1, 2]),
    ],
)
def test_lengths_must_fit_the_times(options: Any, times: Any) -> None:
    window = W(sash.Max("v"), 3, **options)
    with pytest.raises(ValueError, match="integer times"):
        window.push_many({"v": [1, 2], "k": [1, 1]}, times)


def test_differences_that_do_not_fit_are_refused() -> None:
    far = [-6 * 10**18, 6 * 10**18]
    with pytest.raises(ValueError, match="62 bits"):
        W(sash.Count("t"), sash.delta("t", 5)).push_many({"t": far})
    with pytest.raises(ValueError, match="62 bits"):
        sash.rolling([1, 2], "10i", sash.Sum(), times=far)
    window = W(sash.Count(), sash.session(f"{2**63 - 1}i"))
    window.push_many([1, 1], [0, 2**61])
    assert list(window.finish()) == [2]


def test_push_reads_rows_as_push_many_does() -> None:
    marks = {"x": list("abc"), "m": [0.0, float("nan"), 1.0]}
    definition = sash.punctuated("m", marks="end")
    many = W(sash.Concat("x"), definition).push_many(marks)
    window = W(sash.Concat("x"), definition)
    single = [window.push({"x": x, "m": m}) for x, m in zip(*marks.values(), strict=True)]
    assert list(many) == [a for a in single if a is not None] == ["abc"]
    for push in (window.push, lambda row: window.push_many({n: [v] for n, v in row.items()})):
        with pytest.raises(TypeError, match="marks rows"):
            push({"x": "a", "m": "no"})
    hours = [datetime(2026, 1, 1, h) for h in (1, 2, 4)]
    spread = W(sash.Count("t"), sash.delta("t", "1h"))
    assert list(spread.push_many({"t": hours})) == [1, 2, 1]
    with pytest.raises(TypeError, match="no keys"):
        W(sash.Sum(), 3).push(1, key="a")
    for definition in (sash.last(2), sash.last(2, closed="both")):
        assert W(sash.Collect(), definition).push(("a", 1)) == [("a", 1)]
    window = W(sash.Sum(), 3)
    window.push(1)
    with pytest.raises(TypeError, match="no times"):
        window.push(2, time=5)


def test_odd_ways_to_give_rows() -> None:
    assert W(sash.Sum(), 3).keys() == []
    minutes = np.array(["2026-01-01T00:10", "2026-01-01T01:10"], "datetime64[m]")
    found = W(sash.Sum(), sash.tumbling("1h")).push_many(pa.array([1, 2]), minutes)
    assert found.table()["window_end"].to_pylist() == [datetime(2026, 1, 1, 1)]
    window = K(sash.Sum("v"), sash.tumbling("5i"), by=["a", "b"])
    table = window.push_many({"v": [1], "a": ["x"], "b": [2]}, [3]).table()
    assert table["answer"].to_pylist() == []
    assert window.finish().table()["answer"].to_pylist() == [1]
    late = W(sash.Sum("v"), 3, lateness="9i")
    late.push_many({"v": [1], "unused": [1]}, [0])
    late.push_many({"v": [2]}, [1])
    assert list(late.finish()) == [1, 3]
    assert repr(K(sash.Sum(), 3)) == "<KeyedWindow of Sum() over last(3), with keys, holding 0>"
    with pytest.raises(ValueError, match="2 columns"):
        K(sash.Sum("v"), 3, by=["a", "b"]).push_many({"v": [1]}, keys=["z"])
    with pytest.raises(TypeError, match="cannot advance"):
        window = W(sash.Sum(), 3)
        window.push(1)
        window.advance(5)
    with pytest.raises(ValueError, match="idle"):
        W(sash.Sum(), 3, idle="1h")


def test_text_is_counted_for_each_key() -> None:
    window = K(sash.Count(), 3)
    assert list(window.push_many(["x", None, "y"], keys=["a", "b", "a"])) == [1, 0, 2]
    assert window.push("z", key="b") == 1
    assert window.push(None, key="c") == 0
    assert K.load(window.save()).query("a") == 2


def test_nulls_alone_tell_no_type() -> None:
    for window, keys in ((K(sash.Sum(), 3), {"keys": ["a"]}), (W(sash.Sum(), 3), {})):
        window.push_many([None], **keys)
        assert list(window.push_many([1.5], **keys)) == [1.5]
        assert list(window.push_many([2.0], **keys)) == [3.5]
        assert list(window.push_many([2.0], **keys)) == [5.5]


def test_a_number_that_is_too_large_leaves_the_window_as_it_was() -> None:
    window = W(sash.Max(), 3)
    for value in (9, 2, 3):
        window.push(value)
    for push in (window.push, lambda value: window.push_many([4, value])):
        with pytest.raises(TypeError):
            push(2**70)
        assert window.query() == 9 and len(window) == 3


def test_keys_of_late_and_refused_rows_are_none() -> None:
    window = K(sash.Sum(), sash.last("9i"), lateness="5i")
    window.push_many([1], [100], keys=["a"])
    window.push_many([1] * 50, [1] * 50, keys=list(range(50)))
    assert window.late == 50 and window.keys() == ["a"]
    with pytest.raises(TypeError):
        window.push_many(["text"], [101], keys=["b"])
    assert window.keys() == ["a"] and len(window._reader.keys) - len(window._reader.keys.free) == 1


FORGED = [
    ("keys", lambda c: c["keys"].update(free=[10**12])),
    ("states", lambda c: c["engine"]["states"][2].__iadd__(10**12)),
    ("rows", lambda c: c["engine"].update(rows={"columns": [], "rooms": np.zeros(2, np.int64)})),
    ("pending", lambda c: c["order"]["pending"].update(codes=np.array([10**12]))),
    ("rooms", lambda c: c["engine"]["rows"].update(rooms=np.array([2**50, 2**50]))),
]


@pytest.mark.parametrize(("what", "forge"), FORGED, ids=[what for what, _ in FORGED])
def test_what_is_forged_is_refused(what: str, forge: Any) -> None:
    window = K(sash.Max(), sash.last("9i"), lateness="2i")
    window.push_many([3, 1, 2, 5], [1, 2, 9, 9], keys=["a", "b", "a", "b"])
    content = unpack("window", window.save())
    K.load(pack("window", content))
    forge(content)
    with pytest.raises(SavedError):
        K.load(pack("window", content))


@pytest.mark.parametrize("algorithm", ["amta", "fiba", "flat_fit", "daba", "slide_side", "sba"])
def test_a_forged_state_is_refused(algorithm: str) -> None:
    window = W(sash.Max(), sash.last(9), algorithm=algorithm)
    for value in range(20):
        window.push(value)
    content = unpack("window", window.save())
    kept = content["engine"]["keeper"]["each"][0]["kept"]
    for forged in ({"state": [10**12] * len(kept.get("state", []))}, {"capacity": 2**70}):
        if not kept.keys() & forged.keys():
            continue
        each = {**content["engine"]["keeper"]["each"][0], "kept": {**kept, **forged}}
        engine = {**content["engine"], "keeper": {"each": [each]}}
        with pytest.raises(SavedError):
            W.load(pack("window", {**content, "engine": engine}))

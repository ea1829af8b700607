"""The made-up readings are what they say they are. Everything is checked on the written bytes."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sash.workloads import smart_plugs
from sash.workloads.debs import DEBS_2012, DEBS_2014
from sash.workloads.malformed_lines import MALFORMED

ROWS = 12_000


def kind_of(fields: list[str]) -> str:
    """Of a line's fields, by rules of its own: "good", or what is wrong with them."""
    if len(fields) == 1:
        return "garbage"
    if len(fields) != 7:
        return "too few fields" if len(fields) < 7 else "too many fields"
    if fields[1] == "" or fields[2] == "":
        return "no timestamp" if fields[1] == "" else "no value"
    try:
        [int(field) for field in fields[:2] + fields[3:]], float(fields[2])
    except ValueError:
        return "not a number"
    return "good"


def lines_of(files: list[Path]) -> Iterator[list[str]]:
    for path in files:
        with path.open(newline="") as file:
            yield from csv.reader(file)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> smart_plugs.Written:
    return smart_plugs.write(tmp_path_factory.mktemp("plugs"), ROWS, seed=7, files=5)


@pytest.fixture(scope="module")
def good(written: smart_plugs.Written) -> list[list[str]]:
    return [fields for fields in lines_of(written.files) if kind_of(fields) == "good"]


def test_rows_and_malformed_lines_are_counted(written: smart_plugs.Written) -> None:
    kinds = Counter(kind_of(fields) for fields in lines_of(written.files))
    assert kinds.pop("good") == written.rows == ROWS
    assert kinds == written.malformed
    assert set(written.malformed) == set(MALFORMED)
    assert sum(written.malformed.values()) == ROWS // 50


def test_what_is_told_of_the_rows(written: smart_plugs.Written, good: list[list[str]]) -> None:
    times = [int(fields[1]) for fields in good]
    assert (written.first_time, written.last_time) == (min(times), max(times))
    assert written.plugs == len({tuple(fields[4:]) for fields in good}) == 30
    assert all(0 <= float(fields[2]) < 5_000 and fields[3] in "01" for fields in good)


def test_table_holds_the_rows_of_the_files(good: list[list[str]]) -> None:
    found = smart_plugs.table(ROWS, seed=7)
    assert found.column_names == list(DEBS_2014)
    assert [str(kind) for kind in found.schema.types] == ["int64"] * 2 + ["double"] + ["int32"] * 4
    for number, column in enumerate(found.columns):
        assert column.to_pylist() == [float(fields[number]) for fields in good]


def test_ids_are_the_numbers_of_the_lines(written: smart_plugs.Written) -> None:
    for number, fields in enumerate(lines_of(written.files), 1):
        assert kind_of(fields) == "garbage" or int(fields[0]) == number


def test_a_plug_has_one_row_of_a_property_in_a_second(good: list[list[str]]) -> None:
    assert len({tuple(fields[1:2] + fields[3:]) for fields in good}) == ROWS


@pytest.mark.parametrize("late_by", [20, 100])
def test_no_row_is_later_than_said(tmp_path: Path, late_by: int) -> None:
    """
    time held by a line   100 101   103 103  98  104
    newest so far         100 101   103 103 103  104
    behind                  0   0     0   0   5    0     at most late_by; here one row is late
    """
    told = smart_plugs.write(tmp_path, 6_000, seed=3, files=4, late_by=late_by)
    newest, late, furthest = 0, 0, 0
    for fields in lines_of(told.files):
        if len(fields) < 2 or not fields[1].isdigit():
            continue
        time = int(fields[1])
        late += kind_of(fields) == "good" and time < newest
        furthest = max(furthest, newest - time)
        newest = max(newest, time)
    assert late == told.late_rows
    assert 0.002 < late / 6_000 < 0.01
    assert 0.5 * late_by < furthest <= late_by


def test_work_is_the_sum_of_load(good: list[list[str]]) -> None:
    """Work never falls; where readings are close, it grows by load times time."""
    of_plug = defaultdict(list)
    for _, time, value, kind, *plug in good:
        of_plug[kind, *plug].append((int(time), float(value)))
    for (kind, *_), rows in of_plug.items():
        if kind == "0":
            values = [value for _, value in sorted(rows)]
            assert values == sorted(values)

    found = smart_plugs.table(20_000, seed=1, plugs=4, hours=2.5).to_pandas()
    boiled = []
    for _, plug in found.groupby(["house_id", "household_id", "plug_id"]):
        load = plug[plug.property == 1].sort_values("timestamp")
        work = plug[plug.property == 0].sort_values("timestamp").value
        kwh = np.trapezoid(load.value, load.timestamp) / 3.6e6
        boiled.append((work.iloc[-1] - work.iloc[0], kwh))
    assert max(grown for grown, _ in boiled) > 0.1
    np.testing.assert_allclose(*zip(*boiled, strict=True), rtol=0.2, atol=0.01)


def test_plugs_fall_silent(good: list[list[str]]) -> None:
    times = defaultdict(set)
    for fields in good:
        times[tuple(fields[4:])].add(int(fields[1]))
    gaps = [np.diff(sorted(seconds)) for seconds in times.values()]
    usual = np.median(np.concatenate(gaps))
    assert usual < 60
    assert sum(gap.max() > 300 for gap in gaps) >= 3


def test_files_are_in_order_of_arrival(written: smart_plugs.Written) -> None:
    assert len(written.files) == 5
    assert sorted(written.files) == written.files
    assert {path.name for path in written.files[0].parent.iterdir()} == {
        path.name for path in written.files
    }
    changed = [path.stat().st_mtime for path in written.files]
    assert np.diff(changed).min() > 0.9


def test_progress(tmp_path: Path) -> None:
    told: list[int] = []
    smart_plugs.write(tmp_path, 1_000, files=4, on_rows=told.append)
    assert told == sorted(told)
    assert (len(told), told[-1]) == (4, 1_000)


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    def contents(name: str, seed: int) -> list[bytes]:
        told = smart_plugs.write(tmp_path / name, 2_000, seed, files=3)
        return [path.read_bytes() for path in told.files]

    once = contents("once", 1)
    assert contents("again", 1) == once
    assert all(a != b for a, b in zip(contents("other", 2), once, strict=True))


@pytest.mark.parametrize("rows", [0, 1, 10])
def test_few_rows(tmp_path: Path, rows: int) -> None:
    told = smart_plugs.write(tmp_path, rows, files=4)
    assert [kind_of(fields) for fields in lines_of(told.files)] == ["good"] * rows
    assert (told.rows, len(told.files)) == (rows, min(max(rows, 1), 4))
    assert (told.first_time is None) == (rows == 0)
    assert smart_plugs.table(rows).num_rows == rows


def test_small_data_are_sensible() -> None:
    """2,000 rows: hours of a few plugs, each read about every minute."""
    found = smart_plugs.table(2_000).to_pandas()
    assert 2 < np.ptp(found.timestamp) / 3_600 < 6
    assert len(found.groupby(["house_id", "household_id", "plug_id"])) == 5


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"rows": -1}, "rows=-1: there cannot be less than none"),
        ({"rows": 9, "files": 0}, "files=0: there must be at least one"),
        ({"rows": 9, "plugs": 0}, "plugs=0: there must be at least one"),
        ({"rows": 9, "late_by": 3}, "late_by=3: late rows need at least 10 seconds"),
        ({"rows": 0, "malformed": 2}, "malformed=2: lines are made from rows, and there are none"),
        (
            {"rows": 90_000, "plugs": 10, "hours": 1},
            "hours=1: 90,000 rows of 10 plugs take at least 1.9 hours",
        ),
    ],
)
def test_what_cannot_be(tmp_path: Path, wrong: dict[str, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        smart_plugs.write(tmp_path, **wrong)
    assert list(tmp_path.iterdir()) == []


def test_readings_are_not_mixed(tmp_path: Path) -> None:
    smart_plugs.write(tmp_path, 10)
    with pytest.raises(ValueError, match="already holds readings: empty it, or name another"):
        smart_plugs.write(tmp_path, 10)


def test_columns_of_a_line_of_2012() -> None:
    line = "2012-02-22T16:46:28.9670320+00:00\t2556001\t13056\t14406\t8119\t0071\t0193\t0150"
    line += "\t0000" * 4 + "\t0" * 44
    assert len(line.split("\t")) == len(DEBS_2012)
    assert list(DEBS_2012)[:5] == ["ts", "index", "mf01", "mf02", "mf03"]
    assert set(DEBS_2012.values()) == {"timestamp", "bigint", "int"}

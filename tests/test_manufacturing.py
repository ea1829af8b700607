"""The made-up machine is what it says it is, and its files read back as recorded ones do."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sash.workloads import manufacturing, recorded, smart_plugs
from sash.workloads.debs import DEBS_2012
from sash.workloads.machine_signals import BLOCK

ROWS = 300_000
"""Fifty minutes: more than four blocks, some thirty cycles."""

READINGS = ("mf01", "mf02", "mf03")
STATES = list(DEBS_2012)[12:]
LINE = "2012-02-22T16:46:28.9670320+00:00\t2556001\t13056\t14406\t8119\t0071\t0193\t0150"
LINE += "\t0000" * 4 + "\t0" * 44 + "\n"


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return manufacturing.table(ROWS)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Where one ends and the next begins is within a block."""
    return manufacturing.write(tmp_path_factory.mktemp("machine"), BLOCK + 1_000, files=3)


def column(table: pa.Table, name: str) -> np.ndarray[Any, Any]:
    return table[name].to_numpy()


def switched(states: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return 1 + np.flatnonzero(np.diff(states))


def test_columns_are_those_of_the_file(table: pa.Table) -> None:
    assert table.column_names == list(DEBS_2012)
    kinds = [str(kind) for kind in table.schema.types]
    assert kinds == ["timestamp[ns, tz=UTC]", "int64"] + ["int32"] * 54
    assert table.num_rows == ROWS
    assert all(table[name].null_count == 0 for name in table.column_names)
    np.testing.assert_array_equal(column(table, "index"), np.arange(1, ROWS + 1))


def test_table_holds_energy_and_times(table: pa.Table) -> None:
    for reading in READINGS:
        found = manufacturing.energy(ROWS, reading=reading)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(column(table, reading), found)
    np.testing.assert_array_equal(column(table, "ts"), manufacturing.times(ROWS))


@pytest.mark.parametrize("rows", [0, 1, 1_000, BLOCK, BLOCK + 1])
def test_the_first_rows_are_the_same_however_many(table: pa.Table, rows: int) -> None:
    assert manufacturing.table(rows).equals(table.slice(0, rows))
    assert (manufacturing.energy(rows) == column(table, "mf01")[:rows]).all()
    assert (manufacturing.times(rows) == column(table, "ts")[:rows]).all()


def test_another_seed_gives_other_rows() -> None:
    one, again, other = (manufacturing.table(20_000, seed) for seed in (1, 1, 2))
    assert one.equals(again)
    for name in ("ts", *READINGS, "pc13", "pc25", "bm05"):
        assert not one[name].equals(other[name]), name


def test_a_hundred_rows_a_second(table: pa.Table) -> None:
    times = column(table, "ts")
    assert times[0] == np.datetime64("2012-02-22T16:46:00")
    assert (times.astype(np.int64) % 100 == 0).all()
    apart = np.diff(times).astype(np.int64) / 1e6
    assert apart.min() > 5
    assert abs(np.median(apart) - 10) < 0.001
    assert 0.5 < (np.abs(apart - 10) < 0.005).mean() < 0.95
    assert 10 < (apart > 15).sum() < 60
    assert 99 < 1e3 / apart.mean() < 100


@pytest.mark.parametrize(("reading", "rest"), [("mf01", 13_050), ("mf02", 14_350), ("mf03", 8_080)])
def test_energy_is_that_of_a_machine(table: pa.Table, reading: str, rest: int) -> None:
    """
    load     ┌─────┐            a third of the time at rest, a third or so on each plateau;
             │     └──────┐     noise of some tens on top, and a spike a minute
          ───┘            └──
    """
    power = column(table, reading)
    low, middle, high = np.percentile(power, [0.1, 50, 99.9])
    assert rest - 150 < power.min() <= low < rest + 50
    assert rest + 200 < middle
    assert rest + 4_000 < high < 21_000
    assert power.max() < 24_000
    assert 0.15 < (np.abs(power - rest) < 150).mean() < 0.6

    steps = np.diff(power)
    assert 0.12 < (steps == 0).mean() < 0.4
    assert 1 < np.abs(steps).mean() < 5
    assert 20 < (steps > 150).sum() < 100
    assert np.abs(steps[BLOCK - 1 :: BLOCK]).max() < 50  # from block to block
    assert len(np.unique(power)) < ROWS / 30


def test_readings_go_together_but_differ(table: pa.Table) -> None:
    powers = np.stack([column(table, reading) for reading in READINGS])
    together = np.corrcoef(powers)[np.triu_indices(3, 1)]
    assert ((together > 0.8) & (together < 0.999)).all()
    waves = powers[:, 16:] - powers[:, :-16]
    calm = (np.abs(waves) < 60).all(axis=0)
    together = np.corrcoef(waves[:, calm])[np.triu_indices(3, 1)]
    assert ((together > 0.2) & (together < 0.7)).all()


def test_there_are_idle_spells() -> None:
    """Rests of more than three minutes, as a run of rows that are near the lowest."""
    power = manufacturing.energy(2_000_000)
    ends = np.flatnonzero(np.diff(np.abs(power - 13_050) < 2_000, prepend=False, append=False))
    spells = np.diff(ends)[::2] / 100
    assert 5 < (spells > 180).sum() < 0.2 * len(spells)
    assert spells.max() < 1_000


def test_what_else_is_measured(table: pa.Table) -> None:
    works = column(table, "res") > 0
    assert np.unique(column(table, "res")).tolist() == [0, 1, 2, 3, 4]
    for name, rest in (("pc13", 70), ("pc14", 188), ("pc15", 152)):
        assert abs(column(table, name)[~works].mean() - rest) < 5
        assert column(table, name)[works].mean() > rest + 20
        assert 0 < column(table, name).min() <= column(table, name).max() < 1_000
    for name in ("pc25", "pc26", "pc27"):
        assert (column(table, name)[~works] == 0).all()
        assert 100 < column(table, name)[works].mean() < column(table, name).max() < 1_000


def test_states_switch_rarely(table: pa.Table) -> None:
    often = {name: len(switched(column(table, name))) for name in STATES}
    assert len(often) == 44
    assert all(np.isin(column(table, name), [0, 1]).all() for name in STATES)
    assert 5 < sum(times == 0 for times in often.values()) < 30
    assert max(often.values()) < ROWS / 1_000
    first = table.slice(0, 1).to_pylist()[0]
    assert [name for name in STATES if first[name]] == ["pp16", "pp17", "pp33", "pp36"]


@pytest.mark.parametrize(
    ("sensor", "valve"), [("bm05", "bm08"), ("bm06", "bm09"), ("bm07", "bm10")]
)
def test_valves_follow_sensors(table: pa.Table, sensor: str, valve: str) -> None:
    """
    sensor   ───┐     ┌───────       each switch of the sensor is followed by one of the valve,
    valve    ─────┐     ┌─────       0.4 to 0.8 seconds later, and always about the same
    """
    cause, effect = (switched(column(table, name)) for name in (sensor, valve))
    assert len(cause) - len(effect) in (0, 1)
    assert len(effect) > 20
    delays = effect - cause[: len(effect)]
    assert 30 <= delays.min() <= delays.max() <= 90
    assert 0 < delays.std() < 3


def test_valves_are_later_each_day() -> None:
    cause, effect = (
        manufacturing._switches(12, name, 7 * manufacturing.DAY) for name in ("bm05", "bm08")
    )
    day = cause // manufacturing.DAY
    delays = [(effect - cause)[day == number].mean() for number in range(8)]
    assert 1.1 < delays[6] / delays[0] < 1.15
    assert abs(delays[7] / delays[0] - 1) < 0.01


def test_lines_are_as_in_the_original(files: list[Path], table: pa.Table) -> None:
    """Tabs, 100 ns, zeros in front: each line is the row that it tells, and has LINE's form."""
    with files[1].open() as lines:
        fields = next(lines).removesuffix("\n").split("\t")
    row = table.slice((BLOCK + 1_000) // 3, 1)
    assert [int(field) for field in fields[1:]] == list(row.to_pylist()[0].values())[1:]
    assert np.datetime64(fields[0].removesuffix("+00:00")) == column(row, "ts")[0]
    form = [len(field) for field in LINE.split()]
    assert [len(field) for field in fields[:1] + fields[5:]] == form[:1] + form[5:]


@pytest.mark.parametrize("name", ["ts", "index", "mf01", "mf03", "pc13", "res", "bm08", "pc23"])
def test_files_read_back(files: list[Path], table: pa.Table, name: str) -> None:
    found = recorded.debs2012(files[0].parent, name)
    np.testing.assert_array_equal(found, column(table, name)[: BLOCK + 1_000])
    assert found.dtype == ("datetime64[ns]" if name == "ts" else np.int64)


def test_files_read_back_as_energy(files: list[Path]) -> None:
    assert sorted(files) == files
    assert {path.name for path in files[0].parent.iterdir()} == {path.name for path in files}
    energy = manufacturing.energy(BLOCK + 1_000)
    third = (BLOCK + 1_000) // 3
    assert (recorded.debs2012(files[0]) == energy[:third]).all()
    for rows in (0, 1, third, third + 7, BLOCK):
        np.testing.assert_array_equal(recorded.debs2012(files[0].parent, rows=rows), energy[:rows])
    assert len(recorded.debs2012(files[0], rows=ROWS)) == third


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    def contents(name: str, seed: int) -> list[bytes]:
        paths = manufacturing.write(tmp_path / name, 500, seed, files=2)
        return [path.read_bytes() for path in paths]

    assert contents("once", 1) == contents("again", 1) != contents("other", 2)


@pytest.mark.parametrize(("rows", "count"), [(0, 1), (1, 1), (3, 3)])
def test_few_rows(tmp_path: Path, rows: int, count: int) -> None:
    assert len(manufacturing.write(tmp_path, rows, files=4)) == count
    assert len(recorded.debs2012(tmp_path)) == rows


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda to: manufacturing.energy(-1), "rows=-1: there cannot be less than none"),
        (lambda to: manufacturing.times(-1), "rows=-1: there cannot be less than none"),
        (lambda to: manufacturing.table(-1), "rows=-1: there cannot be less than none"),
        (lambda to: manufacturing.write(to, -1), "rows=-1: there cannot be less than none"),
        (lambda to: manufacturing.write(to, 9, files=0), "files=0: there must be at least one"),
        (
            lambda to: manufacturing.energy(9, reading="mf04"),
            "reading='mf04': the energy readings are mf01, mf02 and mf03",
        ),
    ],
)
def test_what_cannot_be(tmp_path: Path, wrong: Callable[[Path], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        wrong(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_readings_are_not_mixed(tmp_path: Path) -> None:
    manufacturing.write(tmp_path, 10)
    with pytest.raises(ValueError, match="already holds readings: empty it, or name another"):
        manufacturing.write(tmp_path, 10)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_of_names_is_no_row(tmp_path: Path, packed: bool, end: str) -> None:
    text = "\t".join(DEBS_2012) + "\n" + LINE * 3
    content = text.replace("\n", end).encode()
    path = tmp_path / ("sample.txt.gz" if packed else "sample.txt")
    path.write_bytes(gzip.compress(content) if packed else content)
    assert recorded.debs2012(path).tolist() == [13_056] * 3
    assert recorded.debs2012(path, "pc14", rows=2).tolist() == [193, 193]
    assert recorded.debs2012(path, "ts", 1)[0] == np.datetime64("2012-02-22T16:46:28.967032")


def test_loads_of_2014(tmp_path: Path) -> None:
    smart_plugs.write(tmp_path, 3_000, seed=5, files=3, malformed=0)
    rows = smart_plugs.table(3_000, seed=5, malformed=0).to_pandas().query("property == 1")
    found = recorded.debs2014(tmp_path)
    assert list(found) == ["timestamp", "value", "plug"]
    assert found["timestamp"].tolist() == rows.timestamp.tolist()
    assert found["value"].tolist() == rows.value.tolist()
    keys = rows.house_id * 10**6 + rows.household_id * 10**3 + rows.plug_id
    assert found["plug"].tolist() == keys.tolist()
    assert found["plug"].dtype == np.int64
    few = recorded.debs2014(tmp_path, rows=1_234)
    assert {name: part.tolist() for name, part in few.items()} == {
        name: part[:1_234].tolist() for name, part in found.items()
    }


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("1,1378130403,92.8,1,0,0,0\n", "is not of DEBS 2012: a line has 56 columns, its first 1$"),
        (LINE + LINE[:50] + "\n", "is not of DEBS 2012: .*Expected 56 columns, got 4"),
        (LINE.replace("13056", "many"), "is not of DEBS 2012: .*invalid value 'many'"),
        (LINE + LINE.replace("13056", ""), "is not of DEBS 2012: .* a value is missing"),
    ],
)
def test_what_is_not_of_2012(tmp_path: Path, content: str, sentence: str) -> None:
    (tmp_path / "data.txt").write_text(content)
    with pytest.raises(ValueError, match=sentence):
        recorded.debs2012(tmp_path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (LINE, "is not of DEBS 2014: a line has 7 columns, its first 1$"),
        ("1,1378130403,92.8,1,0,1000,0\n", "is not of DEBS 2014: .* household_id over 999"),
        ("1,1378130403,?,1,0,0,0\n", "is not of DEBS 2014: .*invalid value"),
    ],
)
def test_what_is_not_of_2014(tmp_path: Path, content: str, sentence: str) -> None:
    (tmp_path / "data.csv").write_text(content)
    with pytest.raises(ValueError, match=sentence):
        recorded.debs2014(tmp_path)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "_SUCCESS").touch()
    (tmp_path / "data.gz").write_text(LINE)
    for wrong, sentence in (
        (lambda: recorded.debs2012(tmp_path / "none.txt"), "there is no file or folder .*none.txt"),
        (lambda: recorded.debs2014(tmp_path / "folder"), "there are no files in the folder"),
        (lambda: recorded.debs2012(tmp_path / "data.gz"), "data.gz is not of DEBS 2012: it cannot"),
        (lambda: recorded.debs2012(tmp_path, rows=-1), "rows=-1: there cannot be less than none"),
        (lambda: recorded.debs2012(tmp_path, "mf04"), "column='mf04': DEBS 2012 has ts, index, mf"),
    ):
        with pytest.raises(ValueError, match=sentence):
            wrong()

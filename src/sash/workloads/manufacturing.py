"""Readings of a manufacturing machine, made up from a seed: 100 rows a second, 56 columns.

Lines have the columns of the DEBS 2012 grand challenge, tab-separated, without a header:

    2012-02-22T16:46:00.0000000+00:00  1  13067  14375  8133  0065  0187  0151  0000  …  0  0

No number is of the original data. What they imitate was seen in three stretches, of a second each,
of a public sample (DEBS2012-small.txt, of the system LightSaber), where the machine seems to rest:

- levels: mf01 about 13,050, mf02 14,350, mf03 8,080; pc13 70, pc14 188, pc15 152; 0 for pc25 to
  pc27 and res; four digits, with zeros in front, from pc13 to res;
- how mf01 to mf03 go: by 2 or so from row to row, one row in five like the last, in waves of some
  tens that come and go within a second to a minute;
- times: 10 ms apart to a few µs, one in ten some 15 µs later and one in fifty some 60 µs; a clock
  that is 6 ppm off; pauses of the recorder, of half a second in the three minutes of the sample;
- states: pp16, pp17, pp33 and pp36 are 1 at first, the others 0.

The rest is made up, to be as a machine could be: cycles of one to three and a half minutes by one
of four recipes, each with two plateaus and ramps between them (up to 6,000 above rest, so that
readings are about 8,000 to 20,000); idle spells of minutes; spikes; currents and voltages of the
anodes, which follow the load; `res`, the number of the recipe that runs; states that switch, each
at its own pace or never. The valves bm08 to bm10 follow the sensors bm05 to bm07 after 0.4 to 0.8
seconds, 2 % later each day until they are serviced, every seventh: the challenge's first query
watches that delay.

The first rows are the same however many are asked for.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from sash.workloads import machine_signals as signals
from sash.workloads.debs import DEBS_2012, DEBS_2012_SEPARATOR
from sash.workloads.machine_signals import BLOCK, Load, Rows

START: Final = np.datetime64("2012-02-22T16:46:00", "ns")
DAY: Final = 8_640_000
"""Rows."""

_ARROW: Final = {"timestamp": pa.timestamp("ns", "UTC"), "bigint": pa.int64(), "int": pa.int32()}
_SCHEMA: Final = pa.schema([(name, _ARROW[kind]) for name, kind in DEBS_2012.items()])

_FOUR_DIGITS: Final = ("pc13", "pc14", "pc15", "pc25", "pc26", "pc27", "res")
_VALVES: Final = {"bm08": "bm05", "bm09": "bm06", "bm10": "bm07"}
_STATES: Final = list(DEBS_2012)[list(DEBS_2012).index("bm05") :]
_ON_AT_FIRST: Final = ("pp16", "pp17", "pp33", "pp36")

# Streams of random numbers, so that no two quantities share one.
_LOAD, _SPIKES, _SHARED, _OWN, _JITTER, _PAUSES, _SWITCHES, _DELAYS = range(8)

_POWER_STEPS: Final = (0.5, 3.5, 9.0, 12.0, 12.0, 10.0, 10.0, 10.0, 15.0)
_ANODE_STEPS: Final = (1.0, 3.0, 3.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0)


class _Phase(NamedTuple):
    """What a reading is at rest, and its shares of the load: of the first stage, the second, …"""

    rest: float
    first: float
    second: float
    spikes: float


_PHASES: Final = {
    "mf01": _Phase(13_050, 1.0, 1.0, 1.0),
    "mf02": _Phase(14_350, 0.9, 1.15, 0.9),
    "mf03": _Phase(8_080, 0.85, 0.4, 0.5),
}
_CURRENTS: Final = {
    "pc13": _Phase(70, 0.02, 0.01, 0),
    "pc14": _Phase(188, 0.03, 0.01, 0),
    "pc15": _Phase(152, 0.025, 0.01, 0),
}
_VOLTAGES: Final = {
    "pc25": _Phase(0, 0.05, 0.07, 0),
    "pc26": _Phase(0, 0.04, 0.08, 0),
    "pc27": _Phase(0, 0.06, 0.06, 0),
}


def energy(rows: int, seed: int = 12, *, reading: str = "mf01") -> npt.NDArray[np.int64]:
    """One of the three energy readings, mf01 to mf03: whole numbers, many of them alike."""
    _check(rows)
    if reading not in _PHASES:
        raise ValueError(f"reading={reading!r}: the energy readings are mf01, mf02 and mf03")
    load = signals.load([seed, _LOAD], rows)
    found = np.empty(rows, np.int64)
    for block in _blocks(rows):
        part = found[block * BLOCK : (block + 1) * BLOCK]
        part[:] = _power(seed, reading, load, block)[: len(part)]
    return found


def times(rows: int, seed: int = 12) -> npt.NDArray[np.datetime64]:
    """When the rows were recorded, in UTC, to 100 ns. Every time is later than the one before."""
    _check(rows)
    pauses = _pauses(seed, rows)
    found = np.empty(rows, "datetime64[ns]")
    for block in _blocks(rows):
        part = found[block * BLOCK : (block + 1) * BLOCK]
        part[:] = _times(seed, pauses, block)[: len(part)]
    return found


def table(rows: int, seed: int = 12) -> pa.Table:
    """All columns, in the order of the file, 232 bytes a row; `write` holds a few MB at a time."""
    return pa.concat_tables([_SCHEMA.empty_table(), *_tables(0, rows, _Machine(rows, seed))])


def write(
    folder: str | os.PathLike[str], rows: int, seed: int = 12, *, files: int = 1
) -> list[Path]:
    """Writes so many lines, as the original file has them, to files in `folder`.

    The same arguments give the same bytes. A file gets its name when it is whole, so that a stream
    may watch the folder; the files' names and their times of modification are in order.
    """
    folder = Path(folder)
    machine = _Machine(rows, seed)
    if files < 1:
        raise ValueError(f"files={files}: there must be at least one")
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.glob("machine-*.txt")):
        raise ValueError(f"{folder} already holds readings: empty it, or name another folder")
    count = max(min(files, rows), 1)
    paths = [folder / f"machine-{number:04}.txt" for number in range(count)]
    options = pa.csv.WriteOptions(
        include_header=False, delimiter=DEBS_2012_SEPARATOR, quoting_style="none"
    )
    first_file = time.time() - count
    for number, path in enumerate(paths):
        first, end = (rows * edge // count for edge in (number, number + 1))
        part = path.with_name(f".{path.name}.part")
        with pa.OSFile(str(part), "wb") as file:
            for block in _tables(first, end, machine):
                pa.csv.write_csv(_as_written(block), file, options)
        # A second apart: who reads files in the order of their times must see no ties.
        os.utime(part, (first_file + number, first_file + number))
        part.replace(path)
    return paths


class _Machine:
    """What must be known of all rows to make any block of them."""

    def __init__(self, rows: int, seed: int) -> None:
        _check(rows)
        self.seed = seed
        self.load = signals.load([seed, _LOAD], rows)
        self.pauses = _pauses(seed, rows)
        self.switches = {name: _switches(seed, name, rows) for name in _STATES}

    def block(self, number: int) -> pa.Table:
        seed, load = self.seed, self.load
        near = load.near(number)
        columns: dict[str, npt.NDArray[Any]] = {
            "ts": _times(seed, self.pauses, number),
            "index": 1 + signals.rows_of(number),
            "res": near.recipe[np.searchsorted(near.at, signals.rows_of(number), "right") - 1],
        }
        columns |= {name: _power(seed, name, load, number) for name in _PHASES}
        columns |= {name: _anode(seed, name, load, number) for name in _CURRENTS | _VOLTAGES}
        for name, at in self.switches.items():
            switched = signals.steps_in(at, np.ones_like(at), number)
            columns[name] = (switched + (name in _ON_AT_FIRST)) % 2
        arrays = [
            pa.array(columns[name]).cast(kind)
            for name, kind in zip(_SCHEMA.names, _SCHEMA.types, strict=True)
        ]
        return pa.table(arrays, schema=_SCHEMA)


def _tables(first: int, end: int, machine: _Machine) -> Iterator[pa.Table]:
    """The rows from `first` to before `end`, block by block."""
    for number in _blocks(end, first):
        start = number * BLOCK
        skip = max(first - start, 0)
        yield machine.block(number).slice(skip, min(end - start, BLOCK) - skip)


def _blocks(end: int, first: int = 0) -> range:
    return range(first // BLOCK, -(-end // BLOCK))


def _check(rows: int) -> None:
    if rows < 0:
        raise ValueError(f"rows={rows}: there cannot be less than none")


def _drawn(phase: _Phase, load: Load, block: int) -> signals.Curve:
    """A phase's part of the load."""
    near = load.near(block)
    height = phase.first * near.first + phase.second * near.second
    return np.interp(signals.rows_of(block), near.at, height)


def _power(seed: int, reading: str, load: Load, block: int) -> Rows:
    phase = _PHASES[reading]
    own = [seed, _OWN, list(DEBS_2012).index(reading)]
    wander = 0.6 * signals.wander([seed, _SHARED], block, _POWER_STEPS)
    wander += 0.8 * signals.wander(own, block, _POWER_STEPS)
    drawn = _drawn(phase, load, block)
    wander *= 1 + drawn / 10_000
    spikes = signals.spikes([seed, _SPIKES], block, 6_000)
    return np.rint(phase.rest + drawn + wander + phase.spikes * spikes).astype(np.int64)


def _anode(seed: int, name: str, load: Load, block: int) -> Rows:
    """A current, or a voltage, which is 0 at rest."""
    phase = (_CURRENTS | _VOLTAGES)[name]
    drawn = _drawn(phase, load, block)
    own = [seed, _OWN, list(DEBS_2012).index(name)]
    found = phase.rest + drawn + signals.wander(own, block, _ANODE_STEPS)
    if name in _VOLTAGES:
        found[drawn == 0] = 0
    return np.rint(np.maximum(found, 0)).astype(np.int64)


def _pauses(seed: int, rows: int) -> tuple[Rows, Rows]:
    """Before which rows the recorder paused, and for how long, in 100 ns."""
    at = signals.switches([seed, _PAUSES, 0], rows, (1_000, 12_000), (1_000, 12_000))
    long = np.random.default_rng([seed, _PAUSES, 1]).lognormal(np.log(0.2), 1.0, len(at))
    return at, (np.clip(long, 0.01, 60) * 10_000_000).astype(np.int64)


def _times(seed: int, pauses: tuple[Rows, Rows], block: int) -> npt.NDArray[np.datetime64]:
    """Rows are 10 ms apart, less 6 ppm. One that is late by some µs makes no other late."""
    rng = np.random.default_rng([seed, _JITTER, block])
    late = 10 * np.abs(rng.standard_normal(BLOCK))
    kind = rng.random(BLOCK)
    late += np.where(kind < 0.1, 150, 0) * rng.standard_exponential(BLOCK)
    late += np.where(kind < 0.02, 600, 0) * rng.standard_exponential(BLOCK)
    rows = signals.rows_of(block)
    late[rows == 0] = 0
    # In 100 ns. At most 3 ms late: so no row overtakes the next.
    since = rows * 99_999 + rows * 2 // 5 + signals.steps_in(*pauses, block)
    since += np.minimum(late, 30_000).astype(np.int64)
    return START + (since * 100).astype("timedelta64[ns]")


def _switches(seed: int, name: str, rows: int) -> Rows:
    """When a state switches."""
    if name in _VALVES:
        at = _switches(seed, _VALVES[name], rows)
        rng = np.random.default_rng([seed, _DELAYS, list(DEBS_2012).index(name)])
        usual = rng.uniform(40, 80)
        worn = 1 + 0.02 * (at / DAY % 7)
        delay = usual * worn + np.clip(rng.normal(0, 1.5, len(at)), -9, 9)
        return at + np.rint(delay).astype(np.int64)
    key = [seed, _SWITCHES, list(DEBS_2012).index(name)]
    if name in _VALVES.values():
        return signals.switches(key, rows, off=(3_000, 12_000), on=(500, 2_000))
    rng = np.random.default_rng([*key, 0])
    if rng.random() < 1 / 3:
        return np.empty(0, np.int64)
    off, on = (int(mean) for mean in np.exp(rng.uniform(np.log(2_000), np.log(100_000), 2)))
    return signals.switches([*key, 1], rows, off=(1_000, off), on=(1_000, on))


def _as_written(block: pa.Table) -> pa.Table:
    """Text where a column is not written as the number it is."""
    iso = block["ts"].cast(pa.timestamp("ns")).cast(pa.string())  # 2012-02-22 16:46:28.967032000
    day, clock = pc.utf8_slice_codeunits(iso, 0, 10), pc.utf8_slice_codeunits(iso, 11, 27)
    written = block.set_column(0, "ts", pc.binary_join_element_wise(day, "T", clock, "+00:00", ""))
    for name in _FOUR_DIGITS:
        text = pc.utf8_lpad(block[name].cast(pa.string()), 4, "0")
        written = written.set_column(block.column_names.index(name), name, text)
    return written

"""Readings of smart plugs, made up from a seed: as real ones are, with gaps, late rows and dirt.

Lines have the columns of the DEBS 2014 grand challenge, comma-separated, without a header:

    id,timestamp,value,property,plug_id,household_id,house_id
    17,1378130403,92.806,1,0,0,0        load: plug 0 of household 0 of house 0 draws 92.806 W
    18,1378130403,311.027,0,0,0,0       work: it has drawn 311.027 kWh so far

Plugs feed appliances that are switched on and off in the course of a day, and are read every
second or two, now faster, now slower. What makes such data hard is there, too:

- gaps: a plug is silent for minutes or hours; a house has an outage;
- late rows: one in 200 arrives up to 0.9 `late_by` seconds after it should have;
- malformed lines between the good ones, of each kind in `malformed_lines`.

What holds for every seed: lines are in order of arrival, and `id` is the number of the line; no
row is more than `late_by` seconds behind any line before it; a plug has at most one row of each
property in a second; its work never falls.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from sash.workloads.debs import DEBS_2014
from sash.workloads.malformed_lines import MALFORMED
from sash.workloads.plug_readings import arriving

HOURS: Final = 8.0
FASTEST: Final = 1.5
SLOWEST: Final = 60.0
"""Seconds from one reading of a plug to its next, on average, unless hours are given."""

_ARROW: Final = {"bigint": pa.int64(), "double": pa.float64(), "int": pa.int32()}
_SCHEMA: Final = pa.schema([(name, _ARROW[kind]) for name, kind in DEBS_2014.items()])


@dataclass(frozen=True)
class Written:
    """What `write` wrote."""

    files: list[Path]
    """In order of arrival, as are their names and their times of modification."""
    rows: int
    """Good ones."""
    malformed: dict[str, int]
    """Lines of each kind."""
    late_rows: int
    """Good rows that come after one of a later time."""
    first_time: int | None
    last_time: int | None
    """The earliest and the latest `timestamp`; None if there are no rows."""
    plugs: int


class Bad(NamedTuple):
    """A malformed line."""

    id: int
    kind: str
    text: str


def write(
    folder: str | os.PathLike[str],
    rows: int = 3_000_000,
    seed: int = 38,
    files: int = 24,
    *,
    plugs: int | None = None,
    hours: float | None = None,
    late_by: int = 100,
    malformed: int | None = None,
    on_rows: Callable[[int], object] | None = None,
) -> Written:
    """Writes so many good rows, and malformed lines between them, to files in `folder`.

    Unless given, `plugs` is 80, or one for 400 rows; `hours` is 8, or what makes a reading every
    1.5 to 60 seconds; `malformed` is 300, or one for 50 rows. The same arguments give the same
    bytes. A file gets its name when it is whole, so that a stream may watch the folder. After
    each file `on_rows` is told how many good rows are written.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.glob("readings-*.csv")):
        raise ValueError(f"{folder} already holds readings: empty it, or name another folder")
    if files < 1:
        raise ValueError(f"files={files}: there must be at least one")
    good, bad = _lines(rows, seed, plugs, hours, late_by, malformed)
    lines = good.num_rows + len(bad)
    count = max(min(files, lines), 1)
    paths = [folder / f"readings-{number:04}.csv" for number in range(count)]
    first_file = time.time() - count
    for number, path in enumerate(paths):
        first, end = (1 + lines * edge // count for edge in (number, number + 1))
        part = path.with_name(f".{path.name}.part")
        done = _write_lines(part, good, bad, first, end)
        # A second apart: who reads files in the order of their times must see no ties.
        os.utime(part, (first_file + number, first_file + number))
        part.replace(path)
        if on_rows is not None:
            on_rows(done)

    times = good["timestamp"].to_numpy()
    kinds = Counter(line.kind for line in bad)
    return Written(
        files=paths,
        rows=rows,
        malformed={kind: kinds[kind] for kind in MALFORMED},
        late_rows=int((times < np.maximum.accumulate(times)).sum()),
        first_time=int(times.min()) if rows else None,
        last_time=int(times.max()) if rows else None,
        plugs=good.group_by(["house_id", "household_id", "plug_id"]).aggregate([]).num_rows,
    )


def table(
    rows: int,
    seed: int = 38,
    *,
    plugs: int | None = None,
    hours: float | None = None,
    late_by: int = 100,
    malformed: int | None = None,
) -> pa.Table:
    """The good rows that `write` would write, in order of arrival."""
    return _lines(rows, seed, plugs, hours, late_by, malformed)[0]


def _lines(
    rows: int,
    seed: int,
    plugs: int | None,
    hours: float | None,
    late_by: int,
    malformed: int | None,
) -> tuple[pa.Table, list[Bad]]:
    if rows < 0:
        raise ValueError(f"rows={rows}: there cannot be less than none")
    if late_by < 10:
        raise ValueError(f"late_by={late_by}: late rows need at least 10 seconds")
    if plugs is None:
        plugs = min(max(rows // 400, 3), 80)
    pace = _pace(rows, plugs, hours)
    if malformed is None:
        malformed = min(rows // 50, 300)
    elif malformed and not rows:
        raise ValueError(f"malformed={malformed}: lines are made from rows, and there are none")

    rng = np.random.default_rng([seed, 4])
    bad_ids = 1 + np.sort(rng.choice(rows + malformed, malformed, replace=False))
    columns = arriving(rows, seed, plugs, pace, late_by)
    columns["id"] = np.delete(np.arange(1, rows + malformed + 1), bad_ids - 1)
    good = pa.table({name: columns[name] for name in DEBS_2014}, schema=_SCHEMA)

    kinds = rng.permutation(np.resize(np.array(list(MALFORMED)), malformed))
    spoilt = good.take(np.minimum(bad_ids - 1 - np.arange(malformed), rows - 1)).to_pylist()
    bad = []
    for id, kind, row in zip(bad_ids.tolist(), kinds.tolist(), spoilt, strict=True):
        fields = [str(value) for value in (row | {"id": id}).values()]
        bad.append(Bad(id, kind, ",".join(MALFORMED[kind](fields, rng))))
    return good, bad


def _pace(rows: int, plugs: int, hours: float | None) -> float:
    """Seconds from one reading of a plug, which makes two rows, to its next."""
    if plugs < 1:
        raise ValueError(f"plugs={plugs}: there must be at least one")
    pace = (HOURS if hours is None else hours) * 3_600 * 2 * plugs / max(rows, 1)
    if hours is None:
        return min(max(pace, FASTEST), SLOWEST)
    if pace < FASTEST:
        needed = rows * FASTEST / 2 / plugs / 3_600
        raise ValueError(
            f"hours={hours}: {rows:,} rows of {plugs} plugs take at least {needed:.1f} hours"
        )
    return pace


def _write_lines(path: Path, good: pa.Table, bad: list[Bad], first: int, end: int) -> int:
    """Writes the lines of ids from `first` to before `end`; how many good rows precede `end`."""
    ids = good["id"].to_numpy()
    options = pa.csv.WriteOptions(include_header=False, quoting_style="none")
    at, upto = np.searchsorted(ids, [first, end]).tolist()
    with pa.OSFile(str(path), "wb") as file:
        for line in (line for line in bad if first <= line.id < end):
            before = int(np.searchsorted(ids, line.id))
            pa.csv.write_csv(good.slice(at, before - at), file, options)
            file.write(f"{line.text}\n".encode())
            at = before
        pa.csv.write_csv(good.slice(at, upto - at), file, options)
    return int(upto)

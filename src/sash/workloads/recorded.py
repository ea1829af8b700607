"""Recorded data, read into arrays: the files of the DEBS grand challenges of 2012 and 2014.

A path is of a file, or of a folder whose files are read in the order of their names; what is named
.gz is unpacked. Lines are read as they are needed, so the first rows of a large file come quickly.
A first line of names, which a sample of 2012 has, is no row. What is not such a file is refused
with a `ValueError`.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from sash.workloads.debs import DEBS_2012, DEBS_2012_SEPARATOR, DEBS_2014, DEBS_2014_SEPARATOR
from sash.workloads.plug_readings import LOAD

_ARROW: Final = {
    "timestamp": pa.timestamp("ns", "UTC"),
    "bigint": pa.int64(),
    "int": pa.int64(),
    "double": pa.float64(),
}
_PLACES: Final = 1_000
"""More than there are plugs in a household, or households in a house."""

Column = npt.NDArray[Any]


class _Layout(NamedTuple):
    name: str
    columns: dict[str, str]
    separator: str


_OF_2012: Final = _Layout("DEBS 2012", DEBS_2012, DEBS_2012_SEPARATOR)
_OF_2014: Final = _Layout("DEBS 2014", DEBS_2014, DEBS_2014_SEPARATOR)


def debs2012(path: str | os.PathLike[str], column: str = "mf01", rows: int | None = None) -> Column:
    """One column of the first rows, or of all: int64, or for `ts` datetime64[ns] in UTC."""
    if column not in DEBS_2012:
        raise ValueError(f"column={column!r}: DEBS 2012 has {', '.join(DEBS_2012)}")
    return _read(path, _OF_2012, [column], rows)[column]


def debs2014(path: str | os.PathLike[str], rows: int | None = None) -> dict[str, Column]:
    """The first rows of load, or all: `timestamp` in seconds, `value` in W, and `plug`.

    A plug is house · 1,000,000 + household · 1,000 + plug. Rows of work are left out, and are not
    among the rows that are counted.
    """
    places = ["house_id", "household_id", "plug_id"]
    wanted = ["timestamp", "value", *places]
    found = _read(path, _OF_2014, wanted, rows, where=("property", LOAD))
    house, household, plug = (found.pop(place) for place in places)
    for place, numbers in (("household_id", household), ("plug_id", plug)):
        if np.any((numbers < 0) | (numbers >= _PLACES)):
            raise ValueError(f"{path} is not of DEBS 2014: there is a {place} over {_PLACES - 1}")
    return found | {"plug": (house * _PLACES + household) * _PLACES + plug}


def _read(
    path: str | os.PathLike[str],
    layout: _Layout,
    wanted: list[str],
    rows: int | None,
    where: tuple[str, int] | None = None,
) -> dict[str, Column]:
    """Columns of the first rows in which the column of `where` has its value."""
    if rows is not None and rows < 0:
        raise ValueError(f"rows={rows}: there cannot be less than none")
    kinds = {name: _ARROW[layout.columns[name]] for name in wanted}
    included = kinds if where is None else kinds | {where[0]: pa.int64()}
    parts = []
    missing = rows
    for part in (part for file in _files(Path(path)) for part in _batches(file, layout, included)):
        if where is not None:
            part = part.filter(pc.equal(part[where[0]], where[1]))
        if missing is not None:
            part = part.slice(0, missing)
            missing -= part.num_rows
        parts.append(part.select(wanted))
        if missing == 0:
            break
    found = pa.Table.from_batches(parts, pa.schema(kinds))
    return {name: found[name].to_numpy() for name in wanted}


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise ValueError(f"there is no file or folder {path}")
    # What begins with these is not data: Spark says so, and files that are being written.
    files = sorted(
        file for file in path.iterdir() if file.is_file() and not file.name.startswith((".", "_"))
    )
    if not files:
        raise ValueError(f"there are no files in the folder {path}")
    return files


def _batches(
    file: Path, layout: _Layout, kinds: dict[str, pa.DataType]
) -> Iterator[pa.RecordBatch]:
    refused = f"{file} is not of {layout.name}"
    names = list(layout.columns)
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as lines:
            first = lines.readline(10_000).decode(errors="replace").rstrip("\r\n")
    except (OSError, EOFError) as error:
        raise ValueError(f"{refused}: it cannot be read ({error})") from error
    if first == "":
        return
    fields = first.split(layout.separator)
    if len(fields) != len(names):
        raise ValueError(f"{refused}: a line has {len(names)} columns, its first {len(fields)}")

    try:
        with pa.csv.open_csv(
            file,
            pa.csv.ReadOptions(column_names=names, skip_rows=int(fields[0] == names[0])),
            pa.csv.ParseOptions(delimiter=layout.separator, quote_char=False),
            pa.csv.ConvertOptions(include_columns=list(kinds), column_types=kinds),
        ) as reader:
            for batch in reader:
                if any(column.null_count for column in batch.columns):
                    raise ValueError(f"{refused}: there is a line in which a value is missing")
                yield batch
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{refused}: {str(error).splitlines()[0]}") from error

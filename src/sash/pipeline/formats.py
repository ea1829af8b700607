"""The formats that rows are read in and answers written in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sash.pipeline.definition import Source


@dataclass(frozen=True)
class Read:
    """What is to be known of a format before it is read."""

    paths: bool = True
    typed: bool = False
    """Whether the files themselves tell columns and types."""
    batch: bool = True
    ends: bool = True
    """Whether there can be nothing new."""


READ = {
    "parquet": Read(typed=True),
    "orc": Read(typed=True),
    "csv": Read(),
    "json": Read(),
    "kafka": Read(paths=False),
    "rate": Read(paths=False, typed=True, batch=False, ends=False),
    "debs2012": Read(),
    "debs2014": Read(),
}
"""Other formats are left to Spark, and whatever connectors it has."""

WRITTEN = {
    "parquet": True,
    "orc": True,
    "csv": True,
    "json": True,
    "kafka": False,
    "console": False,
    "noop": False,
}
"""And whether to files."""

RATE = {"timestamp": "timestamp", "value": "bigint"}


def _debs2012(source: Source) -> Source:
    from sash.workloads.debs import DEBS_2012

    options = {"sep": "\t", "header": "false"} | dict(source.options)
    return replace(
        source,
        format="csv",
        schema=DEBS_2012 if source.schema is None else source.schema,
        options=options,
        time=source.time or "ts",
    )


def _debs2014(source: Source) -> Source:
    from sash.workloads.debs import DEBS_2014

    columns = {"ts": "try_cast(timestamp AS timestamp)"} | dict(source.columns)
    return replace(
        source,
        format="csv",
        schema=DEBS_2014 if source.schema is None else source.schema,
        options={"header": "false"} | dict(source.options),
        columns=columns,
        time=source.time or "ts",
        key=source.key or ("house_id", "household_id", "plug_id"),
    )


LOADERS: dict[str, Callable[[Source], Source]] = {"debs2012": _debs2012, "debs2014": _debs2014}
"""Formats of known data sets: what a user would have to write about them."""

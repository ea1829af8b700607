"""Readings of many plugs in order of arrival, as columns.

A row arrives at its time plus a part of a second that its plug always takes, plus, for one row in
200, a delay of up to 0.9 `late_by` seconds. So whatever arrived before a row is of a time no later
than that row's arrival: it is less than 0.9 `late_by` + 1 seconds behind.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sash.workloads.appliances import APPLIANCES

START: Final = 1_378_130_400
"""The first second: 2 September 2013, 14:00 UTC, so that eight hours end in the evening."""

WORK, LOAD = 0, 1

LATE: Final = 0.005
WORK_LOST: Final = 0.01
SILENT: Final = 0.06
"""Shares: of rows that are late, of work that is not reported, of time without readings (about)."""

_JOULES: Final = 3_600_000.0
"""In a kWh."""

Column = npt.NDArray[Any]


class Plug(NamedTuple):
    house: int
    household: int
    plug: int


def arriving(rows: int, seed: int, plugs: int, pace: float, late_by: int) -> dict[str, Column]:
    """The first rows to arrive, read every `pace` seconds of each plug: all columns but `id`."""
    places = _places(plugs, np.random.default_rng([seed, 0]))
    seconds = int(rows * pace / 2 / plugs) + 60
    while True:
        read = _all_plugs(places, seconds, seed, pace)
        if len(read["timestamp"]) >= rows:
            break
        seconds += seconds // 4  # few rows of few plugs may all have met a gap

    rng = np.random.default_rng([seed, 1])
    arrival = read.pop("arrival")
    late = rng.random(len(arrival)) < LATE
    arrival[late] += 2 + (0.9 * late_by - 2) * rng.beta(1, 2, int(late.sum()))
    first = np.argsort(arrival, kind="stable")[:rows]
    return {name: column[first] for name, column in read.items()}


def _all_plugs(places: list[Plug], seconds: int, seed: int, pace: float) -> dict[str, Column]:
    """Every row of so many seconds, plug by plug."""
    houses = 1 + max(place.house for place in places)
    rng = np.random.default_rng([seed, 2])
    house_out = int(rng.integers(houses))
    outage = _spell(rng, seconds, rng.uniform(300, 1_200))
    read: list[dict[str, Column]] = []
    for number, place in enumerate(places):
        rng = np.random.default_rng([seed, 3, number])
        watts = APPLIANCES[number % len(APPLIANCES)](rng, START, seconds)
        dark = [outage] if place.house == house_out else []
        for start, end in dark:
            watts[start:end] = 0
        silent = [
            _spell(rng, seconds, rng.lognormal(np.log(500), 1.0))
            for _ in range(rng.poisson(seconds / 20_000))
        ]
        at = _moments(rng, seconds, pace, dark + silent)
        rows = _rows(rng, at, watts)
        for name, value in zip(("house_id", "household_id", "plug_id"), place, strict=True):
            rows[name] = np.full(len(rows["value"]), value, np.int32)
        read.append(rows)
    return {name: np.concatenate([rows[name] for rows in read]) for name in read[0]}


def _rows(rng: np.random.Generator, at: Column, watts: Column) -> dict[str, Column]:
    """A row of load and one of work for each moment of one plug, with what arrival they have."""
    load = watts[at] * rng.normal(1, 0.008, len(at)) + rng.normal(0, 0.15, len(at))
    work = rng.uniform(5, 400) + np.cumsum(watts)[at] / _JOULES
    told = np.flatnonzero(rng.random(len(at)) >= WORK_LOST)
    takes = rng.uniform(0, 0.99)
    return {
        "timestamp": START + np.concatenate([at, at[told]]),
        "value": np.concatenate([np.maximum(load, 0), work[told]]).round(3),
        "property": np.repeat(np.array([LOAD, WORK], np.int32), [len(at), len(told)]),
        "arrival": np.concatenate([at + takes, at[told] + takes + 0.001]),
    }


def _moments(
    rng: np.random.Generator, seconds: int, pace: float, silent: list[tuple[int, int]]
) -> Column:
    """The seconds in which a plug is read: in bursts and lulls, and never in a silent spell."""
    pace = 1 + (pace - 1) * (1 - SILENT)
    blocks = int(seconds / pace / 20) + 20
    lulls = np.repeat(
        rng.choice([0.2, 1.0, 3.0], blocks, p=[0.5, 0.3, 0.2]), rng.integers(5, 60, blocks)
    )
    at = rng.integers(int(pace) + 1) + np.cumsum(rng.geometric(1 / (1 + (pace - 1) * lulls))) - 1
    at = at[at < seconds]
    for start, end in silent:
        at = at[(at < start) | (at >= end)]
    return at


def _spell(rng: np.random.Generator, seconds: int, length: float) -> tuple[int, int]:
    """From when to when: of that length, but no more than a quarter of the whole time."""
    long = int(min(length, 7_200, seconds / 4))
    start = int(rng.integers(seconds - long + 1))
    return start, start + long


def _places(plugs: int, rng: np.random.Generator) -> list[Plug]:
    """Households of 4 to 9 plugs each, in houses of 1 to 4 households."""
    places: list[Plug] = []
    house = 0
    while True:
        for household in range(rng.integers(1, 5)):
            for plug in range(rng.integers(4, 10)):
                if len(places) == plugs:
                    return places
                places.append(Plug(house, household, plug))
        house += 1

"""What household appliances draw: watts at each second, from a seeded generator.

Every function takes the generator, the time of the first second (since 1970, UTC) and how many
seconds are wanted. Powers, durations and the hours of use are those of a European home.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

Watts = npt.NDArray[np.float64]
Appliance = Callable[[np.random.Generator, int, int], Watts]

_MINUTE: Final = 60
_HOUR: Final = 3_600

# How likely something is switched on in each hour of the day, compared with the other hours.
_AT_MEALS: Final = (1, 0, 0, 0, 0, 2, 8, 10, 7, 5, 5, 6, 9, 7, 4, 5, 5, 6, 9, 8, 5, 4, 3, 2)
_IN_THE_EVENING: Final = (2, 1, 0, 0, 0, 1, 4, 4, 2, 2, 2, 2, 3, 3, 2, 3, 5, 8, 10, 12, 12, 9, 6, 4)
_BY_DAY: Final = (1, 0, 0, 0, 0, 0, 2, 5, 9, 10, 9, 7, 5, 8, 9, 8, 7, 5, 5, 6, 5, 4, 3, 2)


def fridge(rng: np.random.Generator, start: int, seconds: int) -> Watts:
    """A compressor that runs a third of the time, and pulls several times its power at first."""
    power = rng.uniform(70, 120)
    watts = np.full(seconds, rng.uniform(1, 3))
    at = -int(rng.integers(45 * _MINUTE))
    while at < seconds:
        runs = int(rng.uniform(12, 18) * _MINUTE)
        since = np.arange(runs)
        pull = power * rng.uniform(0.9, 1.2) * (1 + 0.2 * np.exp(-since / 150))
        pull[:2] *= rng.uniform(1.5, 4)
        _put(watts, at, pull)
        at += runs + int(rng.uniform(20, 35) * _MINUTE)
    return watts


def kettle(rng: np.random.Generator, start: int, seconds: int) -> Watts:
    power = rng.uniform(1_800, 2_200)
    watts = np.zeros(seconds)
    for at in _moments(rng, start, seconds, 9, _AT_MEALS):
        _put(watts, at, np.full(int(rng.uniform(80, 240)), power))
    return watts


def coffee_machine(rng: np.random.Generator, start: int, seconds: int) -> Watts:
    """Heats up, then keeps warm for half an hour by short pulses."""
    power = rng.uniform(1_100, 1_450)
    watts = np.full(seconds, rng.uniform(0.4, 1.2))
    for at in _moments(rng, start, seconds, 6, _AT_MEALS):
        _put(watts, at, np.full(int(rng.uniform(60, 120)), power))
        for pulse in range(5 * _MINUTE, 30 * _MINUTE, 4 * _MINUTE):
            _put(watts, at + pulse, np.full(15, power))
    return watts


def microwave(rng: np.random.Generator, start: int, seconds: int) -> Watts:
    power = rng.uniform(1_050, 1_350)
    watts = np.full(seconds, rng.uniform(1.5, 3))
    for at in _moments(rng, start, seconds, 5, _AT_MEALS):
        pull = np.full(int(rng.uniform(60, 360)), power)
        if rng.random() < 0.4:  # thaws: on for 10 of 22 seconds
            pull[np.arange(len(pull)) % 22 >= 10] = 60
        _put(watts, at, pull)
    return watts


def washing_machine(rng: np.random.Generator, start: int, seconds: int) -> Watts:
    """Heats for a quarter of an hour, turns to and fro for three, spins."""
    watts = np.full(seconds, rng.uniform(0.6, 1.5))
    for at in _moments(rng, start, seconds, 2.5, _BY_DAY):
        heats = int(rng.uniform(12, 18) * _MINUTE)
        turns = int(rng.uniform(35, 50) * _MINUTE)
        spins = int(rng.uniform(5, 9) * _MINUTE)
        turning = np.where(np.arange(turns) % 20 < 12, rng.uniform(120, 260), 12.0)
        spinning = np.linspace(150, rng.uniform(420, 620), spins)
        heating = np.full(heats, rng.uniform(1_850, 2_150))
        _put(watts, at, np.concatenate([heating, turning, spinning]))
    return watts


def television(rng: np.random.Generator, start: int, seconds: int) -> Watts:
    power = rng.uniform(75, 150)
    watts = np.full(seconds, rng.uniform(0.3, 1.0))
    for at in _moments(rng, start, seconds, 5, _IN_THE_EVENING):
        _put(watts, at, power * _wavering(rng, int(rng.uniform(35, 180) * _MINUTE), 25, 0.12))
    return watts


def computer(rng: np.random.Generator, start: int, seconds: int) -> Watts:
    power = rng.uniform(55, 130)
    watts = np.full(seconds, rng.uniform(1, 3))
    for at in _moments(rng, start, seconds, 4, _BY_DAY):
        _put(watts, at, power * _wavering(rng, int(rng.uniform(30, 200) * _MINUTE), 8, 0.3))
    return watts


def lamp(rng: np.random.Generator, start: int, seconds: int) -> Watts:
    power = rng.uniform(8, 60)
    watts = np.zeros(seconds)
    for at in _moments(rng, start, seconds, 6, _IN_THE_EVENING):
        _put(watts, at, np.full(int(rng.uniform(10, 150) * _MINUTE), power))
    return watts


def boiler(rng: np.random.Generator, start: int, seconds: int) -> Watts:
    """A thermostat that heats for minutes, more often by day."""
    power = rng.uniform(1_200, 2_000)
    watts = np.full(seconds, rng.uniform(0.5, 1.5))
    for at in _moments(rng, start, seconds, 26, _BY_DAY):
        _put(watts, at, np.full(int(rng.uniform(2, 7) * _MINUTE), power))
    return watts


def charger(rng: np.random.Generator, start: int, seconds: int) -> Watts:
    """Full power until the battery is nearly full, then less and less."""
    power = rng.uniform(7, 65)
    watts = np.full(seconds, rng.uniform(0.05, 0.3))
    for at in _moments(rng, start, seconds, 3, _IN_THE_EVENING):
        since = np.arange(int(rng.uniform(60, 150) * _MINUTE))
        full = 0.6 * len(since)
        _put(watts, at, power * np.exp(-np.maximum(since - full, 0) / (20 * _MINUTE)))
    return watts


def router(rng: np.random.Generator, start: int, seconds: int) -> Watts:
    return rng.uniform(5, 11) * _wavering(rng, seconds, 40, 0.04)


APPLIANCES: Final[tuple[Appliance, ...]] = (
    fridge,
    kettle,
    television,
    washing_machine,
    computer,
    lamp,
    coffee_machine,
    router,
    microwave,
    charger,
    boiler,
)
"""Plugs get them in this order, round and round; plug 0 of household 0 of house 0 has a fridge."""


def _moments(
    rng: np.random.Generator, start: int, seconds: int, a_day: float, by_hour: tuple[int, ...]
) -> list[int]:
    """When something is switched on, about `a_day` times in 24 hours; from an hour before."""
    minutes = np.arange(-60, seconds // _MINUTE + 1)
    hours = (start // _HOUR + minutes // 60) % 24
    likely = np.array(by_hour, float)[hours] / sum(by_hour) * a_day / 60
    chosen = minutes[rng.random(len(minutes)) < likely]
    return [int(at) for at in chosen * _MINUTE + rng.integers(0, _MINUTE, len(chosen))]


def _put(watts: Watts, at: int, pull: Watts) -> None:
    """Draws `pull` from second `at` on, as far as that lies in `watts`."""
    skip = max(-at, 0)
    part = pull[skip : max(len(watts) - at, skip)]
    watts[at + skip : at + skip + len(part)] = part


def _wavering(rng: np.random.Generator, seconds: int, step: int, by: float) -> Watts:
    """Factors around 1 that change smoothly, every `step` seconds in another direction."""
    turns = 1 + by * rng.uniform(-1, 1, seconds // step + 2)
    return np.interp(np.arange(seconds), np.arange(len(turns)) * step, turns)

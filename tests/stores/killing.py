"""A window in a store whose process is killed again and again; run as a script.

    killing.py ADDRESS KILLS SEED

The process that is killed pushes rows, syncs now and then, and tells how many it had pushed when
`sync` returned. Another opens the window then, and compares it with what it should hold: at least
what was told, and exactly the first so many rows.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from functools import partial

import sash
from sash.operators.laws import close
from sash.stores import Place, Redis, Store, store_at

OP = sash.Together(n=sash.Count(), total=sash.Sum(), top=sash.Max(), last=sash.LastN(n=2))
WIDTH = 700


def value(row: int) -> int:
    return row * 7919 % 1009


def moment(row: int) -> int:
    """Times that jump now and then, so that many rows leave at once, or all."""
    return row + 650 * (row // 900) + 2000 * (row // 5000)


def opened(address: str, name: str) -> tuple[Store, sash.Window]:
    store = Redis(address, lease=0.4) if address.startswith("redis") else store_at(address)
    window = sash.Window(OP, sash.last(f"{WIDTH}i"), store=Place(store, name, block=8))
    return store, window


def push_for_ever(address: str, name: str, told: int, seed: int) -> None:
    chance = random.Random(seed)
    _, window = opened(address, name)
    while True:
        row = window.pushed
        if chance.random() < 0.3:
            rows = range(row, row + chance.randrange(1, 60))
            window.push_many([value(r) for r in rows], times=[moment(r) for r in rows])
        else:
            window.push(value(row), time=moment(row))
        if chance.random() < 0.1:
            window.sync()
            os.write(told, window.pushed.to_bytes(8, "little"))


def check(address: str, name: str, least: int) -> None:
    store, window = opened(address, name)
    rows = window.pushed
    assert rows >= least, f"{least} rows were acknowledged, and {rows} are there"
    if rows:
        held = [
            r for r in range(max(0, rows - WIDTH), rows) if moment(r) > moment(rows - 1) - WIDTH
        ]
        expected = (len(held), sum(map(value, held)), max(map(value, held)))
        found = window.query()
        assert close(tuple(found)[:3], expected), f"{found} is not {expected}"
        assert found.last == [value(r) for r in held[-2:]]
        assert len(window) == len(held)
    window.close()
    store.close()


def in_child(run: Callable[[], object]) -> int:
    """Run in a process of its own, which begins as this one is: with all that is imported."""
    child = os.fork()
    if child == 0:
        try:
            run()
            os._exit(0)
        except BaseException:
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
            sys.stderr.flush()
            os._exit(1)
    return child


def main(address: str, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    name, least = f"killed {seed}", 0
    for kill in range(kills):
        reads, writes = os.pipe()
        child = in_child(partial(push_for_ever, address, name, writes, seed + kill))
        os.close(writes)
        told = os.read(reads, 8)  # it has begun
        time.sleep(chance.random() * 0.15)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while more := os.read(reads, 1 << 16):
            told += more
        os.close(reads)
        least = int.from_bytes(told[-8:], "little")
        checking = in_child(partial(check, address, name, least))
        _, status = os.waitpid(checking, 0)
        if status:
            raise SystemExit(f"kill {kill}: the window is not as it was acknowledged")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

"""A process that is killed at any moment loses nothing that was acknowledged."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from stores.server import Server

HOW_OFTEN = [4, pytest.param(50, marks=pytest.mark.full)]


def run(address: str, kills: int) -> None:
    script = Path(__file__).with_name("killing.py")
    done = subprocess.run(
        [sys.executable, str(script), address, str(kills), "7"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("kills", HOW_OFTEN)
def test_rocksdb(kills: int, tmp_path: Path) -> None:
    run(f"rocksdb:{tmp_path / 'db'}", kills)


@pytest.mark.parametrize("kills", HOW_OFTEN)
def test_redis(kills: int, redis_with: Callable[..., Server]) -> None:
    run(redis_with("--appendonly", "yes").url, kills)

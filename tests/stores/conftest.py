"""Redis servers; where there is no redis-server, what needs one is skipped and says why.

With SASH_REQUIRE_REDIS set it fails instead, so that whoever counts on it hears of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

import pytest
from stores.server import RedisNotAvailableError, Server, server

T = TypeVar("T")


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that all tests share that do not stop it or fill it. Each uses a prefix of its own."""
    with ExitStack() as stack:
        yield or_skip(lambda: stack.enter_context(server(tmp_path_factory.mktemp("redis"))))


@pytest.fixture
def redis_with(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts a server of one's own with these settings."""
    with ExitStack() as stack:

        def start(*settings: str, tls: bool = False) -> Server:
            folder = tmp_path / "redis"
            folder.mkdir()
            return or_skip(lambda: stack.enter_context(server(folder, *settings, tls=tls)))

        yield start


def or_skip(get: Callable[[], T]) -> T:
    try:
        return get()
    except RedisNotAvailableError as problem:
        reason = str(problem)
    if os.environ.get("SASH_REQUIRE_REDIS"):
        pytest.fail(f"SASH_REQUIRE_REDIS is set, and {reason}", pytrace=False)
    pytest.skip(f"no Redis here: {reason}")

"""One Kafka broker for all tests; where it cannot be had, they are skipped and say why.

With SASH_REQUIRE_KAFKA set they fail instead, so that whoever counts on them hears of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TypeVar

import pytest
from kafka.broker import Broker, KafkaNotAvailableError, broker, connector

T = TypeVar("T")


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """`kafka.servers` is what clients connect to. Each test makes topics of its own."""
    with ExitStack() as stack:
        yield or_skip(lambda: stack.enter_context(broker(tmp_path_factory.mktemp("kafka"))))


@pytest.fixture(scope="session")
def spark_kafka() -> dict[str, str]:
    """Settings with which a Spark session can read and write Kafka."""
    return or_skip(connector)


def or_skip(get: Callable[[], T]) -> T:
    try:
        return get()
    except KafkaNotAvailableError as problem:
        reason = str(problem)
    if os.environ.get("SASH_REQUIRE_KAFKA"):
        pytest.fail(f"SASH_REQUIRE_KAFKA is set, and {reason}", pytrace=False)
    pytest.skip(f"no Kafka here: {reason}")

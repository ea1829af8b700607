"""A broker starts, keeps what is written to it, and Spark reads and writes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from kafka.broker import Broker
from kafka.topics import consume, create_topic, produce

MESSAGES = 1_000


def test_messages_come_back(kafka: Broker) -> None:
    create_topic(kafka.servers, "plain")
    values = [f"value {number}" for number in range(MESSAGES)]
    keys = [None if number % 7 == 0 else f"k{number % 5}" for number in range(MESSAGES)]
    produce(kafka.servers, "plain", values, keys)
    expected = [
        (None if key is None else key.encode(), value.encode())
        for key, value in zip(keys, values, strict=True)
    ]
    assert consume(kafka.servers, "plain", MESSAGES) == expected
    assert consume(kafka.servers, "plain") == expected


def test_partitions_keep_the_order_of_a_key(kafka: Broker) -> None:
    create_topic(kafka.servers, "parts", partitions=3)
    keys = [str(number % 10) for number in range(MESSAGES)]
    produce(kafka.servers, "parts", [str(number) for number in range(MESSAGES)], keys)
    found = consume(kafka.servers, "parts", MESSAGES)
    assert len(found) == MESSAGES
    for last in range(10):
        of_key = [int(value) for key, value in found if key == str(last).encode()]
        assert of_key == list(range(last, MESSAGES, 10))


def test_too_few_messages_are_told(kafka: Broker) -> None:
    create_topic(kafka.servers, "few")
    produce(kafka.servers, "few", [b"one"])
    with pytest.raises(TimeoutError, match="1 messages in few"):
        consume(kafka.servers, "few", 2, timeout=0.5)


PROGRAM = """
    import json
    import sys

    import sash

    servers, folder, settings = sys.argv[1:]
    spark = sash.spark.session("local[2]", progress=False, **json.loads(settings))
    read = spark.readStream.format("kafka").option("kafka.bootstrap.servers", servers)
    rows = (
        read.option("subscribe", "in")
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", 400)
        .load()
    )
    query = (
        rows.selectExpr("key", "upper(cast(value as string)) as value")
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("topic", "out")
        .option("checkpointLocation", f"{folder}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    print(len(query.recentProgress))
"""


def test_spark_reads_and_writes(kafka: Broker, spark_kafka: dict[str, str], tmp_path: Path) -> None:
    """In a Python of its own: a session that another test has started lacks the connector."""
    create_topic(kafka.servers, "in", partitions=2)
    create_topic(kafka.servers, "out")
    keys = [str(number) for number in range(MESSAGES)]
    produce(kafka.servers, "in", [f"value {key}" for key in keys], keys)
    program = tmp_path / "program.py"
    program.write_text(dedent(PROGRAM), encoding="utf-8")
    settings = {"spark.driver.memory": "1g", **spark_kafka}
    done = subprocess.run(
        [sys.executable, str(program), kafka.servers, str(tmp_path), json.dumps(settings)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
        env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) >= 3  # batches
    found = consume(kafka.servers, "out", MESSAGES)
    assert sorted(found) == sorted((key.encode(), f"VALUE {key}".encode()) for key in keys)

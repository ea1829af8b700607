"""Topics of a broker, as a test needs them: made, filled, and read from the beginning."""

from __future__ import annotations

import time
from collections.abc import Sequence

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic

Bytes = str | bytes


def create_topic(servers: str, topic: str, partitions: int = 1) -> None:
    """Make a topic, and wait until it is there."""
    client = AdminClient({"bootstrap.servers": servers})
    made = client.create_topics([NewTopic(topic, num_partitions=partitions)], request_timeout=30)
    made[topic].result()
    until = time.monotonic() + 30
    while True:
        there = client.list_topics(timeout=10).topics.get(topic)
        if there is not None and len(there.partitions) == partitions:
            return
        if time.monotonic() > until:
            raise TimeoutError(f"the topic {topic} is made, but not there after 30 s.")
        time.sleep(0.05)


def produce(
    servers: str,
    topic: str,
    values: Sequence[Bytes],
    keys: Sequence[Bytes | None] | None = None,
    *,
    timeout: float = 60.0,
) -> None:
    """Write messages, and wait until the broker has them all.

    Those of a key keep their order, and without keys all of them do if the topic has one partition.
    """
    problems: list[KafkaError] = []

    def delivered(problem: KafkaError | None, _: Message) -> None:
        if problem is not None:
            problems.append(problem)

    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
    for value, key in zip(values, keys or [None] * len(values), strict=True):
        while True:
            try:
                producer.produce(topic, value, key, on_delivery=delivered)
                break
            except BufferError:  # its queue is full
                producer.poll(0.1)
        producer.poll(0)
    left = producer.flush(timeout)
    if problems:
        raise KafkaException(problems[0])
    if left:
        raise TimeoutError(f"{left} of {len(values)} messages were not taken within {timeout} s.")


def consume(
    servers: str, topic: str, count: int = 0, *, timeout: float = 60.0
) -> list[tuple[bytes | None, bytes | None]]:
    """Every (key, value) of a topic, as soon as there are at least `count`.

    Read to the end of each partition, so that a message too many is seen. A TimeoutError says how
    many there were, if they were fewer. No group is joined: whoever reads next gets all again.
    """
    # Whoever writes may use transactions; only what was committed is read, which is the default.
    settings = {"group.id": "unused", "enable.auto.commit": False, "enable.partition.eof": True}
    consumer = Consumer({"bootstrap.servers": servers, **settings})
    found: list[tuple[bytes | None, bytes | None]] = []
    at_end: set[int] = set()
    until = time.monotonic() + timeout
    try:
        there = consumer.list_topics(topic, timeout=timeout).topics[topic]
        if there.error is not None:
            raise KafkaException(there.error)
        parts = there.partitions
        consumer.assign([TopicPartition(topic, part, OFFSET_BEGINNING) for part in parts])
        while len(found) < count or len(at_end) < len(parts):
            message = consumer.poll(max(0.0, until - time.monotonic()))
            if message is None:
                raise TimeoutError(
                    f"{len(found)} messages in {topic} within {timeout} s, not {count}."
                )
            problem = message.error()
            if problem is None:
                found.append((message.key(), message.value()))
                at_end.discard(message.partition())
            elif problem.code() == KafkaError._PARTITION_EOF:
                at_end.add(message.partition())
            else:
                raise KafkaException(problem)
    finally:
        consumer.close()
    return found


def end_of(servers: str, topic: str) -> int:
    """How many messages a topic has, in all partitions together."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "unused"})
    try:
        parts = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        ends = [
            consumer.get_watermark_offsets(TopicPartition(topic, part), timeout=30)[1]
            for part in parts
        ]
    finally:
        consumer.close()
    return sum(ends)

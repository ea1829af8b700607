"""Kafka from here: is a broker there, and what went wrong with it, in a sentence.

Kafka's own clients wait for minutes for a broker that is not there, and then tell of their calls.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sash.pipeline.causes import all_said, root_cause
from sash.pipeline.definition import Pipeline, Sink, Source

CONNECTING = 5.0
"""Seconds that a broker may take to accept a connection."""


SECRET = re.compile(r"jaas|password|secret|token|credential|\bkey\b", re.IGNORECASE)
"""Options of Kafka's whose values are nobody's business."""
NO_SECRET = re.compile(
    r"[\w.]*LoginModule|required|requisite|sufficient|optional|user(name)?|password"
)
"""Words of a login's configuration that say nothing."""


class BrokerError(RuntimeError):
    """Kafka cannot be used as the pipeline says."""


def require_brokers(pipeline: Pipeline) -> None:
    """Some broker of each side accepts connections, or a BrokerError tells which does not."""
    for side, servers in _servers(pipeline).items():
        problem = ""
        for each in servers.split(","):
            host, _, port = each.strip().rpartition(":")
            try:
                socket.create_connection((host, int(port)), CONNECTING).close()
                break
            except (OSError, ValueError) as error:
                problem = getattr(error, "strerror", None) or str(error)
        else:
            raise BrokerError(
                f"{side}: no broker of Kafka answers at {servers} ({problem}): does it run, and "
                f"is that its address?"
            )


def _servers(pipeline: Pipeline) -> Mapping[str, str]:
    """Where brokers are, by side; options win, as they do for Spark."""
    sides: dict[str, Source | Sink] = {"source": pipeline.source, "sink": pipeline.sink}
    return {
        name: side.options.get("kafka.bootstrap.servers") or side.servers or ""
        for name, side in sides.items()
        if side.format == "kafka"
    }


@contextmanager
def told_of_brokers(pipeline: Pipeline) -> Iterator[None]:
    """What goes wrong with Kafka becomes a BrokerError, whose sentence says what it was."""
    try:
        yield
    except Exception as error:
        sentence = what_went_wrong(pipeline, error) if pipeline.needs_kafka else None
        if sentence is None:
            raise
        raise BrokerError(without_secrets(pipeline, sentence)) from error


def what_went_wrong(pipeline: Pipeline, error: Exception) -> str | None:
    """In the words of a pipeline, what Spark and Kafka have said; None if it is of something else.

    A source is asked by the driver, with Kafka's admin client; a sink by tasks, with a producer.
    """
    said, servers = all_said(error), _servers(pipeline)
    absent = re.search(r"Topic (\S+) not present in metadata", said)
    if absent:
        return (
            f"sink: there is no topic {absent[1]!r} at {servers.get('sink')}, and the broker makes "
            f"none by itself: create it, or write another."
        )
    if "UnknownTopicOrPartitionException" in said:
        topic = pipeline.source.options.get("subscribe", pipeline.source.topic)
        return (
            f"source: there is no topic {topic!r} at {servers.get('source')}: create it, or write "
            f"another."
        )
    refused = re.search(r"\b\w*(?:Sasl|Ssl|Authentication)\w*Exception\b:? ?([^\n]*)", said)
    if refused:
        return (
            f"Kafka does not let us in ({refused[1].strip().rstrip('.') or 'authentication'}): see "
            f"the options that begin with kafka.sasl. and kafka.ssl."
        )
    denied = re.search(r"\b\w*AuthorizationException\b:? ?([^\n]*)", said)
    if denied:
        return f"Kafka does not allow it: {denied[1].strip() or denied[0]}"
    if "Timed out waiting for a node assignment" in said:
        at = ", ".join(dict.fromkeys(servers.values()))
        return (
            f"the brokers of Kafka at {at} do not answer: do they run, can they be reached at the "
            f"addresses that they advertise, and is kafka.security.protocol right?"
        )
    if re.search(r"data source:? kafka\b", said):
        return (
            "Spark has no connector for Kafka: leave spark.jars and the like out, so that it is "
            "fetched, or give all of its jars with --conf spark.jars=…"
        )
    if "org.apache.kafka.common." in said:
        return f"Kafka: {root_cause(error) or str(error).splitlines()[0]}"
    return None


def without_secrets(pipeline: Pipeline, said: str) -> str:
    """Passwords and the like are not repeated, not even by who complains about how they stand."""
    for side in (pipeline.source, pipeline.sink):
        for name, value in side.options.items():
            words = re.split(r"[\s\"';=]+", value) if SECRET.search(name) else []
            for word in words:
                if len(word) > 2 and not NO_SECRET.fullmatch(word):
                    said = said.replace(word, "…")
    return said

"""`sash run --stream` from Kafka: killed, stopped and started again, no answer is lost or wrong."""

from __future__ import annotations

import json
import random
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from textwrap import dedent
from typing import Any

import pyarrow.parquet as pq
from kafka.broker import Broker
from kafka.runs import Run
from kafka.topics import consume, create_topic, end_of, produce

PIPELINE = """
    [source]
    format   = "kafka"
    servers  = "{servers}"
    topic    = "{topic}"
    schema   = {{ id = "bigint", ts = "timestamp", plug = "string", value = "double" }}
    time     = "ts"
    key      = "plug"
    order_by = "id"
    lateness = "5s"
    options  = {{ maxOffsetsPerTrigger = 400 }}

    [queries.by_time]
    window   = {{ last = "10s", every = "2s" }}
    highest  = {{ op = "Max", of = "value" }}
    mean     = {{ op = "Mean", of = "value" }}

    [queries.by_rows]
    window   = {{ last = 20 }}
    highest  = {{ op = "Max", of = "value" }}
    peak     = {{ op = "ArgMax", of = ["value", "ts"] }}

    [stream]
    checkpoint = "pipeline.checkpoint"

    [sink]
    quarantine = "quarantine"
"""
QUERIES = ("by_time", "by_rows")
PORTION = 600
"""Messages that are written at once: of two micro-batches."""
# A grid has whole seconds; rows are never just on it, and Spark's own JSON would cut their times.
BEGIN = datetime(2026, 1, 1, microsecond=7, tzinfo=UTC)
GRID = datetime(2026, 1, 1, tzinfo=UTC)
STEP = timedelta(seconds=0.1)
LATENESS = timedelta(seconds=5)
LAST, EVERY = timedelta(seconds=10), timedelta(seconds=2)
LATE = (0, 0, 0, 1, 10, 51)
"""How many steps a row may be behind its place: 51 are `LATENESS` behind the row before."""
NEVER = datetime.max.replace(tzinfo=UTC)

Row = dict[str, Any]
Answers = dict[tuple[Any, ...], Row]
"""By what tells them apart: plug and window, or row."""


def messages(late: Sequence[int]) -> Iterator[tuple[Row | None, str | None, str]]:
    """A row, the message that it is sent as, and what is wrong with that."""
    draw = random.Random(7)
    newest = BEGIN
    number = 0
    while True:
        time = BEGIN + (number - min(draw.choice(late), number)) * STEP
        newest = max(newest, time)
        assert newest - time <= LATENESS
        # Quarters, so that sums are exact however they are grouped.
        value = None if draw.random() < 0.05 else draw.randrange(-(10**6), 10**6) / 4
        row = {"id": number, "ts": time, "plug": draw.choice("abcde"), "value": value}
        number += 1
        sent = row | {"ts": time.isoformat()}
        kind = draw.randrange(100)
        if kind == 0:
            yield None, json.dumps(sent)[:-2], "not JSON"
        elif kind == 1:
            yield None, json.dumps(sent | {"value": "high"}), "value is not double: high"
        elif kind == 2:
            del sent["ts"]
            yield None, json.dumps(sent), "no ts"
        elif kind == 3:
            yield None, None, "no value"
        else:
            yield row, json.dumps(sent), ""


class Topic:
    """A topic that is filled in portions, and what it should lead to."""

    def __init__(
        self, kafka: Broker, name: str, partitions: int = 1, late: Sequence[int] = LATE
    ) -> None:
        create_topic(kafka.servers, name, partitions)
        self.servers, self.name = kafka.servers, name
        self.to_come = messages(late)
        self.rows: list[Row] = []
        self.malformed: Counter[tuple[str, str | None]] = Counter()

    def more(self) -> None:
        portion = list(islice(self.to_come, PORTION))
        self.rows += [row for row, _, _ in portion if row is not None]
        self.malformed.update((wrong, text) for _, text, wrong in portion if wrong)
        keys = ["-" if row is None else row["plug"] for row, _, _ in portion]
        produce(self.servers, self.name, [text for _, text, _ in portion], keys)

    def watermark(self) -> datetime:
        newest: datetime = max(row["ts"] for row in self.rows)
        return newest - LATENESS


def answers(rows: list[Row], watermark: datetime) -> tuple[Answers, Answers]:
    """Of both queries, what is final: without Spark, and without Sash."""
    of_plugs = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row["ts"], row["id"])):
        of_plugs[row["plug"]].append(row)
    by_time: Answers = {}
    by_rows: Answers = {}
    for plug, own in of_plugs.items():
        times = [row["ts"] for row in own]
        start = GRID - LAST + EVERY
        while start <= times[-1] and start + LAST <= watermark:
            inside = own[bisect_left(times, start) : bisect_left(times, start + LAST)]
            values = [row["value"] for row in inside if row["value"] is not None]
            if inside:
                by_time[plug, start] = {
                    "plug": plug,
                    "window_start": start,
                    "window_end": start + LAST,
                    "highest": max(values, default=None),
                    "mean": sum(values) / len(values) if values else None,
                }
            start += EVERY
        for k in range(bisect_left(times, watermark)):
            some = [row for row in own[max(0, k - 19) : k + 1] if row["value"] is not None]
            peak = max(some, key=lambda row: row["value"], default={"value": None, "ts": None})
            by_rows[(own[k]["id"],)] = own[k] | {"highest": peak["value"], "peak": peak["ts"]}
    return by_time, by_rows


def by_name(found: list[Row]) -> Answers:
    """Answers by what tells them apart; none is there twice."""
    named = {
        (row["plug"], row["window_start"]) if "window_start" in row else (row["id"],): row
        for row in found
    }
    assert len(named) == len(found)
    return named


def pipeline(folder: Path, source: Topic, **sink: str) -> Path:
    text = dedent(PIPELINE).format(servers=source.servers, topic=source.name)
    text += "".join(f'{name} = "{value}"\n' for name, value in sink.items())
    file = folder / "pipeline.toml"
    file.write_text(text, encoding="utf-8")
    return file


def quarantined(folder: Path) -> list[Row]:
    files = (folder / "quarantine").glob("part-*.json")
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def test_from_kafka_to_kafka(kafka: Broker, spark_kafka: dict[str, str], tmp_path: Path) -> None:
    """At least once: all that is final, and twice only what is the same."""
    topic = Topic(kafka, "readings")
    for name in QUERIES:
        create_topic(kafka.servers, f"readings.{name}", partitions=2)
    sink = {"format": "kafka", "servers": kafka.servers, "topic": "readings.{query}"}
    file = pipeline(tmp_path, topic, **sink)

    topic.more()
    with Run(file, spark_kafka) as run:
        run.until(lambda: run.committed() >= 1, "end of a micro-batch")
        topic.more()
        before = end_of(kafka.servers, "readings.by_rows")
        run.until(lambda: end_of(kafka.servers, "readings.by_rows") > before, "answers")
        run.kill()
    assert run.planned() > run.committed(), "it should be killed before the micro-batch ends"

    topic.more()
    with Run(file, spark_kafka) as run:
        killed = run.planned()
        run.until(lambda: run.committed() > killed, "end of a micro-batch after the restart")
        topic.more()
        ended = run.committed()
        before = end_of(kafka.servers, "readings.by_time")
        run.until(lambda: end_of(kafka.servers, "readings.by_time") > before, "answers")
        run.interrupt()
        summary = run.ended()
    assert run.committed() > ended, "it should have come to the end of its micro-batch"
    assert "ending after this micro-batch" in run.said()
    assert "by_time: " in summary and "final up to 2026-01-01 00:0" in summary

    topic.more()
    too_late = {"id": -1, "ts": BEGIN.isoformat(), "plug": "a", "value": 1e9}
    produce(kafka.servers, topic.name, [json.dumps(too_late)])
    with Run(file, spark_kafka, "--until-idle", "--json") as run:
        told = json.loads(run.ended())
    assert (told["stopped"], told["late"], told["open_answers"]) == (False, 1, {})

    for name, expected in zip(QUERIES, answers(topic.rows, topic.watermark()), strict=True):
        sent = consume(kafka.servers, f"readings.{name}", len(expected))
        assert len(set(sent)) < len(sent), "it should be killed after answers were sent"
        assert by_name([read(*message) for message in set(sent)]) == expected
    found = quarantined(tmp_path)
    assert Counter((each["reason"], each.get("row")) for each in found) == topic.malformed
    places = {each["file"] for each in found}
    assert len(places) == len(found)
    assert all(place.startswith("readings [0] @ ") for place in places)


def read(key: bytes | None, value: bytes | None) -> Row:
    """An answer, of the message that it was sent as."""
    assert key is not None and value is not None
    row: Row = json.loads(value)
    assert row["plug"] == key.decode()
    for name in {"ts", "window_start", "window_end", "peak"} & row.keys():
        row[name] = row[name] and datetime.fromisoformat(row[name])
    return row


def test_from_kafka_to_files(kafka: Broker, spark_kafka: dict[str, str], tmp_path: Path) -> None:
    """Exactly once; and what is still open at the end."""
    # A micro-batch may end a bit earlier in one partition than in the other.
    topic = Topic(kafka, "for_files", partitions=2, late=(0, 0, 0, 1, 10))
    file = pipeline(tmp_path, topic, format="parquet", path="answers")
    topic.more()
    with Run(file, spark_kafka) as run:
        written = tmp_path / "answers" / "by_rows"
        second = "part-*-000000001-*.parquet"
        run.until(lambda: any(written.glob(second)), "answers of the second micro-batch")
        run.kill()
    assert run.committed() == 1

    topic.more()
    with Run(file, spark_kafka, "--until-idle", "--json") as run:
        told = json.loads(run.ended())
    assert told["late"] == 0
    assert min(told["open_answers"].values()) > 0
    for name, expected in zip(QUERIES, answers(topic.rows, NEVER), strict=True):
        rows = pq.read_table(tmp_path / "answers" / name).to_pylist()
        assert by_name(rows) == expected
    found = quarantined(tmp_path)
    assert Counter((each["reason"], each.get("row")) for each in found) == topic.malformed

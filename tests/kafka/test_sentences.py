"""What is said when Kafka, or Spark's connector for it, cannot be used; without either."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from typer.testing import CliRunner

from sash.cli import app
from sash.cli.starting import _why_not
from sash.cli.telling import first_lines
from sash.pipeline import read_pipeline
from sash.pipeline.brokers import BrokerError, require_brokers, told_of_brokers
from sash.pipeline.definition import Pipeline
from sash.pipeline.running import settings
from sash.spark import connectors

LOGIN = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="reader" password="hunter22";'
)
PIPELINE = f"""
    [source]
    format  = "kafka"
    servers = ["localhost:{{port}}", "127.0.0.1:{{port}}"]
    topic   = "plugs"
    schema  = {{{{ ts = "timestamp", load = "double" }}}}
    time    = "ts"
    options = {{{{ "kafka.sasl.jaas.config" = '{LOGIN}' }}}}

    [queries.high]
    window  = {{{{ last = 5 }}}}
    highest = {{{{ op = "Max", of = "load" }}}}

    [sink]
    format  = "kafka"
    servers = "127.0.0.1:{{port}}"
    topic   = "high"
"""


def written(folder: Path, port: int = 9092) -> Path:
    file = folder / "plugs.toml"
    file.write_text(dedent(PIPELINE).format(port=port), encoding="utf-8")
    return file


@pytest.fixture
def port() -> Iterator[int]:
    """One where nobody listens, for as long as nobody else may."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def test_no_broker(tmp_path: Path, port: int) -> None:
    """Told at once, before Spark starts."""
    told = CliRunner().invoke(app, ["run", str(written(tmp_path, port)), "--stream"])
    assert told.exit_code == 1
    assert f"source: no broker of Kafka answers at localhost:{port},127.0.0.1:{port}" in told.output
    assert "Connection refused" in told.output


def test_one_broker_of_several(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listens:
        require_brokers(read_pipeline(written(tmp_path, listens.getsockname()[1])))


def failed(pipeline: Pipeline, said: str) -> str:
    with pytest.raises(BrokerError) as told, told_of_brokers(pipeline):
        raise RuntimeError(said)
    return str(told.value)


ERRORS = "org.apache.kafka.common.errors"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (f"{ERRORS}.UnknownTopicOrPartitionException: This server", "source: there is no topic"),
        (
            f"{ERRORS}.TimeoutException: Topic high not present in metadata after 60000 ms.",
            "'high'",
        ),
        (f"{ERRORS}.SaslAuthenticationException: Authentication failed", "does not let us in"),
        (
            f"{ERRORS}.TopicAuthorizationException: Not authorized: [plugs]",
            "does not allow it: Not",
        ),
        ("Timed out waiting for a node assignment. Call: listNodes", "do not answer"),
        ("Failed to find data source: kafka. Please deploy", "has no connector for Kafka"),
        (f"Failed\nCaused by: {ERRORS}.OtherException: odd\n at", "Kafka: OtherException: odd"),
    ],
)
def test_what_went_wrong(tmp_path: Path, said: str, told: str) -> None:
    assert told in failed(read_pipeline(written(tmp_path)), said)


def test_what_is_not_of_kafka(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match="x is 3"),
        told_of_brokers(read_pipeline(written(tmp_path))),
    ):
        raise ValueError("x is 3")


def test_passwords_are_not_repeated(tmp_path: Path) -> None:
    pipeline = read_pipeline(written(tmp_path))
    told = failed(pipeline, f"Caused by: org.apache.kafka.common.ConfigException: what is {LOGIN}")
    assert "hunter22" not in told and "reader" not in told
    assert "PlainLoginModule required" in told
    for command in (["explain", "--stream"], ["explain", "--json"], ["check"]):
        shown = CliRunner().invoke(app, [*command, str(pipeline.file)])
        assert shown.exit_code == 0
        assert "hunter22" not in shown.output


def test_java_by_another_name() -> None:
    said = "An error occurred while calling o5.save.\n: a.b.SparkException: Job\nCaused by: c.D: it"
    assert first_lines(RuntimeError(said)) == "D: it"


def test_connector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is fetched, unless the user has said where it is."""
    pipeline = read_pipeline(written(tmp_path))
    for name in ("PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    package = connectors.kafka_connector()
    assert package is not None and package.startswith("org.apache.spark:spark-sql-kafka-0-10_2.13:")
    assert settings(pipeline, {})["spark.jars.packages"] == package
    assert "spark.jars.packages" not in settings(pipeline, {"spark.jars": "a.jar"})
    (tmp_path / "spark-defaults.conf").write_text("spark.jars=connector.jar\n", encoding="utf-8")
    assert "spark.jars.packages" not in settings(pipeline, {})
    (tmp_path / "spark-defaults.conf").write_text("spark.jars.ivy  /ivy\n", encoding="utf-8")
    assert settings(pipeline, {})["spark.jars.packages"] == package
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--packages a:b:1 pyspark-shell")
    assert "spark.jars.packages" not in settings(pipeline, {})


def test_connector_that_cannot_be_fetched(tmp_path: Path) -> None:
    log = tmp_path / "log"
    name = "org.apache.spark#spark-sql-kafka-0-10_2.13;4.3.0"
    error = 'Exception in thread "main" java.lang.RuntimeException:'
    log.write_text(f"{error} [unresolved dependency: {name}: not found]\n", encoding="utf-8")
    told = _why_not(log)
    assert told is not None
    assert "cannot fetch org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0. Give its jars" in told
    log.write_text(f"WARNING: x\n{error} no such master: locl\n  at a.b\n", encoding="utf-8")
    assert _why_not(log) == "Spark does not start: no such master: locl"
    log.write_text("WARNING: x\n", encoding="utf-8")
    assert _why_not(log) is None

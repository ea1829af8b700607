"""A Kafka broker of our own on this machine, and Spark's connector, both from Maven packages.

No Maven is needed: PySpark ships Ivy, which fetches from the same registry. What Ivy cannot get,
Maven may, where there is one that was told of a mirror or a proxy. Either way it is fetched once,
into SASH_KAFKA_CACHE or ~/.cache/sash-tests/kafka (58 MB), and a later run only reads the list
of jars there.
"""

from __future__ import annotations

import base64
import fcntl
import os
import random
import re
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pyspark
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from sash.spark.java import JavaError, find_java

KAFKA = "4.3.1"
LOG4J = "2.25.4"
"""What this Kafka logs with; it brings no slf4j binding of its own."""

SPARKS_JARS = Path(pyspark.__file__).parent / "jars"
FETCHING = 300.0
"""Seconds that Ivy or Maven may take."""

ANSWERING = 90.0
"""Seconds within which a broker must answer; on two busy cores it takes 4."""


class KafkaNotAvailableError(RuntimeError):
    """Kafka cannot be had or started here; the message says why."""


@dataclass(frozen=True)
class Packages:
    """Maven packages, each group:artifact:version, with all that they need."""

    name: str
    wanted: tuple[str, ...]
    instead: tuple[str, ...] = ()
    """To be taken, if needed, in these versions rather than those asked for."""
    without: tuple[str, ...] = ()
    """Artifacts that are there anyway."""


def jars() -> list[Path]:
    """The broker's jars."""
    log = f"org.apache.logging.log4j:log4j-slf4j-impl:{LOG4J}"
    wanted = (f"org.apache.kafka:kafka_2.13:{KAFKA}", log)
    return fetched(Packages(f"broker-{KAFKA}", wanted))


def connector() -> dict[str, str]:
    """The setting that gives a Spark session the format "kafka": spark.jars.

    The connector of PySpark's version, or else the newest before it: a registry may not have
    every version yet, and the connector's two parts not in the same ones.
    """
    versions = f"[4.0.0,{pyspark.__version__}]"
    there = sorted({re.split(r"-\d", jar.name)[0] for jar in SPARKS_JARS.glob("*.jar")})
    packages = Packages(
        f"connector-{pyspark.__version__}",
        wanted=(f"org.apache.spark:spark-sql-kafka-0-10_2.13:{versions}",),
        instead=(f"org.apache.spark:spark-token-provider-kafka-0-10_2.13:{versions}",),
        without=tuple(there),
    )
    return {"spark.jars": ",".join(map(str, fetched(packages)))}


def fetched(packages: Packages) -> list[Path]:
    """The packages' jars, from an earlier run or from the registry."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cache = Path(os.environ.get("SASH_KAFKA_CACHE") or default / "sash-tests" / "kafka")
    cache.mkdir(parents=True, exist_ok=True)
    classpath = cache / f"{packages.name}.classpath"
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = listed(classpath)
        if not found:
            new = classpath.with_suffix(".new")
            new.unlink(missing_ok=True)
            problem = with_ivy(packages, cache, new)
            if problem and shutil.which("mvn"):
                instead = with_maven(packages, cache, new)
                problem = f"{problem} Maven: {instead}" if instead else None
            found = listed(new)
            if problem or not found:
                raise KafkaNotAvailableError(
                    f"no Maven packages for {packages.name}. Ivy: {problem or 'listed no jars'}"
                )
            new.replace(classpath)
    return found


def listed(classpath: Path) -> list[Path]:
    """The jars in a class path that was written to a file; none, unless all of them are there."""
    text = classpath.read_text(encoding="utf-8").strip() if classpath.exists() else ""
    found = [Path(part) for part in text.split(os.pathsep) if part]
    return found if all(path.exists() for path in found) else []


def with_ivy(packages: Packages, cache: Path, classpath: Path) -> str | None:
    """Fetch and list by PySpark's Ivy; say what went wrong, if something did."""

    def element(kind: str, called: str, package: str, rest: str = "") -> str:
        group, name, version = package.split(":")
        return f'<{kind} org="{group}" {called}="{name}" rev="{version}"{rest}/>'

    # Of a Maven package: its own jar, and those that it needs when it runs.
    mapped = ' conf="default->master(*),runtime(*)"'
    lines = [
        '<ivy-module version="2.0">',
        f'<info organisation="sash" module="{packages.name}"/>',
        '<configurations><conf name="default"/></configurations>',
        "<dependencies>",
        *(element("dependency", "name", package, mapped) for package in packages.wanted),
        *(f'<exclude module="{name}"/>' for name in packages.without),
        *(element("override", "module", package) for package in packages.instead),
        "</dependencies>",
        "</ivy-module>",
    ]
    asked = cache / f"{packages.name}.ivy.xml"
    asked.write_text("\n".join(lines), encoding="utf-8")
    ivy = next(SPARKS_JARS.glob("ivy-*.jar"), None)
    if ivy is None:
        return f"there is none in {SPARKS_JARS}."
    options = ["-warn", "-cache", cache / "ivy", "-types", "jar", "bundle"]
    return ran(java(), "-jar", ivy, *options, "-ivy", asked, "-cachepath", classpath)


def with_maven(packages: Packages, cache: Path, classpath: Path) -> str | None:
    """The same by Maven."""
    names = "".join(
        f"<exclusion><groupId>*</groupId><artifactId>{name}</artifactId></exclusion>"
        for name in packages.without
    )
    without = f"<exclusions>{names}</exclusions>"

    def dependency(package: str, rest: str = "") -> str:
        group, name, versions = package.split(":")
        # Of a range the last one: Maven reads them all, and fails if one of them is incomplete.
        version = versions.strip("[]").split(",")[-1]
        return (
            f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
            f"<version>{version}</version>{rest}</dependency>"
        )

    lines = [
        "<project><modelVersion>4.0.0</modelVersion>",
        f"<groupId>sash</groupId><artifactId>{packages.name}</artifactId><version>1</version>",
        "<dependencyManagement><dependencies>",
        *map(dependency, packages.instead),
        "</dependencies></dependencyManagement>",
        "<dependencies>",
        *(dependency(package, without) for package in packages.wanted),
        "</dependencies></project>",
    ]
    asked = cache / f"{packages.name}.pom.xml"
    asked.write_text("\n".join(lines), encoding="utf-8")
    options = [f"-Dmaven.repo.local={cache / 'maven'}", "-DincludeScope=runtime"]
    options.append(f"-Dmdep.outputFile={classpath}")
    return ran("mvn", "-B", "-q", "-f", asked, *options, "dependency:build-classpath")


def ran(*command: str | Path, seconds: float = FETCHING) -> str | None:
    """Run a command; say what went wrong, if something did."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"{problem}."
    if done.returncode == 0:
        return None
    said = re.sub(r"\x1b\[\d*m", "", done.stdout + done.stderr)
    # Both list all that they tried, and more. Ivy: no answer ("access error"), or no such version.
    for telling in ("access error.*", r"module not found:.*", r"\[ERROR\].*"):
        if found := re.search(telling, said):
            return f"{found[0][:400]}."
    return f"{said.strip()[-400:]} (exit code {done.returncode})."


def java() -> Path:
    try:
        return find_java()
    except JavaError as problem:
        raise KafkaNotAvailableError(str(problem)) from None


@dataclass(frozen=True)
class Broker:
    """A broker that runs. No topic is there before it is made (topics.py)."""

    servers: str
    """What clients and Spark call bootstrap servers: 127.0.0.1:port"""
    log: Path


@contextmanager
def broker(folder: Path) -> Iterator[Broker]:
    """A broker on this machine alone, with its data in `folder`, for as long as the block runs."""
    classpath = os.pathsep.join(map(str, jars()))
    port, controllers = free_ports(2)
    settings = folder / "server.properties"
    settings.write_text(server_settings(port, controllers, folder / "data"), encoding="utf-8")
    logging = folder / "log4j2.properties"
    logging.write_text(LOGGING, encoding="utf-8")
    # Few threads and little memory, and nothing compiled for a long run: tests run beside it.
    quick = ["-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
    run = [java(), "-Xmx256m", *quick, f"-Dlog4j2.configurationFile={logging}", "-cp", classpath]
    # One that began with a dash would be taken for an option.
    cluster = "s" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")[1:]
    form = ("kafka.tools.StorageTool", "format", "-g", "-t", cluster, "-c", settings)
    problem = ran(*run, *form, seconds=ANSWERING)
    if problem:
        raise KafkaNotAvailableError(f"the broker's folder could not be made: {problem}")
    it = Broker(f"127.0.0.1:{port}", folder / "broker.log")
    with it.log.open("ab") as log:
        process = subprocess.Popen(
            [str(part) for part in (*run, "kafka.Kafka", settings)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            start_new_session=True,  # a Ctrl-C is for us, who then end it
        )
    try:
        wait_for(it, port, process)
        yield it
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(it: Broker, port: int, process: subprocess.Popen[bytes]) -> None:
    """Until the broker answers a client."""
    until = time.monotonic() + ANSWERING
    while process.poll() is None and time.monotonic() < until:
        # The client would write of each attempt in vain to stderr, so it comes second.
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) != 0:
                time.sleep(0.05)
                continue
        try:
            AdminClient({"bootstrap.servers": it.servers}).list_topics(timeout=5)
            return
        except KafkaException:
            continue
    ended = process.poll()
    state = f"does not answer within {ANSWERING:.0f} s" if ended is None else f"ended with {ended}"
    tail = it.log.read_text(encoding="utf-8", errors="replace")[-1500:]
    raise KafkaNotAvailableError(f"the broker {state}:\n{tail}")


def free_ports(count: int) -> list[int]:
    """Below those that Linux gives to outgoing connections, one of which could come in between."""
    found: list[int] = []
    for port in random.sample(range(20_000, 32_000), 200):
        with socket.socket() as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                attempt.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise KafkaNotAvailableError("no free ports between 20000 and 32000.")


def server_settings(port: int, controllers: int, data: Path) -> str:
    """One server that is broker and controller, whose own topics are as small as can be.

    Kafka leaves it to the system when a message reaches the disk (no fsync), which is what a
    test wants too.
    """
    own_topics = ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")
    lines = [
        "process.roles=broker,controller",
        "node.id=1",
        f"controller.quorum.voters=1@127.0.0.1:{controllers}",
        f"listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controllers}",
        f"advertised.listeners=PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names=CONTROLLER",
        f"log.dirs={data}",
        "auto.create.topics.enable=false",
        "group.initial.rebalance.delay.ms=0",
        *(f"{topic}.num.partitions=1" for topic in own_topics),
        *(f"{topic}.replication.factor=1" for topic in own_topics),
        *(f"{topic}.min.isr=1" for topic in own_topics[1:]),
        "num.network.threads=1",
        "num.io.threads=2",
        "log.cleaner.dedupe.buffer.size=4194304",  # 128 MiB by default, half of all we give
    ]
    return "\n".join(lines) + "\n"


LOGGING = dedent("""\
    status = error
    rootLogger.level = info
    rootLogger.appenderRef.out.ref = out
    appender.out.type = Console
    appender.out.name = out
    appender.out.layout.type = PatternLayout
    appender.out.layout.pattern = %d %p %m (%c)%n
""")

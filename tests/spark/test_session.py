"""Sessions: what is set, whose settings win, what is said of a session that runs already."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import sash
from sash.spark import settings as asked_of_spark
from sash.spark.checks import require
from sash.spark.connecting import PROXIES, require_server
from sash.spark.settings import (
    BATCH_ROWS,
    CHANGELOG,
    PARTITIONS,
    ROCKSDB,
    STATE_STORE,
    at_start,
    checked,
    driver_memory,
    local_threads,
)

HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"

Settings = Callable[..., None]


def test_what_is_set(spark: SparkSession) -> None:
    assert spark.conf.get("spark.master") == "local[2]"
    assert spark.conf.get(PARTITIONS) == "4"
    assert spark.conf.get(STATE_STORE) == ROCKSDB
    assert spark.conf.get(CHANGELOG) == "true"
    assert spark.conf.get(BATCH_ROWS) == "10000"
    assert spark.conf.get("spark.sql.adaptive.enabled") == "true"
    assert spark.sparkContext.uiWebUrl is None
    assert spark.sparkContext.pythonExec == sys.executable


def test_the_running_one_is_used(spark: SparkSession, settings: Settings) -> None:
    assert sash.spark.session() is spark
    settings(**{PARTITIONS: 7})
    assert sash.spark.session("local[2]", **{BATCH_ROWS: 5000}) is spark
    assert spark.conf.get(BATCH_ROWS) == "5000"
    assert spark.conf.get(PARTITIONS) == "7"  # not ours: the user had set it


def test_what_is_not_set_is_set_while_it_runs(spark: SparkSession, settings: Settings) -> None:
    settings()
    for name in (STATE_STORE, CHANGELOG, PARTITIONS):
        spark.conf.unset(name)
    assert sash.spark.session(**{PARTITIONS: None}) is spark
    assert spark.conf.get(PARTITIONS) == "200"
    assert sash.spark.session() is spark
    assert spark.conf.get(PARTITIONS) == "4"
    assert spark.conf.get(STATE_STORE) == ROCKSDB
    assert spark.conf.get(CHANGELOG) == "true"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: sash.spark.session("local[4]"),
            r"a session runs with the master local\[2\], not local\[4\]; stop it first \(spark",
        ),
        (
            lambda: sash.spark.session(remote="sc://localhost"),
            "a session without Spark Connect runs, so remote cannot be had; stop it first",
        ),
        (
            lambda: sash.spark.session(**{"spark.executor.memory": "3g"}),
            r"a session runs, and spark\.executor\.memory can only be set before one starts; stop",
        ),
        (
            lambda: sash.spark.session(**{"spark.sql.warehouse.dir": "elsewhere"}),
            r"spark\.sql\.warehouse\.dir can only be set before one starts",
        ),
        (
            lambda: sash.spark.session("local[2]", remote="local[2]"),
            "give master or remote, not both",
        ),
    ],
)
def test_too_late(spark: SparkSession, call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


@pytest.mark.parametrize(
    ("conf", "sentence"),
    [
        (
            {"driver_memory": "4g"},
            r"no setting of Spark; write \*\*\{'spark.driver.memory': '4",
        ),
        ({"shuffle.partitions": 8}, r"write \*\*\{'spark.shuffle.partitions': 8\}"),
        ({"spark": 8}, "'spark' is no setting"),
        ({"spark.": 8}, r"'spark\.' is no setting"),
        ({"spark.ui enabled": True}, r"write \*\*\{'spark.ui.enabled': True\}"),
        ({"spark.jars": ["a.jar"]}, r"spark\.jars is text, a number or a bool, not \['a\.jar'\]"),
    ],
)
def test_settings_that_are_none(conf: dict[str, Any], sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        sash.spark.session(**conf)


def test_settings_as_text() -> None:
    given = {"spark.a": True, "spark.b": 2, "spark.c.d-e_f": "x", "spark.g": None}
    assert checked(given) == {
        "spark.a": "true",
        "spark.b": "2",
        "spark.c.d-e_f": "x",
        "spark.g": None,
    }


def test_clusters_keep_their_own() -> None:
    """What is for one machine is not set where there are many."""
    local, cluster = at_start("local[3]"), at_start("yarn")
    assert local[PARTITIONS] == "6"
    assert local.keys() - cluster.keys() == {
        PARTITIONS,
        "spark.ui.enabled",
        "spark.executor.heartbeatInterval",
    }
    assert cluster.keys() < local.keys()
    assert local_threads("local[*]") == local_threads("local[*, 3]") >= 1  # type: ignore[operator]


@pytest.mark.parametrize(
    ("machine", "heap"),
    [(16 << 30, "8192m"), (1 << 30, "1024m"), (512 << 30, f"{31 << 10}m"), (None, None)],
)
def test_driver_memory(
    machine: int | None, heap: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked_of_spark, "memory", lambda: machine)
    assert driver_memory() == heap


def test_memory_of_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sash.spark import machine

    limit = tmp_path / "memory.max"
    monkeypatch.setattr(machine, "CGROUP_LIMITS", (limit, tmp_path / "gone"))
    limit.write_text("max\n")
    whole = machine.memory()
    assert whole is not None
    limit.write_text(f"{whole // 4}\n")
    assert machine.memory() == whole // 4


def test_user_state_store_is_kept_and_told(spark: SparkSession, settings: Settings) -> None:
    settings(**{STATE_STORE: HDFS})
    with pytest.warns(UserWarning, match="is HDFSBackedStateStoreProvider, and streams need Rocks"):
        sash.spark.session()
    assert spark.conf.get(STATE_STORE) == HDFS
    require(spark)
    with pytest.raises(RuntimeError, match=r"streams need RocksDB: spark\.conf\.set\('spark\.sql"):
        require(spark, streaming=True)


FRESH = """
    import json, sash
    names = [
        "spark.app.name", "spark.master", "spark.sql.shuffle.partitions", "spark.log.level",
        "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.sql.execution.arrow.pyspark.enabled",
        "spark.executor.heartbeatInterval", "spark.ui.showConsoleProgress",
        "spark.sql.streaming.stateStore.providerClass",
    ]
    spark = sash.spark.session(**{
        "spark.executor.heartbeatInterval": "2s",
        "spark.sql.execution.arrow.pyspark.enabled": None,
    })
    found = [{name: spark.conf.get(name, None) for name in names}]
    found.append(spark._jvm.java.lang.Runtime.getRuntime().maxMemory() >> 20)
    found.append(sash.spark.check(spark))
    spark.stop()
    again = sash.spark.session("local[1]", "again", **{"spark.sql.shuffle.partitions": 5})
    found.append({name: again.conf.get(name, None) for name in names})
    print(json.dumps(found))
"""


def test_whose_settings_win(run: Any, tmp_path: Path) -> None:
    """What is given to session, over what is configured, over what Sash sets."""
    configured = tmp_path / "conf"
    configured.mkdir()
    (configured / "spark-defaults.conf").write_text(
        "spark.sql.execution.arrow.maxRecordsPerBatch 4000\n"
        "spark.executor.heartbeatInterval 3s\n"
        "spark.driver.memory 700m\n"
    )
    done = run(FRESH, SPARK_CONF_DIR=str(configured), SPARK_DRIVER_MEMORY="900m")
    assert done.returncode == 0, done.stderr
    first, heap, checked, again = json.loads(done.stdout)
    assert first == {
        "spark.app.name": "sash",
        "spark.master": "local[*]",
        "spark.sql.shuffle.partitions": str(2 * local_threads("local[*]")),  # type: ignore[operator]
        "spark.log.level": "ERROR",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "4000",
        "spark.sql.execution.arrow.pyspark.enabled": None,
        "spark.executor.heartbeatInterval": "2s",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    }
    assert 600 < heap <= 720
    assert checked == []
    assert again["spark.master"] == "local[1]"
    assert again["spark.app.name"] == "again"
    assert again["spark.sql.shuffle.partitions"] == "5"
    # Java itself writes this one, whatever the level of its logs.
    loud = [line for line in done.stderr.splitlines() if "jdk.incubator.vector" not in line]
    assert loud == []


EXISTING = """
    import sys
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.master("local[1]").config("spark.log.level", "OFF").getOrCreate()
    import sash
    for sentence in sash.spark.check(spark):
        print(sentence)
    print("--")
    assert sash.spark.session() is spark
    assert sash.spark.check(spark) == [], sash.spark.check(spark)
    print(spark.conf.get("spark.sql.shuffle.partitions"))
    def python(batches):
        import pyarrow, sash
        for _ in batches:
            yield pyarrow.RecordBatch.from_pydict({"python": [sys.executable]})
    print(spark.range(1).mapInArrow(python, "python string").first().python)
"""


def test_a_session_of_the_users(run: Any, tmp_path: Path) -> None:
    """PySpark runs the python3 of the PATH, here one without packages, and 200 partitions."""
    bare = tmp_path / "bin" / "python3"
    bare.parent.mkdir()
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    path = f"{bare.parent}{os.pathsep}{os.environ['PATH']}"
    done = run(EXISTING, PATH=path, PYTHONWARNINGS="ignore::FutureWarning")
    assert done.returncode == 0, done.stderr
    said, _, then = done.stdout.partition("--\n")
    partitions, store, packages, protobuf = said.splitlines()
    assert partitions.startswith("spark.sql.shuffle.partitions is 200 on 1 core, and every micro-")
    assert partitions.endswith("spark.conf.set('spark.sql.shuffle.partitions', 2).")
    assert "is HDFSBackedStateStoreProvider, and streams need RocksDB: spark.conf.set(" in store
    assert "has no sash, numpy, numba, pyarrow: install sash there, or set PYSPARK_PY" in packages
    assert "streams need protobuf 6.33.5 or newer on the workers, which have none: " in protobuf
    assert then.splitlines() == ["2", sys.executable]


@pytest.mark.parametrize(
    ("remote", "kind", "sentence"),
    [
        ("sc://localhost:1", ConnectionError, r"no Spark Connect server answers at localhost:1 \("),
        ("sc://", ValueError, r"remote is an address such as 'sc://host:15002', not 'sc://'"),
        ("sc://localhost:x", ValueError, r"not 'sc://localhost:x'"),
    ],
)
def test_servers_that_are_not_there(
    remote: str, kind: type[Exception], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(kind, match=sentence):
        require_server(remote)


CONNECT = """
    import io, json, sys, warnings
    import sash

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    spark = sash.spark.session(remote="local[2]", progress=False, **{"spark.foo.bar": "x"})
    assert type(spark).__module__ == "pyspark.sql.connect.session"
    found = {"check": sash.spark.check(spark)}
    names = ["spark.sql.shuffle.partitions", "spark.foo.bar", "spark.app.name"]
    found["conf"] = [spark.conf.get(name) for name in names]
    assert sash.spark.session() is spark
    assert sash.spark.session(remote="local[2]") is spark
    found["errors"] = []
    for asked in ({"remote": "sc://elsewhere"}, {"master": "local[1]"}, {"spark.jars": "a.jar"}):
        try:
            sash.spark.session(**asked)
        except ValueError as problem:
            found["errors"].append(str(problem))

    def slow(batches):
        import time
        yield from batches
        time.sleep(3)

    sys.stderr = Terminal()
    warnings.simplefilter("ignore", FutureWarning)
    with sash.spark.progress(spark):
        spark.range(4).repartition(2).mapInArrow(slow, "id long").collect()
    found["progress"] = sys.stderr.getvalue()
    spark.stop()
    classic = sash.spark.session("local[1]")
    found["classic"] = classic.sparkContext.master
    print(json.dumps(found))
"""


@pytest.mark.full
def test_connect(run: Any) -> None:
    # With SPARK_TESTING the server takes any free port.
    done = run(CONNECT, SPARK_TESTING="1", PYTHONWARNINGS="error")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["check"] == []
    assert found["conf"] == ["4", "x", "sash"]
    elsewhere, master, static = found["errors"]
    assert elsewhere.startswith("a session of Spark Connect runs on localhost, not sc://elsewhere;")
    assert master.startswith("a session runs with the master local[2], not local[1]; stop it first")
    assert static.startswith("a session runs, and spark.jars can only be set before one starts;")
    assert "tasks" in found["progress"] and "rows" not in found["progress"]
    assert found["progress"].endswith(" \r")
    assert found["classic"] == "local[1]"


SUBMITTED = """
    import sash
    spark = sash.spark.session()
    for name in ("spark.master", "spark.app.name", "spark.sql.shuffle.partitions"):
        print(spark.conf.get(name))
    print(sash.spark.check(spark))
    spark.stop()
"""


@pytest.mark.full
def test_spark_submit(run: Any) -> None:
    """What spark-submit was told is kept; what it was not is set."""
    home = Path(sys.modules["pyspark"].__file__ or "").parent
    options = ["--master", "local[1]", "--name", "mine", "--conf", "spark.log.level=FATAL"]
    submit = str(home / "bin" / "spark-submit")
    done = run(SUBMITTED, submit, *options, PYSPARK_PYTHON=sys.executable)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["local[1]", "mine", "2", "[]"]

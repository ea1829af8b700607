"""The settings that Sash asks of Spark, and why each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sash.aggregators.cores import cores
from sash.spark.machine import memory

PYTHON = "spark.pyspark.python"
BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
PARTITIONS = "spark.sql.shuffle.partitions"
STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CONSOLE_PROGRESS = "spark.ui.showConsoleProgress"

PARTITIONS_PER_CORE = 2
"""One that took longer is then made up for by the others; each more costs a task, and in a stream
a state store. Spark's own 200 are for clusters."""

LARGEST_HEAP = 31 << 30
"""From 32 GiB on Java's pointers take twice the room."""


def while_running(master: str | None) -> dict[str, str]:
    """What can be set at any time. Rows per Arrow batch stay Spark's own: 10,000 per batch were
    as fast as 50,000, and take a fifth of the memory."""
    settings = {
        # toPandas, and createDataFrame from pandas; what Sash runs on the workers is Arrow anyway
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # the only one that transformWithState works with
        STATE_STORE: ROCKSDB,
        # a micro-batch then writes what it changed, not a snapshot
        CHANGELOG: "true",
    }
    threads = local_threads(master)
    if threads is not None:
        settings[PARTITIONS] = str(threads * PARTITIONS_PER_CORE)
    return settings


def at_start(master: str | None) -> dict[str, str]:
    """All of the above, and what can be set only before a session starts."""
    settings = while_running(master)
    settings[CONSOLE_PROGRESS] = "false"  # ours counts rows; two would overwrite each other
    if local_threads(master) is not None:
        # The page takes a port and a second of the start; on a cluster others look at it.
        settings["spark.ui.enabled"] = "false"
        # Rows are counted with heartbeats: at Spark's 10s the progress line would stand still.
        settings["spark.executor.heartbeatInterval"] = "1s"
    return settings


def local_threads(master: str | None) -> int | None:
    """How many tasks a local master runs at once; None if it is not local.

    >>> local_threads("local"), local_threads("local[3]"), local_threads("local[4,2]")
    (1, 3, 4)
    >>> local_threads("yarn"), local_threads("local-cluster[2,1,1024]")
    (None, None)
    """
    found = re.fullmatch(r"local(?:\[\s*(\d+|\*)\s*(?:,.*)?\])?", master or "")
    if not found:
        return None
    return cores() if found[1] == "*" else int(found[1] or 1)


def driver_memory() -> str | None:
    """Half of the memory: with a local master the driver does all of Spark's work, and the other
    half is for the Python workers, where the windows are."""
    whole = memory()
    if whole is None:
        return None
    return f"{max(min(whole // 2, LARGEST_HEAP), 1 << 30) >> 20}m"


SECRET = re.compile("secret|password|token|key|credential|jaas", re.IGNORECASE)
"""Settings of such names are not shown."""


def checked(conf: Mapping[str, Any]) -> dict[str, str | None]:
    """Settings as a user gives them, as text; None leaves one to Spark.

    >>> checked({"spark.ui.enabled": True, "spark.sql.shuffle.partitions": 8})
    {'spark.ui.enabled': 'true', 'spark.sql.shuffle.partitions': '8'}
    >>> checked({"driver_memory": "4g"})
    Traceback (most recent call last):
    ...
    TypeError: 'driver_memory' is no setting of Spark; write **{'spark.driver.memory': '4g'}.
    """
    for name, value in conf.items():
        if not re.fullmatch(r"spark(\.[^\s.=]+)+", name):
            meant = re.sub(r"^spark\.", "", re.sub(r"[\s_=.]+", ".", name).strip("."))
            shown = "…" if SECRET.search(name) else repr(value)
            raise TypeError(
                f"{name!r} is no setting of Spark; write **{{'spark.{meant}': {shown}}}."
            )
        if value is not None and not isinstance(value, str | int | float):
            raise TypeError(f"the setting {name} is text, a number or a bool, not {value!r}.")
    return {name: as_text(value) for name, value in conf.items()}


def as_text(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)

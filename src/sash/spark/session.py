"""A Spark session with everything that Sash needs."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote
from pyspark.util import is_remote_only

from sash.spark.checks import require, settings_findings
from sash.spark.connecting import host_of
from sash.spark.kind import is_connect
from sash.spark.progress import show_for
from sash.spark.settings import PYTHON, checked, local_threads, while_running
from sash.spark.starting import (
    APP_NAME,
    Asked,
    start_classic,
    start_connect,
    start_connect_here,
    without_noise,
)

PLACES = ("spark.master", "spark.remote")
NOT_NOW = {"CANNOT_MODIFY_CONFIG", "CANNOT_MODIFY_STATIC_CONFIG"}


def session(
    master: str | None = None,
    app_name: str = APP_NAME,
    *,
    remote: str | None = None,
    progress: bool | None = None,
    **conf: Any,
) -> SparkSession:
    """A Spark session that has everything Sash needs; the running one, if there is one.

    master     where Spark runs: what is configured, as by spark-submit, or else "local[*]"
    remote     for Spark Connect: a server, "sc://host:15002", or "local[2]", which starts one
    progress   show a line on stderr while jobs run; None: if stderr is a terminal
    conf       any settings of Spark, as **{"spark.driver.memory": "4g"}. They win over ours; a
               value of None leaves one to Spark.

    Of a session that runs already, what can be set while it runs is set where the user has not
    set it. A ValueError says what of `master`, `remote` and `conf` cannot be had any more, and
    a warning what would stop Sash's streams.
    """
    asked = checked({"spark.master": master, "spark.remote": remote} | conf)
    asked = {k: v for k, v in asked.items() if v is not None or k in conf}
    if asked.get("spark.master") and asked.get("spark.remote"):
        raise ValueError("give master or remote, not both: remote says where Spark runs, too.")
    spark = _running()
    if spark is None:
        spark = _started(asked, app_name)
    else:
        _fit(spark, asked)
    show_for(spark, progress)
    return spark


def _running() -> SparkSession | None:
    if is_remote():
        connect = sys.modules.get("pyspark.sql.connect.session")
        if connect is None:
            return None  # whoever has such a session has imported that
        connected: Any = connect.SparkSession
        return connected.getActiveSession() or connected._get_default_session()  # type: ignore[no-any-return]
    from pyspark import SparkContext

    # The active session is one per thread, so it is not what tells; the context is.
    if SparkContext._active_spark_context is None:
        return None
    return SparkSession.builder.getOrCreate()


def _started(asked: Asked, app_name: str) -> SparkSession:
    remote = _remote(asked)
    if remote is None:
        if is_remote_only():
            raise ValueError(
                "the package pyspark-client has no Spark of its own: give the address of one, "
                "remote='sc://host:15002', or pip install 'sash[spark]' instead of it."
            )
        with without_noise():
            return start_classic(asked, app_name)
    rest = {k: v for k, v in asked.items() if k not in ("spark.remote", "spark.api.mode")}
    if not remote.startswith("sc://"):
        return start_connect_here(remote, rest, app_name)
    spark = start_connect(remote)
    _fit(spark, rest)
    return spark


def _remote(asked: Asked) -> str | None:
    """What Spark Connect is asked for, by argument, setting or environment; else None."""
    if asked.get("spark.remote"):
        return asked["spark.remote"]
    master = asked.get("spark.master")
    mode = asked.get("spark.api.mode") or os.environ.get("SPARK_API_MODE", "")
    if mode.lower() == "connect":
        return master or os.environ.get("MASTER", "local[*]")
    return None if master else os.environ.get("SPARK_REMOTE")


def _fit(spark: SparkSession, asked: Asked) -> None:
    """Set what can be set while a session runs; say what cannot."""
    master = spark.conf.get("spark.master", None)
    remote = asked.get("spark.remote")
    stop = "stop it first (spark.stop()), or leave that out"
    if remote and not is_connect(spark):
        raise ValueError(f"a session without Spark Connect runs, so remote cannot be had; {stop}.")
    if remote and remote != master and host_of(remote) != spark.client.host:
        raise ValueError(
            f"a session of Spark Connect runs on {spark.client.host}, not {remote}; {stop}."
        )
    if asked.get("spark.master") not in (None, master):
        wanted = asked["spark.master"]
        raise ValueError(f"a session runs with the master {master}, not {wanted}; {stop}.")
    already = spark.conf.getAll
    for name, ours in while_running(master).items():
        if name not in already and name not in asked:
            spark.conf.set(name, ours)
    for name, value in asked.items():
        if value is None or value == already.get(name) or name in PLACES:
            continue
        try:
            spark.conf.set(name, value)
        except AnalysisException as problem:
            if problem.getCondition() not in NOT_NOW:
                raise
            raise ValueError(
                f"a session runs, and {name} can only be set before one starts; {stop}."
            ) from None
    _fit_workers_python(spark, master)
    require(spark)
    for finding in settings_findings(spark):
        if finding.stops != "nothing":  # what is only unwise, the user may have wished
            warnings.warn(finding.sentence, stacklevel=3)


def _fit_workers_python(spark: SparkSession, master: str | None) -> None:
    """The workers of a local session that was not told otherwise run our own Python from now on."""
    if is_connect(spark) or local_threads(master) is None:
        return
    told = "PYSPARK_PYTHON" in os.environ or spark.conf.get(PYTHON, None)
    if not told:
        spark.sparkContext.pythonExec = sys.executable

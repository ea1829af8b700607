"""Starting a Spark session: what must be right before Java starts, and what before the session.

Whatever the user has configured wins over what Sash would set: what is given to `session`, the
options of spark-submit, PYSPARK_SUBMIT_ARGS, spark-defaults.conf. Which of these there are, only
Java knows once it runs. So what is needed before that goes through environment variables, which
Spark's start script ranks below them all.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from sash.spark.connecting import require_server
from sash.spark.installed import WARNED_OF_PANDAS, require_connect
from sash.spark.java import require_java
from sash.spark.settings import (
    CONSOLE_PROGRESS,
    PYTHON,
    at_start,
    driver_memory,
    local_threads,
)

APP_NAME = "sash"
LOG_LEVEL = "spark.log.level"
LOGGING = Path(__file__).with_name("log4j2.properties")
SHELL_NAME = "pyspark-shell"
"""What Spark's start script calls an application that was given no name."""

Asked = Mapping[str, str | None]
"""The user's settings by name; None: leave it to Spark."""


def start_classic(asked: Asked, app_name: str) -> SparkSession:
    """A session in a Java of our own, or in the one that spark-submit started us from."""
    from pyspark import SparkConf, SparkContext  # the package pyspark-client has none

    if SparkContext._gateway is None:
        if "PYSPARK_GATEWAY_PORT" not in os.environ:
            require_java()
        first = SparkConf(loadDefaults=False).setAll(list(_set(asked).items()))
        # A Spark Connect server that may start in this Java later runs the Python of Java's time.
        python = _workers_python({"spark.master": "local[*]"} | _set(asked))
        with _environment(_before_java(asked) | python):
            SparkContext._ensure_initialized(conf=first)
    given = dict(SparkConf().getAll()) | _set(asked)
    settings = _of_ours(given.get("spark.master"), asked)
    mine = {
        name: value
        for name, value in settings.items()
        # Spark's start script sets this one itself, so that it is always among those given.
        if name not in given or name == CONSOLE_PROGRESS
    }
    if given.get("spark.app.name", SHELL_NAME) == SHELL_NAME or app_name != APP_NAME:
        mine.setdefault("spark.app.name", app_name)
    with _environment(_workers_python(given)):
        return SparkSession.builder.config(map={**mine, **_set(asked)}).getOrCreate()


def start_connect(url: str) -> SparkSession:
    """A session on a Spark Connect server that runs elsewhere."""
    require_connect()
    require_server(url)
    with without_noise():
        return SparkSession.builder.remote(url).getOrCreate()


def start_connect_here(master: str, asked: Asked, app_name: str) -> SparkSession:
    """A Spark Connect server in a Java of our own, and a session on it."""
    require_connect()
    require_java()
    settings = {"spark.app.name": app_name} | _of_ours(master, asked) | _set(asked)
    python = _workers_python(settings | {"spark.master": master})
    with _environment(_before_java(asked) | python), without_noise():
        return SparkSession.builder.remote(master).config(map={**settings}).getOrCreate()


@contextmanager
def without_noise() -> Iterator[None]:
    """Not to be heard: PySpark on pandas, and on settings that a client cannot change, which it
    tries although the server that it has just started has them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=WARNED_OF_PANDAS, category=FutureWarning)
        warnings.filterwarnings("ignore", message="Failed to set spark", category=UserWarning)
        yield


def _of_ours(master: str | None, asked: Asked) -> dict[str, str]:
    settings = at_start(master)
    if _logs_are_ours(asked):
        settings[LOG_LEVEL] = "ERROR"
    return {name: value for name, value in settings.items() if name not in asked}


def _set(asked: Asked) -> dict[str, str]:
    return {name: value for name, value in asked.items() if value is not None}


def _before_java(asked: Asked) -> dict[str, str]:
    """Environment variables for Java's start."""
    wanted: dict[str, str] = {}
    master = asked.get("spark.master")
    size = driver_memory()
    if size and (master is None or local_threads(master)) and "spark.driver.memory" not in asked:
        wanted["SPARK_DRIVER_MEMORY"] = os.environ.get("SPARK_DRIVER_MEMORY", size)
    options = os.environ.get("SPARK_SUBMIT_OPTS", "")
    if _logs_are_ours(asked) and "log4j" not in options:
        quiet = f"-Dlog4j2.configurationFile={LOGGING.as_uri()}"
        wanted["SPARK_SUBMIT_OPTS"] = f"{options} {quiet}".strip()
    return wanted


def _logs_are_ours(asked: Asked) -> bool:
    """Has the user neither asked for a level nor a log4j2.properties where Spark looks for one?"""
    from pyspark.find_spark_home import _find_spark_home

    folder = os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home()) / "conf"
    return LOG_LEVEL not in asked and not (Path(folder) / "log4j2.properties").exists()


def _workers_python(given: Mapping[str, str]) -> dict[str, str]:
    """PySpark reads the setting from the environment only, and would run the PATH's python3.

    On a cluster's machines our own path need not exist, so there it is left to Spark.
    """
    python = given.get(PYTHON) or os.environ.get("PYSPARK_PYTHON")
    if python is None and local_threads(given.get("spark.master")):
        python = sys.executable
    return {} if python is None else {"PYSPARK_PYTHON": python}


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """These environment variables, for as long as something starts."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

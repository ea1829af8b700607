"""Connectors of Spark's that do not come with it, by the names that it fetches them by."""

from __future__ import annotations

import os
from pathlib import Path

from pyspark import __version__

JARS = (
    "spark.jars",
    "spark.jars.packages",
    "spark.driver.extraClassPath",
)
"""Settings by which connectors are given: whoever uses one of them knows what he needs."""


def kafka_connector() -> str | None:
    """Of the same version as Spark, which is compiled for Scala 2.13 since version 4.

    None if Spark has it, or has been told where it is, outside of a program's settings.
    """
    from pyspark.find_spark_home import _find_spark_home

    home = Path(_find_spark_home())
    if any((home / "jars").glob("spark-sql-kafka-0-10*.jar")) or _is_told(home):
        return None
    return f"org.apache.spark:spark-sql-kafka-0-10_2.13:{__version__}"


def _is_told(home: Path) -> bool:
    """By spark-submit, by its arguments in the environment, or by Spark's file of defaults."""
    arguments = os.environ.get("PYSPARK_SUBMIT_ARGS", "").split()
    if "PYSPARK_GATEWAY_PORT" in os.environ or {"--jars", "--packages"} & set(arguments):
        return True
    defaults = Path(os.environ.get("SPARK_CONF_DIR") or home / "conf") / "spark-defaults.conf"
    if not defaults.is_file():
        return False
    lines = defaults.read_text(encoding="utf-8", errors="replace").splitlines()
    return any(line.replace("=", " ").split()[:1] == [name] for line in lines for name in JARS)

"""Which kind of session one is: classic, with Java at hand, or of Spark Connect."""

from __future__ import annotations

from typing import Any

from pyspark.sql.session import SparkSession as Classic


def is_connect(spark: Any) -> bool:
    """Told by its module: importing the class needs the packages of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def require_session(spark: Any) -> None:
    if not isinstance(spark, Classic) and not is_connect(spark):
        raise TypeError(f"spark is a SparkSession, such as sash.spark.session(), not {spark!r}.")
